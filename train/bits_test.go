package train_test

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// optimiserBits has what the optimisers of this package computed before there were optimisers of the
// user's, at commit 65b1375: a line for each, with its options and the element type, and the hash of
// all that the store holds after 20 steps. Where a norm is added up in another order without AVX, a
// second hash follows the first.
//
//go:embed testdata/optimiser_bits.txt
var optimiserBits string

// TestOptimiserBits: the optimisers give the bits that they have always given.
func TestOptimiserBits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("another processor may round a product and a sum once")
	}
	want := map[string][]string{}
	for line := range strings.Lines(optimiserBits) {
		hashes, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		want[name] = strings.Split(hashes, "|")
	}
	names, makes := bitCases()
	if len(want) != 2*len(names) {
		t.Errorf("%d lines of %d optimisers", len(want), len(names))
	}
	for i, name := range names {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			line := fmt.Sprintf("%v: %s", dt, name)
			got, err := bitsAfter(makes[i](), dt)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(want[line], got) {
				t.Errorf("%s: bits %s, want %v", line, got, want[line])
			}
		}
	}
}

// bitCases are the optimisers with the options that they take.
func bitCases() (names []string, makes []func() train.Optimiser) {
	type made = func(o ...train.Option) train.Optimiser
	optimisers := []struct {
		name string
		make made
	}{
		{"sgd", func(o ...train.Option) train.Optimiser { return train.SGD(0.05, o...) }},
		{"momentum", func(o ...train.Option) train.Optimiser { return train.Momentum(0.02, 0.9, o...) }},
		{"smoothed-momentum", func(o ...train.Option) train.Optimiser { return train.SmoothedMomentum(0.05, 0.8, o...) }},
		{"nesterov", func(o ...train.Option) train.Optimiser { return train.Nesterov(0.02, 0.9, o...) }},
		{"nesterov-peek", func(o ...train.Option) train.Optimiser { return train.NesterovPeek(0.02, 0.9, o...) }},
		{"adam", func(o ...train.Option) train.Optimiser { return train.Adam(0.05, o...) }},
		{"adamw", func(o ...train.Option) train.Optimiser { return train.AdamW(0.05, o...) }},
		{"rmsprop", func(o ...train.Option) train.Optimiser { return train.RMSProp(0.02, o...) }},
		{"adagrad", func(o ...train.Option) train.Optimiser { return train.Adagrad(0.1, o...) }},
	}
	options := []struct {
		name string
		all  []train.Option
		only string // the optimisers that take them, parted by spaces; "" for all
	}{
		{"", nil, ""},
		{"weight decay", []train.Option{train.WeightDecay(0.1)}, ""},
		{"clipped norm", []train.Option{train.ClipNorm(0.5)}, ""},
		{"clipped values", []train.Option{train.ClipValue(0.2)}, ""},
		{"accumulated", []train.Option{train.Accumulate(3)}, ""},
		{"averaged", []train.Option{train.EMA(0.9)}, ""},
		{"all of these", []train.Option{train.WeightDecay(0.1), train.ClipNorm(0.5), train.Accumulate(2), train.EMA(0.9)}, ""},
		{"betas", []train.Option{train.Betas(0.8, 0.95)}, "adam adamw"},
		{"epsilon", []train.Option{train.Epsilon(1e-3)}, "adam adamw rmsprop adagrad"},
		{"smoothing", []train.Option{train.Smoothing(0.8)}, "rmsprop"},
	}
	for _, o := range optimisers {
		for _, with := range options {
			if with.only != "" && !slices.Contains(strings.Fields(with.only), o.name) {
				continue
			}
			name := o.name
			if with.name != "" {
				name += ", " + with.name
			}
			names = append(names, name)
			makes = append(makes, func() train.Optimiser { return o.make(with.all...) })
		}
	}
	return names, makes
}

// bitsAfter returns a hash of all that the store holds after 20 steps on a problem with a fixed start:
// two parameters, one of which starts far away.
func bitsAfter(o train.Optimiser, dt graph.DType) (string, error) {
	g := graph.New("bits")
	w, b := g.Param("w", dt, graph.Ax("i", 3)), g.Param("b", dt)
	a := g.Constant(dt, []float64{1, -0.5, 0.25}, graph.Ax("i", 3))
	d := ops.Sub(w, a)
	loss := ops.Add(ops.Sum(ops.Mul(ops.Square(d), ops.Shift(ops.Square(w), 0.5))), ops.Square(ops.Add(b, ops.At(w, 0, 1))))
	p, err := tape.Compile(g, tape.Fetch(loss), tape.Do(o.Minimize(loss)))
	if err != nil {
		return "", err
	}
	store := tape.NewStore(g)
	for path, v := range map[string]graph.Value{"w": {Type: w.Type(), Data: []float64{2, 1.25, -1}}, "b": {Type: b.Type(), Data: []float64{-0.75}}} {
		if err := store.Set(path, tape.Tensor(v)); err != nil {
			return "", err
		}
	}
	vm, err := p.NewVM(store)
	if err != nil {
		return "", err
	}
	defer vm.Close()
	for range 20 {
		if err := vm.Run(context.Background(), nil); err != nil {
			return "", err
		}
	}
	h := sha256.New()
	for _, path := range store.Paths() {
		t, err := store.Get(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, path)
		typ, _ := store.Type(path)
		values, err := tape.ArrayOf(typ, t)
		if err != nil {
			return "", err
		}
		for i := range typ.Shape.Len() {
			_ = binary.Write(h, binary.LittleEndian, math.Float64bits(values.At(i)))
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

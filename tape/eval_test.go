package tape_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// One value, of numbers.
func ExampleEval() {
	g := graph.New("mean")
	x := g.Input("x", graph.F32, graph.Ax("i", 4))
	mean := ops.Mean(x)
	values, err := tape.Eval(context.Background(), tape.Feed{x: tape.Of(x, 1, 2, 3, 6)}, mean, ops.Sub(x, mean))
	must(err)
	fmt.Println(values[mean].Data[0], values[ops.Sub(x, mean)]) // an equal node is the same node
	// Output: 3 f32[i=4]: -2 -1 0 3
}

// TestEval: parameters start as in a fresh store of seed 0, every element type has numbers, and
// errors are those of compiling and running.
func TestEval(t *testing.T) {
	g := graph.New("all")
	k := g.Input("k", graph.I64, graph.Ax("n", 2))
	w := g.Param("w", graph.F32, graph.Ax("n", 3)).Init(initial.Normal(0, 1))
	c := g.State("c", graph.I32)
	mask := ops.Less(k, ops.Lit(k, 2))
	values, err := tape.Eval(t.Context(), tape.Feed{k: tape.Of(k, 1, 2)}, k, w, c, mask)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := tape.NewStore(g).Get("w")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range fresh.Float32s() {
		if values[w].Data[i] != float64(v) || v == 0 {
			t.Errorf("w[%d] = %v, want %v", i, values[w].Data[i], v)
		}
	}
	if got := fmt.Sprint(values[k], values[c], values[mask]); got != "i64[n=2]: 1 2 i32[]: 0 bool[n=2]: 1 0" {
		t.Error(got)
	}
	_, err = tape.Eval(t.Context(), nil)
	wantError(t, err, "eval: want a node to compute")
	_, err = tape.Eval(t.Context(), nil, k)
	wantError(t, err, "input k of type i64[n=2] is not fed")
}

// TestStoreEval: parameters have the store's values, and every run draws anew.
func TestStoreEval(t *testing.T) {
	g := graph.New("all")
	w := g.Param("w", graph.F32, graph.Ax("n", 2))
	noise := ops.RandomUniform(g, "u", graph.F32)
	s := tape.NewStore(g, tape.Seed(3))
	if err := s.Set("w", tape.Of(w, 4, 5)); err != nil {
		t.Fatal(err)
	}
	var drawn [2]float64
	for i := range drawn {
		values, err := s.Eval(t.Context(), nil, w, noise)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(values[w]); got != "f32[n=2]: 4 5" {
			t.Error(got)
		}
		drawn[i] = values[noise].Data[0]
	}
	if drawn[0] == drawn[1] {
		t.Errorf("both runs draw %v", drawn[0])
	}
	_, err := s.Eval(t.Context(), nil)
	wantError(t, err, "eval: want a node to compute")
}

// TestFloats: the numbers are a copy.
func TestFloats(t *testing.T) {
	g, x, _, loss := distance()
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(loss)), tape.NewStore(g))
	_, err := vm.Floats(loss)
	wantError(t, err, fmt.Sprintf("%v has no value: no run has ended well", loss))
	run(t, vm, fourPoints(x))
	kept, err := vm.Floats(loss)
	if err != nil {
		t.Fatal(err)
	}
	run(t, vm, tape.Feed{x: tape.Of(x, 0, 0, 0, 0)})
	if !slices.Equal(kept, []float64{7.5}) {
		t.Error(kept)
	}
}

// TestOf: numbers of any type become those of the node, and wrong ones are refused at their line.
func TestOf(t *testing.T) {
	type class uint8
	g := graph.New("of")
	var x [graph.Bool + 1]*graph.Node
	for dt := graph.F32; dt <= graph.Bool; dt++ {
		x[dt] = g.Input(dt.String(), dt, graph.Ax("n", 2))
	}
	for _, c := range []struct {
		made *tensor.Dense
		want any
	}{
		{tape.Of(x[graph.F32], 0.1, 2), []float32{0.1, 2}},
		{tape.Of(x[graph.F64], []float32{0.5, 2}...), []float64{0.5, 2}},
		{tape.Of(x[graph.I32], []int64{-1, 2}...), []int32{-1, 2}},
		{tape.Of(x[graph.I32], 1.0, 2), []int32{1, 2}},
		{tape.Of(x[graph.I64], int64(math.MaxInt64), math.MinInt64), []int64{math.MaxInt64, math.MinInt64}},
		{tape.Of(x[graph.I64], []class{3, 255}...), []int64{3, 255}},
		{tape.Of(x[graph.Bool], 0, 1), []bool{false, true}},
	} {
		if got := fmt.Sprintf("%T %v", c.made.Data(), c.made.Data()); got != fmt.Sprintf("%T %v", c.want, c.want) {
			t.Errorf("%s, want %T %v", got, c.want, c.want)
		}
	}
	_, _, at, _ := runtime.Caller(0)
	for i, c := range []struct {
		made *tensor.Dense
		want string
	}{
		{tape.Of(x[graph.F32], 1, 2, 3), "the number of values for f32[n=2] is 3, want 2"},
		{tape.Of(x[graph.I64], 1), "the number of values for i64[n=2] is 1, want 2"},
		{tape.Of(x[graph.I32], 1, 0.5), "0.5 is no value of type i32 (write a whole number in its range, or convert the array with ops.Cast)"},
		{tape.Of(x[graph.I64], 1, uint64(1<<63)), "9223372036854775808 is no value of type i64"},
		{tape.Of(nil, 1), "the node is nil or a mistake, and has no type"},
	} {
		_, err := tape.Eval(t.Context(), tape.Feed{x[graph.F32]: c.made}, x[graph.F32])
		wantError(t, err, fmt.Sprintf("input f32: tape/eval_test.go:%d: Of: %s", at+5+i, c.want))
	}
}

// TestFeedIntegers: an input of integers takes tensors of all integer types, however they lie, and
// refuses numbers that it does not hold.
func TestFeedIntegers(t *testing.T) {
	g := graph.New("integers")
	k, l := g.Input("k", graph.I32, graph.Dims(2, 2)...), g.Input("l", graph.I64)
	pair := func(data any) *tensor.Dense { return tensor.New(tensor.WithShape(2, 2), tensor.WithBacking(data)) }
	turned := pair([]int{1, 3, 2, 4})
	if err := turned.T(); err != nil {
		t.Fatal(err)
	}
	one := tensor.New(tensor.WithShape(), tensor.WithBacking([]int32{7}))
	for _, d := range []*tensor.Dense{pair([]int{1, 2, 3, 4}), pair([]int64{1, 2, 3, 4}), pair([]uint8{1, 2, 3, 4}), turned} {
		values, err := tape.Eval(t.Context(), tape.Feed{k: d, l: one}, k, l)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(values[k].Data, values[l].Data); got != "[1 2 3 4] [7]" {
			t.Errorf("%v: %s", d.Dtype(), got)
		}
	}
	for want, d := range map[string]*tensor.Dense{
		"input k: element 3 is 5000000000, which is no value of type i32":           pair([]int64{1, 2, 3, 5e9}),
		"input k: element 1 is 18446744073709551615, which is no value of type i32": pair([]uint64{1, math.MaxUint64, 3, 4}),
		"input k: want elements of type i32, got f64 (tape.Of converts numbers)":    pair([]float64{1, 2, 3, 4}),
		"input k: want shape [2 2], got (2): the number of values is 2, want 4":     tensor.New(tensor.WithShape(2), tensor.WithBacking([]int{1, 2})),
	} {
		_, err := tape.Eval(t.Context(), tape.Feed{k: d, l: one}, k, l)
		wantError(t, err, want)
	}
}

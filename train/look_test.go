package train_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// twoLayers has a name twice, once in each scope, a second time in one scope, and once outside.
func twoLayers(built *int) train.Build {
	return func(rows int, mode train.Mode) *train.Net {
		*built++
		g := graph.New("two layers")
		n, d, h := graph.Ax("n", rows), graph.Ax("d", 4), graph.Ax("h", 5)
		x, y := g.Input("x", graph.F32, n, d), g.Input("y", graph.I32, n)
		layer := func(scope string, x *graph.Node) *graph.Node {
			defer g.Scope(scope)()
			u := nn.NewLinear(g, "fc", graph.F32, x.Shape().Axis(1), h).Of(x).As("u")
			ops.Neg(u).As("same")
			ops.Square(u).As("same")
			return ops.Tanh(u).As("h")
		}
		top := ops.Scale(layer("b", layer("a", x)), 2).As("h")
		if mode == train.Evaluating {
			top = ops.Scale(top, 1).As("seen")
		}
		return &train.Net{Loss: nn.CrossEntropy(top, y), Output: top}
	}
}

// TestEndlessEpoch: what reads an epoch of its data refuses one without an end, whatever is around it.
func TestEndlessEpoch(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	tr := &train.Trainer{Build: func(int, train.Mode) *train.Net {
		g := graph.New("")
		w := g.Param("w", graph.F64).As("w")
		return &train.Net{Loss: ops.Square(w), Output: w}
	}, Optimiser: train.SGD(0.1)}
	defer tr.Close()
	endless := data.Generated("", 1, nil)
	prefetched := data.Prefetch(data.Map(endless, 0), 2)
	defer prefetched.Close()
	const want = ": an epoch of the data never ends: want data.Drawn, whose epochs have a number of batches, or data.InOrder"
	for _, source := range []data.Source{endless, data.Map(endless, 0), prefetched} {
		_, evaluate := tr.Evaluate(ctx, source)
		predict := tr.Predict(ctx, source, func(data.Batch, *tensor.Dense) error { return nil })
		look := tr.Look(ctx, source, []string{"w"}, func(data.Batch, []*tensor.Dense) error { return nil })
		for what, err := range map[string]error{"evaluate": evaluate, "predict": predict, "look": look} {
			if err == nil || err.Error() != what+want {
				t.Errorf("of %T: %v, want %s", source, err, what+want)
			}
		}
	}
	if err := tr.Predict(ctx, data.Drawn(data.Batch{Rows: 1}, 2, 0, func(*rand.Rand, data.Batch) error { return nil }),
		func(data.Batch, *tensor.Dense) error { return nil }); err != nil {
		t.Errorf("of what is drawn: %v", err)
	}
}

// TestLook: the values are those of the evaluating net, for every batch, and the position of the
// source and the store do not change. A second Look compiles nothing.
func TestLook(t *testing.T) {
	built := 0
	tr := &train.Trainer{Build: twoLayers(&built), Seed: 3, Workers: 1}
	defer tr.Close()
	ctx, set := context.Background(), iris(t)
	source := data.InOrder(set, 100)
	if _, err := source.Next(ctx); err != nil {
		t.Fatal(err)
	}
	var want, got []float32
	err := tr.Predict(ctx, source, func(_ data.Batch, output *tensor.Dense) error {
		want = append(want, output.Float32s()...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := bits(t, tr.Store())
	look := func() {
		built, got = 0, nil
		err := tr.Look(ctx, source, []string{"b/h", "h", "b/fc/w", "seen", "h"}, func(b data.Batch, values []*tensor.Dense) error {
			if len(values) != 5 || values[0].Shape()[0] != b.Rows || values[2].Shape()[1] != 5 {
				t.Fatalf("%d values for %d rows: %v", len(values), b.Rows, values)
			}
			for i, v := range values[0].Float32s() {
				if top := values[1].Float32s()[i]; top != 2*v || values[3].Float32s()[i] != top || values[4].Float32s()[i] != top {
					t.Fatalf("h is %v where b/h is %v", top, v)
				}
			}
			got = append(got, values[1].Float32s()...)
			return nil
		})
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d values, %v; want %d", len(got), err, len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("value %d is %v, want %v", i, got[i], want[i])
			}
		}
	}
	if look(); built != 2 {
		t.Errorf("built %d nets for two sizes of batch", built)
	}
	if look(); built != 0 {
		t.Errorf("built %d nets for a second look", built)
	}
	if at := (data.Position{Batch: 1}); source.Position() != at || bits(t, tr.Store()) != before {
		t.Errorf("the source stands at %v; the store is as it was: %v", source.Position(), bits(t, tr.Store()) == before)
	}
}

// TestLookMistakes: an error says what was expected; that of the caller's function is returned.
func TestLookMistakes(t *testing.T) {
	built := 0
	tr := &train.Trainer{Build: twoLayers(&built)}
	defer tr.Close()
	for _, c := range []struct {
		names string
		want  string
	}{
		{"", "look: no name of a quantity is given"},
		{"h sen", `look: nothing in two layers is called "sen": did you mean "seen"?`},
		{"a/fc/W", `look: nothing in two layers is called "a/fc/W": did you mean "a/fc/w"?`},
		{"u", `look: 2 quantities of two layers are called "u": want one of a/u, b/u`},
		{"a/same", `look: 2 quantities of two layers are called "a/same": want names that differ`},
		{"h\x00seen", "none"},
	} {
		none := errors.New("none")
		err := tr.Look(context.Background(), data.InOrder(iris(t), 0), strings.Fields(c.names), func(data.Batch, []*tensor.Dense) error { return none })
		if err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.names, err, c.want)
		}
	}
}

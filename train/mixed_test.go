package train_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// TestMixedPrecision: a net with parameters of f32 and products of bf16 or f16, fed images of u8,
// learns as the one of f32 does: after the same steps its loss differs by at most a twentieth.
func TestMixedPrecision(t *testing.T) {
	learn := func(dt graph.DType) (first, last float64) {
		const rows, d, h = 64, 16, 24
		g := graph.New("mixed")
		n := graph.Ax("n", rows)
		x := g.Input("x", graph.U8, n, graph.Ax("d", d))
		y := g.Input("y", graph.F32, n)
		product := func(x, w *graph.Node) *graph.Node {
			return ops.Cast(ops.MatMul(ops.Cast(x, dt), ops.Cast(w, dt)), graph.F32)
		}
		scaled := ops.Scale(ops.Cast(x, graph.F32), 1.0/255)
		hidden := ops.Tanh(ops.Add(product(scaled, g.Param("w", graph.F32, graph.Ax("d", d), graph.Ax("h", h))), g.Param("b", graph.F32, graph.Ax("h", h))))
		out := ops.Sum(product(hidden, g.Param("v", graph.F32, graph.Ax("h", h), graph.Dims(1)[0]).Init(initial.Normal(0, 0.3))), 1)
		loss := ops.Mean(ops.Square(ops.Sub(out, y)))
		step := train.Adam(0.01).Minimize(loss)
		prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(step))
		if err != nil {
			t.Fatal(err)
		}
		vm := tapetest.VM(t, prog, tape.NewStore(g, tape.Seed(3)))
		defer vm.Close()
		images, targets := graph.NewValue(x.Type()), graph.NewValue(y.Type())
		for i := range images.Data {
			images.Data[i] = float64((i * i * 31) % 256)
			targets.Data[i/d] += math.Sin(images.Data[i]/40) / 4
		}
		feed := tape.Feed{x: tape.Tensor(images), y: tape.Tensor(targets)}
		for k := range 300 {
			if err := vm.Run(context.Background(), feed); err != nil {
				t.Fatal(err)
			}
			if last, err = vm.Float(loss); err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				first = last
			}
		}
		return first, last
	}
	first, want := learn(graph.F32)
	if want > first/10 {
		t.Fatalf("f32 learns nothing: %v, then %v", first, want)
	}
	for _, dt := range []graph.DType{graph.F16, graph.BF16} {
		if _, got := learn(dt); math.Abs(got-want) > first/20 {
			t.Errorf("%v ends with %v, f32 with %v, of %v", dt, got, want, first)
		}
	}
}

// TestHalfIsNotTrained: parameters and losses of f16 and bf16 are mistakes that say what to do.
func TestHalfIsNotTrained(t *testing.T) {
	g := graph.New("half")
	w := g.Param("w", graph.BF16, graph.Dims(3)...)
	train.SGD(0.1).Minimize(ops.Sum(ops.Square(ops.Cast(w, graph.F32))))
	v := g.Param("v", graph.F32, graph.Dims(3)...)
	train.Adam(0.1).Minimize(ops.Sum(ops.Cast(v, graph.F16)))
	got := ""
	if err := g.Err(); err != nil {
		got = err.Error()
	}
	for _, want := range []string{
		"Minimize: parameter w is of type bf16, in which small steps get lost",
		"(make it f32, and ops.Cast it to graph.BF16 where it is used)",
		"Minimize: a loss of type f16, which has too few digits for it",
		"(compute it in f32: ops.Cast what it is made of to graph.F32)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

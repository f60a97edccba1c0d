package geometry_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestGeometryDrawsTheSame: places differ in nothing but the parameters. Gradients, curvature and
// surfaces of a loss that draws are those of one draw, that of the store's step, however often the
// program runs and whatever was sampled before.
func TestGeometryDrawsTheSame(t *testing.T) {
	ctx := context.Background()
	const seed, step = 6, 3
	place := []float64{1, -2, 0.5, 3}
	var u *graph.Node
	site := func(runs uint64) geometry.Site {
		s := own(t, "noisy", place, func(w *graph.Node) *graph.Node {
			u = ops.RandomUniform(w.Graph(), "u", graph.F64, w.Shape().Axes()...)
			return ops.Sum(ops.Mul(ops.Shift(u, 1), ops.Square(w)))
		})
		s.Store.Resume(seed, step, runs)
		return s
	}
	quiet := site(0)
	drawn, err := ref.Eval(trait.Env{Seed: seed, Step: step}, nil, u)
	if err != nil {
		t.Fatal(err)
	}
	// The loss Σ (1 + u_i)·w_i² has the gradient 2(1 + u)·w and the Hessian 2(1 + u) on its
	// diagonal.
	norm := 0.0
	for i, w := range place {
		norm = math.Hypot(norm, 2*(1+drawn[0].Data[i])*w)
	}
	surface, err := geometry.Surface(ctx, geometry.SurfaceConfig{Cells: 4}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for _, runs := range []uint64{0, 1, 7} {
		s := site(runs)
		angles, err := geometry.Angles(ctx, [][]float64{place, place, place, place}, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range angles.Steps {
			if math.Abs(a.Norms[0]-norm) > 1e-12*norm {
				t.Errorf("after %d runs, place %d: the gradient has the norm %v, want %v", runs, i, a.Norms[0], norm)
			}
		}
		c, err := s.Curvature(ctx, geometry.CurvatureConfig{})
		if err != nil {
			t.Fatal(err)
		}
		largest, smallest := 2*(1+slices.Max(drawn[0].Data)), 2*(1+slices.Min(drawn[0].Data))
		if !c.Converged || math.Abs(c.Largest.Value-largest) > 1e-5 || math.Abs(c.Smallest.Value-smallest) > 1e-5 {
			t.Errorf("after %d runs, curvatures from %v to %v, converged %v: want %v to %v", runs, c.Smallest.Value, c.Largest.Value, c.Converged, smallest, largest)
		}
		again, err := geometry.Surface(ctx, geometry.SurfaceConfig{Cells: 4, Workers: 3}, s)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.Surfaces, surface.Surfaces) {
			t.Errorf("after %d runs, another surface", runs)
		}
		if s.Store.Runs() != runs || s.Store.Step() != step {
			t.Errorf("after %d runs, looking leaves %d runs and step %d", runs, s.Store.Runs(), s.Store.Step())
		}
	}
}

package inspect_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
)

// TestBoundsOfQuantities: a bound stops in the training steps in which the quantity of the user's
// graph is beyond it, also if the program computes the quantity only as part of another value, if
// it is a derivative, or if it is an input or a parameter.
func TestBoundsOfQuantities(t *testing.T) {
	const last = 5
	for _, model := range []string{"kmeans-softmax", "regression-relu"} {
		sub := subject(t, model)
		s := open(t, sub)
		for _, n := range s.Written() {
			name := n.Label()
			if n.Name() == "" && n.Path() == "" || n.DType() == graph.I64 || s.First(inspect.OnNode(name)) < 0 || len(sameName(s.Written(), name)) != 1 || slices.ContainsFunc(sub.Step, func(u graph.Update) bool { return u.Target == n }) {
				continue
			}
			var largest [last + 1]float64
			for k := range largest {
				if err := s.Rewind(ctx, k); err != nil {
					t.Fatal(err)
				}
				q, err := s.Quantity(ctx, n)
				if err != nil {
					t.Fatal(err)
				}
				for i := range q.Value.Type.Shape.Len() {
					largest[k] = max(largest[k], math.Abs(q.Value.At(i)))
				}
			}
			sorted := slices.Sorted(slices.Values(largest[:]))
			middle := (sorted[2] + sorted[3]) / 2
			b, err := s.ParseBreak(fmt.Sprintf("|%s| > %g", name, middle))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			stopped := map[int]bool{}
			if err := s.Rewind(ctx, 0); err != nil {
				t.Fatal(err)
			}
			_ = s.Seek(0)
			for {
				_, ok, err := s.Continue(ctx, last, b)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				stopped[s.Step()] = true
			}
			for k := range largest {
				if k == 0 && s.First(inspect.OnNode(name)) == 0 {
					continue // going on begins behind it
				}
				if want := largest[k] > middle; stopped[k] != want && math.Abs(largest[k]-middle) > 1e-6*middle {
					t.Errorf("%s %v: stops in step %d: %v, want %v, because its largest element is %v", model, b, k, stopped[k], want, largest[k])
				}
			}
		}
	}
}

func sameName(nodes []*graph.Node, name string) (out []*graph.Node) {
	for _, n := range nodes {
		if n.Label() == name || n.Name() == name {
			out = append(out, n)
		}
	}
	return out
}

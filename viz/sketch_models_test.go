package viz

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
)

// A sketch of any model has no sign on another, no arrow across a sign, and few signs.
func TestSketchOfEveryModel(t *testing.T) {
	for _, b := range builders.All() {
		m, err := b.Build(nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		roots := []*graph.Node{m.Result()}
		for _, u := range m.Step {
			roots = append(roots, u.Value)
		}
		for _, derivatives := range []bool{false, true} {
			if derivatives {
				if m.Loss == nil || len(m.Step) > 0 {
					continue
				}
				roots = append(roots, grad.OrZero(m.Loss, m.Params()...)...)
			}
			s, err := Sketch(roots)
			if err != nil {
				t.Errorf("%s: %v", b.Name, err)
				continue
			}
			if err := s.CheckLayout(); err != nil {
				t.Errorf("%s, derivatives %v: %v", b.Name, derivatives, err)
			}
			if n := len(s.Signs); n > mostSigns {
				t.Errorf("%s, derivatives %v: %d signs", b.Name, derivatives, n)
			}
		}
	}
}

// The same holds for graphs that nobody thought of, with any of their axes apart.
func TestSketchOfRandomGraphs(t *testing.T) {
	for seed := range uint64(40) {
		m := randgraph.New(seed, 3+int(seed%23), graph.F64)
		roots := append(append([]*graph.Node{m.Loss}, m.Outputs...), grad.OrZero(m.Loss, m.Params...)...)
		for _, u := range m.Step {
			roots = append(roots, u.Value)
		}
		for _, axis := range []string{"", "i", "j", "k"} {
			s, err := Sketch(roots, Apart(axis))
			if err != nil {
				if !strings.Contains(err.Error(), "no array has an axis") {
					t.Errorf("seed %d: %v", seed, err)
				}
				continue
			}
			if err := s.CheckLayout(); err != nil {
				t.Errorf("seed %d, axis %q: %v", seed, axis, err)
			}
			if err := errors.Join(s.SVG(io.Discard), s.DOT(io.Discard)); err != nil {
				t.Errorf("seed %d, axis %q: %v", seed, axis, err)
			}
		}
	}
}

package ops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// meeting is a function of arrays that meet by broadcasting.
type meeting struct {
	name  string
	types []string // of the operands, whose axes are written over
	axes  []string // that the operands have behind those that meet
	make  func(in []*graph.Node) *graph.Node
}

// of calls the function with operands i and j of the given axes, and others that are scalars.
func (m meeting) of(t *testing.T, i, j int, a, b string) (*graph.Node, error) {
	g := graph.New("meet")
	in := make([]*graph.Node, len(m.types))
	for k, typ := range m.types {
		axes := ""
		switch k {
		case i:
			axes = a
		case j:
			axes = b
		}
		if m.axes != nil {
			axes += " " + m.axes[k]
		}
		dtype, _, _ := strings.Cut(typ, "[")
		full := operandType(t, dtype+"["+strings.TrimSpace(axes)+"]", graph.F64, nil)
		in[k] = g.Input(string(rune('a'+k)), full.DType, full.Shape.Axes()...)
	}
	y := m.make(in)
	return y, g.Err()
}

// meetings are all elementwise operations of several operands, the matrix product, and what is
// composed of them.
func meetings() (all []meeting) {
	for _, op := range ops.List() {
		if _, ok := op.(interface{ Scalar(...float64) float64 }); !ok || len(op.Cases()[0].Operands) < 2 {
			continue
		}
		c := op.Cases()[0]
		m := meeting{name: op.Name(), make: c.Make}
		for _, o := range c.Operands {
			m.types = append(m.types, o.Type)
		}
		all = append(all, m)
	}
	floats := []string{"f64[]", "f64[]", "f64[]"}
	two := func(name string, f func(a, b *graph.Node) *graph.Node) {
		all = append(all, meeting{name, floats[:2], nil, func(in []*graph.Node) *graph.Node { return f(in[0], in[1]) }})
	}
	two("Greater", ops.Greater)
	two("GreaterEqual", ops.GreaterEqual)
	return append(all,
		meeting{"Clip", floats, nil, func(in []*graph.Node) *graph.Node { return ops.Clip(in[0], in[1], in[2]) }},
		meeting{"MatMul", floats[:2], []string{"p=2 q=4", "q=4 r=5"}, func(in []*graph.Node) *graph.Node { return ops.MatMul(in[0], in[1]) }})
}

// TestColumnMeetsList: an operand of fewer axes never makes all pairs with another by position
// alone, whichever the operation; and what is near it and explicit is computed.
func TestColumnMeetsList(t *testing.T) {
	for _, m := range meetings() {
		for i := range m.types {
			for j := range m.types {
				if i == j {
					continue
				}
				for _, c := range []struct {
					a, b, want string // the shape of the result, or "" for the mistake
				}{
					{"n=3 1", "3", ""},
					{"n=3 1", "5", ""},
					{"3 1", "n=3", ""},
					{"n=3 1", "1 3", "n=3 3"},
					{"n=3 1", "j=3", "n=3 j=3"},
					{"n=3 d=1", "d=3", "n=3 d=3"},
					{"n=3 1", "1", "n=3 1"},
					{"n=3 1", "", "n=3 1"},
					{"n=3 4", "4", "n=3 4"},
					{"n=1 1", "3", "n=1 3"},
				} {
					y, err := m.of(t, i, j, c.a, c.b)
					if c.want != "" {
						want := "[" + c.want + "]"
						if m.axes != nil {
							want = "[" + c.want + " p=2 r=5]"
						}
						if err != nil || y.Shape().String() != want {
							t.Errorf("%s of [%s] and [%s]: %v, %v, want %s", m.name, c.a, c.b, y, err, want)
						}
						continue
					}
					start := fmt.Sprintf("%s: [%s] and [%s] would repeat each other, to all pairs of [", m.name, c.a, c.b)
					if y.IsValid() || err == nil || !strings.Contains(err.Error(), start) || !strings.Contains(err.Error(), "(want element by element: ops.Expand") {
						t.Errorf("%s of [%s] and [%s]: %v, %v, want %s…", m.name, c.a, c.b, y, err, start)
					}
				}
			}
		}
	}
}

// TestNothingElseBroadcasts: operations that are not elementwise take no column with a list, but
// for those whose operands do not meet.
func TestNothingElseBroadcasts(t *testing.T) {
	// Rows by a list of numbers; [3]·[n=3 1], summed over n, of integers too; a step of one's own; cases that add a matrix
	// to the list; a column searched for in the list.
	apart := []string{"Gather", "MatMul", "MatMulInteger", "Scan", "Scatter", "SearchSorted", "Solve", "SolveTriangular"}
	for _, op := range ops.List() {
		if _, ok := op.(interface{ Scalar(...float64) float64 }); ok {
			continue
		}
		for _, c := range op.Cases() {
			if len(c.Operands) < 2 {
				continue
			}
			m := meeting{make: c.Make}
			for _, o := range c.Operands {
				m.types = append(m.types, o.Type)
			}
			for _, pair := range [][2]int{{0, 1}, {1, 0}} {
				if y, err := m.of(t, pair[0], pair[1], "n=3 1", "3"); err == nil && !slices.Contains(apart, op.Name()) {
					t.Errorf("%s of a column and a list: %v", op.Name(), y)
				}
			}
		}
	}
}

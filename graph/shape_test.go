package graph_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
)

func shape(t *testing.T, text string) graph.Shape {
	t.Helper()
	var typ graph.Type
	if err := typ.UnmarshalText([]byte("f32" + text)); err != nil {
		t.Fatal(err)
	}
	return typ.Shape
}

// TestNewShape: which axes an array may have.
func TestNewShape(t *testing.T) {
	const most = min(40, strconv.IntSize-5)
	for _, c := range []struct {
		axes []graph.Axis
		want string
	}{
		{nil, "[]"},
		{graph.Dims(1, 2), "[1 2]"},
		{[]graph.Axis{{"α", 1}, {"x′", 2}, {"_1", 3}, {"Ω", 4}}, "[α=1 x′=2 _1=3 Ω=4]"},
		{graph.Dims(1, 1, 1, 1, 1, 1, 1, 1), "[1 1 1 1 1 1 1 1]"},
		{graph.Dims(1<<20, 1<<(most-20)), fmt.Sprintf("[1048576 %d]", 1<<(most-20))},
		{graph.Dims(1, 1, 1, 1, 1, 1, 1, 1, 1), "9 axes: at most 8 are allowed"},
		{graph.Dims(2, 0), "[2 0]"},
		{[]graph.Axis{{"i", -3}}, "axis 0 (i=-3) has size -3: want at least 0"},
		{graph.Dims(1<<20, 0, 1<<(most-20), 2), fmt.Sprintf("more than 2^%d elements", most)},
		{graph.Dims(1<<20, 1<<(most-20), 2), fmt.Sprintf("more than 2^%d elements", most)},
		{graph.Dims(math.MaxInt, math.MaxInt), fmt.Sprintf("more than 2^%d elements", most)},
		{[]graph.Axis{{"i", 2}, {"i", 2}}, `two axes are called "i"`},
		{[]graph.Axis{{"2d", 2}}, `axis name "2d": want letters, digits and _, not starting with a digit`},
		{[]graph.Axis{{"a b", 2}}, `axis name "a b": want letters, digits and _, not starting with a digit`},
		{[]graph.Axis{{"a=b", 2}}, `axis name "a=b": want letters, digits and _, not starting with a digit`},
	} {
		s, err := graph.NewShape(c.axes...)
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.axes, got, c.want)
		}
		if err == nil && shape(t, got) != s {
			t.Errorf("%s reads back as another shape", got)
		}
	}
}

func TestResolve(t *testing.T) {
	s := shape(t, "[i=3 4 d=5]")
	for _, c := range []struct {
		refs []any
		want string
	}{
		{nil, "[]"},
		{[]any{"d", 0, -2}, "[2 0 1]"},
		{[]any{3}, "axis 3 of [i=3 4 d=5]: it has 3 axes"},
		{[]any{-4}, "axis -4 of [i=3 4 d=5]: it has 3 axes"},
		{[]any{"q"}, `no axis "q" in [i=3 4 d=5]`},
		{[]any{""}, `no axis "" in [i=3 4 d=5]`},
		{[]any{"d", -1}, "axis -1 of [i=3 4 d=5] is given twice"},
		{[]any{int64(1)}, "axis 1 (int64): want an int or a name"},
		{[]any{nil}, "axis <nil> (<nil>): want an int or a name"},
	} {
		list, err := s.Resolve(c.refs...)
		got := attr.IntsOf(list...).String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: %s, want %s", c.refs, got, c.want)
		}
	}
}

// TestShapeIsTotal: an invalid node answers as a scalar does.
func TestShapeIsTotal(t *testing.T) {
	g := graph.New("g")
	bad := g.Input("", graph.F32)
	for _, n := range []*graph.Node{bad, bad.As("named"), g.Apply(nil)} {
		if n.IsValid() || n.Rank() != 0 || n.Dim(0) != 1 || n.Dim(-1) != 1 || n.Shape().Len() != 1 || n.DType() != graph.InvalidDType ||
			n.Shape().Index("i") != -1 || n.ID() != -1 || n.NumIn() != 0 || n.Name() != "" || n.String() != "invalid" || n.IsBackward() ||
			n.Graph() != g || len(n.Occurrences()) != 0 || n.First() != (graph.Occurrence{}) || n.Path() != "" || n.Role() != graph.RoleOp {
			t.Errorf("an invalid node says %v %v", n, n.Type())
		}
		if _, ok := n.Constant(); ok {
			t.Error("an invalid node is a constant")
		}
		if of, loss := n.AdjointOf(); of != nil || loss != nil {
			t.Error("an invalid node is a derivative")
		}
	}
	s := shape(t, "[i=3 4]")
	if s.Dim(2) != 1 || s.Dim(-1) != 1 || s.Axis(7) != (graph.Axis{Size: 1}) || s.Index("") != -1 || s.Len() != 12 {
		t.Errorf("%v is not total", s)
	}
	if !strings.Contains(g.Err().Error(), "want a name") {
		t.Errorf("got %v", g.Err())
	}
}

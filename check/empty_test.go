package check_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestWithoutElements: a net on no rows, with a parameter that has no elements, passes all checks.
func TestWithoutElements(t *testing.T) {
	g := graph.New("no rows")
	x := g.Input("x", graph.F32, graph.Ax("i", 0), graph.Ax("d", 3))
	w, e := g.Param("w", graph.F32, graph.Ax("d", 3), graph.Ax("k", 2)), g.Param("e", graph.F32, graph.Ax("k", 0))
	h := ops.Tanh(ops.MatMul(x, w)).As("h")
	loss := ops.Add(ops.Sum(ops.Square(h)), ops.Add(ops.Sum(ops.Sin(e)), ops.Sum(ops.Square(w)))).As("L")
	for _, v := range check.Graph(t.Context(), loss) {
		if !v.OK() {
			t.Error(v)
		}
	}
}

// halved is the identity of arrays whose first axis divides another number: its Infer does not think of
// a size of 0.
type halved struct{ cosh }

func (halved) Name() string { return "Halved" }
func (halved) Infer(in []*graph.Node) (graph.Type, error) {
	typ, err := in1(in)
	if err == nil && in[0].Rank() > 0 && 12%in[0].Dim(0) != 0 {
		err = errors.New("want a divisor of 12")
	}
	return typ, err
}

// TestInferOfNothing: an operation whose types are not found where an axis has size 0 is told so.
func TestInferOfNothing(t *testing.T) {
	err := check.Op(halved{}, ops.Case{Operands: []ops.Operand{{Type: "f64[3]", Domain: ops.Reals}}, Make: func(in []*graph.Node) *graph.Node { return graph.Apply(halved{}, in[0]) }})
	if want := "Halved: its Infer panics on f32[0 3]: runtime error: integer divide by zero"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

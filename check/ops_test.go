package check_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// sinh and cosh are each other's derivative.
type (
	sinh struct{}
	cosh struct{}
)

func (sinh) Name() string                               { return "HyperbolicSine" }
func (cosh) Name() string                               { return "HyperbolicCosine" }
func (sinh) Infer(in []*graph.Node) (graph.Type, error) { return in1(in) }
func (cosh) Infer(in []*graph.Node) (graph.Type, error) { return in1(in) }
func (sinh) Scalar(x ...float64) float64                { return math.Sinh(x[0]) }
func (cosh) Scalar(x ...float64) float64                { return math.Cosh(x[0]) }
func (sinh) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return ops.Mul(dy, graph.Apply(cosh{}, y.In(0)))
}
func (cosh) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return ops.Mul(dy, graph.Apply(sinh{}, y.In(0)))
}

func in1(in []*graph.Node) (graph.Type, error) {
	if len(in) != 1 || !in[0].DType().IsFloat() {
		return graph.Type{}, errors.New("want one array of floats")
	}
	return in[0].Type(), nil
}

// TestOpsThatNeedEachOther: operations from outside whose derivatives use each other are
// checked together, and each alone is told what it lacks.
func TestOpsThatNeedEachOther(t *testing.T) {
	of := func(op graph.Op) []ops.Case {
		return []ops.Case{{Operands: []ops.Operand{{Type: "float[i=3]", Domain: ops.Reals}}, Make: func(in []*graph.Node) *graph.Node { return graph.Apply(op, in[0]) }}}
	}
	if err := check.Ops(check.Subject{Op: sinh{}, Cases: of(sinh{})}, check.Subject{Op: cosh{}, Cases: of(cosh{})}); err != nil {
		t.Error(err)
	}
	if err := check.Op(sinh{}, of(sinh{})...); err == nil || !strings.Contains(err.Error(), "HyperbolicCosine") {
		t.Errorf("alone: %v", err)
	}
	if err := check.Ops(check.Subject{}, check.Subject{Op: cosh{}, Cases: of(cosh{})}); err == nil {
		t.Error("no operation is taken")
	}
}

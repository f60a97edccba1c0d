package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// inRange is an index that must be one of so many places, although the operation that takes
// it has more: those of all examples, one example after the other.
type inRange struct {
	flat
	Size int
}

func (inRange) Name() string     { return "InRange" }
func (inRange) Kind() match.Kind { return match.InRange }
func (inRange) Doc() string      { return "an index, which must be within the axis" }

// Places says that the operand is an index.
func (op inRange) Places(*graph.Node) (operand, size int) { return 0, op.Size }

// Keeps is of the operand.
func (inRange) Keeps(*graph.Node, float64) (operand int, ok bool) { return 0, true }

// wantPlaces refuses indices of places that are none.
func wantPlaces(index *graph.Node, places int) error {
	if places > 0 || index.Shape().Len() == 0 {
		return nil
	}
	return &graph.Mistake{Problem: fmt.Sprintf("indices %v of an axis of size 0, which has no place for them", index), Fix: "give no indices, or an axis with elements"}
}

func (op inRange) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if !in[0].DType().IsInt() || op.Size < 0 {
		return graph.Type{}, fmt.Errorf("%v as an index of %d places: want i32 or i64, and at least 0", in[0].DType(), op.Size)
	}
	return in[0].Type(), wantPlaces(in[0], op.Size)
}

func (op inRange) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(op, in[0])
}

func (inRange) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	return graph.Value{Type: y.Type(), Data: in[0].Data}
}

func (op inRange) Kernel(*graph.Node) kernel.Kernel { return kernel.InRange{Size: op.Size} }

func (inRange) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0] }

func (inRange) Cases() []Case {
	return []Case{{[]Operand{{"i64[i=3 k=2]", Index(5)}}, func(in []*graph.Node) *graph.Node { return graph.Apply(inRange{Size: 5}, in[0]) }}}
}

package ops

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type sparsemax struct{ Axis int }

// Sparsemax returns max(x − τ, 0) along one axis of floats x, in the shape of x, with the number τ of
// each row for which the sum is 1: of all weights with that sum those nearest to x (Martins &
// Astudillo, From softmax to sparsemax, 2016). Unlike those of [Softmax], weights far below the largest
// are 0, and so are their derivatives; the derivative within the support, where weights are positive,
// is dx − mean(dx). It takes O(n log n) steps for rows of n elements. Where all elements along the axis
// are −∞, or one is +∞ or NaN, the result is NaN.
func Sparsemax(x *graph.Node, axis any) *graph.Node {
	return withAxes("Sparsemax", x, []any{axis}, func(list []int) *graph.Node { return graph.Apply(sparsemax{list[0]}, x) })
}

func (sparsemax) Name() string           { return "Sparsemax" }
func (sparsemax) Kind() match.Kind       { return match.Sparsemax }
func (op sparsemax) Along() attr.AxisSet { return attr.AxesOf(op.Axis) }
func (sparsemax) Doc() string            { return "nearest weights with the sum 1 along an axis" }

func (sparsemax) Convention() string {
	return "an element that the threshold equals is not in the support: its derivative is 0"
}

// Rule returns the name of the rule of its derivative.
func (sparsemax) Rule(_ []bool) (name string, law expr.Expr) {
	return named("within the support, less the mean")
}

func (op sparsemax) Infer(in []*graph.Node) (graph.Type, error) { return inferAlong(in, op.Axis) }
func (op sparsemax) Kernel(*graph.Node) kernel.Kernel           { return kernel.Sparsemax{Axis: op.Axis} }
func (sparsemax) Cases() []Case                                 { return alongCases(Sparsemax) }

// Grad uses y: dx = s·(dy − Σ s·dy/Σ s), where s is 1 in the support and 0 elsewhere.
func (op sparsemax) Grad(y, dy *graph.Node, _ int) *graph.Node {
	inside := Greater(y, Lit(y, 0))
	count := Sum(Cast(inside, y.DType()), op.Axis, Keep)
	mean := Div(Sum(Select(inside, dy, Lit(dy, 0)), op.Axis, Keep), count)
	return Select(inside, Sub(dy, mean), Lit(dy, 0))
}

// JVP is Grad: the Jacobian is symmetric.
func (op sparsemax) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return op.Grad(y, dx[0], 0) }

func (op sparsemax) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(sparsemax{op.Axis + 1}, in[0])
}

func (op sparsemax) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	eachRow(y.Shape(), op.Axis, func(places []int) {
		row, most := make([]float64, len(places)), math.Inf(-1)
		for i, p := range places {
			row[i] = in[0].Data[p]
			most = max(most, row[i]) // NaN if any is
		}
		for i := range row {
			row[i] -= most
		}
		τ, sum := 0.0, 0.0
		if math.IsNaN(most) || math.IsInf(most, 0) {
			τ = math.NaN()
		}
		for k, v := range slices.Backward(slices.Sorted(slices.Values(row))) {
			sum += v
			if n := float64(len(row) - k); 1+n*v > sum {
				τ = (sum - 1) / n
			}
		}
		for i, p := range places {
			out.Data[p] = max(row[i]-τ, 0)
		}
	})
	return out
}

func (op sparsemax) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return functionAlong("sparsemax", y, op.Axis, in[0])
}

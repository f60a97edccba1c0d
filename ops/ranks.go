package ops

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// Neither operation is defined element by element, nor linear in the sense of [trait.Linear],
// although both are the identity where there is one lane: a rule that moved a factor out of a sum
// over lanes, or into a copy for them, would be wrong where each lane has a factor of its own.

// lanewise is embedded by operations between lanes on floats of one shape.
type lanewise struct{}

func (lanewise) Infer(in []*graph.Node) (graph.Type, error) { return inferEach(in, 1, wantFloat) }

func (lanewise) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	copy(out.Data, in[0].Data)
	return out
}

func (lanewise) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

func (lanewise) Batch(y *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(y.Op(), in[0])
}

func (lanewise) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }

type sumRanks struct{ lanewise }

// SumRanks returns the sum of x over the lanes of a step, in the shape of floats x. A step of training is
// cut into lanes, which ranks share out (package train/parallel): all run one graph, each on rows of its
// own. So a value is either the same on all lanes, as parameters, states and constants are, or each
// lane's own, as rows, random draws and whatever is computed of them. SumRanks makes of values of
// their own one that all lanes have; [CopyRanks] makes of one that all have a value of each lane's own.
// With x_l for that of lane l,
//
//	y = Σ_l x_l,  of the same y on all lanes:      ∂loss/∂x_l = ∂loss/∂y
//	y_l = x,      of y_l on each lane:             ∂loss/∂x = Σ_l ∂loss/∂y_l
//
// so each is the transpose of the other, and the derivative of either is the other. The loss is the sum
// of what the lanes have of it. A parameter that lanes use as it is has on each the derivative of that
// lane's part alone, and the sum of these is its derivative: the trainer puts SumRanks there, between the
// derivatives and the optimiser. What is made of a sum must be copied before it meets values of a lane's
// own, or parameters, for the derivatives to be right:
//
//	mean := ops.Scale(ops.SumRanks(ops.Sum(x, "i")), 1/float64(n))
//	y := ops.Sub(x, ops.CopyRanks(mean))
//
// Where a graph is run as a whole, there is one lane, and y is x; SumRanks(CopyRanks(x)) is x there, and
// as many times x as there are lanes otherwise. All lanes wait for each other in a sum (tape.Lanes), so
// it may not stand in the body of a loop, a branch or a checkpoint.
//
// JAX calls the two psum and pvary, and the values varying and invariant (its documentation of
// shard_map); Megatron-LM has them as g and f (Shoeybi et al., 2019).
func SumRanks(x *graph.Node) *graph.Node { return graph.Apply(sumRanks{}, x) }

func (sumRanks) Name() string                              { return "SumRanks" }
func (sumRanks) Kind() match.Kind                          { return match.SumRanks }
func (sumRanks) Doc() string                               { return "the sum over the lanes of a step" }
func (sumRanks) Cases() []Case                             { return case1(SumRanks, Reals) }
func (sumRanks) Kernel(*graph.Node) kernel.Kernel          { return kernel.SumRanks{} }
func (sumRanks) Grad(y, dy *graph.Node, _ int) *graph.Node { return CopyRanks(dy) }

func (sumRanks) Rule([]bool) (name string, law expr.Expr) {
	return named("a sum over lanes: the same for each of them")
}

func (sumRanks) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.OverLanes(in[0])
}

type copyRanks struct{ lanewise }

// CopyRanks returns x, floats that are the same on all lanes of a step, for each lane to compute on: it
// costs nothing, and its derivative is the sum of those of the lanes, [SumRanks], which says when it
// is wanted.
func CopyRanks(x *graph.Node) *graph.Node { return graph.Apply(copyRanks{}, x) }

func (copyRanks) Name() string                              { return "CopyRanks" }
func (copyRanks) Kind() match.Kind                          { return match.CopyRanks }
func (copyRanks) Doc() string                               { return "a value that all lanes have, for each of them" }
func (copyRanks) Cases() []Case                             { return case1(CopyRanks, Reals) }
func (copyRanks) Grad(y, dy *graph.Node, _ int) *graph.Node { return SumRanks(dy) }

func (copyRanks) Rule([]bool) (name string, law expr.Expr) {
	return named("a value that all lanes have: sum over lanes")
}

func (copyRanks) View(y *graph.Node) kernel.View {
	return kernel.Reshape{Rank: y.Rank(), Dims: sizes8(y.Shape())}
}

func (copyRanks) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0] }

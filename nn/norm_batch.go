package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// momentum is the part of a new batch in the running statistics.
const momentum = 0.1

// BatchNorm gives each channel mean 0 and variance 1 over the batch and all places, then scales and
// shifts it (Ioffe & Szegedy, 2015; the notes on batch normalisation). Training uses the statistics
// of the batch and keeps running averages of them, which evaluation uses:
//
//	y = (x − μ)/√(σ² + 10⁻⁵) · gain + bias
//	running ← 0.9·running + 0.1·of the batch
//
// As in PyTorch, the running variance divides by n−1, that of the batch by n. Graphs for training
// and for evaluation share all four arrays by their paths.
type BatchNorm struct {
	Name string
	Gain *graph.Node // gain[c]; nil for none
	Bias *graph.Node // bias[c]; nil for none
	Mean *graph.Node // the running mean[c], a state
	Var  *graph.Node // the running variance[c], a state
}

// NewBatchNorm adds the parameters NAME/gain[c], of ones, and NAME/bias[c], of
// zeros, and the states NAME/mean[c], of zeros, and NAME/var[c], of ones.
func NewBatchNorm(g *graph.Graph, name string, dt graph.DType, c graph.Axis) BatchNorm {
	defer g.Scope(name)()
	return BatchNorm{name,
		g.Param("gain", dt, c).Init(initial.Fill(1)), g.Param("bias", dt, c),
		g.State("mean", dt, c), g.State("var", dt, c).Init(initial.Fill(1))}
}

// Of returns the normalised x[n … c] in evaluation, by the running statistics, in the shape of x.
func (l BatchNorm) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.Mean)()
	return build.Affine(standardised(x, l.Mean, l.Var), l.Gain, l.Bias)
}

// OfTrain returns the normalised x[n … c] in training, in the shape of x, and the step that updates
// the running statistics. Fewer than two elements of a channel are a mistake. A step updates a
// state once: of a layer that is applied twice in training, run only one of the updates.
func (l BatchNorm) OfTrain(x *graph.Node) (y *graph.Node, step graph.Step) {
	defer build.Within(l.Name, x, l.Mean)()
	μ, σ2, n, err := l.statistics(x)
	if err != nil {
		return graph.Of(x, l.Mean).Fail("BatchNorm", err, x), nil
	}
	y = build.Affine(ops.Standardise(x, build.Epsilon, span(x, 0)...), l.Gain, l.Bias)
	g := graph.Of(x, l.Mean)
	return y, graph.Step{
		g.Assign(l.Mean, towards(l.Mean, μ)),
		g.Assign(l.Var, towards(l.Var, ops.Scale(σ2, n/(n-1)))),
	}
}

// statistics returns the mean and the variance of every channel over its n elements.
func (l BatchNorm) statistics(x *graph.Node) (μ, σ2 *graph.Node, n float64, err error) {
	if !x.IsValid() {
		return x, x, 2, nil // the cause is recorded, or ops will
	}
	if x.Rank() < 2 || x.Shape().Len() <= build.Last(x).Size {
		return nil, nil, 0, fmt.Errorf("want an array [n … c] with at least two elements of a channel")
	}
	μ, σ2 = moments(x, span(x, 0))
	return μ, σ2, float64(x.Shape().Len() / build.Last(x).Size), nil
}

// towards moves a running statistic to that of the batch.
func towards(running, batch *graph.Node) *graph.Node {
	return ops.Add(running, ops.Scale(ops.Sub(batch, running), momentum))
}

// moments returns the mean and the variance over the given axes, which come first.
func moments(x *graph.Node, axes []any) (μ, σ2 *graph.Node) {
	μ = ops.Mean(x, axes...).As("μ")
	return μ, ops.Mean(ops.Square(ops.Sub(x, μ)), axes...).As("σ²")
}

// standardised returns x by given statistics: (x − μ)/√(σ² + ε).
func standardised(x, μ, σ2 *graph.Node) *graph.Node {
	return ops.Div(ops.Sub(x, μ), ops.Sqrt(ops.Shift(σ2, build.Epsilon)))
}

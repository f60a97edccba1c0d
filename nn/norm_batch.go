package nn

import (
	"cmp"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// BatchNorm gives each channel mean 0 and variance 1 over the batch and all places, then scales and
// shifts it (Ioffe & Szegedy, 2015; the notes on batch normalisation). Training uses the statistics
// of the batch and keeps running averages of them, which evaluation uses:
//
//	y = (x − μ)/√(σ² + ε) · gain + bias
//	running ← (1 − momentum)·running + momentum·of the batch
//
// ε is 10⁻⁵ and the momentum 0.1 unless the fields say otherwise: Keras has 10⁻³ and 0.01, which it
// calls momentum 0.99.
//
// As in PyTorch, the running variance divides by n−1, that of the batch by n. Graphs for training
// and for evaluation share all four arrays by their paths.
//
// In a step of lanes (package train/parallel) a batch is what a lane has: each lane standardises by the
// statistics of its own rows, and the running statistics move to the mean over the lanes, by their
// rows. So the results depend on the number of lanes, and a lane must not be too small. With Global μ
// and σ² are those of all lanes together, the whole batch's, as SyncBatchNorm's of PyTorch are: the
// lanes exchange two sums on the way and two on the way back ([ops.SumRanks]), for each of which
// all of them wait. In a graph that is run as a whole both are the same, up to rounding.
type BatchNorm struct {
	Name string
	Gain *graph.Node // gain[c]; nil for none
	Bias *graph.Node // bias[c]; nil for none
	Mean *graph.Node // the running mean[c], a state
	Var  *graph.Node // the running variance[c], a state

	Epsilon  float64 // ε, added to the variance; 0 stands for 10⁻⁵
	Momentum float64 // the part of a new batch in the running statistics, at most 1; 0 stands for 0.1
	Global   bool    // the statistics are those of all lanes of a step, not of each lane's rows
}

// NewBatchNorm adds the parameters NAME/gain[c], of ones, and NAME/bias[c], of
// zeros, and the states NAME/mean[c], of zeros, and NAME/var[c], of ones.
func NewBatchNorm(g *graph.Graph, name string, dt graph.DType, c graph.Axis) BatchNorm {
	defer g.Scope(name)()
	return BatchNorm{
		Name: name,
		Gain: g.Param("gain", dt, c).Init(initial.Fill(1)), Bias: g.Param("bias", dt, c),
		Mean: g.State("mean", dt, c), Var: g.State("var", dt, c).Init(initial.Fill(1)),
	}
}

// settings returns ε and the momentum, and an error that says which is out of range.
func (l BatchNorm) settings() (ε, momentum float64, err error) {
	ε, momentum = cmp.Or(l.Epsilon, build.Epsilon), cmp.Or(l.Momentum, 0.1)
	switch {
	case !(ε > 0) || math.IsInf(ε, 0):
		err = fmt.Errorf("ε = %v: want a finite number above 0", ε)
	case !(momentum > 0 && momentum <= 1):
		err = fmt.Errorf("a momentum of %v: want a number above 0, and at most 1", momentum)
	}
	return ε, momentum, err
}

// Of returns the normalised x[n … c] in evaluation, by the running statistics, in the shape of x.
func (l BatchNorm) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.Mean)()
	ε, _, err := l.settings()
	if err != nil {
		return graph.Of(x, l.Mean).Fail("BatchNorm", err, x)
	}
	return build.Affine(standardised(x, l.Mean, l.Var, ε), l.Gain, l.Bias)
}

// OfTrain returns the normalised x[n … c] in training, in the shape of x, and the step that updates
// the running statistics. Fewer than two elements of a channel are a mistake; of a norm that is
// Global, whose other lanes have more, one will do. A step updates a state once: of a layer that is
// applied twice in training, run only one of the updates.
func (l BatchNorm) OfTrain(x *graph.Node) (y *graph.Node, step graph.Step) {
	defer build.Within(l.Name, x, l.Mean)()
	ε, momentum, err := l.settings()
	if err != nil {
		return graph.Of(x, l.Mean).Fail("BatchNorm", err, x), nil
	}
	y, μ, σ2, err := l.ofBatch(x, ε)
	if err != nil {
		return graph.Of(x, l.Mean).Fail("BatchNorm", err, x), nil
	}
	g := graph.Of(x, l.Mean)
	return build.Affine(y, l.Gain, l.Bias), graph.Step{
		g.Assign(l.Mean, towards(l.Mean, μ, momentum)),
		g.Assign(l.Var, towards(l.Var, σ2, momentum)),
	}
}

// ofBatch returns x standardised by the batch's statistics, its mean, and its variance over n−1.
func (l BatchNorm) ofBatch(x *graph.Node, ε float64) (y, μ, σ2 *graph.Node, err error) {
	if !x.IsValid() {
		return ops.Standardise(x, ε), x, x, nil // the cause is recorded, or ops will
	}
	axes, least, want := span(x, 0), 2, "two elements"
	if l.Global {
		least, want = 1, "one element"
	}
	n := 0
	if x.Rank() >= 2 {
		n = x.Shape().Len() / max(1, build.Last(x).Size)
	}
	switch {
	case n < least:
		return nil, nil, nil, fmt.Errorf("want an array [n … c] with at least %s of a channel", want)
	case l.Global:
		y, μ, σ2 = standardisedOverLanes(x, ε, axes)
		return y, μ, σ2, nil
	}
	μ, σ2 = moments(x, axes)
	return ops.Standardise(x, ε, axes...), μ, ops.Scale(σ2, float64(n)/float64(n-1)), nil
}

// towards moves a running statistic to that of the batch.
func towards(running, batch *graph.Node, momentum float64) *graph.Node {
	return ops.Add(running, ops.Scale(ops.Sub(batch, running), momentum))
}

// moments returns the mean and the variance over the given axes, which come first.
func moments(x *graph.Node, axes []any) (μ, σ2 *graph.Node) {
	μ = ops.Mean(x, axes...).As("μ")
	return μ, ops.Mean(ops.Square(ops.Sub(x, μ)), axes...).As("σ²")
}

// standardised returns x by given statistics: (x − μ)/√(σ² + ε).
func standardised(x, μ, σ2 *graph.Node, ε float64) *graph.Node {
	return ops.Div(ops.Sub(x, μ), ops.Sqrt(ops.Shift(σ2, ε)))
}

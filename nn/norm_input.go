package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// The notes list the sources of the mean and the variance by which inputs are standardised. Those
// of a pixel or a channel are those of the training images, kept as states and used for every image
// (InputNorm). Those of an image or a patch come from the image itself (StandardiseImage,
// StandardisePatch). The range of the numbers is known beforehand (CentreRange). All are for x[n h
// w c].

// InputNorm standardises inputs by the mean and the variance of all training images so far:
//
//	y = (x − μ)/√(σ² + 10⁻⁵)
//
// After a pass over the training set μ and σ² are those of the set, whatever batches it came in, and
// evaluation uses the same. Before a step of [InputNorm.OfTrain] has run, the mean is 0 and the
// variance 1.
//
// In a step of lanes (package train/parallel) each lane adds its own images, and the statistics move to
// the mean over the lanes, in which the differences between lanes are missing from the variance; lanes
// of different numbers of images cannot count them so, which is an error of the trainer. With Global
// the statistics are those of the images of all lanes.
type InputNorm struct {
	Name       string
	Mean       *graph.Node // μ over the axes that have their own statistics: [h w c] or [c]
	Var        *graph.Node // σ², likewise
	Count      *graph.Node // how many numbers each of them is of, so far
	CentreOnly bool        // y = x − μ, which leaves the spread
	Global     bool        // the images are those of all lanes of a step, not each lane's own
}

// NewInputNorm adds the states NAME/mean and NAME/var over the given axes, which are the last ones
// of the inputs: h, w and c for statistics of every pixel and channel, or c for those of every
// channel; and NAME/count.
func NewInputNorm(g *graph.Graph, name string, dt graph.DType, axes ...graph.Axis) InputNorm {
	defer g.Scope(name)()
	return InputNorm{Name: name, Mean: g.State("mean", dt, axes...), Var: g.State("var", dt, axes...).Init(initial.Fill(1)), Count: g.State("count", dt)}
}

// Of standardises x by the fitted statistics, in the shape of x.
func (l InputNorm) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.Mean)()
	return l.by(x, l.Mean, l.Var)
}

// OfTrain adds the images x to the statistics and standardises x by them. The step stores the
// statistics for [InputNorm.Of]. x must have more axes than the statistics. The mean and the sum of
// squares of two samples make those of both (Chan, Golub & LeVeque, 1983): with a weight w of the
// new sample among all,
//
//	μ′ = μ + w·(μₓ − μ),  σ²′ = σ² + w·(σ²ₓ − σ²) + w·(1−w)·(μₓ − μ)²
func (l InputNorm) OfTrain(x *graph.Node) (y *graph.Node, step graph.Step) {
	defer build.Within(l.Name, x, l.Mean)()
	g := graph.Of(x, l.Mean)
	var axes []any
	size := 1
	if x.IsValid() && l.Mean.IsValid() {
		for a := range x.Rank() - l.Mean.Rank() {
			axes = append(axes, a)
			size *= x.Dim(a)
		}
		if len(axes) == 0 {
			return g.Fail("InputNorm", fmt.Errorf("want more axes than the statistics have"), x, l.Mean), nil
		}
	}
	var μx, σ2x, n *graph.Node
	if l.Global && x.IsValid() {
		μx, σ2x, n = momentsOverLanes(x, axes)
		n = ops.Cast(n, x.DType())
	} else {
		μx, σ2x = moments(x, axes)
		n = ops.Lit(l.Count, float64(size))
	}
	count := ops.Add(l.Count, n)
	w := ops.Div(n, count).As("w")
	away := ops.Sub(μx, l.Mean)
	μ := ops.Add(l.Mean, ops.Mul(w, away)).As("μ′")
	between := ops.Mul(ops.Mul(w, ops.OneMinus(w)), ops.Square(away))
	σ2 := ops.Add(ops.Add(l.Var, ops.Mul(w, ops.Sub(σ2x, l.Var))), between).As("σ²′")
	step = graph.Step{g.Assign(l.Mean, μ), g.Assign(l.Var, σ2), g.Assign(l.Count, count)}
	if l.Global {
		μ, σ2 = ops.CopyRanks(μ), ops.CopyRanks(σ2)
	}
	return l.by(x, μ, σ2), step
}

func (l InputNorm) by(x, μ, σ2 *graph.Node) *graph.Node {
	if l.CentreOnly {
		return ops.Sub(x, μ)
	}
	return standardised(x, μ, σ2, build.Epsilon)
}

// StandardiseImage gives every channel of every image of floats x[n … c] mean 0 and variance 1 over
// all places, in the shape of x. An array without axes between the first and the last is a mistake.
func StandardiseImage(x *graph.Node) *graph.Node {
	axes := positions(x)
	if x.IsValid() && len(axes) == 0 {
		return wantPositions("StandardiseImage", x)
	}
	return ops.Standardise(x, build.Epsilon, axes...)
}

// CentreImage subtracts from every channel of every image of floats x[n … c] its mean over all
// places.
func CentreImage(x *graph.Node) *graph.Node {
	axes := positions(x)
	if x.IsValid() && len(axes) == 0 {
		return wantPositions("CentreImage", x)
	}
	return ops.Sub(x, ops.Mean(x, append(axes, ops.Keep)...).As("μ"))
}

// CentrePatch subtracts from every pixel of floats x[n h w c] the mean of its channel over the k×k
// pixels around it, at the edges over those within the image. An even k is a mistake.
func CentrePatch(x *graph.Node, k int) *graph.Node {
	return ops.Sub(x, patchMean(x, k).As("μ"))
}

// StandardisePatch divides [CentrePatch] by the root mean square of its values over the same patch:
// local contrast normalisation (Jarrett et al., 2009). The divisor is a mean of squares, never a
// difference of large numbers.
func StandardisePatch(x *graph.Node, k int) *graph.Node {
	v := CentrePatch(x, k)
	σ2 := patchMean(ops.Square(v), k).As("σ²")
	return ops.Div(v, ops.Sqrt(ops.Shift(σ2, build.Epsilon)))
}

func patchMean(x *graph.Node, k int) *graph.Node {
	if k < 1 || k%2 == 0 {
		return graph.Of(x).Fail("patch", fmt.Errorf("patches of size %d: want an odd number of at least 1", k), x)
	}
	return ops.AvgPool2D(x, ops.Size(k), ops.Stride(1), ops.Padding(k/2), ops.ExcludePadding())
}

// CentreRange maps the range from lo to hi linearly to that from −1 to 1, without any statistics of
// x, which are floats. lo must be less than hi; anything else is a mistake.
func CentreRange(x *graph.Node, lo, hi float64) *graph.Node {
	if !(lo < hi) {
		return graph.Of(x).Fail("CentreRange", fmt.Errorf("a range from %v to %v", lo, hi), x)
	}
	return ops.Scale(ops.Shift(x, -(lo+hi)/2), 2/(hi-lo))
}

package attention

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// SinusoidalAt returns the sinusoidal encoding PE[… m] of times t[…] (Vaswani et al., 2017):
//
//	PE(t, 2i) = sin(t·ωᵢ),  PE(t, 2i+1) = cos(t·ωᵢ),  ωᵢ = 10000^(−2i/m)
//
// The notes read each pair of features as the hand of a clock, which turns more slowly than the one
// before: k steps turn every hand by an angle that does not depend on t; see [Rotation] and
// [Rotary]. t holds floats. With an odd m, the last hand has a sine only.
func SinusoidalAt(t *graph.Node, m graph.Axis) *graph.Node {
	defer graph.Of(t).Scope("clock")()
	angle := handAngles(t, m.Size)
	hands := ops.Concat(-1, ops.Expand(ops.Sin(angle).As("sin"), -1, "c"), ops.Expand(ops.Cos(angle).As("cos"), -1, "c"))
	if !hands.IsValid() {
		return hands
	}
	if hands = ops.Merge(hands, m.Name, -2, -1); m.Size%2 != 0 {
		hands = ops.Slice(hands, -1, 0, m.Size) // the last hand shows its sine alone
	}
	return hands.As("PE")
}

// handAngles returns t·ω along a new last axis, for m features.
func handAngles(t *graph.Node, m int) *graph.Node {
	if !t.IsValid() {
		return t
	}
	ω := t.Graph().ConstantFunc(t.DType(), func(ω []float64) {
		for i := range ω {
			ω[i] = speed(i, m)
		}
	}, graph.Ax("hand", (m+1)/2)).As("ω")
	return ops.Mul(build.EveryPair(t, ω)).As("angle")
}

// speed returns the angle ωᵢ by which a hand of m features turns in a step.
func speed(i, m int) float64 { return math.Pow(10000, -2*float64(i)/float64(m)) }

// Sinusoidal returns the sinusoidal encoding PE[t m] of the places 0, 1, … of an axis, a constant
// of type dt; see [SinusoidalAt].
func Sinusoidal(g *graph.Graph, dt graph.DType, t, m graph.Axis) *graph.Node {
	return SinusoidalAt(build.Counting(g, dt, t), m)
}

// Rotation returns the matrix r[m m′] that advances [SinusoidalAt] by k steps,
//
//	PE(t)·R(k) = PE(t + k)
//
// a rotation of each pair of features by the angle k·ωᵢ. It does not depend on t, so a linear map
// can ask for what is k places away.
func Rotation(g *graph.Graph, dt graph.DType, from, to graph.Axis, k float64) *graph.Node {
	m := from.Size
	if m%2 != 0 || m < 2 || to.Size != m {
		return g.Fail("Rotation", &graph.Mistake{
			Problem: fmt.Sprintf("%v features to %v: a hand has two, its sine and its cosine", from, to), Fix: "take an even number, the same twice"})
	}
	return g.ConstantFunc(dt, func(r []float64) {
		for i := range m / 2 {
			s, c := math.Sincos(k * speed(i, m))
			r[2*i*m+2*i], r[2*i*m+2*i+1] = c, -s
			r[(2*i+1)*m+2*i], r[(2*i+1)*m+2*i+1] = s, c
		}
	}, from, to).As("R")
}

// Rotary returns x[… m] with a rotary embedding (Su et al., 2021), in the shape of x: each pair of
// features is rotated as in [SinusoidalAt] at the time by[…], floats that broadcast to the axes of
// x before the last. The product of a query and a key that are rotated by their places depends on
// the distance of the places only. An odd number of features is a mistake.
func Rotary(x, by *graph.Node) *graph.Node {
	g := graph.Of(x, by)
	defer g.Scope("advance")()
	if m := build.Last(x); x.IsValid() && (m.Size%2 != 0 || x.Rank() == 0) {
		return g.Fail("Rotary", &graph.Mistake{
			Problem: fmt.Sprintf("features %v: a hand has two, its sine and its cosine", m), Fix: "take an even number"}, x)
	}
	m := build.Last(x)
	angle := ops.Expand(handAngles(by, m.Size), -1, "")
	pairs := ops.Split(x, -1, graph.Ax("hand", max(1, m.Size/2)), graph.Ax("c", 2))
	if !angle.IsValid() || !pairs.IsValid() {
		return ops.Add(pairs, angle)
	}
	sign := g.Constant(x.DType(), []float64{1, -1}, graph.Ax("c", 2)).As("±")
	across := ops.Mul(ops.Reverse(pairs, -1), sign)
	turned := ops.Add(ops.Mul(pairs, ops.Cos(angle)), ops.Mul(across, ops.Sin(angle)))
	return ops.Merge(turned, m.Name, -2, -1)
}

// NewPositions adds the parameter NAME[t m]: a vector for each place of the axis t, learnt like
// other weights.
func NewPositions(g *graph.Graph, name string, dt graph.DType, t, m graph.Axis) *graph.Node {
	return g.Param(name, dt, t, m).Init(initial.Normal(0, 0.1))
}

// AddPositions returns x[… t m] + p[t m], the usual way of using positions.
func AddPositions(x, p *graph.Node) *graph.Node { return ops.Add(x, p) }

// ConcatPositions returns [x; p] for x[… t m] and p[t n]: features and position side by side in a
// last axis of size m + n with the given name.
func ConcatPositions(x, p *graph.Node, axis string) *graph.Node {
	if !x.IsValid() || !p.IsValid() || x.Rank() < 2 || p.Rank() != 2 {
		return ops.Concat(-1, x, p)
	}
	to, err := graph.NewShape(append(x.Shape().Axes()[:x.Rank()-1], build.Last(p))...)
	if err != nil {
		return x.Graph().Fail("ConcatPositions", err, x, p)
	}
	return ops.Concat(-1, ops.Rename(x, -1, axis), ops.Rename(ops.BroadcastTo(p, to), -1, axis))
}

package augment

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Mixed holds examples each of which is mixed from two.
type Mixed struct {
	X     *graph.Node // the mixed inputs, of x's shape
	Y     *graph.Node // the mixed labels[n k], λ·y + (1 − λ)·y'
	Share *graph.Node // λ[n], the share of the first example
}

// Mixup blends every example of x[n …], and its label y[n k] as probabilities, with
// the next of the batch, the last with the first (Zhang et al., 2018; the notes on
// data augmentation):
//
//	x̂ = λ·x + (1 − λ)·x',  ŷ = λ·y + (1 − λ)·y',  λ ~ Beta(α, α)
//
// with probability p; λ = 1 otherwise. A batch is in random order, so the next example is as good
// as any other. α > 0 and p are scalars of x's type.
func Mixup(x, y, α, p *graph.Node) Mixed {
	defer graph.Of(x, y, α, p).Scope("mixup")()
	if bad := wantExamples("Mixup", x, y); bad != nil {
		return Mixed{bad, bad, bad}
	}
	λ := RandomBeta(x.Graph(), "λ", α, x.Shape().Axis(0))
	λ = ops.Select(alone(chosen(x, p)), λ, ops.Lit(x, 1)).As("λ")
	blend := func(v *graph.Node) *graph.Node { return between(aligned(λ, v.Rank()), next(v), v) }
	return Mixed{blend(x).As("x̂"), blend(y).As("ŷ"), λ}
}

// CutMix pastes a rectangle of the next example of the batch into every image of x[n h w c], and
// mixes the labels y[n k] by area (Yun et al., 2019; the notes on data augmentation). A share λ₀ ~
// Beta(α, α) of the image should remain: the rectangle's sides are √(1 − λ₀) of the image's, in
// whole pixels. Its centre is a random pixel, and what exceeds the image is cut off. λ is the share
// that remains. With probability 1 − p nothing is pasted.
func CutMix(x, y, α, p *graph.Node) Mixed {
	defer graph.Of(x, y, α, p).Scope("cutmix")()
	bad := wantImages("CutMix", x)
	if bad == nil {
		bad = wantExamples("CutMix", x, y)
	}
	if bad != nil {
		return Mixed{bad, bad, bad}
	}
	left := aligned(RandomBeta(x.Graph(), "λ₀", α, x.Shape().Axis(0)), 4)
	side := ops.Select(chosen(x, p), ops.Sqrt(ops.OneMinus(left)), ops.Lit(x, 0)).As("side")
	row, column := pixel(x)
	pasted := box(x, row, column, whole(ops.Scale(side, float64(x.Dim(1)))), whole(ops.Scale(side, float64(x.Dim(2)))))
	λ := ops.OneMinus(ops.Mean(ops.Cast(pasted, x.DType()), 1, 2, 3)).As("λ")
	return Mixed{
		X:     ops.Select(pasted, next(x), x).As("x̂"),
		Y:     between(aligned(λ, 2), next(y), y).As("ŷ"),
		Share: λ,
	}
}

// wantExamples returns nil if x[n …] and y[n k] have as many examples and the same float type, and
// else records a mistake.
func wantExamples(what string, x, y *graph.Node) *graph.Node {
	if x.IsValid() && y.IsValid() && x.Rank() > 0 && y.Rank() == 2 && x.Dim(0) == y.Dim(0) && x.DType().IsFloat() && x.DType() == y.DType() {
		return nil
	}
	return graph.Of(x, y).Fail(what, fmt.Errorf("want examples [n …] and as many labels [n k] of the same float type"), x, y)
}

// next returns for each example the one after it, and for the last one the first.
func next(x *graph.Node) *graph.Node {
	if x.Dim(0) == 1 {
		return x
	}
	return ops.Concat(0, ops.Slice(x, 0, 1, 0), ops.Slice(x, 0, 0, 1)).As("next")
}

// RandomBeta returns draws from Beta(α, α), of the given axes, anew in every run; α > 0 is a float
// scalar. If T has Student's t-distribution with 2α degrees of freedom, then ½ + ½·T/√(2α + T²) has
// the distribution Beta(α, α). T is drawn from two uniform numbers by Bailey's polar method (1994),
// without rejection:
//
//	λ = ½ + ½·√(1−q)·cos 2πv / √(q + (1−q)·cos² 2πv),  q = u^(1/α)
func RandomBeta(g *graph.Graph, name string, α *graph.Node, axes ...graph.Axis) *graph.Node {
	defer g.Scope("beta")()
	u := ops.RandomUniform(g, name+" u", build.DType(α), axes...).As("u")
	v := ops.RandomUniform(g, name+" v", build.DType(α), axes...).As("v")
	q := ops.Pow(u, ops.Div(ops.Lit(u, 1), α)).As("q")
	t := ops.Mul(ops.Sqrt(ops.OneMinus(q)), ops.Cos(ops.Scale(v, 2*math.Pi))).As("t")
	return ops.Shift(ops.Scale(ops.Div(t, ops.Sqrt(ops.Add(q, ops.Square(t)))), 0.5), 0.5).As(name)
}

// PixMix blends each image of x[n h w c], with probability p, with an image of structured patterns,
// mixers[n h w c], in up to so many rounds, at most 100 (Hendrycks et al., 2022; the notes on data
// augmentation). Intensities are between 0 and 1. The number of rounds is drawn for each image and
// may be 0. Each round adds or multiplies, with equal probability:
//
//	m ← ½(a(2m − 1) + b(2z − 1) + 1)   or   m ← ½(2m)ᵃ(2z)ᵇ,  clipped to 0 … 1
//
// Either a ~ Beta(β, 1) and b ~ Beta(1, β), or, with equal probability, a and b extrapolate beyond
// both images: a − 1 ~ Beta(1, β) and −b ~ Beta(1, β). A larger β mixes in less. Bases of powers
// below 10⁻⁶ are raised to it, which keeps derivatives finite.
func PixMix(x, mixers, β, p *graph.Node, rounds int) *graph.Node {
	defer graph.Of(x, mixers, β, p).Scope("pixmix")()
	if rounds < 0 || rounds > 100 {
		return graph.Of(x).Fail("PixMix", fmt.Errorf("%d rounds: want 0 to 100", rounds), x)
	}
	if bad := wantImages("PixMix", mixers); bad != nil {
		return bad
	}
	return sometimes("PixMix", x, p, func(x *graph.Node) *graph.Node {
		count := ops.Scale(uniform(x, "rounds"), float64(rounds+1)) // its whole part
		m := x
		for i := range rounds {
			mixed := mixRound(x, m, mixers, β, i)
			m = ops.Select(ops.LessEqual(ops.Lit(x, float64(i+1)), count), mixed, m).As(build.Indexed("m", i))
		}
		return m
	})
}

// mixRound returns round i of [PixMix] on m, which the rounds before made of the images x.
func mixRound(x, m, z, β *graph.Node, i int) *graph.Node {
	defer graph.Of(x).Scope(build.Numbered("round", i))()
	half := ops.Lit(x, 0.5)
	beta := func(name string) *graph.Node { // Beta(β, 1); one less it is Beta(1, β)
		return ops.Pow(uniform(x, name), ops.Div(ops.Lit(x, 1), β))
	}
	past := ops.Less(uniform(x, "past"), half)
	r, s := beta("r"), ops.OneMinus(beta("s"))
	a := ops.Select(past, ops.Sub(ops.Lit(x, 2), r), r).As("a")
	b := ops.Select(past, ops.Neg(s), s).As("b")
	sum := ops.Scale(ops.Shift(ops.Add(ops.Mul(a, build.Centred(m)), ops.Mul(b, build.Centred(z))), 1), 0.5)
	factor := func(v, by *graph.Node) *graph.Node {
		return ops.Pow(ops.Maximum(ops.Scale(v, 2), ops.Lit(v, 1e-6)), by)
	}
	product := ops.Scale(ops.Mul(factor(m, a), factor(z, b)), 0.5)
	mixed := ops.Select(ops.Less(uniform(x, "add"), half), sum.As("sum"), product.As("product"))
	return ops.Minimum(ops.Maximum(mixed, ops.Lit(x, 0)), ops.Lit(x, 1))
}

package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// MaskedAutoencoder predicts the missing numbers of a row from the others: the masked
// reconstruction style of self-supervision. It needs no bottleneck, since missing numbers cannot be
// copied.
//
//	y = tanh(shown·W₁ + missing·M + b₁),  x̂ = y·W₂ + b₂
//
// A missing number is shown as 0; the mask is an input as well, to distinguish it from a number
// that is 0.
type MaskedAutoencoder struct {
	Encoder nn.Linear // W₁[d h], b₁[h]
	Mask    nn.Linear // M[d h]
	Decoder nn.Linear // W₂[h d], b₂[d]
}

// NewMaskedAutoencoder adds encoder/W₁[d h], encoder/b₁[h], encoder/M[d h],
// decoder/W₂[h d] and decoder/b₂[d].
func NewMaskedAutoencoder(g *graph.Graph, dt graph.DType, d, h graph.Axis) MaskedAutoencoder {
	end := g.Scope("encoder")
	l := MaskedAutoencoder{Encoder: numberedLinear(g, 0, dt, d, h, false), Mask: nn.Linear{W: g.Param("M", dt, d, h)}}
	end()
	defer g.Scope("decoder")()
	l.Decoder = numberedLinear(g, 1, dt, h, d, false)
	return l
}

// Of returns the prediction x̂[… d] from the elements of x[… d] where the mask missing[… d] is
// false.
func (l MaskedAutoencoder) Of(x, missing *graph.Node) *graph.Node {
	g := graph.Of(x, missing, l.Encoder.W)
	end := g.Scope("hide")
	shown := ops.Select(missing, ops.Lit(x, 0), x).As("shown")
	end()
	end = g.Scope("encoder")
	y := ops.Tanh(ops.Add(l.Encoder.Of(shown), l.Mask.Of(ops.Cast(missing, build.DType(x))))).As("y")
	end()
	defer g.Scope("decoder")()
	return l.Decoder.Of(y).As("x̂")
}

// Missing returns a mask of x's shape, drawn anew in every run: each element is true with
// probability ρ, a scalar.
func Missing(x, ρ *graph.Node) *graph.Node {
	if !x.IsValid() {
		return ops.Less(x, ρ)
	}
	g := graph.Of(x, ρ)
	defer g.Scope("hide")()
	u := ops.RandomUniform(g, "u", x.DType(), x.Shape().Axes()...).As("u")
	return ops.Less(u, ρ).As("missing")
}

// MissingSquaredError returns the mean of (x̂ − x)² over the missing numbers, a scalar; 0 if none
// is missing.
func MissingSquaredError(made, x, missing *graph.Node) *graph.Node {
	return nn.MeanWhere(ops.Square(ops.Sub(made, x)), missing)
}

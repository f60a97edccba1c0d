package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Autoencoder compresses rows x[… d] to a bottleneck of k < d numbers and reconstructs them: the
// data are their own labels.
//
//	y = encoder(x),  x̂ = decoder(y)
//
// Encoder and decoder are affine layers with a non-linearity φ between every two of them. With one
// layer each it is linear, and its optimum is that of principal component analysis: the bottleneck
// leaves a map of rank k (the notes on self-supervision in the autoencoder style).
type Autoencoder struct {
	Encoder, Decoder []nn.Linear
	Activation       func(*graph.Node) *graph.Node // φ; nil for tanh
}

// NewAutoencoder adds layers from d over the hidden widths to k, encoder/W₁[d …], encoder/b₁, …,
// and back over the same widths to d, with numbers that go on: decoder/W₃, ….
func NewAutoencoder(g *graph.Graph, dt graph.DType, d, k graph.Axis, hidden ...graph.Axis) Autoencoder {
	a := NewEncoder(g, dt, d, k, false, hidden...)
	widths := append(append([]graph.Axis{d}, hidden...), k)
	n := len(widths) - 1
	defer g.Scope("decoder")()
	for i := range n {
		a.Decoder = append(a.Decoder, numberedLinear(g, n+i, dt, widths[n-i], widths[n-i-1], false))
	}
	return a
}

// NewEncoder adds the encoder of [NewAutoencoder] alone, to learn something else from the code than
// the input. If it is frozen, its arrays are states of the same names, which training leaves as they
// are: their values come from an autoencoder, by tape.Store.CopyFrom.
func NewEncoder(g *graph.Graph, dt graph.DType, d, k graph.Axis, frozen bool, hidden ...graph.Axis) Autoencoder {
	widths := append(append([]graph.Axis{d}, hidden...), k)
	var a Autoencoder
	defer g.Scope("encoder")()
	for i := range len(widths) - 1 {
		a.Encoder = append(a.Encoder, numberedLinear(g, i, dt, widths[i], widths[i+1], frozen))
	}
	return a
}

// numberedLinear adds W₁[in out] and b₁[out], numbered from index 0 on, to the current scope; as
// states if they are frozen.
func numberedLinear(g *graph.Graph, i int, dt graph.DType, in, out graph.Axis, frozen bool) nn.Linear {
	W, b := build.Indexed("W", i), build.Indexed("b", i)
	if frozen {
		return nn.Linear{W: g.State(W, dt, in, out).Init(initial.Glorot()), B: g.State(b, dt, out)}
	}
	return nn.Linear{W: g.Param(W, dt, in, out), B: g.Param(b, dt, out)}
}

// NewLinearAutoencoder adds the matrices of the notes, encoder/A[d k] and decoder/B[k d]. With
// offsets it also adds encoder/a[k] and decoder/b[d]; without them, the rows should have mean 0:
//
//	y = x·A + a,  x̂ = y·B + b
func NewLinearAutoencoder(g *graph.Graph, dt graph.DType, d, k graph.Axis, offsets bool) Autoencoder {
	layer := func(scope, weights, offset string, in, out graph.Axis) []nn.Linear {
		defer g.Scope(scope)()
		l := nn.Linear{W: g.Param(weights, dt, in, out)}
		if offsets {
			l.B = g.Param(offset, dt, out)
		}
		return []nn.Linear{l}
	}
	return Autoencoder{Encoder: layer("encoder", "A", "a", d, k), Decoder: layer("decoder", "B", "b", k, d)}
}

// Encode returns the code y[… k] of floats x[… d].
func (a Autoencoder) Encode(x *graph.Node) *graph.Node {
	return a.through("encoder", "h", a.Encoder, x).As("y")
}

// Decode returns the reconstruction x̂[… d] of a code y[… k].
func (a Autoencoder) Decode(y *graph.Node) *graph.Node {
	return a.through("decoder", "ĥ", a.Decoder, y).As("x̂")
}

// Of returns the reconstruction x̂[… d] of x[… d].
func (a Autoencoder) Of(x *graph.Node) *graph.Node { return a.Decode(a.Encode(x)) }

func (a Autoencoder) through(scope, hidden string, layers []nn.Linear, x *graph.Node) *graph.Node {
	φ := a.Activation
	if φ == nil {
		φ = ops.Tanh
	}
	for i, l := range layers {
		end := build.Within(scope, x, l.W)
		if i > 0 {
			x = φ(x).As(hidden)
		}
		x = l.Of(x)
		end()
	}
	return x
}

// ReconstructionError returns the mean over the rows of ‖x − x̂‖², a scalar, for floats x[… d] and
// x̂[… d].
func ReconstructionError(x, made *graph.Node) *graph.Node {
	defer graph.Of(x, made).Scope("reconstruction error")()
	return ops.Mean(ops.Sum(ops.Square(ops.Sub(x, made)), -1))
}

// Corrupt returns x̃ = x + σε with standard normal ε, drawn anew in every run, for floats x[…] and
// a scalar standard deviation σ of their type. A denoising autoencoder reconstructs x from x̃
// (Vincent et al., 2008); it cannot learn the identity even if its code is wide.
func Corrupt(x, σ *graph.Node) *graph.Node {
	if !x.IsValid() {
		return ops.Mul(x, σ)
	}
	g := graph.Of(x, σ)
	defer g.Scope("corrupt")()
	ε := ops.RandomNormal(g, "ε", x.DType(), x.Shape().Axes()...).As("ε")
	return ops.Add(x, ops.Mul(σ, ε)).As("x̃")
}

package rnn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Gates holds the affine maps of a cell, from the input x and from the hidden values h to all of
// its gates, side by side:
//
//	W·x + b,  U·h + c
//
// Optional norms apply to what enters: to x, the vertical direction of a stack, and to h, the
// horizontal one. Others apply inside, to what the weights make of it (Ba, Kiros & Hinton, 2016):
//
//	norm(W·x) + b,  norm(U·h) + c
//
// All keep values, and so gradients, from growing over many steps (the notes on layer normalisation
// in RNNs); those inside also where the weights are large.
type Gates struct {
	In               nn.Linear // w[d g], b[g]; without weights, the input is W·x + b already
	Hidden           nn.Linear // w[h g], c[g]
	NormX, NormH     *nn.LayerNorm
	InsideX, InsideH *graph.Node // gains of the norms inside, [g]; nil for none
}

// NewGates adds the parameters NAME/in/w[d g], NAME/in/b[g] and NAME/hidden/w[h g] of the given
// number of gates, each of the size of h, and NAME/hidden/b[g] if bias is set, which only a GRU
// needs. With a single gate, the axis g is h.
func NewGates(g *graph.Graph, name string, dt graph.DType, d, h graph.Axis, gates int, bias bool) Gates {
	defer g.Scope(name)()
	out, from := graph.Ax("g", gates*h.Size), h
	if gates == 1 {
		out, from = h, graph.Axis{Size: h.Size}
	}
	if d.Name == out.Name { // as between layers of a stack
		d.Name = ""
	}
	w := Gates{In: nn.NewLinear(g, "in", dt, d, out)}
	if bias {
		w.Hidden = nn.NewLinear(g, "hidden", dt, from, out)
	} else {
		w.Hidden = nn.NewProjection(g, "hidden", dt, from, out)
	}
	return w
}

// Normed returns the gates with layer norms of x, of h, or of both; it adds the parameters of
// NAME/norm-x and NAME/norm-h.
func (w Gates) Normed(name string, x, h bool) Gates {
	if !w.weighted("Normed") {
		return w
	}
	g, dt := graph.Of(w.In.W), build.DType(w.In.W)
	defer g.Scope(name)()
	if x {
		n := nn.NewLayerNorm(g, "norm-x", dt, w.In.W.Shape().Axis(0))
		w.NormX = &n
	}
	if h {
		axis := w.Hidden.W.Shape().Axis(0)
		if axis.Name == "" {
			axis.Name = build.Last(w.Hidden.W).Name
		}
		n := nn.NewLayerNorm(g, "norm-h", dt, axis)
		w.NormH = &n
	}
	return w
}

// NormedInside returns the gates with layer norms of the products W·x and U·h, each with one mean
// and one variance for all gates; it adds the parameters NAME/inside-x/gain[g] and
// NAME/inside-h/gain[g]. The biases b and c stand behind the norms.
func (w Gates) NormedInside(name string) Gates {
	if !w.weighted("NormedInside") {
		return w
	}
	g, dt := graph.Of(w.In.W), build.DType(w.In.W)
	defer g.Scope(name)()
	gain := func(name string, of *graph.Node) *graph.Node {
		defer g.Scope(name)()
		return g.Param("gain", dt, build.Last(of)).Init(initial.Fill(1))
	}
	w.InsideX, w.InsideH = gain("inside-x", w.In.W), gain("inside-h", w.Hidden.W)
	return w
}

// weighted reports whether there are weights for norms to be added to, and records a mistake if not.
func (w Gates) weighted(what string) bool {
	if w.In.W.IsValid() && w.Hidden.W.IsValid() {
		return true
	}
	graph.Of(w.In.W, w.Hidden.W).Fail(what, build.ErrNoOperand, w.In.W, w.Hidden.W)
	return false
}

// ofX returns W·x + b, and ofH U·h + c.
func (w Gates) ofX(x *graph.Node) *graph.Node {
	if w.In.W == nil {
		return x
	}
	return inside(w.In, w.InsideX, "inside-x", nn.Normed(x, w.NormX))
}

func (w Gates) ofH(h *graph.Node) *graph.Node {
	return inside(w.Hidden, w.InsideH, "inside-h", nn.Normed(h, w.NormH))
}

// inside returns the affine map l of y, with a norm of the product if it has gains.
func inside(l nn.Linear, gain *graph.Node, name string, y *graph.Node) *graph.Node {
	if gain == nil {
		return l.Of(y)
	}
	b := l.B
	l.B = nil
	return nn.LayerNorm{Name: name, Gain: gain, Bias: b}.Of(l.Of(y))
}

// ahead returns W·x + b, and the gates that take it for x.
func (w Gates) ahead(x *graph.Node) (*graph.Node, Gates) {
	z := w.ofX(x).As("Wx")
	w.In, w.NormX, w.InsideX = nn.Linear{}, nil, nil
	return z, w
}

// start returns a number of states of zeros.
func (w Gates) start(states int, batch []graph.Axis) []*graph.Node {
	h := graph.Axis{Size: 1}
	if w.Hidden.W.IsValid() && w.Hidden.W.Rank() == 2 {
		if h = w.Hidden.W.Shape().Axis(0); h.Name == "" && build.Last(w.Hidden.W).Size == h.Size {
			h = build.Last(w.Hidden.W)
		}
	}
	list := make([]*graph.Node, states)
	for i := range list {
		list[i] = build.Zeros(w.Hidden.W, append(batch[:len(batch):len(batch)], h)...)
	}
	return list
}

// gate returns gate k of z[… g], in the axis of the hidden values h.
func gate(z *graph.Node, k int, h *graph.Node) *graph.Node {
	n := build.Last(h).Size
	return ops.Rename(ops.Slice(z, -1, k*n, (k+1)*n), -1, build.Last(h).Name)
}

// held reports whether a cell is given as many states as it carries; else the mistake
// is recorded and comes back as that many.
func held(what string, x *graph.Node, state []*graph.Node, want int) (bad []*graph.Node, ok bool) {
	if len(state) == want {
		return nil, true
	}
	n := graph.Of(append([]*graph.Node{x}, state...)...).Fail(what, fmt.Errorf("%d states: want %d", len(state), want), x)
	for range want {
		bad = append(bad, n)
	}
	return bad, false
}

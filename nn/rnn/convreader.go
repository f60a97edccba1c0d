package rnn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// ConvReader is a convolutional encoder, for a recurrent decoder (Kalchbrenner & Blunsom, 2013; the
// notes on CNN encoders). Its narrow convolutions read phrases, phrases of phrases and so on, until
// a single place is left.
type ConvReader struct {
	Name   string
	Layers []nn.Conv
}

// NewConvReader adds the parameters NAME/conv1, NAME/conv2, … for sequences x[b s m]. The windows
// are as wide as given, or as the places that are left.
func NewConvReader(g *graph.Graph, name string, dt graph.DType, s, m, h graph.Axis, window int) ConvReader {
	defer g.Scope(name)()
	r := ConvReader{Name: name}
	if window < 2 && s.Size > 1 {
		g.Fail("ConvReader", fmt.Errorf("windows of %d never leave a single place: want at least 2", window))
		return r
	}
	for left, i := s.Size, 0; left > 1 || i == 0; i++ {
		w := ops.Size(min(window, left))
		c := nn.NewConv1D(g, build.Numbered("conv", i), dt, m, h, w)
		c.W = c.W.Init(initial.Glorot())
		r.Layers = append(r.Layers, c)
		left, m = w.Sliding(0).Count(left), h
	}
	return r
}

// Read returns the hidden values h[b s h] of the first layer, one for each phrase, and as final
// state those of the whole sequence, [b h].
func (r ConvReader) Read(x *graph.Node) (h *graph.Node, final []*graph.Node) {
	defer build.Within(r.Name, x)()
	for i, l := range r.Layers {
		x = ops.Tanh(l.Of(x)).As(build.Indexed("h", i))
		if i == 0 {
			h = x
		}
	}
	if h == nil {
		h = graph.Of(x).Fail("ConvReader", fmt.Errorf("want layers"), x)
		return h, []*graph.Node{h}
	}
	return h, []*graph.Node{ops.Squeeze(x, -2).As("c")}
}

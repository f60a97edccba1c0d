package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// FeedForward is the perceptron in a transformer's block, the same at every place (Vaswani et al.,
// 2017):
//
//	y = φ(x·W₁ + b₁)·W₂ + b₂
//
// It adds the non-linearity that attention lacks.
type FeedForward struct {
	Name       string
	Up, Down   Linear
	Activation func(*graph.Node) *graph.Node // φ; nil for ReLU
}

// NewFeedForward adds the parameters NAME/up/w[m f], NAME/up/b[f], NAME/down/w[f m] and
// NAME/down/b[m]. The activation φ may be nil for [ops.ReLU].
func NewFeedForward(g *graph.Graph, name string, dt graph.DType, m, f graph.Axis, activation func(*graph.Node) *graph.Node) FeedForward {
	defer g.Scope(name)()
	return FeedForward{
		Name: name, Activation: activation,
		Up: NewLinear(g, "up", dt, m, f, initial.He()), Down: NewLinear(g, "down", dt, f, m),
	}
}

// Of returns φ(x·W₁ + b₁)·W₂ + b₂ for x[… m]: y[… m].
func (l FeedForward) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.Up.W)()
	φ := l.Activation
	if φ == nil {
		φ = ops.ReLU
	}
	return l.Down.Of(φ(l.Up.Of(x)).As("hidden")).As("ff")
}

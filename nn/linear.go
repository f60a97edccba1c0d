package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// NewLinearInit is like [NewLinear] with an initialiser for the bias, too.
func NewLinearInit(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, weights, bias graph.Init) Linear {
	l := NewProjection(g, name, dt, in, out, weights)
	defer g.Scope(name)()
	l.B = g.Param("b", dt, out).Init(bias)
	return l
}

// Linear is an affine map of the last axis, the layer that everything is built
// of:
//
//	y = x·W + b
//
// A layer is its parameters: where the same Linear is used twice, the weights are
// shared. Weights from elsewhere make one too: Linear{W: w, B: b}.
type Linear struct {
	Name string      // of the scope that its operations stand in; "" for none
	W    *graph.Node // w[in out]
	B    *graph.Node // b[out]; nil for none
}

// NewLinear adds the parameters NAME/w[in out] and NAME/b[out]. The weights start
// as Glorot has them unless another initialiser is given, the bias at zero. Where
// both axes have one name, the weights' in goes without.
func NewLinear(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, init ...graph.Init) Linear {
	return NewProjection(g, name, dt, in, out, init...).WithBias()
}

// NewProjection is like [NewLinear] without a bias.
func NewProjection(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, init ...graph.Init) Linear {
	defer g.Scope(name)()
	w := g.Param("w", dt, build.Apart(in, out)...)
	if len(init) > 0 {
		w = w.Init(init[0])
	}
	return Linear{Name: name, W: w}
}

// WithBias returns l with a bias; it adds NAME/b[out].
func (l Linear) WithBias() Linear {
	g := graph.Of(l.W)
	defer g.Scope(l.Name)()
	l.B = g.Param("b", build.DType(l.W), build.Last(l.W))
	return l
}

// Of returns x·W + b for x[… in]: y[… out].
func (l Linear) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.W)()
	y := ops.MatMul(x, l.W)
	if l.B != nil {
		y = ops.Add(y, l.B)
	}
	return y
}

// NewFrozenLinear is like [NewLinear] with states NAME/w and NAME/b in place of
// parameters: training leaves them alone. The values come from a model that has
// parameters of these names, by way of the store (tape.Store.CopyFrom), and a
// store knows no difference between the two.
func NewFrozenLinear(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis) Linear {
	defer g.Scope(name)()
	return Linear{Name: name, W: g.State("w", dt, in, out).Init(graph.Glorot()), B: g.State("b", dt, out)}
}

package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// NewLinearInit is like [NewLinear] with initialisers for both the weights and the bias.
func NewLinearInit(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, weights, bias initial.Init) Linear {
	l := NewProjection(g, name, dt, in, out, weights)
	defer g.Scope(name)()
	l.B = g.Param("b", dt, out).Init(bias)
	return l
}

// Linear is an affine map of the last axis:
//
//	y = x·W + b
//
// A layer is its parameters: using one Linear twice shares its weights. A Linear can also be made
// of weights from elsewhere: Linear{W: w, B: b}.
type Linear struct {
	Name string      // of the scope that its operations stand in; "" for none
	W    *graph.Node // w[in out]
	B    *graph.Node // b[out]; nil for none
}

// NewLinear adds the parameters NAME/w[in out] and NAME/b[out]. The weights start as in Glorot &
// Bengio (2010) unless another initialiser is given, the bias at zero. If both axes have one name,
// the axis in of the weights has none.
func NewLinear(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, init ...initial.Init) Linear {
	return NewProjection(g, name, dt, in, out, init...).WithBias()
}

// NewProjection is like [NewLinear] without a bias.
func NewProjection(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, init ...initial.Init) Linear {
	defer g.Scope(name)()
	w := g.Param("w", dt, build.Apart(in, out)...)
	if len(init) > 0 {
		w = w.Init(init[0])
	}
	return Linear{Name: name, W: w}
}

// WithBias returns l with a bias, the new parameter NAME/b[out], which starts at zero.
func (l Linear) WithBias() Linear {
	g := graph.Of(l.W)
	defer g.Scope(l.Name)()
	l.B = g.Param("b", build.DType(l.W), build.Last(l.W))
	return l
}

// Of returns x·W + b, y[… out], for floats x[… in].
func (l Linear) Of(x *graph.Node) *graph.Node {
	defer build.Within(l.Name, x, l.W)()
	y := ops.MatMul(x, l.W)
	if l.B != nil {
		y = ops.Add(y, l.B)
	}
	return y
}

// NewFrozenLinear is like [NewLinear] with states NAME/w and NAME/b instead of parameters: training
// does not change them. Their values come from a model that has parameters of these names, by
// tape.Store.CopyFrom; for a store, states and parameters are alike.
func NewFrozenLinear(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis) Linear {
	defer g.Scope(name)()
	return Linear{Name: name, W: g.State("w", dt, in, out).Init(initial.Glorot()), B: g.State("b", dt, out)}
}

package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

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
	return NewProjection(g, name, dt, in, out, init...).withBias()
}

// NewProjection is [NewLinear] without a bias.
func NewProjection(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis, init ...graph.Init) Linear {
	defer g.Scope(name)()
	w := g.Param("w", dt, apart(in, out)...)
	if len(init) > 0 {
		w = w.Init(init[0])
	}
	return Linear{Name: name, W: w}
}

// withBias is l with a bias; it adds NAME/b[out].
func (l Linear) withBias() Linear {
	g := graph.Of(l.W)
	defer g.Scope(l.Name)()
	l.B = g.Param("b", dtypeOf(l.W), last(l.W))
	return l
}

// Of is x·W + b for x[… in]: y[… out].
func (l Linear) Of(x *graph.Node) *graph.Node {
	defer within(l.Name, x, l.W)()
	y := ops.MatMul(x, l.W)
	if l.B != nil {
		y = ops.Add(y, l.B)
	}
	return y
}

// apart are the axes [in out] of weights: where both have one name, in goes without.
func apart(in, out graph.Axis) []graph.Axis {
	if in.Name == out.Name {
		in.Name = ""
	}
	return []graph.Axis{in, out}
}

// within opens a scope in the graph of the nodes, unless its name is empty.
func within(name string, nodes ...*graph.Node) (end func()) {
	if name == "" {
		return func() {}
	}
	return graph.Of(nodes...).Scope(name)
}

// last is the last axis of x; an axis of one element if there is none.
func last(x *graph.Node) graph.Axis {
	if !x.IsValid() {
		return graph.Axis{Size: 1}
	}
	return x.Shape().Axis(x.Rank() - 1)
}

// exchanged is x with two of its axes, counted from behind, in each other's place.
func exchanged(x *graph.Node, a, b int) *graph.Node {
	if !x.IsValid() {
		return x
	}
	order := make([]any, x.Rank())
	for i := range order {
		order[i] = i
	}
	a, b = a+len(order), b+len(order)
	order[a], order[b] = order[b], order[a]
	return ops.Transpose(x, order...)
}

// dtypeOf is the element type of x, float32 if it has none.
func dtypeOf(x *graph.Node) graph.DType {
	if !x.IsValid() {
		return graph.F32
	}
	return x.DType()
}

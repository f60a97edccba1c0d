package builders

import "github.com/tapestry-ml/tapestry/graph"

// NewFrozenLinear is [NewLinear] with states NAME/w and NAME/b in place of
// parameters: training leaves them alone. The values come from a model that has
// parameters of these names, by way of the store (tape.Store.CopyFrom), and a
// store knows no difference between the two.
func NewFrozenLinear(g *graph.Graph, name string, dt graph.DType, in, out graph.Axis) Linear {
	defer g.Scope(name)()
	return Linear{Name: name, W: g.State("w", dt, in, out).Init(graph.Glorot()), B: g.State("b", dt, out)}
}

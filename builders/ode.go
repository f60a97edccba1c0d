package builders

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Field is a velocity at every point of a space, a net with one hidden layer:
//
//	f(x) = W₂·tanh(W₁·x + b₁) + b₂
type Field struct {
	Name    string
	In, Out nn.Linear
}

// NewField adds the parameters of a field over vectors of the axis d, in the scope NAME.
func NewField(g *graph.Graph, name string, dt graph.DType, d, hidden graph.Axis) Field {
	defer g.Scope(name)()
	return Field{name, nn.NewLinear(g, "in", dt, d, hidden), nn.NewLinear(g, "out", dt, hidden, d)}
}

// Of returns the velocity [… d] at x[… d].
func (f Field) Of(x *graph.Node) *graph.Node {
	defer build.Within(f.Name, x, f.In.W)()
	return f.Out.Of(ops.Tanh(f.In.Of(x)))
}

// Euler returns a residual net as steps of a differential equation dx/dt = f(x), by Euler's method
// (the notes on residual nets, and on sharing weights across layers):
//
//	x ← x + h·f(x)
//
// once for every field, in the shape of x. If all fields are the same, the equation does not depend
// on time and all layers share their weights. With h = 1, each step is a residual block.
func Euler(x, h *graph.Node, fields ...nn.Layer) *graph.Node {
	for i, f := range fields {
		if f == nil {
			return graph.Of(x, h).Fail("Euler", fmt.Errorf("field %d is nil", i), x, h)
		}
		x = ops.Add(x, ops.Mul(h, f.Of(x).As(build.Indexed("f", i)))).As(build.Indexed("x", i))
	}
	return x
}

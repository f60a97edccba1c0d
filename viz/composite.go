package viz

import (
	"sync"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// A composite is a function of several operations that formulas call by its name.
type composite struct {
	name       string
	function   match.Form // of x
	derivative match.Form // of x and the derivative by the result: what reverse mode makes of it
}

// ownComposites has the functions of package ops, by element type.
var ownComposites = sync.OnceValue(func() map[graph.DType][]composite {
	return compositesOf(ops.Composites())
})

// compositesOf builds each function once for each type, of a scalar x, and differentiates it. The
// graph that comes of it tells the function, so that no pattern is written anywhere.
func compositesOf(all []ops.Composite) map[graph.DType][]composite {
	out := map[graph.DType][]composite{}
	for _, c := range all {
		if c.Of == nil {
			continue
		}
		for _, t := range []graph.DType{graph.F32, graph.F64, graph.F16, graph.BF16} {
			g := graph.New(c.Name)
			x := g.Input("x", t)
			numbers := make([]float64, c.Numbers)
			var constants []*graph.Node
			for i := range numbers { // numbers that no function has as its own
				numbers[i] = 1.0/1024 + float64(i+3)/512
				constants = append(constants, g.Constant(t, numbers[i:i+1]))
			}
			y := c.Of(x, numbers...)
			if g.Err() != nil || !y.IsValid() || y.Rank() != 0 || y.NumIn() == 0 || y.DType() != t {
				continue // not a function of one float, element by element
			}
			k := composite{name: c.Name, function: match.Form{Out: y, In: []*graph.Node{x}, Numbers: constants}}
			if d := grad.OrZero(ops.Mul(g.Input("outer", t), y), y, x); g.Err() == nil {
				k.derivative = match.Form{Out: d[1], In: []*graph.Node{x, d[0]}, Numbers: constants}
			}
			out[t] = append(out[t], k)
		}
	}
	return out
}

// composed returns the expression of a node that a composite function, or the derivative of one,
// computes: gelu(x), ∂y·gelu′(x).
func (u *unfolder) composed(y *graph.Node, indices []string) (e expr.Expr, ok bool) {
	call := func(name string, x *graph.Node, numbers []float64) expr.Expr {
		args := []expr.Expr{u.operand(x, indices)}
		for _, v := range numbers {
			args = append(args, number(v, y.DType()))
		}
		return expr.Call(name, args...)
	}
	for _, list := range []map[graph.DType][]composite{u.functions, ownComposites()} {
		for _, c := range list[y.DType()] {
			if in, numbers, ok := c.function.Of(y, u.isNamed); ok {
				return call(c.name, in[0], numbers), true
			}
			if c.derivative.Out == nil {
				continue
			}
			if in, numbers, ok := c.derivative.Of(y, func(*graph.Node) bool { return false }); ok {
				return u.operand(in[1], indices).Times(call(c.name+"′", in[0], numbers)), true
			}
		}
	}
	return e, false
}

// isNamed reports whether the user named a node.
func (u *unfolder) isNamed(n *graph.Node) bool {
	_, ok := u.names[n]
	return ok
}

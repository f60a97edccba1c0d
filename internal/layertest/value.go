package layertest

import (
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// ValueOf returns a value for a node.
func ValueOf(n *graph.Node, data ...float64) graph.Value {
	return graph.Value{Type: n.Type(), Data: data}
}

// Computed returns an array whose elements are a function of their place in it.
func Computed(typ graph.Type, f func(i int) float64) graph.Value {
	v := graph.NewValue(typ)
	for i := range v.Data {
		v.Data[i] = typ.DType.Round(f(i))
	}
	return v
}

// Random returns an array of normal numbers of the given spread.
func Random(rng *rand.Rand, typ graph.Type, scale float64) graph.Value {
	return Computed(typ, func(int) float64 { return scale * rng.NormFloat64() })
}

// Filled returns random values for every leaf of a graph without a default.
func Filled(g *graph.Graph, rng *rand.Rand) graph.Values {
	feed := graph.Values{}
	for _, n := range g.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
		if _, has := n.Default(); !has {
			feed[n] = Random(rng, n.Type(), 1)
		}
	}
	return feed
}

// Image returns an input x[n h w c].
func Image(g *graph.Graph, n, h, w, c int) *graph.Node {
	return g.Input("x", graph.F64, graph.Ax("n", n), graph.Ax("h", h), graph.Ax("w", w), graph.Ax("c", c))
}

// Wavy returns a scalar that depends on each element of x in a way of its own.
func Wavy(x *graph.Node) *graph.Node {
	w := Computed(x.Type(), func(i int) float64 { return math.Cos(float64(i)) })
	return ops.Sum(ops.Mul(x, x.Graph().ConstantValue(w)))
}

// Scalar returns the value v of a scalar.
func Scalar(v float64) graph.Value {
	g := graph.New("scalar")
	return graph.Value{Type: g.Scalar("v", 0, graph.F64).Type(), Data: []float64{v}}
}

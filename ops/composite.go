package ops

import "github.com/tapestry-ml/tapestry/graph"

// A Composite is an elementwise function that is made of several operations and has a name, such
// as [GELU]. Formulas are written with the name where the graph has these operations.
type Composite struct {
	Name    string // as in formulas
	Numbers int    // how many numbers Of takes besides, such as a slope
	Of      func(x *graph.Node, numbers ...float64) *graph.Node
}

// Composites lists the elementwise functions of this package that are made of several operations.
func Composites() []Composite {
	plain := func(name string, f func(*graph.Node) *graph.Node) Composite {
		return Composite{Name: name, Of: func(x *graph.Node, _ ...float64) *graph.Node { return f(x) }}
	}
	return []Composite{
		plain("gelu", GELU), plain("gelu tanh", GELUTanh), plain("elu", ELU), plain("silu", SiLU), plain("mish", Mish),
		{Name: "leaky relu", Numbers: 1, Of: func(x *graph.Node, slope ...float64) *graph.Node { return LeakyReLU(x, slope[0]) }},
	}
}

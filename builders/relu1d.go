package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// ReLU1D is a net with one hidden layer over one number: a piecewise linear function, in which
// every unit makes a kink (the notes on what neural nets can express):
//
//	ŷ(x) = Σ_h v_h·max(0, w_h·x + b_h) + c
type ReLU1D struct {
	W, B *graph.Node // w[h], b[h]
	V    *graph.Node // v[h]
	C    *graph.Node // c, a scalar
}

// NewReLU1D adds the parameters w[h], b[h], v[h] and c of h units. Weights and biases start as
// standard normal numbers, so the kinks have a Cauchy distribution: most are near 0, some far from
// any data.
func NewReLU1D(g *graph.Graph, dt graph.DType, h graph.Axis) ReLU1D {
	return ReLU1D{
		W: g.Param("w", dt, h).Init(initial.Normal(0, 1)),
		B: g.Param("b", dt, h).Init(initial.Normal(0, 1)),
		V: g.Param("v", dt, h).Init(initial.Normal(0, 0.5)),
		C: g.Param("c", dt),
	}
}

// arrives returns w_h·x_i + b_h for x[i]: z[i h].
func (m ReLU1D) arrives(x *graph.Node) *graph.Node {
	return ops.Add(ops.Mul(build.EveryPair(x, m.W)), m.B).As("z")
}

// Of returns ŷ[i] for floats x[i].
func (m ReLU1D) Of(x *graph.Node) *graph.Node {
	e := ops.ReLU(m.arrives(x)).As("elbows")
	return ops.Add(timesVector(e, m.V), m.C).As("ŷ")
}

// Kinks describes the kinks of a [ReLU1D], unit by unit; all nodes are [h].
type Kinks struct {
	At    *graph.Node // −b/w: where the unit turns on or off; infinite, or NaN, where w is 0
	Slope *graph.Node // w: the unit's slope where it is on
	Bend  *graph.Node // v·|w|: by how much the slope of ŷ changes from left to right of the elbow
	Dead  *graph.Node // bool: off on all of the data, so that no gradient reaches w and b
}

// Kinks adds the nodes that describe the net on the data x[i]. A unit is dead on these data if no
// point turns it on.
func (m ReLU1D) Kinks(x *graph.Node) Kinks {
	defer graph.Of(x, m.W, m.B, m.V).Scope("elbows")()
	z := m.arrives(x)
	most := ops.Max(z, 0)
	return Kinks{
		At:    ops.Neg(ops.Div(m.B, m.W)).As("at"),
		Slope: m.W,
		Bend:  ops.Mul(m.V, ops.Abs(m.W)).As("bend"),
		Dead:  ops.LessEqual(most, ops.Lit(most, 0)).As("dead"),
	}
}

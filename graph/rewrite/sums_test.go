package rewrite

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// sumCases are those of sums that go before products.
var sumCases = []ruleCase{
	{"sum before a product", true, func(v leaves) *graph.Node { return ops.Sum(ops.Mul(v.x, ops.Max(v.w, "d", ops.Keep)), "d") }},
	{"sum before a product", true, func(v leaves) *graph.Node { return ops.Sum(ops.Div(v.x, ops.Max(v.w, "d", ops.Keep)), "d", ops.Keep) }},
	{"sum before a product", true, func(v leaves) *graph.Node { return ops.Sum(ops.Mul(ops.Max(v.w, "i"), v.x)) }},
	// The divisor varies along the axis, or is repeated along another.
	{"sum before a product", false, func(v leaves) *graph.Node { return ops.Sum(ops.Div(ops.Max(v.w, "d", ops.Keep), v.x), "d") }},
	{"sum before a product", false, func(v leaves) *graph.Node { return ops.Sum(ops.Mul(v.x, ops.Max(v.w, "i", ops.Keep)), "d") }},
	{"sum before a product", false, func(v leaves) *graph.Node { return ops.Mean(ops.Mul(v.x, ops.Max(v.w, "d", ops.Keep)), "d") }},
	{"sum of a matrix product", true, func(v leaves) *graph.Node { return ops.Sum(ops.MatMul(v.a, v.a), 1) }},
	{"sum of a matrix product", true, func(v leaves) *graph.Node { return ops.Sum(ops.MatMul(v.cube, v.cube), 0, 1, ops.Keep) }},
	{"sum of a matrix product", true, func(v leaves) *graph.Node { return ops.Sum(ops.MatMul(v.p, ops.Transpose(v.q))) }}, // its columns only
	// The operand has more elements than the product.
	{"sum of a matrix product", false, func(v leaves) *graph.Node { return ops.Sum(ops.MatMul(v.q, ops.Transpose(v.p)), "i") }},
	{"sum of a matrix product", false, func(v leaves) *graph.Node { return ops.Sum(ops.MatMul(v.cube, v.cube), 0) }},
	{"sum with unit vectors", true, func(v leaves) *graph.Node {
		return v.jacobian(func(x *graph.Node) *graph.Node { return ops.Mul(x, ops.Sum(ops.Square(x), "d", ops.Keep)) })
	}},
	{"sum with unit vectors", true, func(v leaves) *graph.Node {
		return v.jacobian(func(x *graph.Node) *graph.Node { return ops.Mul(ops.Sin(x), v.s, ops.Norm(x, "d", ops.Keep)) })
	}},
	// The matrix is another one, or the other factor varies along both axes.
	{"sum with unit vectors", false, func(v leaves) *graph.Node {
		return ops.Sum(ops.Mul(v.units(2), ops.BroadcastTo(ops.Slice(v.a, 0, 0, 1), v.a.Shape())), 1)
	}},
	{"sum with unit vectors", false, func(v leaves) *graph.Node { return ops.Sum(ops.Mul(v.units(1), v.a), 1) }},
	{"sum of scaled products", true, func(v leaves) *graph.Node { return v.blocks(8, "j", 4) }},
	{"sum of scaled products", false, func(v leaves) *graph.Node { return v.blocks(5, "j", 4) }}, // few rows
	{"sum of scaled products", false, func(v leaves) *graph.Node { return v.blocks(8, "r", 4) }}, // scaled row by row
	{"sum of scaled products", false, func(v leaves) *graph.Node { return v.blocks(8, "j", 1) }}, // scaled as a whole
	{"sum of weighted rows", true, func(v leaves) *graph.Node { return ops.Sum(v.weighted(16, 2, 3), "r") }},
	{"sum of weighted rows", true, func(v leaves) *graph.Node { return ops.Sum(v.weighted(16, 2, 2, graph.Ax("b", 3)), "b", "r") }},
	{"sum of weighted rows", false, func(v leaves) *graph.Node { return ops.Sum(v.weighted(15, 2, 3), "r") }},
	{"sum of weighted rows", false, func(v leaves) *graph.Node { return ops.Sum(v.weighted(16, 3, 2), "r") }}, // shorter rows
	{"sum of weighted rows", false, func(v leaves) *graph.Node { return ops.Sum(v.weighted(16, 2, 3), "e") }},
	{"product of weighted rows", true, func(v leaves) *graph.Node { return ops.MatMul(ops.Transpose(v.weighted(32, 2, 3)), v.rows(32)) }},
	{"product of weighted rows", true, func(v leaves) *graph.Node { return ops.MatMul(ops.Transpose(v.rows(32)), v.weighted(32, 2, 3)) }},
	{"product of weighted rows", true, func(v leaves) *graph.Node {
		n := v.weighted(32, 2, 2, graph.Ax("b", 3))
		return ops.MatMul(ops.Transpose(n, "b", "e", "r"), v.g.Input("y", graph.F32, graph.Ax("b", 3), graph.Ax("r", 32), graph.Ax("c", 5)))
	}},
	// Few rows, rows that get shorter, or other axes are exchanged.
	{"product of weighted rows", false, func(v leaves) *graph.Node { return ops.MatMul(ops.Transpose(v.weighted(31, 2, 3)), v.rows(31)) }},
	{"product of weighted rows", false, func(v leaves) *graph.Node { return ops.MatMul(ops.Transpose(v.weighted(48, 3, 2)), v.rows(48)) }},
	{"product of weighted rows", false, func(v leaves) *graph.Node {
		n := v.weighted(32, 2, 2, graph.Ax("b", 32))
		return ops.MatMul(ops.Transpose(n, "r", "e", "b"), v.g.Input("y", graph.F32, graph.Ax("r", 32), graph.Ax("b", 32), graph.Ax("c", 5)))
	}},
}

// weighted is w_r·(X·B)_re, of so many rows, inner columns and columns, for each of a batch.
func (v leaves) weighted(rows, inner, cols int, batch ...graph.Axis) *graph.Node {
	in := func(name string, axes ...graph.Axis) *graph.Node {
		return v.g.Input(name, graph.F32, slices.Concat(batch, axes)...)
	}
	p := ops.MatMul(in("X", graph.Ax("r", rows), graph.Ax("c", inner)), in("B", graph.Ax("c", inner), graph.Ax("e", cols)))
	return ops.Mul(in("W", graph.Ax("r", rows), graph.Ax("e", 1)), p)
}

// rows is an array of so many rows, whose columns have the name of those of X in weighted.
func (v leaves) rows(n int) *graph.Node {
	return v.g.Input("Y", graph.F32, graph.Ax("r", n), graph.Ax("c", 5))
}

// blocks is the sum over j of products X_j·p[c e], of two blocks of so many rows, each times an array
// that varies along the axis by and has so many columns.
func (v leaves) blocks(rows int, by string, cols int) *graph.Node {
	b := ops.Rename(v.a, 1, "e")
	b = ops.Concat(1, b, ops.Slice(b, 1, 0, 1)) // [3 4]
	x := v.g.Input("X", graph.F32, graph.Ax("r", rows), graph.Ax("j", 2), graph.Ax("", 3))
	y := ops.Split(ops.MatMul(reshape(x, graph.Dims(2*rows, 3)), b), 0, graph.Ax("r", rows), graph.Ax("j", 2))
	sizes := map[string]int{"r": 1, "j": 1}
	sizes[by] = map[string]int{"r": rows, "j": 2}[by]
	w := v.g.Input("w_e", graph.F32, graph.Ax("r", sizes["r"]), graph.Ax("j", sizes["j"]), graph.Ax("e", cols))
	return ops.Sum(ops.Mul(y, w), "j")
}

// units is a matrix like a that is 1 in its first two places on the diagonal, 0 beside it, and has
// the given last element.
func (v leaves) units(last float64) *graph.Node {
	return v.g.Constant(graph.F32, []float64{1, 0, 0, 0, 1, 0, 0, 0, last}, graph.Dims(3, 3)...)
}

// jacobian is the derivative of a function of rows by them, row by row.
func (v leaves) jacobian(f func(x *graph.Node) *graph.Node) *graph.Node {
	return vmap.Each(func(x []*graph.Node) []*graph.Node { return []*graph.Node{grad.Jacobian(f(x[0]), x[0])} }, v.x)[0]
}

// TestSumsKeepValues: what the rules about sums of products make computes what was written.
func TestSumsKeepValues(t *testing.T) {
	for _, c := range sumCases {
		if !c.fires {
			continue
		}
		v := newLeaves()
		y := c.build(v)
		res, err := Run(v.g, []*graph.Node{y}, alone(t, c.rule))
		if err != nil {
			t.Fatal(err)
		}
		of := func(n *graph.Node) graph.Value {
			feed := graph.Values{}
			for _, l := range n.Graph().Nodes() {
				if l.Role() != graph.RoleInput {
					continue
				}
				x := graph.NewValue(l.Type())
				for i := range x.Data {
					x.Data[i] = 1.5 + math.Sin(float64(i*i+len(l.Path())))
				}
				feed[l] = x
			}
			out, err := ref.Eval(trait.Env{}, feed, n)
			if err != nil {
				t.Fatal(err)
			}
			return out[0]
		}
		want, got := of(y), of(res.Node(y))
		for i, x := range want.Data {
			if math.Abs(got.Data[i]-x) > 1e-5*math.Abs(x) {
				t.Errorf("%s: element %d is %g: want %g", strings.TrimSpace(expr(y)), i, got.Data[i], x)
			}
		}
	}
}

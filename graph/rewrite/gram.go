package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// leastGain is the [pair.gain] from which on products are faster, as measured: below it, the extra
// work on the rows and on the result takes longer than the products save.
const leastGain = 12

// gram returns the rules of fast math, for a gain of at least the given one. They compute pairwise
// operations on the rows x_i and r_j from the products x_i·r_j (their Gram matrix), which take half
// the operations of differences. They are no identities of floating-point numbers: a result is off
// by the rounding of the terms on the right, however small their sum.
func gram(least float64) []Rule {
	return []Rule{
		{"distance by a product", "Σ_d (x_id − r_jd)² = |x_i|² + |r_j|² − 2 x_i·r_j, or 0 where rounding makes that negative",
			byProduct(match.SqDist, least, func(_ *graph.Node, p pair) *graph.Node {
				x, r := p.x, p.r
				if x.Shape().Len() < r.Shape().Len() {
					x = ops.Scale(x, -2) // without rounding
				} else {
					r = ops.Scale(r, -2)
				}
				s := ops.Add(ops.MatMul(x, p.across(r)), p.below(norms(p.r)))
				return ops.ReLU(ops.Add(s, p.beside(norms(p.x), p.j)))
			})},
		{"weighted difference by a product", "Σ_j w_ij (x_id − r_jd) = x_id·Σ_j w_ij − Σ_j w_ij r_jd",
			byProduct(match.WeightedDiff, least, func(w *graph.Node, p pair) *graph.Node {
				w = p.matrix(w, p.i, p.j)
				return ops.Sub(ops.Mul(p.x, p.beside(ops.Sum(w, -1), p.d)), ops.MatMul(w, p.r))
			})},
		{"dot with a difference by a product", "Σ_d u_id (x_id − r_jd) = Σ_d u_id x_id − Σ_d u_id r_jd",
			byProduct(match.DiffDot, least, func(u *graph.Node, p pair) *graph.Node {
				u = p.matrix(u, p.i, p.d)
				return ops.Sub(p.beside(ops.Sum(ops.Mul(u, p.x), -1), p.j), ops.MatMul(u, p.across(p.r)))
			})},
	}
}

// byProduct returns a rule's function for a pairwise operation; build gets its first operand, and
// the pair of its last two.
func byProduct(op match.Kind, least float64, build func(first *graph.Node, p pair) *graph.Node) func(n *graph.Node) *graph.Node {
	return func(n *graph.Node) *graph.Node {
		if !match.Is(n, op) {
			return nil
		}
		if p := pairOf(n.In(n.NumIn()-2), n.In(n.NumIn()-1)); p.gain() >= least {
			return build(n.In(0), p)
		}
		return nil
	}
}

// norms returns the squared norms of rows.
func norms(x *graph.Node) *graph.Node { return ops.Sum(ops.Square(x), -1) }

// pair holds the operands x[… i d] and r[… j d] of a pairwise operation. All that is computed from
// them uses these names of the three axes: another operand's own name for an axis might occur twice
// in a product.
type pair struct {
	x, r    *graph.Node
	batch   []graph.Axis
	i, j, d graph.Axis
}

func pairOf(x, r *graph.Node) pair {
	n := x.Rank()
	p := pair{batch: x.Shape().Axes()[:n-2], i: x.Shape().Axis(n - 2), j: r.Shape().Axis(n - 2), d: x.Shape().Axis(n - 1)}
	if p.d.Name == "" {
		p.d.Name = r.Shape().Axis(n - 1).Name
	}
	p.x, p.r = p.matrix(x, p.i, p.d), p.matrix(r, p.j, p.d)
	return p
}

// gain returns the number of differences, i·j·d, divided by the number of elements that the extra
// work touches: i·j, i·d and j·d.
func (p pair) gain() float64 {
	return 1 / (1/float64(p.i.Size) + 1/float64(p.j.Size) + 1/float64(p.d.Size))
}

// matrix returns x as [… a b].
func (p pair) matrix(x *graph.Node, a, b graph.Axis) *graph.Node {
	return reshape(x, slices.Concat(p.batch, []graph.Axis{a, b}))
}

// across returns r[… j d] as [… d j].
func (p pair) across(r *graph.Node) *graph.Node {
	order := make([]any, r.Rank())
	for a := range order {
		order[a] = a
	}
	n := len(order)
	order[n-2], order[n-1] = n-1, n-2
	return ops.Transpose(r, order...)
}

// beside repeats x[… i] along another axis, as [… i along].
func (p pair) beside(x *graph.Node, along graph.Axis) *graph.Node {
	return p.repeated(x, p.i, graph.Axis{Name: along.Name, Size: 1}, p.i, along)
}

// below repeats x[… j] along i, as [… i j].
func (p pair) below(x *graph.Node) *graph.Node {
	return p.repeated(x, graph.Axis{Name: p.i.Name, Size: 1}, p.j, p.i, p.j)
}

// repeated lays x out as [… a b] and repeats it to [… toA toB].
func (p pair) repeated(x *graph.Node, a, b, toA, toB graph.Axis) *graph.Node {
	s, err := graph.NewShape(slices.Concat(p.batch, []graph.Axis{toA, toB})...)
	if err != nil {
		return x.Graph().Fail("fast math", err, x)
	}
	return ops.BroadcastTo(p.matrix(x, a, b), s)
}

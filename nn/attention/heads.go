package attention

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// MultiHead is attention with several heads side by side (the notes' second key idea of
// transformers; Vaswani et al., 2017). Each head has queries, keys and values of its own, and a
// linear map joins the heads' results:
//
//	z = concat(head₁, …, head_h)·Wᴼ,  headᵢ = softmax(qᵢ·kᵢᵀ/√e)·vᵢ
//
// The three linear maps make the queries, keys and values of all heads at once.
type MultiHead struct {
	Name    string
	Heads   int
	QKV     QKV
	Norm    *QueryNorm // of each head's queries; nil for none
	KeyNorm *QueryNorm // of each head's keys, in the same way; nil for none
	Rotary  bool       // queries and keys are rotated by their places, 0, 1, …; see [Rotary]
	Output  nn.Linear  // Wᴼ[he m]
}

// NewMultiHead adds the parameters NAME/query/w[m he], NAME/key/w[n he], NAME/value/w[n he] and
// NAME/output/w[he m], for queries with features m and a memory with features n. The heads together
// have as many features as m. If heads does not divide m, Of records a mistake.
func NewMultiHead(g *graph.Graph, name string, dt graph.DType, query, memory graph.Axis, heads int) MultiHead {
	defer g.Scope(name)()
	he := graph.Ax("he", query.Size)
	return MultiHead{
		Name: name, Heads: heads, QKV: NewQKV(g, dt, query, memory, he),
		Output: nn.NewProjection(g, "output", dt, he, query),
	}
}

// WithQueryNorm returns a with a norm of each head's queries, the new parameter
// NAME/query-norm/gain[e].
func (a MultiHead) WithQueryNorm() MultiHead {
	a.Norm = a.headNorm("query-norm", a.QKV.Query.W)
	return a
}

// WithKeyNorm returns a with a norm of each head's keys, the new parameter NAME/key-norm/gain[e].
// All keys then answer with the same strength, so that a place can no longer make itself heard less
// than the others in all directions; see [QueryNorm].
func (a MultiHead) WithKeyNorm() MultiHead {
	a.KeyNorm = a.headNorm("key-norm", a.QKV.Key.W)
	return a
}

// headNorm adds the norm of what each head makes by its part of the weights w.
func (a MultiHead) headNorm(name string, w *graph.Node) *QueryNorm {
	defer build.Within(a.Name, w)()
	return NewQueryNorm(graph.Of(w), name, build.DType(w), graph.Ax("e", max(1, build.Last(w).Size/max(1, a.Heads))))
}

// WithBias returns a with biases in its four maps, the new parameters NAME/query/b[he],
// NAME/key/b[he], NAME/value/b[he] and NAME/output/b[m], of zeros. The bias of the keys adds the
// same number to all scores of a query, and so changes no result; published weights have it.
func (a MultiHead) WithBias() MultiHead {
	defer build.Within(a.Name, a.QKV.Query.W)()
	for _, l := range []*nn.Linear{&a.QKV.Query, &a.QKV.Key, &a.QKV.Value, &a.Output} {
		*l = l.WithBias()
	}
	return a
}

// Of returns attention z[… t m] of x[… t m] to a memory[… u n], x itself for self-attention, over
// the keys where the mask [t u], [b 1 u] or [b t u] is true (nil: all).
func (a MultiHead) Of(x, memory, mask *graph.Node) *graph.Node {
	defer build.Within(a.Name, x, memory)()
	q, k, v := a.QKV.Of(x, memory)
	return a.look(q, k, v, mask, a.counted(q))
}

// counted returns the places 0, 1, … of y[… t he]; nil where nothing is rotated by them.
func (a MultiHead) counted(y *graph.Node) *graph.Node {
	if !a.Rotary || !y.IsValid() || y.Rank() < 2 {
		return nil
	}
	return build.Counting(y.Graph(), y.DType(), y.Shape().Axis(y.Rank()-2))
}

// look returns attention for the queries q[… t he], keys k[… u he] and values v[… u he] of all
// heads. at[t] is where the queries stand, nil if nothing is rotated; the keys stand at 0, 1, ….
func (a MultiHead) look(q, k, v, mask, at *graph.Node) *graph.Node {
	places := a.counted(k)
	if z := build.Last(q).Size; q.IsValid() && (a.Heads < 1 || z%a.Heads != 0) {
		return q.Graph().Fail("MultiHead", fmt.Errorf("%d heads cannot share %d features evenly", a.Heads, z), q)
	}
	q, k, v = a.split(q).As("q"), a.split(k).As("k"), a.split(v).As("v")
	if a.Norm != nil {
		q = a.Norm.Of(q)
	}
	if a.KeyNorm != nil {
		k = a.KeyNorm.of(k, "k")
	}
	if a.Rotary { // after the norms: their gains would not turn with the hands
		q, k = Rotary(q, at).As("Rq"), Rotary(k, places).As("Rk")
	}
	if mask != nil && mask.Rank() > 2 {
		mask = ops.Expand(mask, -3, "") // the same for all heads
	}
	y, _ := Attend(q, k, v, mask)
	return a.Output.Of(join(y.As("head")).As("heads")).As("z")
}

// split gives each head its features: [… t he] becomes [… h t e].
func (a MultiHead) split(y *graph.Node) *graph.Node {
	return build.Swapped(ops.Split(y, -1, graph.Ax("h", a.Heads), graph.Ax("e", build.Last(y).Size/max(1, a.Heads))), -2, -3)
}

// join undoes split: [… h t e] becomes [… t he].
func join(y *graph.Node) *graph.Node {
	return ops.Merge(build.Swapped(y, -2, -3), "he", -2, -1)
}

// QueryNorm gives every query the same size before it meets the keys (the notes on query
// standardisation):
//
//	q ← gain ⊙ q/√(mean q² + 10⁻⁵)
//
// A query points in a direction; its length would only decide how sharp the softmax is. A key keeps
// its length, which says how strongly it answers, unless [MultiHead.WithKeyNorm] takes that from it
// as well. There is no mean to subtract and no bias, because
// sizes explode or vanish, and means do not.
type QueryNorm struct {
	Name string
	Gain *graph.Node // gain[e]
}

// NewQueryNorm adds the parameter NAME/gain[e], of ones.
func NewQueryNorm(g *graph.Graph, name string, dt graph.DType, e graph.Axis) *QueryNorm {
	defer g.Scope(name)()
	return &QueryNorm{name, g.Param("gain", dt, e).Init(initial.Fill(1))}
}

// Of returns the normalised queries, in the shape of q[… e].
func (n QueryNorm) Of(q *graph.Node) *graph.Node { return n.of(q, "q") }

// of returns Of for queries or keys of that name.
func (n QueryNorm) of(q *graph.Node, name string) *graph.Node {
	defer build.Within(n.Name, q, n.Gain)()
	size := build.RootMeanSquare(q).As("‖" + name + "‖")
	return ops.Mul(ops.Div(q, size), n.Gain).As(name + "̂")
}

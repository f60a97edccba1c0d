package attention

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Scores returns the products e[… t u] = ⟨q_t, k_u⟩ of every query with every key, for floats q[… t
// d] and k[… u d]. If the axes t and u have one name, as in self-attention, u gets a prime: t′.
func Scores(q, k *graph.Node) *graph.Node {
	if !q.IsValid() || !k.IsValid() || q.Rank() < 2 || k.Rank() < 2 {
		return ops.MatMul(q, k) // says what is wrong, or stays silent
	}
	k = primed(k, q)
	order := make([]any, k.Rank())
	for i := range order {
		order[i] = i
	}
	n := len(order)
	order[n-1], order[n-2] = n-2, n-1
	return ops.MatMul(q, ops.Transpose(k, order...)).As("e")
}

// primed renames the last axis but one of k if that of q has the same name.
func primed(k, q *graph.Node) *graph.Node {
	if a := k.Shape().Axis(k.Rank() - 2); a.Name != "" && a.Name == q.Shape().Axis(q.Rank()-2).Name {
		return ops.Rename(k, -2, build.Keys(a).Name)
	}
	return k
}

// Pool averages the values with the softmax of the scores: the query-able softmax pooling of the
// notes on attention,
//
//	α_tu = softmax_u(e_tu),  y_t = Σ_u α_tu v_u
//
// for floats e[… t u] and v[… u f], over the keys where the mask is true (nil: all). It returns y[…
// t f] and α[… t u].
func Pool(e, v, mask *graph.Node) (y, α *graph.Node) {
	α = nn.MaskedSoftmax(e, mask).As("α")
	if e.IsValid() && v.IsValid() && e.Rank() >= 2 && v.Rank() >= 2 {
		if a, b := build.Last(e), v.Shape().Axis(v.Rank()-2); a.Name == build.Keys(b).Name {
			v = ops.Rename(v, -2, a.Name)
		}
	}
	return ops.MatMul(α, v), α
}

// Attend returns scaled dot-product attention (Vaswani et al., 2017; the notes on transformers):
//
//	y = softmax(q·kᵀ/√d)·v
//
// for queries q[… t d], keys k[… u d] and values v[… u f], all floats, over the keys where the mask
// is true (nil: all). It returns y[… t f] and the weights α[… t u]. The rows of α sum to 1; a row
// for which the mask is false throughout is 0. A mask that does not fit the scores is a mistake.
func Attend(q, k, v, mask *graph.Node) (y, α *graph.Node) {
	defer graph.Of(q, k, v).Scope("attend")()
	e := Scores(q, k)
	if e.IsValid() {
		e = ops.Scale(e, 1/math.Sqrt(float64(build.Last(q).Size))).As("ê")
	}
	return Pool(e, v, mask)
}

// QKV makes queries, keys and values by three linear maps; attention itself has no parameters.
type QKV struct {
	Query, Key, Value nn.Linear
}

// NewQKV adds the parameters query/w[m d] for queries from x[… m], and key/w[n d] and value/w[n d]
// for a memory[… n]. There are no biases.
func NewQKV(g *graph.Graph, dt graph.DType, query, memory, d graph.Axis) QKV {
	return QKV{
		Query: nn.NewProjection(g, "query", dt, query, d),
		Key:   nn.NewProjection(g, "key", dt, memory, d),
		Value: nn.NewProjection(g, "value", dt, memory, d),
	}
}

// Of returns queries q[… t d] of x[… t m], and keys k[… u d] and values v[… u d] of a memory[… u
// n]: x itself for self-attention, another array for cross-attention.
func (p QKV) Of(x, memory *graph.Node) (q, k, v *graph.Node) {
	return p.Query.Of(x), p.Key.Of(memory), p.Value.Of(memory)
}

// Attend returns attention of x[… t m] to a memory[… u n] with one head, y[… t d] and α[… t u]; see
// [Attend].
func (p QKV) Attend(x, memory, mask *graph.Node) (y, α *graph.Node) {
	q, k, v := p.Of(x, memory)
	y, α = Attend(q.As("q"), k.As("k"), v.As("v"), mask)
	return y.As("y"), α
}

// Table is the soft hash table of the notes on attention: pairs of keys k[b i d] and values v[b i
// f]. A query need not match a key: reading averages the values, with the largest weights where the
// keys are most like the query. So a derivative flows into query, keys and values alike.
type Table struct {
	Keys, Values *graph.Node // nil as long as nothing is written
}

// Write returns the table with n more pairs, keys k[b n d] and values v[b n f], after its own; the
// table itself stays as it is. Pairs whose d, f or batch differ from the table's are a mistake.
func (t Table) Write(k, v *graph.Node) Table {
	if t.Keys == nil && t.Values == nil {
		return Table{k, v}
	}
	return Table{ops.Concat(-2, t.Keys, k), ops.Concat(-2, t.Values, v)}
}

// Read looks up the queries q[b t d]:
//
//	e = ⟨q_t, k_i⟩/√d,  α = softmax_i(e),  y_t = Σ_i α_ti v_i
//
// It returns y[b t f] and α[b t i].
func (t Table) Read(q *graph.Node) (y, α *graph.Node) { return Attend(q, t.Keys, t.Values, nil) }

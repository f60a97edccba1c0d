package page

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/tape"
)

// besideView has the values of a node that two compared documents share, at one step.
type besideView struct {
	A          string      `json:"a"`    // the node in the first document; "" if it has none
	B          string      `json:"b"`    // and in the second
	None       string      `json:"none"` // why there is no difference; "" if there is one
	First      *valuesView `json:"first"`
	Second     *valuesView `json:"second"`
	Difference *valuesView `json:"difference"` // first − second
	Elements   int         `json:"elements"`
	Differing  int         `json:"differing"` // elements whose difference is not 0
	Largest    []apartView `json:"largest"`   // the elements with the largest differences, largest first
}

// apartView is an element of which two documents have different values.
type apartView struct {
	At         []int  `json:"at"`
	Place      string `json:"place"`
	A          number `json:"a"`
	B          number `json:"b"`
	Difference number `json:"difference"`
}

// mostApart is how many of the elements that differ are listed.
const mostApart = 50

// beside answers with the values of a box of two compared documents, and their difference.
func (s *Service) beside(r *request) (v any, err error) {
	a, b, err := s.pair(r)
	if err != nil {
		return nil, err
	}
	err = s.use(r.ctx, func() error {
		v, err = valuesBeside(r.ctx, r, a, b)
		return err
	}, a, b)
	return v, err
}

func valuesBeside(ctx context.Context, r *request, docs ...*document) (*besideView, error) {
	q, err := drawingOf(r, docs...)
	if err != nil {
		return nil, err
	}
	c, err := newComparison(ctx, q, docs...)
	if err != nil {
		return nil, err
	}
	nodes, err := c.matched(ctx, r.query.Get("node"), r.query.Get("of"))
	if err != nil {
		return nil, err
	}
	out := &besideView{A: c.at[0].id(nodes[0]), B: c.at[1].id(nodes[1]), Largest: []apartView{}}
	for i, n := range nodes {
		if n == nil {
			out.None = fmt.Sprintf("%s has nothing like it.", nameAmong(docs[i], docs))
			return out, nil
		}
	}
	if x, y := nodes[0].Shape(), nodes[1].Shape(); !slices.Equal(x.Sizes(), y.Sizes()) {
		out.None = fmt.Sprintf("Its shapes differ: %v and %v.", x, y)
		return out, nil
	}
	w, err := windowOf(r, nodes[0].Shape())
	if err != nil {
		return nil, err
	}
	var values [2]tape.Array
	for i, d := range docs {
		record, err := d.record(ctx, c.at[i], q.step)
		if err != nil {
			return nil, err
		}
		values[i] = record.Value(nodes[i])
	}
	apart := tape.Array{Type: graph.Type{DType: graph.F64, Shape: nodes[0].Shape()}}
	for p := range nodes[0].Shape().Len() {
		d := values[0].At(p) - values[1].At(p)
		if values[0].At(p) == values[1].At(p) { // equal infinities
			d = 0
		}
		apart.F64 = append(apart.F64, d)
	}
	out.First, out.Second, out.Difference = w.view(values[0], tape.Array{}), w.view(values[1], tape.Array{}), w.view(apart, tape.Array{})
	out.Elements = len(apart.F64)
	out.rank(c.at[0], nodes[0], values, apart.F64)
	return out, nil
}

// rank lists the elements with the largest differences; NaN is larger than any.
func (b *besideView) rank(v *variant, n *graph.Node, values [2]tape.Array, apart []float64) {
	size := func(p int) float64 {
		if math.IsNaN(apart[p]) {
			return math.Inf(1)
		}
		return math.Abs(apart[p])
	}
	var at []int
	for p, d := range apart {
		if d != 0 {
			at = append(at, p)
		}
	}
	b.Differing = len(at)
	slices.SortStableFunc(at, func(p, q int) int { return cmp.Compare(size(q), size(p)) })
	for _, p := range at[:min(mostApart, len(at))] {
		e := inspect.EntryAt(n, p, values[0].At(p))
		b.Largest = append(b.Largest, apartView{e.Index, v.place(e), number(e.Value), number(values[1].At(p)), number(apart[p])})
	}
}

// matched returns the nodes of the box that has a node: that of the first document, or of the
// second if of is its id. A document that has no such box has nil.
func (c comparison) matched(ctx context.Context, id, of string) (nodes [2]*graph.Node, err error) {
	side := 0
	if of == c.docs[1].id {
		side = 1
	}
	n, _, err := c.docs[side].node(ctx, id)
	if err != nil {
		return nodes, err
	}
	m, err := c.pairing(ctx)
	if err != nil {
		return nodes, err
	}
	nodes[side] = n
	for _, p := range m.boxes {
		pair := [2]*graph.Node{p.A, p.B}
		if pair[side] == n && pair[1-side] != nil {
			return pair, nil
		}
	}
	return nodes, nil
}

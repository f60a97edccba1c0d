package rewrite

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// remade is a loop that is made anew, of which nodes have left.
type remade struct {
	*steps
	reads   map[*graph.Node]*graph.Node // the values, beside the loop, of nodes that the body now reads
	repeats map[*graph.Node]*graph.Node // what sequences repeat
	chains  map[*graph.Node]chain       // sums and products whose terms change places
}

func newRemade(l *steps) *remade {
	return &remade{l, map[*graph.Node]*graph.Node{}, map[*graph.Node]*graph.Node{}, map[*graph.Node]chain{}}
}

// tidy simplifies the bodies of new loops, so that nothing is left to do in them.
var tidy = Pass{Name: "fission", rules: simplify, outermost: true}

// make adds the loop, with these outs and sums.
func (r *remade) make(outs, sums []*graph.Node) *graph.Node {
	g := r.loop.Graph()
	var names []string
	var types []graph.Type
	var olds, operands []*graph.Node
	add := func(n, operand *graph.Node, typ graph.Type) {
		names, types = append(names, labelOf(n, len(names))), append(types, typ)
		olds, operands = append(olds, n), append(operands, operand)
	}
	given := func(from, to int) {
		for i := from; i < to; i++ {
			if r.repeats[r.in[i]] == nil {
				add(r.in[i], r.loop.In(i), r.in[i].Type())
			}
		}
	}
	extra := func(varies bool) {
		for _, n := range r.nodes {
			if x := r.reads[n]; x != nil && r.varies[n] == varies {
				add(n, x, n.Type())
			}
			if x := r.repeats[n]; x != nil && !varies {
				if _, constant := match.Literal(x); !constant {
					add(n, x, x.Type())
				}
			}
		}
	}
	given(0, r.Carries+r.Sequences)
	extra(true)
	sequences := len(olds)
	given(r.Carries+r.Sequences, len(r.in))
	extra(false)

	to, in := g.BodyGraph(r.body.Graph().Name(), names, types)
	b := &builder{pass: tidy, to: to, node: make([]*graph.Node, r.body.Graph().Len()), bodies: map[*graph.Body]*graph.Body{}}
	for _, rule := range tidy.rules {
		b.labels = append(b.labels, tidy.Name+": "+rule.Name)
	}
	for i, n := range olds {
		x := in[i]
		if r.repeats[n] != nil {
			x = ops.BroadcastTo(x, n.Shape())
		}
		b.node[n.ID()] = x
	}
	for _, n := range r.in {
		if v, constant := match.Literal(r.repeats[n]); constant {
			b.node[n.ID()] = ops.BroadcastTo(to.Constant(n.DType(), []float64{v}), n.Shape())
		}
	}
	results := append(append(r.out[:r.Carries:r.Carries], outs...), sums...)
	now := make([]*graph.Node, len(results))
	known := func(n *graph.Node) bool { return b.of(n) != nil }
	for _, n := range graph.ReachableUntil(known, results...) {
		switch c, isChain := r.chains[n]; {
		case known(n):
		case isChain:
			at := b.standing(n)
			var y *graph.Node
			to.During(at, b.origin(at, n, ""), func() { y = c.built(n.Op(), b.of) })
			b.inherit(n, y, "")
		default:
			b.copy(n)
		}
	}
	for i, n := range results {
		now[i] = b.of(n)
		if now[i].Type() != n.Type() {
			now[i] = ops.ReshapeTo(now[i], n.Shape())
		}
	}
	g.Abandon(to)

	used := map[*graph.Node]bool{}
	for _, n := range graph.Reachable(now...) {
		used[n] = true
	}
	loop := r.Loop
	loop.Sequences, loop.Constants, loop.Outs, loop.Sums = 0, 0, len(outs), len(sums)
	var inputs, args []*graph.Node
	for i, x := range in {
		switch {
		case i < loop.Carries:
		case !used[x]:
			continue
		case i < sequences:
			loop.Sequences++
		default:
			loop.Constants++
		}
		inputs, args = append(inputs, x), append(args, operands[i])
	}
	body, err := graph.NewBody(to, inputs, now)
	if err != nil {
		panic(fmt.Sprintf("rewrite: fission built a wrong body: %v", err))
	}
	loop.Body = g.AddBody(body)
	op, _ := r.loop.Op().(match.Recounted).Recount(loop)
	return g.Apply(op, args...)
}

// labelOf is a name for what a body reads.
func labelOf(n *graph.Node, i int) string {
	if name := n.Name(); name != "" {
		return name
	}
	return fmt.Sprint("x", i)
}

// piece returns result k of the loop, flat.
func piece(y *graph.Node, k int) *graph.Node {
	p := y.Op().(trait.Looped).Loop().Parts(y.Body())[k]
	return ops.Slice(y, 0, p.At, p.At+p.Rows*p.Size)
}

// flat is an array as a vector.
func flat(x *graph.Node) *graph.Node {
	s, _ := graph.NewShape(graph.Dims(x.Shape().Len())...)
	return ops.ReshapeTo(x, s)
}

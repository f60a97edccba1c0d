package ops

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/derive"
)

// JVP is a loop with as many carries, outs and sums as the other, whose value has the same parts. A
// step computes the tangents of the results of the other's step,
//
//	δc ← ∂c'/∂c·δc + ∂c'/∂x·δx_t + ∂c'/∂w·δw
//
// at the carries that the other has kept: those of every step, if a tangent depends on them. With a
// checkpoint they are fewer.
func (op scan) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	g, body := y.Graph(), y.Body()
	inner := body.In()
	var carries, kept, over, moved, with, shifts gathered
	for k, x := range inner {
		delta, name := dx[k], "δ"+x.Label()
		switch {
		case k < op.Carries:
			if delta == nil {
				delta = BroadcastTo(Lit(y.In(k), 0), y.In(k).Shape())
			}
			carries = carries.with(name, x.Type(), delta)
			kept = kept.with(x.Name(), x.Type(), op.before(y, y, k))
		case k < op.Carries+op.Sequences:
			over = over.with(x.Name(), x.Type(), y.In(k))
			if delta != nil {
				moved = moved.with(name, x.Type(), delta)
			}
		default:
			with = with.with(x.Name(), x.Type(), y.In(k))
			if delta != nil {
				shifts = shifts.with(name, x.Type(), delta)
			}
		}
	}
	var all gathered
	var at []int // where each of the groups begins
	for _, s := range []gathered{carries, kept, over, moved, with, shifts} {
		at = append(at, len(all.nodes))
		for i := range s.nodes {
			all = all.with(s.names[i], s.types[i], s.nodes[i])
		}
	}
	b, in := g.BodyGraph("δ"+body.Graph().Name(), all.names, all.types)
	own := slices.Concat(in[at[1]:at[3]], in[at[4]:at[5]]) // the other's inputs
	var wrt, deltas []*graph.Node
	next := []int{at[0], at[3], at[5]} // the next tangent of a carry, a sequence, a constant
	for k, x := range own {
		kind := 0
		if k >= op.Carries+op.Sequences {
			kind = 2
		} else if k >= op.Carries {
			kind = 1
		}
		if kind == 0 || dx[k] != nil {
			wrt, deltas = append(wrt, x), append(deltas, in[next[kind]])
			next[kind]++
		}
	}
	results := derive.Forward(copyBody(b, body, own), wrt, deltas)
	t := op
	t.Sequences, t.Constants = 0, 0
	read, operands := in[:at[1]:at[1]], all.nodes[:at[1]:at[1]]
	for i, used := at[1], reads(b, results); i < len(in); i++ {
		switch {
		case !used(in[i]): // a trace that no tangent reads need not be kept
			continue
		case i < at[4]:
			t.Sequences++
		default:
			t.Constants++
		}
		read, operands = append(read, in[i]), append(operands, all.nodes[i])
	}
	var bad *graph.Node
	if t.Body, bad = g.Seal("Scan", b, read, results); bad != nil {
		return bad
	}
	return g.Apply(t, operands...)
}

// reads reports which nodes of a graph the results are computed from, also as arguments of
// gradients that are derived again.
func reads(b *graph.Graph, results []*graph.Node) func(n *graph.Node) bool {
	roots := slices.Clone(results)
	for _, d := range b.Derivations() {
		roots = append(roots, d.Loss, d.Wrt)
	}
	cone := graph.Reachable(roots...)
	return func(n *graph.Node) bool { return slices.Contains(cone, n) }
}

// before returns the carries before each step, as a sequence, from the loop's value or from an
// array of the same parts.
func (op scan) before(y, value *graph.Node, k int) *graph.Node {
	from := 0
	if op.Reverse {
		from = 1
	}
	return part(value, op.Loop().Parts(y.Body())[k], from, op.Steps, "", y.Body().In()[k].Shape())
}

// Batch maps the body over the examples, and puts the parts of each example's value
// together. All carries become the examples' own, whatever they start as.
func (op scan) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	g, body := y.Graph(), y.Body()
	inside := graph.Axis{Size: b.Size} // without a name, which the body might have
	var ins gathered
	own := func(k int) bool { return batched[k] || k < op.Carries }
	for k, x := range body.In() {
		n, typ := in[k], x.Type()
		if own(k) {
			typ.Shape = inFront(inside, x.Shape())
		}
		switch {
		case k < op.Carries:
			n = repeated(in[k:k+1], batched[k:k+1], b)[0]
		case k < op.Carries+op.Sequences && batched[k]:
			n = moved(n, 0, 1, 1)
		}
		ins = ins.with(x.Name(), typ, n)
	}
	graphs, inputs := g.BodyGraph(body.Graph().Name(), ins.names, ins.types)
	one := slices.Clone(inputs) // of one example
	var from, to []*graph.Node
	for k, x := range body.In() {
		if own(k) {
			one[k] = graphs.Input("one "+inputs[k].Path(), x.DType(), x.Shape().Axes()...)
			from, to = append(from, one[k]), append(to, inputs[k])
		}
	}
	results := derive.Map(copyBody(graphs, body, one), from, to)
	many := op
	var bad *graph.Node
	if many.Body, bad = g.Seal("Scan", graphs, inputs, results); bad != nil {
		return bad
	}
	all := g.Apply(many, ins.nodes...)
	if !all.IsValid() {
		return all
	}
	var parts []*graph.Node
	for _, p := range op.Loop().Parts(body) {
		rows := Reshape(Slice(all, 0, p.At*b.Size, (p.At+p.Rows*p.Size)*b.Size), p.Rows, b.Size, p.Size)
		parts = append(parts, Reshape(Transpose(rows, 1, 0, 2), b.Size, -1))
	}
	return Concat(1, parts...)
}

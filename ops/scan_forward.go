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
	gate := (*graph.Node)(nil)
	if op.Gate > 0 {
		gate = own[op.Gate-1]
	}
	read, operands := in[:at[1]:at[1]], all.nodes[:at[1]:at[1]]
	for i, used := at[1], reads(b, results); i < len(in); i++ {
		switch {
		case in[i] != gate && !used(in[i]): // a trace that no tangent reads need not be kept
			continue
		case i < at[4]:
			t.Sequences++
		default:
			t.Constants++
		}
		read, operands = append(read, in[i]), append(operands, all.nodes[i])
	}
	if t.Gate = 0; gate != nil {
		t.Gate = 1 + slices.Index(read, gate)
	}
	if len(read) == 0 && b.Err() == nil { // what is linear in no tangent is 0
		g.Abandon(b)
		return nil
	}
	var bad *graph.Node
	if t.Body, _, bad = g.Seal("Scan", b, read, results); bad != nil {
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
// together. All carries become the examples' own, whatever they start as. Where the examples have
// gates of their own, a step is run if one of them wants it, and the others keep their carries.
func (op scan) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return op.batch(y, in, batched, b, true)
}

// BatchSameDraws is [scan.Batch] for examples that share the random draws of the body.
func (op scan) BatchSameDraws(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return op.batch(y, in, batched, b, false)
}

func (op scan) batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis, draws bool) *graph.Node {
	g, body := y.Graph(), y.Body()
	inside := graph.Axis{Size: b.Size} // without a name, which the body might have
	var ins gathered
	own := func(k int) bool { return batched[k] || k < op.Carries }
	gate, gated := op.Loop().Gated()
	gated = gated && own(gate)
	wanted := -1 // the operand that says whether any example wants the step
	many := op
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
		if last := k+1 == op.Carries || k+1 == op.Carries+op.Sequences || k+1 == len(in); gated && wanted < 0 && k >= gate && last {
			wanted = len(ins.nodes) // with the operands of its kind
			axis := 0
			switch {
			case gate < op.Carries:
				many.Carries++
			case gate < op.Carries+op.Sequences:
				axis = 1 // after the time
				many.Sequences++
			default:
				many.Constants++
			}
			ins = ins.with("any "+body.In()[gate].Label(), graph.Type{DType: y.DType()}, Max(Abs(Cast(ins.nodes[gate], y.DType())), axis))
			many.Gate = wanted + 1
		}
	}
	graphs, inputs := g.BodyGraph(body.Graph().Name(), ins.names, ins.types)
	all := slices.Clone(inputs)
	var running *graph.Node // which examples want the step
	if gated {
		all = slices.Delete(all, wanted, wanted+1)
		on := Cast(all[gate], y.DType())
		running = NotEqual(on, Lit(on, 0))
	}
	one := slices.Clone(all) // of one example
	var from, to []*graph.Node
	for k, x := range body.In() {
		if own(k) {
			one[k] = graphs.Input("one "+all[k].Path(), x.DType(), x.Shape().Axes()...)
			from = append(from, one[k])
			if n := all[k]; gated && n.DType().IsFloat() {
				// The value is the same either way, but what does not run gets no derivative.
				to = append(to, Select(perExample(running, n), n, StopGradient(n)))
			} else {
				to = append(to, n)
			}
		}
	}
	if len(from) == 0 { // only draws tell the examples apart
		from = append(from, graphs.Input("example", graph.F64))
		to = append(to, BroadcastTo(Lit(from[0], 0), inFront(inside, graph.Shape{})))
	}
	results := derive.Map(copyBody(graphs, body, one), from, to, draws)
	if gated {
		for k, n := range results {
			otherwise := Lit(n, 0)
			if k < op.Carries {
				otherwise = all[k]
			}
			results[k] = Select(perExample(running, n), n, otherwise)
		}
		if gate < op.Carries {
			results = slices.Insert(results, op.Carries, Max(Abs(Cast(results[gate], y.DType())), 0))
		}
	}
	var bad *graph.Node
	if many.Body, _, bad = g.Seal("Scan", graphs, inputs, results); bad != nil {
		return bad
	}
	value := g.Apply(many, ins.nodes...)
	if !value.IsValid() {
		return value
	}
	places := many.Loop().Parts(value.Body())
	if many.Carries > op.Carries {
		places = slices.Delete(places, op.Carries, op.Carries+1)
	}
	var parts []*graph.Node
	for k, p := range op.Loop().Parts(body) {
		rows := Reshape(stretch(value, 0, places[k].At, p.Rows*b.Size*p.Size), p.Rows, b.Size, p.Size)
		parts = append(parts, Reshape(Transpose(rows, 1, 0, 2), b.Size, -1))
	}
	return Concat(1, parts...)
}

// perExample is a mask [b] with axes for the others of x [b …].
func perExample(mask, x *graph.Node) *graph.Node {
	axes := x.Shape().Axes()
	for a := range axes {
		if a > 0 {
			axes[a].Size = 1
		}
	}
	return reshapeAxes("Batch", mask, axes)
}

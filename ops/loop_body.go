package ops

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// How the step of a loop becomes a body, and the loop an operation that runs it.

// scan adds the loop and takes its value apart. Draws in the step depend on its time, which is a
// further sequence where there are any.
func (u laidOut) scan(step StepFunc) Scanned {
	return u.scanTimed(graph.Type{DType: graph.I64}, func(carry, x, with []*graph.Node, time *graph.Node) (next, out []*graph.Node) {
		time.Graph().SetTime(time)
		return step(carry, x, with)
	})
}

// scanTimed is scan for a step that gets its time, or its times, of type timed.
func (u laidOut) scanTimed(timed graph.Type, step func(carry, x, with []*graph.Node, time *graph.Node) (next, out []*graph.Node)) Scanned {
	var in gathered
	name := func(n *graph.Node, letter string, k int) string {
		if s := n.Name(); s != "" {
			return s
		}
		return fmt.Sprint(letter, k)
	}
	for k, n := range u.carry {
		in = in.with(name(n, "c", k), n.Type(), n)
	}
	for k, n := range u.over {
		typ, _ := stepType(n, u.steps)
		in = in.with(name(u.called[k], "x", k), typ, n)
	}
	for k, n := range u.with {
		in = in.with(name(n, "w", k), n.Type(), n)
	}
	op := scan{Steps: u.steps, Carries: len(u.carry), Sequences: len(u.over), Constants: len(u.with), Reverse: u.reverse, Gate: u.gate, Closed: u.closed}
	if u.what != "Scan" {
		op.Made = u.what
	}
	b, inputs := u.g.BodyGraph(cmp.Or(u.name, "step"), append(in.names, "time"), append(in.types, timed), slices.Concat(make([]*graph.Node, op.Carries), u.over, u.with)...)
	inputs, time := inputs[:len(in.names)], inputs[len(in.names)]
	at := op.Carries + op.Sequences
	next, out := step(inputs[:op.Carries:op.Carries], inputs[op.Carries:at:at], inputs[at:], time)
	if u.steps == 0 {
		return u.still(b, inputs, next, out)
	}
	if reads(b, own(b, slices.Concat(next, out)))(time) {
		inputs, in.names = slices.Insert(slices.Clone(inputs), at, time), slices.Insert(in.names, at, time.Name())
		in.nodes = slices.Insert(in.nodes, at, u.time())
		if op.Sequences++; op.Gate > at {
			op.Gate++
		}
	}
	nameCarries(b, in.names, inputs, next)
	op.Outs = len(out)
	r := Scanned{Final: make([]*graph.Node, op.Carries), Trace: make([]*graph.Node, op.Carries), Out: make([]*graph.Node, op.Outs)}
	y := u.apply(op, b, inputs, next, out, in.nodes)
	if !y.IsValid() {
		for _, list := range [][]*graph.Node{r.Final, r.Trace, r.Out} {
			for i := range list {
				list[i] = y
			}
		}
		return r
	}
	results := slices.Concat(next, out)
	_, _, last := op.Loop().At(op.Steps - 1)
	for k := range r.Final {
		row := u.carry[k].Shape()
		r.Final[k] = result(y, results, k, last, 1, oneRow, row)
		from := 1
		if u.reverse {
			from = 0
		}
		r.Trace[k] = result(y, results, k, from, op.Steps, u.axis, row)
	}
	for k := range r.Out {
		r.Out[k] = result(y, results, op.Carries+k, 0, op.Steps, u.axis, out[k].Shape())
	}
	return r
}

// still returns what a loop without steps gives: the carries as they start, and no outs of the types
// that a step would make.
func (u laidOut) still(b *graph.Graph, inputs, next, out []*graph.Node) Scanned {
	_, _, bad := u.g.Sealed(u.what, b, inputs, slices.Concat(next, out))
	if err := u.check(next); err != nil && bad == nil {
		bad = u.g.Fail(u.what, err)
	}
	for k := 0; k < len(next) && bad == nil; k++ {
		if !sameKind(next[k].Type(), u.carry[k].Type()) {
			bad = u.g.Fail(u.what, differs(k, u.carry[k], next[k]))
		}
	}
	none := func(like []*graph.Node) []*graph.Node {
		list := make([]*graph.Node, len(like))
		for k, n := range like {
			if list[k] = bad; bad == nil {
				list[k] = Zeros(u.g, n.DType(), append([]graph.Axis{{Name: u.axis}}, n.Shape().Axes()...)...)
			}
		}
		return list
	}
	r := Scanned{Final: slices.Clone(u.carry), Trace: none(u.carry), Out: none(out)}
	for k := range r.Final {
		if bad != nil {
			r.Final[k] = bad
		}
	}
	return r
}

// own returns those of the nodes that belong to a graph.
func own(g *graph.Graph, nodes []*graph.Node) (list []*graph.Node) {
	for _, n := range nodes {
		if n.IsValid() && n.Graph() == g {
			list = append(list, n)
		}
	}
	return list
}

// nameCarries calls the carries before a step after those that it gives, h₋₁ where it gives h.
func nameCarries(b *graph.Graph, names []string, inputs, next []*graph.Node) {
	names = slices.Clone(names)
	for k, n := range next {
		if k >= len(inputs) || !n.IsValid() || n == inputs[k] || n.Name() == "" {
			continue
		}
		if before := n.Name() + "₋₁"; !slices.Contains(names, before) {
			names[k] = before
		}
	}
	for k, x := range inputs {
		b.RenameInput(x, names[k])
	}
}

// apply seals the body and adds the node.
func (u laidOut) apply(op scan, b *graph.Graph, inputs, next, out, operands []*graph.Node) *graph.Node {
	if err := u.check(next); err != nil {
		u.g.Abandon(b)
		return u.g.Fail(u.what, err)
	}
	results := slices.Concat(next, out)
	if u.spare && readsCaptured(b, inputs, results) {
		inputs, operands, op.Constants = nil, nil, 0
	}
	body, captured, bad := u.g.Sealed(u.what, b, inputs, results)
	if bad != nil {
		return bad
	}
	op.Constants += len(captured)
	operands = slices.Concat(operands, captured)
	if mixed(results) {
		for k, n := range next {
			if !sameKind(n.Type(), inputs[k].Type()) {
				return u.g.Fail(u.what, differs(k, inputs[k], n), operands...)
			}
		}
		return op.overFloats(u.g, body, operands)
	}
	op.Body = u.g.AddBody(body)
	return u.g.Apply(op, operands...)
}

// readsCaptured reports whether results of a body read inputs that are not listed.
func readsCaptured(b *graph.Graph, inputs, results []*graph.Node) bool {
	roots := slices.Clone(results)
	for i, n := range roots {
		roots[i] = b.Within(n)
	}
	return slices.ContainsFunc(graph.Reachable(own(b, roots)...), func(n *graph.Node) bool {
		return n.Role() == graph.RoleInput && !slices.Contains(inputs, n)
	})
}

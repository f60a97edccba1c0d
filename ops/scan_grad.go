package ops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/derive"
)

// Grad is a loop in the other direction. With λ the derivative by the carry after a step, and ∂ the
// derivatives by the traces, the outs and the sums from outside, a step computes the derivative by
// the carry before it and the contributions to x and w:
//
//	λ ← ∂c_t + λ·∂c'/∂c + ∂o_t·∂o/∂c + ∂s·∂s/∂c,  dx_t = λ·∂c'/∂x + …,  dw = Σ_t (λ·∂c'/∂w + …)
//
// The carries and outs are read from the forward loop's value; other values of the step are
// computed again. One loop computes the derivatives by all operands that are wanted: asking for
// another operand finds the same node.
func (op scan) Grad(y, dy *graph.Node, i int) *graph.Node {
	return op.GradAmong(y, dy, i, strings.Repeat("1", y.NumIn()))
}

// GradAmong is Grad if only the derivatives by the operands marked 1 are wanted, not by those
// marked 0: the loop computes nothing for these.
func (op scan) GradAmong(y, dy *graph.Node, i int, wanted string) *graph.Node {
	d := y.Graph().Memo(backKey{y, dy, wanted}, func() any { return op.back(y, dy, wanted) }).(backward)
	if !d.loop.IsValid() {
		return d.loop
	}
	x, p := y.In(i), d.parts[d.result[i]]
	switch {
	case i < op.Carries:
		_, _, last := d.op.Loop().At(op.Steps - 1)
		return part(d.loop, p, last, 1, oneRow, x.Shape())
	case i < op.Carries+op.Sequences:
		return Cast(part(d.loop, p, 0, op.Steps, x.Shape().Axis(0).Name, y.Body().In()[i].Shape()), x.DType())
	default:
		return Cast(part(d.loop, p, 0, 1, oneRow, x.Shape()), x.DType())
	}
}

// backKey names the loop back for a derivative dy by y and the operands wanted.
type backKey struct {
	y, dy  *graph.Node
	wanted string
}

// backward is the loop that computes the derivatives of another.
type backward struct {
	op     scan
	loop   *graph.Node
	parts  []trait.Part
	result []int // by operand of the other: the result of the body that is its derivative
}

// backOperands returns the operands of the loop back: λ; the sequences of the carries before each
// step, of x, of the outer derivatives by the carries and by the outs, and, from operand given on,
// of the steps' results, whose nodes [scan.given] makes where they are read; w, and the outer
// derivatives by the sums.
func (op scan) backOperands(y, dy *graph.Node) (ins gathered, given int) {
	inner, out := y.Body().In(), y.Body().Out()
	parts := op.Loop().Parts(y.Body())
	label := func(prefix string, n *graph.Node, k int) string {
		if name := n.Name(); name != "" {
			return prefix + name
		}
		return fmt.Sprint(prefix, "o", k)
	}

	_, _, last := op.Loop().At(op.Steps - 1)
	for k := range op.Carries {
		ins = ins.with(label("λ", inner[k], k), inner[k].Type(), part(dy, parts[k], last, 1, oneRow, inner[k].Shape()))
	}
	for k := range op.Carries {
		ins = ins.with(inner[k].Name(), inner[k].Type(), op.before(y, y, k))
	}
	for k := op.Carries; k < op.Carries+op.Sequences; k++ {
		ins = ins.with(inner[k].Name(), inner[k].Type(), y.In(k))
	}
	for k := range op.Carries {
		ins = ins.with(label("∂", inner[k], k), inner[k].Type(), op.before(y, dy, k))
	}
	for k := op.Carries; k < op.Carries+op.Outs; k++ {
		ins = ins.with(label("∂", out[k], k), out[k].Type(), part(dy, parts[k], 0, op.Steps, "", out[k].Shape()))
	}
	given = len(ins.nodes)
	for k := range op.Carries + op.Outs {
		ins = ins.with(label("", out[k], k), out[k].Type(), nil)
	}
	for k := op.Carries + op.Sequences; k < len(inner); k++ {
		ins = ins.with(inner[k].Name(), inner[k].Type(), y.In(k))
	}
	for k := op.Carries + op.Outs; k < len(out); k++ {
		ins = ins.with(label("∂", out[k], k), out[k].Type(), part(dy, parts[k], 0, 1, oneRow, out[k].Shape()))
	}
	return ins, given
}

// given returns result k of all steps, as a sequence.
func (op scan) given(y *graph.Node, k int) *graph.Node {
	first := 0
	if k < op.Carries && !op.Reverse {
		first = 1
	}
	return part(y, op.Loop().Parts(y.Body())[k], first, op.Steps, "", y.Body().Out()[k].Shape())
}

func (op scan) back(y, dy *graph.Node, wanted string) backward {
	g, body := y.Graph(), y.Body()
	ins, given := op.backOperands(y, dy)
	b, in := g.BodyGraph("∂"+body.Graph().Name(), ins.names, ins.types)
	λ, rest := in[:op.Carries], in[op.Carries:]
	own := rest[: op.Carries+op.Sequences : op.Carries+op.Sequences] // the forward body's inputs
	rest = rest[len(own):]
	reach, rest := rest[:op.Carries], rest[op.Carries:]
	seeds := slices.Concat(λ, rest[:op.Outs])
	rest = rest[op.Outs+op.Carries+op.Outs:]
	own, rest = append(own, rest[:op.Constants]...), rest[op.Constants:]
	seeds = append(seeds, rest...)

	results := copyBody(b, body, own)
	for k := range seeds {
		seeds[k] = ReshapeTo(seeds[k], results[k].Shape()) // the names of axes
	}
	flows := func(i int) bool {
		return own[i].DType().IsFloat() && (i < op.Carries || wanted[i] == '1')
	}
	var wrt []*graph.Node
	for i, x := range own {
		if flows(i) {
			wrt = append(wrt, x)
		}
	}
	d := backward{op: scan{Steps: op.Steps, Carries: op.Carries, Sequences: 2*op.Carries + op.Sequences + op.Outs,
		Constants: op.Constants + op.Sums, Reverse: !op.Reverse, Closed: op.Closed, Made: op.Made}, result: make([]int, len(own))}
	var nodes []*graph.Node
	grads := derive.Back(results, seeds, wrt)
	for i := range own {
		if !flows(i) {
			continue
		}
		g := grads[0]
		grads = grads[1:]
		switch {
		case i < op.Carries:
			g = Add(reach[i], g).As(λ[i].Label() + "′")
		case i < op.Carries+op.Sequences || op.Steps == 1:
			d.op.Outs++ // of one step, the term is the sum
		default:
			d.op.Sums++
		}
		d.result[i] = len(nodes)
		nodes = append(nodes, Cast(g, y.DType())) // a sequence may have another float type than the loop
	}
	// Values that the forward loop has kept are not computed again.
	kept := map[*graph.Node]int{} // by node: the input
	for k, n := range results[:op.Carries+op.Outs] {
		if _, known := kept[n]; !known && n.Role() == graph.RoleOp {
			kept[n] = given + k
		}
	}
	nodes, used := readInstead(b, nodes, kept, in)
	for k := op.Carries + op.Outs - 1; k >= 0; k-- {
		at := given + k
		if !used[at] {
			in, ins.nodes = slices.Delete(in, at, at+1), slices.Delete(ins.nodes, at, at+1)
			continue
		}
		ins.nodes[at] = op.given(y, k)
		d.op.Sequences++
	}
	if op.Gate > 0 { // the steps that were not run
		d.op.Gate = 1 + slices.Index(in, own[op.Gate-1])
	}
	if d.op.Body, _, d.loop = g.Seal("Scan", b, in, nodes); d.loop != nil {
		return d
	}
	d.loop = g.Apply(d.op, ins.nodes...)
	if d.loop.IsValid() {
		d.parts = d.op.Loop().Parts(d.loop.Body())
	}
	return d
}

// readInstead replaces nodes that the roots depend on by inputs, and returns the roots and which
// inputs they use.
func readInstead(b *graph.Graph, roots []*graph.Node, kept map[*graph.Node]int, in []*graph.Node) (now []*graph.Node, used map[int]bool) {
	used = map[int]bool{}
	of := map[*graph.Node]*graph.Node{}
	var visit func(n *graph.Node) *graph.Node
	visit = func(n *graph.Node) *graph.Node {
		if of[n] != nil {
			return of[n]
		}
		if at, ok := kept[n]; ok {
			used[at] = true
			of[n] = in[at]
			return in[at]
		}
		args, same := n.Inputs(), true
		for i, x := range args {
			args[i] = visit(x)
			same = same && args[i] == x
		}
		of[n] = n
		if !same {
			b.During(n.First(), n.First().Origin, func() { of[n] = b.Copy(n, args) })
			for _, o := range n.Occurrences() {
				b.Occur(of[n], o)
			}
		}
		return of[n]
	}
	for _, n := range roots {
		now = append(now, visit(n))
	}
	return now, used
}

// gathered holds the operands of a loop that is being built, with their names and types in a step.
type gathered struct {
	names []string
	types []graph.Type
	nodes []*graph.Node
}

func (s gathered) with(name string, step graph.Type, x *graph.Node) gathered {
	return gathered{append(s.names, name), append(s.types, step), append(s.nodes, x)}
}

// copyBody adds a copy of a body to another graph, over nodes in place of its inputs, and returns
// the results.
func copyBody(to *graph.Graph, body *graph.Body, in []*graph.Node) []*graph.Node {
	return copyCalled(to, body, in, (*graph.Node).Name)
}

// copyCalled is copyBody with names of its own for the nodes.
func copyCalled(to *graph.Graph, body *graph.Body, in []*graph.Node, called func(n *graph.Node) string) []*graph.Node {
	of := map[*graph.Node]*graph.Node{}
	for i, x := range body.In() {
		of[x] = in[i]
	}
	out := body.Out()
	for _, n := range graph.Reachable(out...) {
		if of[n] != nil {
			continue
		}
		args := make([]*graph.Node, n.NumIn())
		for i := range args {
			args[i] = of[n.In(i)]
		}
		to.During(n.First(), graph.Origin{}, func() {
			of[n] = to.Copy(n, args)
			if name := called(n); name != "" {
				of[n].As(name)
			}
		})
	}
	results := make([]*graph.Node, len(out))
	for i, n := range out {
		results[i] = of[n]
	}
	return results
}

// Inline writes the body of a loop of one step out, unless it is closed or has a gate.
func (op scan) Inline(y *graph.Node, late bool) *graph.Node {
	body := y.Body()
	if op.Steps != 1 || op.Carries > 0 || op.Gate > 0 || op.Closed || !late && len(body.Graph().Derivations()) > 0 {
		return nil
	}
	in := y.Inputs()
	for k, x := range body.In() {
		in[k] = ReshapeTo(in[k], x.Shape()) // a sequence has one element
	}
	return endToEnd(copyBody(y.Graph(), body, in))
}

// endToEnd lays arrays of one element type end to end in one vector.
func endToEnd(nodes []*graph.Node) *graph.Node {
	flat := make([]*graph.Node, len(nodes))
	for i, n := range nodes {
		flat[i] = reshapeAxes("Concat", n, graph.Dims(n.Shape().Len())) // without the name of an axis
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return Concat(0, flat...)
}

package ops

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// Function is a part of a graph with a name of its own: from operands it makes any number of
// results. It is called once or twice, with nodes of a graph of its own.
type Function func(x []*graph.Node) []*graph.Node

// Call adds the results of f at x as a function: one node, whose body is f. It is drawn as a closed
// box with the name, which opens in place, and is built once. The results are those of f itself, in
// value and derivative: compiling writes the body out where it stands, so it costs nothing.
//
//	y := ops.Call("block", func(x []*graph.Node) []*graph.Node {
//		return []*graph.Node{ops.Tanh(ops.MatMul(x[0], x[1]))}
//	}, x, w)
//
// f may use nodes of the graph around it, which become operands, and needs no others; what it
// computes from these alone is part of the function too. Its results have any types. Without x, f
// is called once before, to find the graph. What f draws, as a layer of dropout does, it draws
// anew in each run, and its derivative sees the same numbers.
func Call(name string, f Function, x ...*graph.Node) []*graph.Node {
	return once{what: "Call", name: name}.results(f, x)
}

// Closed is [Call] with a body that stays closed when it is compiled: it is a program of its own,
// and what it computes on the way is not kept for its derivative, which computes it again. See
// grad.Checkpoint.
func Closed(name string, f Function, x ...*graph.Node) []*graph.Node {
	return once{what: "Closed", name: name, closed: true}.results(f, x)
}

// Cond returns the results of then at x where the scalar pred, a bool, is true, and those of
// otherwise at x where it is false. Only that branch is run, forward and back; both give as many
// results, of the same types, whatever these are. A branch may use nodes of the graph around it, as
// the function of [Call] may, and needs no x then.
//
//	y := ops.Cond(ops.Greater(n, ops.Lit(n, 0)), expensive, cheap, x)[0]
//
// The derivative is that of the branch that was run. The other branch has no influence, not even as
// NaN or infinity. Where pred differs from example to example ([graph/vmap]), a branch is run if
// any example takes it, for all of them, and each example selects its own result; then derivatives
// by operands that all examples share may be NaN where the branch not taken is not finite.
func Cond(pred *graph.Node, then, otherwise Function, x ...*graph.Node) []*graph.Node {
	g := graph.Of(append([]*graph.Node{pred}, x...)...)
	fail := func(err error) []*graph.Node {
		bad := g.Fail("Cond", err, pred)
		return once{what: "Cond"}.refused(bad, then, x)
	}
	switch {
	case pred == nil:
		return fail(errors.New("the predicate is nil"))
	case pred.IsValid() && (pred.DType() != graph.Bool || pred.Rank() > 0):
		return fail(&graph.Mistake{Problem: "a predicate of type " + pred.Type().String() + ": want a bool scalar", Fix: "choose element by element with ops.Select"})
	}
	a := once{what: "Cond", name: "then", gate: pred}.results(then, x)
	b := once{what: "Cond", name: "else", gate: Not(pred)}.results(otherwise, x)
	if len(a) != len(b) {
		return fail(errors.New("the branches give different numbers of results"))
	}
	defer calling("Cond", append([]*graph.Node{pred}, x...)...)()
	for i := range a {
		a[i] = Select(pred, a[i], b[i])
	}
	return a
}

// once is a body that is run once, or, with a gate, not at all: its results are then 0.
type once struct {
	what, name string
	gate       *graph.Node // a scalar; nil for none
	closed     bool
}

// results adds the node and takes its value apart.
func (o once) results(f Function, x []*graph.Node) []*graph.Node {
	if f == nil {
		return o.refused(graph.Of(append([]*graph.Node{o.gate}, x...)...).Fail(o.what, errors.New("the function is nil"), x...), f, x)
	}
	l := Loop{With: x, Steps: 1}
	if o.gate != nil {
		l.With = append(l.With[:len(x):len(x)], o.gate)
	}
	spare := len(l.With) == 0
	if spare {
		found := f(nil)
		g := graph.Of(found...)
		if i := slices.IndexFunc(found, func(n *graph.Node) bool { return !n.IsValid() }); i >= 0 || len(found) == 0 {
			bad := g.Fail(o.what, fmt.Errorf("result %d of the body is nil", max(i, 0)), found...)
			return slices.Repeat([]*graph.Node{bad}, max(1, len(found)))
		}
		l.With = []*graph.Node{g.Constant(graph.F32, []float64{0})}
	}
	var u laidOut
	step := func(_, _, with []*graph.Node) (next, out []*graph.Node) {
		defer u.g.Open().Enclose()()
		return nil, f(with[:len(x):len(x)])
	}
	if u = l.laid(o.what, step); u.bad != nil {
		return u.refused(step).Out
	}
	u.spare = spare
	if u.name, u.closed = o.name, o.closed; o.gate != nil {
		u.gate = len(x) + 1
	}
	// There is no time: it draws the numbers that it would draw where it stands.
	out := u.scanTimed(graph.Type{DType: graph.I64}, func(carry, x, with []*graph.Node, _ *graph.Node) (next, out []*graph.Node) {
		return step(carry, x, with)
	}).Out
	for i, y := range out {
		out[i] = Squeeze(y, 0)
	}
	return out
}

// refused returns as many invalid nodes as there would be results.
func (o once) refused(bad *graph.Node, f Function, x []*graph.Node) []*graph.Node {
	if f == nil {
		return []*graph.Node{bad}
	}
	in := make([]*graph.Node, len(x))
	for i := range in {
		in[i] = bad
	}
	out := f(in)
	for i := range out {
		out[i] = bad
	}
	return out
}

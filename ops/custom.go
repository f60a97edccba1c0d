package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/derive"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// custom is its first operand, the float output or a vector of several laid end to end, with the derivative by the
// others that its body says. The inputs of the body are the inputs of the function, its outputs,
// the derivatives by the outputs, and what else the derivative reads; its results are the
// derivatives by those inputs that are floats. The operands after the first are the inputs and what
// else is read, the last so many of them.
type custom struct {
	Body graph.BodyID
	Read int
}

// VJP gives, for a function with inputs x and outputs y, the derivative of a loss by each input
// from those by the outputs: dx_i = Σ_k dy_k·∂y_k/∂x_i, of x_i's type, where dy_k has y_k's type. A
// nil stands for zeros; inputs that are no floats have no derivative, whatever stands in their place,
// and for outputs that are no floats dy_k is nil.
type VJP func(x, y, dy []*graph.Node) (dx []*graph.Node)

// WithVJP returns the outputs y of a function at x, with a derivative by x that vjp says instead of
// the one that follows from how they were made. The outputs have any types; one is a float. See
// grad.Custom, which makes both.
func WithVJP(y, x []*graph.Node, vjp VJP) []*graph.Node {
	g := graph.Of(slices.Concat(y, x)...).Open()
	within := func(nodes []*graph.Node) []*graph.Node {
		nodes = slices.Clone(nodes)
		for i, n := range nodes {
			nodes[i] = g.Within(n)
		}
		return nodes
	}
	y, x = within(y), within(x)
	refused := func(bad *graph.Node) []*graph.Node { return slices.Repeat([]*graph.Node{bad}, len(y)) }
	fail := func(format string, args ...any) []*graph.Node {
		return refused(g.Fail("Custom", fmt.Errorf(format, args...)))
	}
	switch {
	case vjp == nil:
		return fail("the vjp is nil")
	case len(y) == 0:
		return fail("the function has no outputs")
	}
	for i, n := range slices.Concat(y, x) {
		switch {
		case n == nil:
			return fail("operand %d is nil", i)
		case !n.IsValid() || n.Graph() != g:
			return refused(g.Apply(custom{}, slices.Concat(y, x)...)) // records what is wrong, or stays silent
		}
	}
	var floats []*graph.Node // the outputs that have derivatives
	for _, n := range y {
		if n.DType().IsFloat() {
			floats = append(floats, n)
		}
	}
	var in gathered
	named := func(prefix, letter string, i int, n *graph.Node) {
		name := n.Name()
		if name == "" {
			name = fmt.Sprint(letter, i)
		}
		in = in.with(prefix+name, n.Type(), n)
	}
	for i, n := range x {
		named("", "x", i, n)
	}
	for i, n := range floats {
		named("", "y", i, n)
	}
	for i, n := range floats {
		named("∂", "y", i, n)
	}
	b, inputs := g.BodyGraph("vjp", in.names, in.types)
	defer g.Abandon(b)
	own := inputs[:len(x):len(x)]
	outs, seeds := slices.Clone(y), make([]*graph.Node, len(y))
	at := len(x)
	for i, n := range y {
		if n.DType().IsFloat() {
			outs[i], seeds[i] = inputs[at], inputs[at+len(floats)]
			at++
		}
	}
	dx := vjp(own, outs, seeds)
	if len(dx) != len(x) {
		return fail("the vjp gives %d derivatives: want one for each of %d inputs", len(dx), len(x))
	}
	var results []*graph.Node
	for i, d := range dx {
		if !own[i].DType().IsFloat() {
			continue
		}
		if d == nil {
			d = BroadcastTo(Lit(own[i], 0), own[i].Shape())
		}
		if d = b.Within(d); d.IsValid() && d.Graph() == b {
			if !sameKind(d.Type(), own[i].Type()) {
				return fail("the vjp gives a derivative of type %v for input %d of type %v", d.Type(), i, own[i].Type())
			}
			d = ReshapeTo(d, own[i].Shape())
		}
		results = append(results, d)
	}
	if len(results) == 0 || len(floats) == 0 {
		return y // there is nothing to differentiate by
	}
	id, read, bad := g.Seal("Custom", b, inputs, results)
	if bad != nil {
		return refused(bad)
	}
	value := g.Apply(custom{id, len(read)}, slices.Concat([]*graph.Node{vectorOf(floats)}, x, read)...)
	out := slices.Clone(y)
	rest := taken(value, floats)
	for i, n := range y {
		if n.DType().IsFloat() {
			out[i], rest = rest[0], rest[1:]
		}
	}
	return out
}

// vectorOf returns an array of floats as it is, and lays several of any types end to end in one
// vector, of the type that [common] says.
func vectorOf(nodes []*graph.Node) *graph.Node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	to, list := commonFloat(nodes), make([]*graph.Node, len(nodes))
	for i, n := range nodes {
		list[i] = Cast(n, to)
	}
	return endToEnd(list)
}

// taken is the inverse of vectorOf: it takes a vector apart again, into arrays like others.
func taken(value *graph.Node, like []*graph.Node) []*graph.Node {
	if len(like) == 1 && value.IsValid() {
		return []*graph.Node{ReshapeTo(value, like[0].Shape())}
	}
	out, at := make([]*graph.Node, len(like)), 0
	for i, n := range like {
		if out[i] = value; value.IsValid() {
			size := n.Shape().Len()
			out[i] = Cast(ReshapeTo(stretch(value, 0, at, size), n.Shape()), n.DType())
			at += size
		}
	}
	return out
}

func (custom) Name() string     { return "Custom" }
func (custom) Kind() match.Kind { return match.Custom }
func (custom) Doc() string {
	return "the first operand, with a derivative by the others that is given as a function"
}

// BodyID is the handle of its body.
func (op custom) BodyID() graph.BodyID { return op.Body }

// WithBody is the same operation over another body.
func (op custom) WithBody(id graph.BodyID) graph.Op {
	op.Body = id
	return op
}

// Rule returns the name of the rule of its derivative.
func (custom) Rule(_ []bool) (name string, law expr.Expr) {
	return named("as given: a derivative of one's own")
}

func (op custom) Infer(in []*graph.Node) (graph.Type, error) {
	var body *graph.Body
	if len(in) > 0 {
		body = in[0].Graph().Body(op.Body)
	}
	if body == nil || len(in) < 2 {
		return graph.Type{}, fmt.Errorf("%d operands and body %d: want a body of the graph, a vector and inputs", len(in), int(op.Body))
	}
	inner := body.In()
	if outs := len(inner) - (len(in) - 1); outs < 2 || outs%2 != 0 {
		return graph.Type{}, fmt.Errorf("%d operands for a body of %d inputs", len(in), len(inner))
	}
	n := len(in) - 1 - op.Read
	if op.Read < 0 || n < 1 {
		return graph.Type{}, fmt.Errorf("%d operands, of which %d are read: want an input", len(in), op.Read)
	}
	var want []*graph.Node
	for i, x := range in[1:] {
		at := i
		if i >= n {
			at += len(inner) - (len(in) - 1)
		}
		if !sameKind(x.Type(), inner[at].Type()) {
			return graph.Type{}, fmt.Errorf("operand %d is %v, where the body takes %v", i+1, x.Type(), inner[at].Type())
		}
		if i < n && x.DType().IsFloat() {
			want = append(want, x)
		}
	}
	y, dy := op.outputs(body, n)
	for i := range y {
		if to := commonFloat(y); to != in[0].DType() || !y[i].DType().IsFloat() || !sameKind(y[i].Type(), dy[i].Type()) {
			return graph.Type{}, fmt.Errorf("output %d is %v, its derivative %v: want floats that lie in %v", i, y[i].Type(), dy[i].Type(), in[0].DType())
		}
	}
	if err := wantParts(in[0], y); err != nil {
		return graph.Type{}, err
	}
	out := body.Out()
	if len(out) != len(want) {
		return graph.Type{}, fmt.Errorf("%d derivatives for %d float operands", len(out), len(want))
	}
	for i, d := range out {
		if !sameKind(d.Type(), want[i].Type()) {
			return graph.Type{}, fmt.Errorf("derivative %d is %v: want %v", i, d.Type(), want[i].Type())
		}
	}
	return in[0].Type(), nil
}

// wantParts refuses a value that does not hold arrays like others as [vectorOf] does.
func wantParts(x *graph.Node, like []*graph.Node) error {
	if len(like) == 1 {
		if !sameKind(x.Type(), like[0].Type()) || !x.DType().IsFloat() {
			return fmt.Errorf("operand 0 is %v: want floats like %v", x.Type(), like[0].Type())
		}
		return nil
	}
	size := 0
	for _, n := range like {
		size += n.Shape().Len()
	}
	if s := x.Shape(); s.Rank() != 1 || s.Len() != size || !x.DType().IsFloat() {
		return fmt.Errorf("operand 0 is %v: want a vector of %d floats", x.Type(), size)
	}
	return nil
}

// outputs returns the inputs of the body, of a function of so many inputs, that stand for outputs
// and for the derivatives by them.
func (op custom) outputs(body *graph.Body, inputs int) (y, dy []*graph.Node) {
	rest := body.In()[inputs:]
	rest = rest[:len(rest)-op.Read]
	return rest[:len(rest)/2], rest[len(rest)/2:]
}

// derivatives returns the derivatives by the inputs, nil for those that have none.
func (op custom) derivatives(y, dy *graph.Node) []*graph.Node {
	n := y.NumIn() - op.Read
	body, x, read := y.Body(), y.Inputs()[1:n], y.Inputs()[n:]
	outs, seeds := op.outputs(body, len(x))
	in := slices.Concat(x, taken(y, outs), taken(dy, seeds), read)
	for i, n := range body.In() {
		in[i] = ReshapeTo(in[i], n.Shape())
	}
	results := copyBody(y.Graph(), body, in)
	dx := make([]*graph.Node, len(x))
	for i, n := range x {
		if n.DType().IsFloat() {
			dx[i] = ReshapeTo(results[0], n.Shape())
			results = results[1:]
		}
	}
	return dx
}

// Grad is what the body says.
func (op custom) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i == 0 || i >= y.NumIn()-op.Read {
		return nil
	}
	return op.derivatives(y, dy)[i-1]
}

// JVP transposes the derivative that is given, which therefore has to be linear in the derivatives
// by the outputs.
func (op custom) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	first := y.Graph().Len()
	u := StopGradient(y)
	for u.IsValid() && u.ID() < first { // another node may depend on it
		u = StopGradient(u)
	}
	var outs, seeds []*graph.Node
	for i, d := range op.derivatives(y, u) {
		if d != nil && dx[i+1] != nil {
			outs, seeds = append(outs, d), append(seeds, ReshapeTo(dx[i+1], d.Shape()))
		}
	}
	if len(outs) == 0 {
		return nil
	}
	for _, n := range slices.Concat(outs, seeds) {
		if !n.IsValid() {
			return n
		}
	}
	t := derive.Back(outs, seeds, []*graph.Node{u})[0]
	if t.DependsOn(u) {
		return y.Graph().Fail("JVP", &graph.Mistake{Problem: "the derivative given is not linear in the derivatives by the outputs, so no tangent follows from it",
			Fix: "use reverse mode"})
	}
	return t
}

// Batch maps the body; the derivatives by what is the same for all examples are added up.
func (op custom) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	g, body, n := y.Graph(), y.Body(), len(in)-1-op.Read
	many, inputs, results := mapBody(g, body, b.Size, func(k int) bool {
		switch read := len(body.In()) - op.Read; {
		case k < n:
			return batched[1+k]
		case k >= read:
			return batched[1+n+k-read]
		}
		return true
	})
	k := 0
	for i := range n {
		if in[i+1].DType().IsFloat() {
			if !batched[i+1] {
				results[k] = Sum(results[k], 0)
			}
			k++
		}
	}
	var bad *graph.Node
	if op.Body, _, bad = g.Seal("Custom", many, inputs, results); bad != nil {
		return bad
	}
	outs, _ := op.outputs(body, n)
	value := together(repeated(in[:1], batched[:1], b)[0], outs)
	return apart(g.Apply(op, append([]*graph.Node{value}, in[1:]...)...), outs, b)
}

// Eval returns the first operand.
func (custom) Eval(_ trait.Env, _ *graph.Node, in []graph.Value) graph.Value { return in[0] }

// View is that of the first operand.
func (custom) View(y *graph.Node) kernel.View {
	return kernel.Reshape{Rank: y.Rank(), Dims: sizes8(y.Shape())}
}

// Notation is that of the first operand.
func (custom) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0] }

func (custom) Cases() []Case {
	// The derivative is the true one, so that difference quotients find it.
	return []Case{
		{[]Operand{{"float[i=3]", Reals}, {"float[]", Positive}}, func(in []*graph.Node) *graph.Node {
			total := Expand(Sum(Square(in[0])), 0, "all")
			y := WithVJP([]*graph.Node{Mul(Sin(in[0]), in[1]), total}, in, func(x, _, dy []*graph.Node) []*graph.Node {
				return []*graph.Node{Add(Mul(dy[0], Mul(Cos(x[0]), x[1])), Mul(Squeeze(dy[1], 0), Scale(x[0], 2))), Sum(Mul(dy[0], Sin(x[0])))}
			})
			return Mul(y[0], Squeeze(y[1], 0))
		}},
		{[]Operand{{"float[2 3]", Positive}}, func(in []*graph.Node) *graph.Node {
			return WithVJP([]*graph.Node{Sqrt(in[0])}, in, func(_, y, dy []*graph.Node) []*graph.Node {
				return []*graph.Node{Div(dy[0], Scale(y[0], 2))}
			})[0]
		}},
	}
}

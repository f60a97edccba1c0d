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

// custom is its first operand, a vector of outputs laid end to end, with the derivative by the
// others that its body says. The inputs of the body are the inputs of the function, its outputs,
// the derivatives by the outputs, and what else the derivative reads; its results are the
// derivatives by those inputs that are floats. The operands after the first are the inputs and what
// else is read, the last so many of them.
type custom struct {
	Body graph.BodyID
	Read int
}

// VJP gives, for a function with inputs x and outputs y, the derivative of a loss by each input
// from those by the outputs: dx_i = Σ_k dy_k·∂y_k/∂x_i, of x_i's type. A nil stands for zeros;
// inputs that are no floats have no derivative, whatever stands in their place.
type VJP func(x, y, dy []*graph.Node) (dx []*graph.Node)

// WithVJP returns the outputs y of a function at x, with a derivative by x that vjp says instead of
// the one that follows from how they were made. The outputs are floats of one type. See
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
		case i < len(y) && (!n.DType().IsFloat() || n.DType() != y[0].DType()):
			return refused(g.Fail("Custom", &graph.Mistake{Problem: fmt.Sprintf("output %d has type %v, output 0 %v: want floats of one type", i, n.Type(), y[0].Type()), Fix: "convert with ops.Cast"}, n))
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
	for i, n := range y {
		named("", "y", i, n)
	}
	for i, n := range y {
		named("∂", "y", i, n)
	}
	b, inputs := g.BodyGraph("vjp", in.names, in.types)
	defer g.Abandon(b)
	own, outs, seeds := inputs[:len(x):len(x)], inputs[len(x):len(x)+len(y):len(x)+len(y)], inputs[len(x)+len(y):]
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
	if len(results) == 0 {
		return y // there is nothing to differentiate by
	}
	id, read, bad := g.Seal("Custom", b, inputs, results)
	if bad != nil {
		return refused(bad)
	}
	value := g.Apply(custom{id, len(read)}, slices.Concat([]*graph.Node{endToEnd(y)}, x, read)...)
	return taken(value, y)
}

// taken takes a vector of arrays that lie end to end apart again, into arrays like others.
func taken(value *graph.Node, like []*graph.Node) []*graph.Node {
	out, at := make([]*graph.Node, len(like)), 0
	for i, n := range like {
		if out[i] = value; value.IsValid() {
			size := n.Shape().Len()
			out[i] = ReshapeTo(Slice(value, 0, at, at+size), n.Shape())
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
	size := 0
	for i := range y {
		if y[i].DType() != in[0].DType() || !sameKind(y[i].Type(), dy[i].Type()) {
			return graph.Type{}, fmt.Errorf("output %d is %v, its derivative %v: want both of %v", i, y[i].Type(), dy[i].Type(), in[0].DType())
		}
		size += y[i].Shape().Len()
	}
	if s := in[0].Shape(); s.Rank() != 1 || s.Len() != size || !in[0].DType().IsFloat() {
		return graph.Type{}, fmt.Errorf("operand 0 is %v: want a vector of %d floats", in[0].Type(), size)
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

// mapBody starts a body for so many examples, in which some inputs of a body are the examples' own.
// It returns the inputs, and the results for all examples.
func mapBody(g *graph.Graph, body *graph.Body, examples int, own func(k int) bool) (b *graph.Graph, inputs, results []*graph.Node) {
	inside := graph.Axis{Size: examples} // without a name, which the body might have
	var names []string
	var types []graph.Type
	for k, x := range body.In() {
		typ := x.Type()
		if own(k) {
			typ.Shape = inFront(inside, x.Shape())
		}
		names, types = append(names, x.Name()), append(types, typ)
	}
	b, inputs = g.BodyGraph(body.Graph().Name(), names, types)
	one := slices.Clone(inputs)
	var from, to []*graph.Node
	for k, x := range body.In() {
		if own(k) {
			one[k] = b.Input("one "+inputs[k].Path(), x.DType(), x.Shape().Axes()...)
			from, to = append(from, one[k]), append(to, inputs[k])
		}
	}
	return b, inputs, derive.Map(copyBody(b, body, one), from, to, true)
}

// together makes, of the vectors of examples, [b n], one vector in which all examples of each array
// lie together.
func together(x *graph.Node, like []*graph.Node) *graph.Node {
	if !x.IsValid() {
		return x
	}
	var parts []*graph.Node
	at := 0
	for _, n := range like {
		size := n.Shape().Len()
		parts = append(parts, Slice(x, 1, at, at+size))
		at += size
	}
	return endToEnd(parts)
}

// apart is the inverse of together.
func apart(x *graph.Node, like []*graph.Node, b graph.Axis) *graph.Node {
	if !x.IsValid() {
		return x
	}
	var parts []*graph.Node
	at := 0
	for _, n := range like {
		size := b.Size * n.Shape().Len()
		parts = append(parts, Reshape(Slice(x, 0, at, at+size), b.Size, n.Shape().Len()))
		at += size
	}
	return Concat(1, parts...)
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

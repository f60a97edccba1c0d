package ops

import (
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/derive"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// Equation describes x = f(x, w) for [FixedPoint].
type Equation struct {
	Start []*graph.Node // x_0, where the iteration starts: floats
	With  []*graph.Node // w: what f takes besides, for an f that gets its weights as arguments
	// Tolerance is the largest change of an element of x, relative to 1 + max|x|, in the step after
	// which the iteration ends; 0 stands for 1e-13 if all are f64, and for 1e-6 otherwise.
	Tolerance float64
	Steps     int // the bound on the steps; 0 stands for 1000
}

// Fixed holds the solution of an [Equation].
type Fixed struct {
	X         []*graph.Node // x, in the number and the types of Start
	Steps     *graph.Node   // how many steps were run, an i32 scalar
	Converged *graph.Node   // whether the last change was within the tolerance, a bool scalar
}

// FixedPoint solves x = f(x, w) by iteration, x ← f(x, w), as [While] does: a run takes the time of
// the steps that it needs, and the memory of one. It converges to the fixed point if f contracts
// near it, which is to say if the spectral radius of the Jacobian J = ∂f/∂x is below 1, and the
// start is near enough; the number of steps grows as log tolerance / log of that radius.
//
//	eq := ops.Equation{Start: []*graph.Node{x0}, With: []*graph.Node{w, u}}
//	z := ops.FixedPoint(eq, func(x, w []*graph.Node) []*graph.Node {
//		return []*graph.Node{ops.Tanh(ops.Add(ops.MatMul(x[0], w[0]), w[1]))}
//	}).X[0]
//
// The derivative is that of the solution, by the implicit function theorem, whatever the start and
// the steps were (Bai, Kolter & Koltun, Deep equilibrium models, 2019): with u the solution of u =
// ∂ℓ/∂x + Jᵀu, it is ∂ℓ/∂w = (∂f/∂w)ᵀu. That equation is a fixed point too, solved in the same way
// with the same tolerance and bound. So no step is kept for it, forward mode has the like, and
// derivatives of any order follow. None flows to the start.
//
// If the iteration does not converge, Converged is false, and X is where it was then, or NaN; the
// derivative is not that of a solution then. If the equation of a derivative does not converge,
// that derivative is NaN. Mapped over examples, the iteration runs until all have ended.
func FixedPoint(e Equation, f func(x, with []*graph.Node) []*graph.Node) Fixed {
	all := slices.Concat(e.Start, e.With)
	g := graph.Of(all...).Open()
	for i, n := range all {
		all[i] = g.Within(n)
	}
	start, with := all[:len(e.Start):len(e.Start)], all[len(e.Start):]
	refused := func(bad *graph.Node) Fixed {
		return Fixed{slices.Repeat([]*graph.Node{bad}, len(e.Start)), bad, bad}
	}
	fail := func(err error) Fixed { return refused(g.Fail("FixedPoint", err, all...)) }
	switch {
	case f == nil:
		return fail(fmt.Errorf("the function is nil"))
	case len(e.Start) == 0:
		return fail(fmt.Errorf("nothing to start from"))
	case !(e.Tolerance >= 0) || e.Steps < 0:
		return fail(fmt.Errorf("a tolerance of %v and %d steps: want 0 for the default, or more", e.Tolerance, e.Steps))
	}
	var in gathered
	for i, n := range all {
		switch {
		case n == nil:
			return fail(fmt.Errorf("operand %d is nil", i))
		case !n.IsValid() || n.Graph() != g:
			return refused(g.Apply(implicit{}, all...)) // records what is wrong, or stays silent
		case i < len(e.Start) && !n.DType().IsFloat():
			return fail(&graph.Mistake{Problem: fmt.Sprintf("start %d has type %v: want floats", i, n.Type()), Fix: "use it in the function as it is, or convert it with ops.Cast"})
		}
		name := fmt.Sprint("w", i)
		switch {
		case i < len(e.Start): // where it starts is not what it solves for
			name = unknown("x", i, len(e.Start))
		case n.Name() != "":
			name = n.Name()
		}
		in = in.with(name, n.Type(), n)
	}
	op := implicit{Tolerance: attr.FloatOf(e.Tolerance), Steps: e.Steps}
	if e.Tolerance == 0 {
		op.Tolerance = attr.FloatOf(1e-6)
		if !mixed(start) && start[0].DType() == graph.F64 {
			op.Tolerance = attr.FloatOf(1e-13)
		}
	}
	if op.Steps == 0 {
		op.Steps = 1000
	}
	b, inputs := g.BodyGraph("fixed point", in.names, in.types)
	defer g.Abandon(b)
	m := len(e.Start)
	next := f(inputs[:m:m], inputs[m:])
	if len(next) != m {
		return fail(fmt.Errorf("the function gives %d results: want %d", len(next), m))
	}
	for i, n := range next {
		if n = b.Within(n); n.IsValid() && !sameKind(n.Type(), inputs[i].Type()) {
			return fail(fmt.Errorf("the function gives %v for %v", n.Type(), inputs[i].Type()))
		}
	}
	for i, n := range next { // x is called as the function calls it
		if name := n.Name(); n.IsValid() && name != "" {
			b.RenameInput(inputs[i], name)
		}
	}
	id, captured, bad := g.Seal("FixedPoint", b, inputs, next)
	if bad != nil {
		return refused(bad)
	}
	op.Body = id
	return op.solve(start, slices.Concat(with, captured))
}

// implicit is its first operand, x or its parts laid end to end, as the solution of x = f(x, w),
// where w are the other operands and f is the body.
type implicit struct {
	Body      graph.BodyID
	Tolerance attr.Float
	Steps     int
}

// solve runs the iteration.
func (op implicit) solve(start, with []*graph.Node) Fixed {
	g, m := start[0].Graph(), len(start)
	body := g.Body(op.Body)
	limit := func(x *graph.Node) *graph.Node { return Lit(x, op.Tolerance.Value()) }
	far := g.Constant(common(start), []float64{1 + 2*op.Tolerance.Value()})
	r := while("FixedPoint", Loop{Carry: append(slices.Clone(start), far), With: with, Steps: op.Steps},
		func(c, _ []*graph.Node) *graph.Node { return Greater(c[m], limit(c[m])) },
		func(c, _, with []*graph.Node) (next, out []*graph.Node) {
			in := slices.Concat(c[:m], with)
			for i, x := range body.In() {
				in[i] = ReshapeTo(in[i], x.Shape())
			}
			next = copyBody(graph.Of(c...), body, in)
			return append(next, change(c[:m], next, c[m].DType()).As("change")), nil
		})
	solution := vectorOf(r.Final[:m])
	if !solution.IsValid() {
		return Fixed{slices.Repeat([]*graph.Node{solution}, m), solution, solution}
	}
	x := g.Apply(op, append([]*graph.Node{solution}, with...)...)
	return Fixed{taken(x, start), r.Steps, LessEqual(r.Final[m], limit(r.Final[m]))}
}

// change is max|b − a| / (1 + max|b|), over all elements, in one type.
func change(a, b []*graph.Node, float graph.DType) *graph.Node {
	var moved, size *graph.Node
	most := func(so, x *graph.Node) *graph.Node {
		if x.IsValid() && x.Shape().Len() == 0 {
			x = Zeros(x.Graph(), x.DType(), graph.Dims(1)...)
		}
		if x = Max(Abs(Cast(Reshape(x, -1), float)), 0); so == nil {
			return x
		}
		return Maximum(so, x)
	}
	for i := range a {
		moved, size = most(moved, Sub(b[i], ReshapeTo(a[i], b[i].Shape()))), most(size, b[i])
	}
	return Div(moved, Shift(size, 1))
}

func (implicit) Name() string     { return "Implicit" }
func (implicit) Kind() match.Kind { return match.Implicit }
func (implicit) Doc() string {
	return "the first operand, as the solution of an equation that its derivative follows from"
}

// BodyID is the handle of its body.
func (op implicit) BodyID() graph.BodyID { return op.Body }

// WithBody is the same operation over another body.
func (op implicit) WithBody(id graph.BodyID) graph.Op {
	op.Body = id
	return op
}

// Rule returns the name of the rule of its derivative.
func (implicit) Rule(_ []bool) (name string, law expr.Expr) {
	return named("the implicit function theorem")
}

func (op implicit) Infer(in []*graph.Node) (graph.Type, error) {
	var body *graph.Body
	if len(in) > 0 {
		body = in[0].Graph().Body(op.Body)
	}
	if body == nil || op.Steps < 1 || op.Steps > maxSteps {
		return graph.Type{}, fmt.Errorf("%d operands, body %d and %d steps: want a body of the graph, a vector and steps", len(in), int(op.Body), op.Steps)
	}
	inner, out := body.In(), body.Out()
	if len(inner) != len(out)+len(in)-1 {
		return graph.Type{}, fmt.Errorf("%d operands for a body of %d inputs and %d results", len(in), len(inner), len(out))
	}
	for i, n := range out {
		if !sameKind(n.Type(), inner[i].Type()) || !n.DType().IsFloat() || commonFloat(out) != in[0].DType() {
			return graph.Type{}, fmt.Errorf("result %d of the body is %v, its input %v: want floats that lie in %v", i, n.Type(), inner[i].Type(), in[0].DType())
		}
	}
	for i, x := range in[1:] {
		if w := inner[len(out)+i]; !sameKind(x.Type(), w.Type()) {
			return graph.Type{}, fmt.Errorf("operand %d is %v, where the body takes %v", i+1, x.Type(), w.Type())
		}
	}
	return in[0].Type(), wantParts(in[0], out)
}

// linear solves an equation that is linear in its unknowns, of the types of the parts of x, where
// f makes the right-hand side of the unknowns, the parts of x, w, and some nodes besides. Where it
// does not converge, it is NaN.
func (op implicit) linear(y *graph.Node, name string, besides []*graph.Node, f func(v, x, w, besides []*graph.Node) []*graph.Node) []*graph.Node {
	g, body := y.Graph(), y.Body()
	m, inner := len(body.Out()), body.In()
	var in gathered
	var start []*graph.Node
	for i, x := range taken(y, body.Out()) {
		zero := BroadcastTo(Lit(x, 0), inner[i].Shape())
		start, in = append(start, zero), in.with(unknown(name, i, m), inner[i].Type(), zero)
	}
	for i, x := range slices.Concat(taken(y, body.Out()), y.Inputs()[1:]) {
		in = in.with(inner[i].Name(), inner[i].Type(), x)
	}
	for i, x := range besides {
		in = in.with(fmt.Sprint("r", i), x.Type(), x)
	}
	b, inputs := g.BodyGraph("∂"+body.Graph().Name(), in.names, in.types)
	next := f(inputs[:m:m], inputs[m:2*m:2*m], inputs[2*m:m+len(inner):m+len(inner)], inputs[m+len(inner):])
	for i, n := range next {
		next[i] = n.As(unknown(name, i, m))
	}
	id, _, bad := g.Seal("FixedPoint", b, inputs, next)
	if bad != nil {
		return slices.Repeat([]*graph.Node{bad}, m)
	}
	op.Body = id
	r := op.solve(start, in.nodes[m:])
	for i, v := range r.X {
		r.X[i] = Select(r.Converged, v, Lit(v, math.NaN()))
	}
	return r.X
}

// unknown is the name of the i-th of m unknowns of a linear equation.
func unknown(name string, i, m int) string {
	if m == 1 {
		return name
	}
	return fmt.Sprint(name, i+1)
}

// Grad is (∂f/∂w)ᵀu for the solution of u = dy + Jᵀu.
func (op implicit) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i == 0 || !y.In(i).DType().IsFloat() {
		return nil
	}
	type key struct{ y, dy *graph.Node }
	dw := y.Graph().Memo(key{y, dy}, func() any { return op.back(y, dy) }).([]*graph.Node)
	return dw[i-1]
}

// back returns the derivatives by all operands but the first, nil for those that are no floats.
func (op implicit) back(y, dy *graph.Node) []*graph.Node {
	g, body, w := y.Graph(), y.Body(), y.Inputs()[1:]
	m := len(body.Out())
	u := op.linear(y, "u", taken(dy, body.Out()), func(u, x, w, dy []*graph.Node) []*graph.Node {
		results := copyBody(u[0].Graph(), body, slices.Concat(x, w))
		d := derive.Back(results, alike(u, results), x)
		for i := range d {
			d[i] = Add(ReshapeTo(dy[i], d[i].Shape()), d[i])
		}
		return d
	})
	var in gathered
	for i, n := range u {
		in = in.with(unknown("u", i, m), n.Type(), n)
	}
	for i, n := range slices.Concat(taken(y, body.Out()), w) {
		in = in.with(body.In()[i].Name(), n.Type(), n)
	}
	dw := make([]*graph.Node, len(w))
	b, inputs := g.BodyGraph("∂"+body.Graph().Name(), in.names, in.types)
	own := slices.Clone(inputs[m:])
	for i, n := range body.In() {
		own[i] = ReshapeTo(own[i], n.Shape())
	}
	var wrt []*graph.Node
	for i, n := range w {
		if n.DType().IsFloat() {
			wrt = append(wrt, inputs[2*m+i])
		}
	}
	results := copyBody(b, body, own)
	part, err := graph.NewBody(b, inputs, derive.Back(results, alike(inputs[:m], results), wrt))
	g.Abandon(b)
	if err != nil {
		return slices.Repeat([]*graph.Node{g.Fail("FixedPoint", err, y)}, len(w))
	}
	d := copyCalled(g, part, in.nodes, func(n *graph.Node) string {
		if n.First().Origin.Kind == graph.FromGrad { // it is no derivative of the loss around
			return ""
		}
		return n.Name()
	})
	for i, n := range w {
		if n.DType().IsFloat() {
			dw[i], d = d[0], d[1:]
		}
	}
	return dw
}

// alike gives nodes the names of axes that others have.
func alike(nodes, others []*graph.Node) []*graph.Node {
	out := make([]*graph.Node, len(nodes))
	for i, n := range nodes {
		out[i] = ReshapeTo(n, others[i].Shape())
	}
	return out
}

// JVP is the solution v of v = J·v + ∂f/∂w·dw.
func (op implicit) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	body, m := y.Body(), len(y.Body().Out())
	var moves []int
	var deltas []*graph.Node
	for i, d := range dx[1:] {
		if d != nil {
			moves, deltas = append(moves, i), append(deltas, d)
		}
	}
	if len(moves) == 0 {
		return nil
	}
	return vectorOf(op.linear(y, "v", deltas, func(v, x, w, dw []*graph.Node) []*graph.Node {
		wrt := slices.Clone(x)
		for _, i := range moves {
			wrt = append(wrt, w[i])
		}
		return derive.Forward(copyBody(v[0].Graph(), body, slices.Concat(x, w)), wrt, append(v[:m:m], dw...))
	}))
}

// Batch maps the body: the solutions of all examples solve one equation.
func (op implicit) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	g, body := y.Graph(), y.Body()
	m := len(body.Out())
	many, inputs, results := mapBody(g, body, b.Size, func(k int) bool { return k < m || batched[k-m+1] })
	var bad *graph.Node
	if op.Body, _, bad = g.Seal("FixedPoint", many, inputs, results); bad != nil {
		return bad
	}
	value := together(repeated(in[:1], batched[:1], b)[0], body.Out())
	return apart(g.Apply(op, append([]*graph.Node{value}, in[1:]...)...), body.Out(), b)
}

// Eval returns the first operand.
func (implicit) Eval(_ trait.Env, _ *graph.Node, in []graph.Value) graph.Value { return in[0] }

// View is that of the first operand.
func (implicit) View(y *graph.Node) kernel.View {
	return kernel.Reshape{Rank: y.Rank(), Dims: sizes8(y.Shape())}
}

// Notation is that of the first operand, where the iteration ends.
func (implicit) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return in[0] }

func (implicit) Cases() []Case {
	// Difference quotients want more digits of the solution than f32 has.
	return []Case{
		{[]Operand{{"f64[i=3]", Reals}, {"f64[]", Reals}}, func(in []*graph.Node) *graph.Node {
			return FixedPoint(Equation{Start: []*graph.Node{BroadcastTo(Lit(in[0], 0), in[0].Shape())}, With: in}, func(x, w []*graph.Node) []*graph.Node {
				return []*graph.Node{Add(Scale(Sin(Mul(x[0], w[1])), 0.2), w[0])}
			}).X[0]
		}},
		{[]Operand{{"f64[2]", Reals}, {"f64[2 3]", Reals}}, func(in []*graph.Node) *graph.Node {
			start := []*graph.Node{Lit(in[0], 0), BroadcastTo(Lit(in[0], 0), in[1].Shape())}
			r := FixedPoint(Equation{Start: start, With: in}, func(x, w []*graph.Node) []*graph.Node {
				return []*graph.Node{Scale(Mean(Cos(Sum(x[1], 1))), 0.3), Add(Scale(Sin(w[1]), 0.5), Mul(Reshape(w[0], 2, 1), Scale(x[0], 0.3)))}
			})
			return Mul(r.X[0], r.X[1])
		}},
	}
}

package viz

import (
	"context"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
)

// Expr returns the expression of a node, simplified for reading. It stops at named quantities:
// inputs, parameters, states and nodes named with As; with [StopAtAdjoints] also at the
// derivatives by these. The node itself is always expanded. For an invalid or nil node it is the
// symbol "invalid".
func Expr(n *graph.Node, opts ...Option) expr.Expr {
	return optioned(n, opts).expr(n)
}

// optioned returns what writes the formula of a node with options.
func optioned(n *graph.Node, opts []Option) *unfolder {
	o := collect(opts)
	u := newUnfolder([]*graph.Node{n}, o.adjoints)
	u.functions = compositesOf(o.functions)
	return u
}

// EquationOf returns the equation of a node, which [Formula] and [LaTeX] print. For a nil or
// invalid node it is the zero Equation.
func EquationOf(n *graph.Node, opts ...Option) Equation {
	if !n.IsValid() {
		return Equation{}
	}
	return equation(n, opts)
}

// Formula returns the equation of a node in Unicode: "loss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ". An unnamed node
// is called by what it is the derivative of, or else %12. Subscripts that Unicode lacks are
// written x_{id}.
func Formula(n *graph.Node, opts ...Option) string { return equation(n, opts).String() }

// LaTeX returns the equation of a node in LaTeX's math mode, for amsmath or KaTeX, without dollar
// signs.
func LaTeX(n *graph.Node, opts ...Option) string { return equation(n, opts).LaTeX() }

// Equation is one line of mathematics: a quantity and its expression.
type Equation struct {
	Node        *graph.Node
	Left, Right expr.Expr
}

// String returns the equation in Unicode.
func (e Equation) String() string { return Unicode(e.Left) + " = " + Unicode(e.Right) }

// LaTeX returns the equation in LaTeX's math mode, without dollar signs.
func (e Equation) LaTeX() string { return ExprLaTeX(e.Left) + " = " + ExprLaTeX(e.Right) }

// MathML returns the equation as a MathML element for an HTML page.
func (e Equation) MathML() string {
	p := printer{mathmlScript{}}
	return "<math display=\"block\">" + p.print(e.Left, loosest) + "<mo>=</mo>" + p.print(e.Right, bare) + "</math>"
}

func equation(n *graph.Node, opts []Option) Equation {
	return optioned(n, opts).equation(n)
}

func (u *unfolder) equation(n *graph.Node) Equation {
	right := u.expr(n)
	return Equation{n, expr.Sym(u.of(n), u.left...), right}
}

// Equations lists the equations that define n, each after those it uses: those of the named
// quantities that n depends on, and at the end that of n. For a derivative they are the
// derivatives by named quantities, from the loss down to n; the forward quantities in them are
// defined by the equations of the loss. Long unnamed expressions are called u₁, u₂, …, and have
// equations of their own.
func Equations(n *graph.Node) []Equation { return equations(context.Background(), n) }

func equations(ctx context.Context, n *graph.Node) []Equation {
	if !n.IsValid() {
		return nil
	}
	backward := columns([]*graph.Node{n})[n]
	u := newWriter([]*graph.Node{n}, backward)
	u.ctx = ctx
	return u.chain(n, backward)
}

// Chain returns a derivative d that package graph/grad made in formulas: the equations of the
// loss and of whatever else d uses; the chain of derivatives from the loss down to d; and d in
// one equation, followed by definitions of u₁, u₂, … in it. A name means the same in all of them.
// For any other node loss is nil, and chain defines the node.
func Chain(d *graph.Node) (loss, chain, closed []Equation) {
	if !d.IsValid() {
		return nil, nil, nil
	}
	roots := []*graph.Node{d}
	_, l := d.AdjointOf()
	if l != nil {
		roots = append(roots, l)
	}
	u := newWriter(roots, false)
	if l != nil {
		loss = u.chain(l, false)
	}
	u.stopAtAdjoints(true)
	side := columns(roots)
	chain = u.chain(d, side[d])
	if l != nil {
		loss = append(loss, u.asides(d, side, loss)...)
	}
	known := map[*graph.Node]bool{d: true}
	for _, e := range slices.Concat(loss, chain) {
		known[e.Node] = true
	}
	u.stopAtAdjoints(false)
	for _, n := range u.used([]*graph.Node{d}, func(x *graph.Node) bool { return u.cut[x] && !known[x] }) {
		closed = append(closed, u.equation(n))
	}
	return loss, chain, closed
}

// asides returns the equations of values that a derivative uses and the loss does not, such as
// which element is the least.
func (u *unfolder) asides(d *graph.Node, backward map[*graph.Node]bool, loss []Equation) []Equation {
	list := u.used([]*graph.Node{d}, func(x *graph.Node) bool { return x.NumIn() > 0 && !u.repeated(x) })
	list = slices.DeleteFunc(list, func(x *graph.Node) bool {
		return x == d || backward[u.outer(x)] || slices.ContainsFunc(loss, func(e Equation) bool { return e.Node == x })
	})
	slices.SortFunc(list, u.inOrder)
	return u.equations(list)
}

// stopAtAdjoints sets whether derivatives by named quantities are symbols.
func (u *unfolder) stopAtAdjoints(stop bool) {
	u.adjoints = stop
	u.weigh()
}

// chain lists the equations of n and of the quantities of its column that it uses.
func (u *unfolder) chain(n *graph.Node, backward bool) []Equation {
	side := columns(u.cone)
	list := u.used([]*graph.Node{n}, func(x *graph.Node) bool {
		return x.NumIn() > 0 && side[u.outer(x)] == backward && !u.repeated(x)
	})
	slices.SortFunc(list, u.inOrder)
	return u.equations(list)
}

// used lists the given nodes and the wanted symbols in their expressions, each after those that
// it uses.
func (u *unfolder) used(list []*graph.Node, want func(*graph.Node) bool) []*graph.Node {
	for i := 0; i < len(list); i++ {
		u.met = nil
		u.expr(list[i])
		u.initial(list[i])
		for _, x := range u.met {
			if want(x) && !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
	}
	return list
}

func (u *unfolder) equations(list []*graph.Node) []Equation {
	out := make([]Equation, 0, len(list))
	for _, x := range list {
		out = append(out, u.equation(x))
		if e, ok := u.initial(x); ok {
			out = append(out, e)
		}
		for _, other := range u.others(x) {
			out = append(out, Equation{x, expr.Sym(other, axisNames(x)...), u.symbol(x, nil)})
		}
	}
	return out
}

// columns returns the backward nodes among those that the roots depend on. A node is backward if
// reverse mode created it, or if it is computed from such a node; a forward node that a
// derivative happens to reuse stays forward.
func columns(roots []*graph.Node) map[*graph.Node]bool {
	backward := map[*graph.Node]bool{}
	for _, n := range graph.Reachable(roots...) {
		b := n.First().Origin.Kind.IsBackward()
		for i := range n.NumIn() {
			b = b || backward[n.In(i)]
		}
		backward[n] = b
	}
	return backward
}

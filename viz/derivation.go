package viz

import (
	"context"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// Derivation explains how a derivative follows from its loss, equation by equation, with the
// rules that justify each.
type Derivation struct {
	// Given defines the quantities between the loss and the quantities that it is differentiated by,
	// and the named ones that they use. Unnamed ones are u₁, u₂, ….
	Given []Equation
	// Steps begins with ∂loss/∂loss = 1 and ends with the derivatives asked for. A step uses
	// quantities of Given and of earlier steps.
	Steps []Step
	// Closed has one equation for each derivative asked for, simplified for reading, followed by
	// definitions of the names in it that are not yet known.
	Closed []Equation
}

// Step is an equation of a derivation with its justification.
type Step struct {
	Equation
	Uses []Use // of the quantity differentiated by; none for the seed and for abbreviations
}

// Use is one way in which a loss depends on a quantity: the quantity that uses it, and the rules
// of the operations between the two.
type Use struct {
	In    expr.Expr
	Rules []Rule
}

// Rule is a rule of differentiation: its name, and its law unless everybody knows it.
type Rule struct {
	Name string      // "product rule"
	Laws []expr.Expr // f = tanh(u), ∂f/∂u = 1 − f²: equations; may be empty
}

// Derive explains derivatives that package graph/grad made. They must be derivatives of one loss;
// any other node is an error.
func Derive(derivatives ...*graph.Node) (Derivation, error) {
	return derive(context.Background(), derivatives)
}

func derive(ctx context.Context, derivatives []*graph.Node) (Derivation, error) {
	p, err := newPaths(ctx, derivatives)
	if err != nil {
		return Derivation{}, err
	}
	var d Derivation
	nodes := slices.Clone(p.symbols)
	for _, of := range append(p.wrt, p.loss) {
		if !slices.Contains(nodes, of) {
			nodes = append(nodes, of)
		}
	}
	p.unfolder.adjoints = false
	isForward := func(x *graph.Node) bool { return x.NumIn() > 0 && !p.backward[p.outer(x)] && !p.repeated(x) }
	forward := p.used(nodes, isForward)
	p.unfolder.adjoints = true
	for _, x := range p.used(p.derivatives(), isForward) { // what the derivatives use, and the loss does not
		if !slices.Contains(forward, x) && isForward(x) {
			forward = append(forward, x)
		}
	}
	p.unfolder.adjoints = false
	forward = slices.DeleteFunc(forward, func(n *graph.Node) bool { return n.NumIn() == 0 })
	slices.SortFunc(forward, p.inOrder)
	for _, n := range forward {
		d.Given = append(d.Given, p.equation(n))
		if e, ok := p.initial(n); ok {
			d.Given = append(d.Given, e)
		}
	}
	p.unfolder.adjoints = true
	known := map[*graph.Node]bool{}
	for _, n := range forward {
		known[n] = true
	}
	for _, x := range p.symbols {
		a := p.adjoint[x]
		for _, short := range p.abbreviations(a, known) {
			s := Step{Equation: p.equation(short)}
			if l := p.inside[short]; l != nil {
				s.Uses = []Use{{Rules: []Rule{{Name: "back through time"}}}}
			}
			d.Steps = append(d.Steps, s)
			if e, ok := p.initial(short); ok {
				d.Steps = append(d.Steps, Step{e, []Use{{Rules: []Rule{{Name: "from where the recurrence ends"}}}}})
			}
		}
		d.Steps = append(d.Steps, p.step(x))
		known[a] = true
	}
	d.Closed = p.closed(derivatives, known)
	return d, nil
}

// derivatives returns the derivatives by the symbols.
func (p *paths) derivatives() []*graph.Node {
	var out []*graph.Node
	for _, x := range p.symbols {
		out = append(out, p.adjoint[x])
	}
	return out
}

// closed returns one equation for each derivative.
func (p *paths) closed(derivatives []*graph.Node, known map[*graph.Node]bool) []Equation {
	u := newUnfolder(append([]*graph.Node{p.loss}, derivatives...), false)
	u.ctx = p.ctx
	if s, ok := p.names[p.loss]; ok {
		u.names[p.loss] = s
	}
	var fresh []*graph.Node
	for _, n := range u.nameless() {
		if s, ok := p.names[n]; ok {
			u.names[n] = s
		} else if x := p.first[n]; x != nil {
			u.names[n] = p.adjointName(p.loss, x)
		} else {
			fresh = append(fresh, n)
		}
	}
	u.names.invent(fresh, p.invented+1)
	var out []Equation
	for _, n := range derivatives {
		list := u.used([]*graph.Node{n}, func(x *graph.Node) bool { return u.cut[x] && !known[x] })
		for i, x := range list {
			e := u.equation(x)
			if i == 0 {
				e.Left = expr.Sym(u.adjointName(p.loss, p.of[n]), u.left...)
			}
			out, known[x] = append(out, e), true
		}
	}
	return out
}

func (m names) adjointName(loss, of *graph.Node) string {
	return m.adjoint(graph.Origin{Of: of, Loss: loss})
}

// step returns the equation of the derivative by x.
func (p *paths) step(x *graph.Node) Step {
	a := p.adjoint[x]
	var right expr.Expr
	switch _, named := p.names[a]; {
	case x != p.first[a] || named: // the derivative by another quantity is the same node, or it is a value of the model
		right = p.symbol(a, nil)
		p.left = axisNames(a)
	default:
		right = p.expr(a)
	}
	s := Step{Equation: Equation{a, expr.Sym(p.adjointName(p.loss, x), p.left...), right}}
	for _, way := range p.ways[x] {
		s.Uses = append(s.Uses, Use{In: p.symbol(way.in, []string{}), Rules: p.rulesOf(way.through)})
	}
	return s
}

// abbreviations returns the unnamed quantities that the expression of a node needs and that are
// not known yet, each after those that it uses.
func (p *paths) abbreviations(n *graph.Node, known map[*graph.Node]bool) []*graph.Node {
	list := p.used([]*graph.Node{n}, func(x *graph.Node) bool {
		if p.inside[x] != nil {
			return p.backward[p.outer(x)] && !known[x] && !p.repeated(x)
		}
		return p.cut[x] && p.short[x] && !known[x]
	})[1:]
	slices.SortFunc(list, p.inOrder)
	for _, x := range list {
		known[x] = true
	}
	return list
}

// way says how one quantity is used in another: through operations, the outermost first.
type way struct {
	in      *graph.Node
	through []*graph.Node
}

// paths has the ways from a loss to the quantities that it is differentiated by.
type paths struct {
	*unfolder
	loss     *graph.Node
	wrt      []*graph.Node
	of       map[*graph.Node]*graph.Node // the quantity differentiated by, of each derivative asked for
	adjoint  map[*graph.Node]*graph.Node // the derivative by each quantity
	first    map[*graph.Node]*graph.Node // the quantity that shows a derivative first
	moves    map[*graph.Node]bool        // depends on a quantity differentiated by
	backward map[*graph.Node]bool
	symbols  []*graph.Node // the quantities with a step of their own, the loss first
	ways     map[*graph.Node][]way
	short    map[*graph.Node]bool // named for this derivation only
	rules    map[ruleKey]Rule     // found so far
	invented int
}

func newPaths(ctx context.Context, derivatives []*graph.Node) (*paths, error) {
	p := &paths{of: map[*graph.Node]*graph.Node{}, adjoint: map[*graph.Node]*graph.Node{}, first: map[*graph.Node]*graph.Node{},
		moves: map[*graph.Node]bool{}, ways: map[*graph.Node][]way{}, short: map[*graph.Node]bool{}, rules: map[ruleKey]Rule{}}
	for _, d := range derivatives {
		if !d.IsValid() {
			return nil, fmt.Errorf("viz: the derivative to explain is invalid")
		}
		of, loss := d.AdjointOf()
		if of == nil || p.loss != nil && loss != p.loss {
			return nil, fmt.Errorf("viz: %v is not the derivative of a single loss: want a result of grad.Of", d)
		}
		p.loss, p.of[d] = loss, of
		p.wrt = append(p.wrt, of)
	}
	if p.loss == nil {
		return nil, fmt.Errorf("viz: no derivative to explain")
	}
	p.unfolder = newUnfolder(append([]*graph.Node{p.loss}, derivatives...), true)
	p.ctx = ctx
	p.backward = columns(p.cone)
	for _, n := range p.cone {
		for _, o := range n.Occurrences() {
			if o.Origin.Kind == graph.FromAdjoint && o.Origin.Loss == p.loss {
				p.adjoint[o.Origin.Of] = n
			}
		}
	}
	for of, n := range p.adjoint {
		if slices.Contains(p.wrt, of) {
			p.of[n] = of // the one asked for, if several are the same
		}
	}
	p.walk()
	p.nameSymbols()
	for _, x := range p.symbols {
		if a := p.adjoint[x]; p.first[a] == nil {
			p.first[a] = x
		}
	}
	return p, nil
}

// Rules of a step that together are still read at a glance.
const maxRules = 3

// walk goes back from the loss and decides which quantities get a step of their own: those with a
// name, and an unnamed one where a step would otherwise need two laws or too many rules.
func (p *paths) walk() {
	for _, w := range p.wrt {
		p.moves[w] = true
	}
	forward := graph.Reachable(p.loss)
	for _, n := range forward {
		for i := range n.NumIn() {
			p.moves[n] = p.moves[n] || p.moves[n.In(i)]
		}
	}
	for _, y := range slices.Backward(forward) {
		p.look()
		_, named := p.names[y]
		a := p.adjoint[y]
		symbol := a != nil && (y == p.loss || slices.Contains(p.wrt, y) || p.ways[y] != nil && (named || y.Role() != graph.RoleOp))
		if a != nil && !symbol && p.ways[y] != nil && !isLayout(y) {
			n, laws := 0, 0
			for _, w := range p.ways[y] {
				k, l := p.count(append(slices.Clone(w.through), y))
				n, laws = max(n, k), max(laws, l)
			}
			symbol = len(p.ways[y]) > 1 || n > maxRules || laws > 1
		}
		ways := p.ways[y]
		if symbol {
			p.symbols = append(p.symbols, y)
			ways = []way{{in: y}}
		}
		if _, ok := y.Op().(trait.Ruled); !ok || !y.DType().IsFloat() {
			continue
		}
		for i := range y.NumIn() {
			if x := y.In(i); p.moves[x] && x.DType().IsFloat() {
				for _, w := range ways {
					p.ways[x] = append(p.ways[x], way{w.in, append(slices.Clone(w.through), y)})
				}
			}
		}
	}
}

// count returns the number of rules shown, and of those with a law.
func (p *paths) count(through []*graph.Node) (rules, laws int) {
	for _, r := range p.rulesOf(through) {
		rules++
		if slices.ContainsFunc(r.Laws, bends) {
			laws++
		}
	}
	return rules, laws
}

// bends reports whether a derivative depends on where it is taken.
func bends(law expr.Expr) bool {
	if law.Kind == expr.KindSymbol {
		return law.Text == "f" || law.Text == "u" || law.Text == "v"
	}
	args := law.Args
	if law.Kind == expr.KindBracket && law.Text == "=" {
		args = args[1:]
	}
	return slices.ContainsFunc(args, bends)
}

// nameSymbols names the unnamed quantities that have a step or are cut off.
func (p *paths) nameSymbols() {
	var nameless []*graph.Node
	for _, n := range slices.Backward(p.symbols) {
		if _, named := p.names[n]; !named && n != p.loss {
			nameless = append(nameless, n)
		}
	}
	if _, named := p.names[p.loss]; !named {
		p.names[p.loss] = "ℓ"
	}
	p.names.invent(nameless, 1)
	p.invented = len(nameless)
	p.weigh()
	cut := p.nameless()
	p.adjoints = false
	p.weigh()
	for _, n := range p.nameless() {
		if !p.backward[n] && !slices.Contains(cut, n) {
			cut = append(cut, n)
		}
	}
	p.adjoints = true
	p.weigh()
	for _, n := range cut {
		p.cut[n], p.short[n] = true, true
	}
	p.names.invent(cut, p.invented+1)
	p.invented += len(cut)
}

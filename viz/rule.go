package viz

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// rulesOf names the rules of operations one after the other. Layouts are passed over
// unless there is nothing else to say, and what repeats is said once.
func (p *paths) rulesOf(through []*graph.Node) []Rule {
	var out, layouts []Rule
	for _, y := range through {
		r := p.ruleOf(y)
		list := &out
		if isLayout(y) && !match.Is(y, match.Broadcast) || match.Is(y, match.Cast) {
			list = &layouts
		}
		if !slices.ContainsFunc(*list, func(o Rule) bool { return o.Name == r.Name && slices.EqualFunc(o.Laws, r.Laws, same) }) {
			*list = append(*list, r)
		}
	}
	if len(out) == 0 {
		return layouts
	}
	return out
}

func same(a, b expr.Expr) bool { return key(a) == key(b) }

// ruleKey is what the rule of an operation depends on.
type ruleKey struct {
	op    graph.Op
	about string // the type of the result, those of the operands, and which of them move
}

func (p *paths) ruleOf(y *graph.Node) Rule {
	op, ok := y.Op().(trait.Ruled)
	if !ok {
		return Rule{}
	}
	which := make([]bool, y.NumIn())
	about := []byte{byte(y.DType())}
	for i := range which {
		which[i] = p.moves[y.In(i)]
		about = append(about, byte(y.In(i).DType()), '-')
		if which[i] {
			about[len(about)-1] = '+'
		}
	}
	k := ruleKey{y.Op(), string(about)}
	r, known := p.rules[k]
	if !known {
		name, law := op.Rule(which)
		if r = (Rule{name, []expr.Expr{law}}); law.Kind != expr.KindBracket {
			r.Laws = elementLaw(y, which)
		}
		p.rules[k] = r
	}
	return r
}

// elementLaw is f = tanh(u), ∂f/∂u = 1 − f²: the law of an elementwise operation, as its
// derivative has it; none where that does not depend on what moves.
func elementLaw(y *graph.Node, moves []bool) []expr.Expr {
	op, ok := y.Op().(trait.Differentiable)
	if !trait.IsElementwise(y.Op()) || !ok {
		return nil
	}
	g := graph.New("law")
	names := []string{"u", "v", "w"}
	var in []*graph.Node
	for i := range y.NumIn() {
		in = append(in, g.Input(names[min(i, 2)], y.In(i).DType()))
	}
	f := g.Apply(y.Op(), in...).As("f")
	if g.Err() != nil || f.Rank() != 0 || len(in) > 2 {
		return nil
	}
	laws := []expr.Expr{equals(expr.Sym("f"), Expr(f))}
	for i, m := range moves {
		if !m {
			continue
		}
		d := op.Grad(f, g.Constant(y.DType(), []float64{1}), i)
		if !d.IsValid() || !d.DependsOn(f) && !d.DependsOn(in[i]) {
			continue
		}
		right := Expr(d)
		if d == f || d.Role() != graph.RoleOp {
			right = expr.Sym(d.Name())
		}
		laws = append(laws, equals(expr.Sym("∂f").Over(expr.Sym("∂"+names[i])), right))
	}
	if len(laws) == 1 || match.Is(y, match.Mul) {
		return nil
	}
	return laws
}

func equals(a, b expr.Expr) expr.Expr {
	return expr.Expr{Kind: expr.KindBracket, Text: "=", Args: []expr.Expr{a, b}}
}

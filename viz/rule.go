package viz

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// rulesOf returns the rules of a sequence of operations. Layouts are skipped unless there is
// nothing else, and repeated rules are named once.
func (p *paths) rulesOf(through []*graph.Node) []Rule {
	var out, layouts []Rule
	for _, y := range through {
		r := p.ruleOf(y)
		list := &out
		if isLayout(y) && !match.Is(y, match.Broadcast) && !match.Is(y, match.CopyRanks) || match.Is(y, match.Cast) {
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

// ruleKey has what the rule of an operation depends on.
type ruleKey struct {
	op    graph.Op
	about string // the type of the result, those of the operands, and which operands move
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

// elementLaw returns the law of an elementwise operation, f = tanh(u), ∂f/∂u = 1 − f², as read
// off its derivative; nil if that does not depend on the operands that move.
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

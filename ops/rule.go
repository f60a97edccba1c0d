package ops

import "github.com/tapestry-ml/tapestry/graph"

// How people call the rule by which a derivative passes an operation, for whoever
// shows a derivation: Rule(moves []bool) (name string, law graph.Expr). The operands
// that move are those that depend on what is differentiated by. The law is an
// equation about the result f and the operand u, empty where it is no news; that of
// an elementwise operation follows from its Grad and is not written here.

// Rule is the rule of a function of one element.
func (diagonal) Rule([]bool) (name string, law graph.Expr) { return "chain rule", graph.Expr{} }

// named is a rule that says everything by its name.
func named(name string) (string, graph.Expr) { return name, graph.Expr{} }

// lawful is a rule with its law, ∂f/∂u with indices = right.
func lawful(name string, f, u []string, right graph.Expr) (string, graph.Expr) {
	left := graph.Sym("∂f", f...).Over(graph.Sym("∂u", u...))
	return name, graph.Expr{Kind: graph.ExprBracket, Text: "=", Args: []graph.Expr{left, right}}
}

// both reports whether more than one operand moves: else the others are constants.
func both(moves []bool) bool {
	n := 0
	for _, m := range moves {
		if m {
			n++
		}
	}
	return n > 1
}

// delta is Kronecker's δ_jk: 1 where the indices are equal, and else 0.
func delta(j, k string) graph.Expr { return graph.Sym("δ", j, k) }

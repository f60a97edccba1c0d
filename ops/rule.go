package ops

import (
	"github.com/tapestry-ml/tapestry/graph/expr"
)

// How people call the rule by which a derivative passes an operation, for whoever
// shows a derivation: Rule(moves []bool) (name string, law expr.Expr). The operands
// that move are those that depend on what is differentiated by. The law is an
// equation about the result f and the operand u, empty where it is no news; that of
// an elementwise operation follows from its Grad and is not written here.

// Rule is the rule of a function of one element.
func (diagonal) Rule([]bool) (name string, law expr.Expr) { return "chain rule", expr.Expr{} }

// named is a rule that says everything by its name.
func named(name string) (string, expr.Expr) { return name, expr.Expr{} }

// lawful is a rule with its law, ∂f/∂u with indices = right.
func lawful(name string, f, u []string, right expr.Expr) (string, expr.Expr) {
	left := expr.Sym("∂f", f...).Over(expr.Sym("∂u", u...))
	return name, expr.Expr{Kind: expr.KindBracket, Text: "=", Args: []expr.Expr{left, right}}
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
func delta(j, k string) expr.Expr { return expr.Sym("δ", j, k) }

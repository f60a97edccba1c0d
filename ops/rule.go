package ops

import (
	"github.com/tapestry-ml/tapestry/graph/expr"
)

// The method Rule(moves []bool) (name string, law expr.Expr) names the rule of calculus by which a
// derivative passes an operation, for derivations. Operands move if they depend on the variable of
// the differentiation. The law is an equation of the result f and the operand u; it is empty where
// the name says enough, and for elementwise operations, where it follows from Grad.

// Rule returns the rule of a function of one element.
func (diagonal) Rule([]bool) (name string, law expr.Expr) { return "chain rule", expr.Expr{} }

// named returns a rule without a law.
func named(name string) (string, expr.Expr) { return name, expr.Expr{} }

// lawful returns a rule with its law, ∂f/∂u with indices = right.
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

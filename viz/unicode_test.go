package viz

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/subscript"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestPrecedence(t *testing.T) {
	sym := func(s string) expr.Expr { return expr.Sym(s) }
	a, b, c := sym("a"), sym("b"), sym("c")
	add := a.Plus(b)
	sum := expr.Big("Σ", []string{"j"}, expr.Sym("x", "j"))
	mul := func(f ...expr.Expr) expr.Expr { return expr.Expr{Kind: expr.KindMul, Args: f} }
	div := func(x, y expr.Expr) expr.Expr { return expr.Expr{Kind: expr.KindDiv, Args: []expr.Expr{x, y}} }
	neg := func(x expr.Expr) expr.Expr { return expr.Expr{Kind: expr.KindNeg, Args: []expr.Expr{x}} }
	for _, c := range []struct {
		e           expr.Expr
		want, latex string
	}{
		{mul(add, c), "(a + b)·c", `\left(a + b\right) \, c`},
		{a.Minus(b.Plus(c)), "a − (b + c)", `a - \left(b + c\right)`},
		{a.Minus(mul(b, c)), "a − b·c", `a - b \, c`},
		{a.Plus(neg(neg(b))), "a − −b", ``},
		{neg(add), "−(a + b)", `-\left(a + b\right)`},
		{neg(mul(a, b)), "−a·b", `-a \, b`},
		{mul(a, neg(b)), "a·(−b)", ``},
		{div(a, mul(b, c)), "a/(b·c)", `\frac{a}{b \, c}`},
		{div(mul(a, b), c), "a·b/c", `\frac{a \, b}{c}`},
		{mul(div(a, b), c), "a/b·c", `\frac{a}{b} \, c`},
		{mul(a, div(b, c)), "a·(b/c)", `a \, \frac{b}{c}`},
		{div(a, div(b, c)), "a/(b/c)", ``},
		{add.Pow(expr.Num(2)), "(a + b)²", `{\left(a + b\right)}^{2}`},
		{neg(a).Pow(expr.Num(2)), "(−a)²", ``},
		{neg(a.Pow(expr.Num(2))), "−a²", ``},
		{a.Pow(expr.Num(2)).Pow(expr.Num(3)), "(a²)³", ``},
		{a.Pow(expr.Num(-1)), "a⁻¹", ``},
		{a.Pow(expr.Num(0.5)), "a^0.5", ``},
		{a.Pow(b), "a^b", `{a}^{b}`},
		{a.Pow(add), "a^(a + b)", `{a}^{a + b}`},
		{a.Pow(sym("⊤")), "aᵀ", `{a}^{\top}`},
		{mul(a, sum), "a·Σⱼ xⱼ", `a \, \sum_{j} x_{j}`},
		{mul(sum, a), "(Σⱼ xⱼ)·a", ``},
		{sum.Plus(a), "Σⱼ xⱼ + a", ``},
		{div(sum, a), "(Σⱼ xⱼ)/a", ``},
		{div(a, sum), "a/(Σⱼ xⱼ)", ``},
		{sum.Pow(expr.Num(2)), "(Σⱼ xⱼ)²", ``},
		{expr.Big("Σ", []string{"j"}, add), "Σⱼ (a + b)", `\sum_{j} \left(a + b\right)`},
		{expr.Big("Σ", []string{"j"}, neg(a)), "Σⱼ (−a)", ``},
		{expr.Big("mean", []string{"i"}, sum), "meanᵢ Σⱼ xⱼ", `\operatorname{mean}_{i} \sum_{j} x_{j}`},
		{expr.Big("max", []string{"i"}, a), "maxᵢ a", `\max_{i} a`},
		{expr.OverLanes(a), "Σ_{lanes} a", `\sum_{\mathrm{lanes}} a`},
		{expr.OverLanes(sum), "Σ_{lanes} Σⱼ xⱼ", `\sum_{\mathrm{lanes}} \sum_{j} x_{j}`},
		{expr.OverLanes(add), "Σ_{lanes} (a + b)", ``},
		{div(expr.OverLanes(a), b), "(Σ_{lanes} a)/b", ``},
		{mul(mul(a, sum), b), "(a·Σⱼ xⱼ)·b", ``},
		{expr.Norm2(a.Minus(b)), "‖a − b‖²", `\left\lVert a - b \right\rVert^{2}`},
		{expr.Call("|", a.Minus(b)), "|a − b|", `\left|a - b\right|`},
		{expr.Call("√", add), "√(a + b)", `\sqrt{a + b}`},
		{expr.Call("tanh", a).Pow(expr.Num(2)), "tanh(a)²", ``},
		{expr.Expr{Kind: expr.KindBracket, Text: "≤", Args: []expr.Expr{a, b}}, "[a ≤ b]", `\left[a \le b\right]`},
		{sym("∂ℓ/∂D").Pow(expr.Num(2)), "(∂ℓ/∂D)²", ``},
		{div(a, sym("∂ℓ/∂D")), "a/(∂ℓ/∂D)", ``},
		{mul(a, sym("∂ℓ/∂D")), "a·∂ℓ/∂D", `a \, \frac{\partial \ell}{\partial D}`},
		{expr.Sym("x", "i", "d"), "x_{id}", `x_{id}`},
		{expr.Sym("x", "d"), "x_d", `x_{d}`},
		{expr.Sym("x", "row", "j"), "x_{row,j}", `x_{\mathrm{row},j}`},
		{expr.Sym("x", "γ", "i"), "xᵧᵢ", `x_{\gamma i}`},
		{expr.Sym("x", subscript.Shifted("t", 1), "m"), "x_{t+1,m}", `x_{t+1,m}`},
		{expr.Sym("w", "m", subscript.Joined("h", "e")), "w_{m,he}", `w_{m,\mathrm{he}}`},
		{expr.Sym("w", subscript.Joined("hand", "c")), "w_{(hand,c)}", ``},
		{mul(sym("A + I"), a), "(A + I)·a", ``},
		{expr.Sym("A + I", "i", "j"), "(A + I)ᵢⱼ", ``},
		{mul(expr.Sym("self-attention.z", "t"), a), "self-attention.zₜ·a", ``},
		{mul(sym("F(x + y)"), a), "F(x + y)·a", ``},
		{mul(expr.Sym("∂loss/∂[a; s]", "b"), a), "∂loss/∂[a; s]_b·a", ``},
		{expr.Cases(expr.Expr{Kind: expr.KindBracket, Text: "<", Args: []expr.Expr{a, b}}, c, a.Plus(b)), "c if a < b, else a + b", `\begin{cases} c & \text{if } a < b \\ a + b & \text{else} \end{cases}`},
		{expr.Cases(expr.Expr{Kind: expr.KindBracket, Text: "∧", Args: []expr.Expr{{Kind: expr.KindBracket, Text: "<", Args: []expr.Expr{a, b}}, c}}, a, b), "a if a < b ∧ c, else b", ``},
		{expr.Cases(a, b, expr.Cases(b, c, a)), "b if a, c if b, else a", ``},
		{mul(expr.Cases(a, b, c), a), "(b if a, else c)·a", ``},
		{expr.Call("f", expr.Cases(a, b, c)), "f(b if a, else c)", ``},
		{expr.Call("f", expr.Cases(a, b, c), a), "f((b if a, else c), a)", ``},
		{expr.Call("√", expr.Norm2(a)), "‖a‖", `\left\lVert a \right\rVert`},
		{expr.Call("√", expr.Norm2(a)).Pow(expr.Num(3)), "‖a‖³", ``},
		{expr.Num(1e-5), "1e−05", `10^{-05}`},
		{number(1e-5, graph.F64), "1e−5", `10^{-5}`},
	} {
		if got := Unicode(c.e); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		if got := ExprLaTeX(c.e); c.latex != "" && got != c.latex {
			t.Errorf("%s: got %s, want %s", c.want, got, c.latex)
		}
	}
}

// TestDeepCalls checks that nested calls and masks are printed once each; printed twice, sixty of
// them would never end.
func TestDeepCalls(t *testing.T) {
	const deep = 60
	e, want := expr.Sym("x"), "x"
	mask, masks := expr.Sym("m"), "m"
	for range deep {
		e, want = expr.Call("tanh", e.Pow(expr.Num(2))), "tanh("+want+"²)"
		mask = expr.Expr{Kind: expr.KindBracket, Text: "<", Args: []expr.Expr{mask, expr.Sym("a")}}
		mask = expr.Expr{Kind: expr.KindBracket, Text: "∧", Args: []expr.Expr{mask, expr.Sym("b")}}
		masks = "[[" + masks + " < a] ∧ b]"
	}
	if got := Unicode(e); got != want {
		t.Errorf("%s", got)
	}
	if got := Unicode(mask); got != masks {
		t.Errorf("%s, want %s", got, masks)
	}
	cases := Unicode(expr.Cases(mask, e, e))
	if !strings.HasPrefix(cases, want+" if ") {
		t.Errorf("%s", cases)
	}

	g := graph.New("deep")
	y := g.Input("x", graph.F64)
	for range deep {
		y = ops.Tanh(ops.Square(y))
	}
	for _, loss := range [][]*graph.Node{{y}, append(grad.Of(y, g.Leaves(graph.RoleInput)...), y)} {
		if _, err := Draw(loss); err != nil {
			t.Error(err)
		}
		if s := Formula(loss[0]); !strings.Contains(s, "tanh(") {
			t.Errorf("%s", s)
		}
	}
}

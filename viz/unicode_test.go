package viz

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestPrecedence(t *testing.T) {
	sym := func(s string) graph.Expr { return graph.Sym(s) }
	a, b, c := sym("a"), sym("b"), sym("c")
	add := a.Plus(b)
	sum := graph.Big("Σ", []string{"j"}, graph.Sym("x", "j"))
	mul := func(f ...graph.Expr) graph.Expr { return graph.Expr{Kind: graph.ExprMul, Args: f} }
	div := func(x, y graph.Expr) graph.Expr { return graph.Expr{Kind: graph.ExprDiv, Args: []graph.Expr{x, y}} }
	neg := func(x graph.Expr) graph.Expr { return graph.Expr{Kind: graph.ExprNeg, Args: []graph.Expr{x}} }
	for _, c := range []struct {
		e           graph.Expr
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
		{add.Pow(graph.Num(2)), "(a + b)²", `{\left(a + b\right)}^{2}`},
		{neg(a).Pow(graph.Num(2)), "(−a)²", ``},
		{neg(a.Pow(graph.Num(2))), "−a²", ``},
		{a.Pow(graph.Num(2)).Pow(graph.Num(3)), "(a²)³", ``},
		{a.Pow(graph.Num(-1)), "a⁻¹", ``},
		{a.Pow(graph.Num(0.5)), "a^0.5", ``},
		{a.Pow(b), "a^b", `{a}^{b}`},
		{a.Pow(add), "a^(a + b)", `{a}^{a + b}`},
		{a.Pow(sym("⊤")), "aᵀ", `{a}^{\top}`},
		{mul(a, sum), "a·Σⱼ xⱼ", `a \, \sum_{j} x_{j}`},
		{mul(sum, a), "(Σⱼ xⱼ)·a", ``},
		{sum.Plus(a), "Σⱼ xⱼ + a", ``},
		{div(sum, a), "(Σⱼ xⱼ)/a", ``},
		{div(a, sum), "a/(Σⱼ xⱼ)", ``},
		{sum.Pow(graph.Num(2)), "(Σⱼ xⱼ)²", ``},
		{graph.Big("Σ", []string{"j"}, add), "Σⱼ (a + b)", `\sum_{j} \left(a + b\right)`},
		{graph.Big("Σ", []string{"j"}, neg(a)), "Σⱼ (−a)", ``},
		{graph.Big("mean", []string{"i"}, sum), "meanᵢ Σⱼ xⱼ", `\operatorname{mean}_{i} \sum_{j} x_{j}`},
		{graph.Big("max", []string{"i"}, a), "maxᵢ a", `\max_{i} a`},
		{mul(mul(a, sum), b), "(a·Σⱼ xⱼ)·b", ``},
		{graph.Norm2(a.Minus(b)), "‖a − b‖²", `\left\lVert a - b \right\rVert^{2}`},
		{graph.Call("|", a.Minus(b)), "|a − b|", `\left|a - b\right|`},
		{graph.Call("√", add), "√(a + b)", `\sqrt{a + b}`},
		{graph.Call("tanh", a).Pow(graph.Num(2)), "tanh(a)²", ``},
		{graph.Expr{Kind: graph.ExprBracket, Text: "≤", Args: []graph.Expr{a, b}}, "[a ≤ b]", `\left[a \le b\right]`},
		{sym("∂ℓ/∂D").Pow(graph.Num(2)), "(∂ℓ/∂D)²", ``},
		{div(a, sym("∂ℓ/∂D")), "a/(∂ℓ/∂D)", ``},
		{mul(a, sym("∂ℓ/∂D")), "a·∂ℓ/∂D", `a \, \frac{\partial \ell}{\partial D}`},
		{graph.Sym("x", "i", "d"), "x_{id}", `x_{id}`},
		{graph.Sym("x", "d"), "x_d", `x_{d}`},
		{graph.Sym("x", "row", "j"), "x_{row,j}", `x_{\mathrm{row},j}`},
		{graph.Sym("x", "γ", "i"), "xᵧᵢ", `x_{\gamma i}`},
		{graph.Sym("x", graph.Shifted("t", 1), "m"), "x_{t+1,m}", `x_{t+1,m}`},
		{graph.Sym("w", "m", graph.Joined("h", "e")), "w_{m,he}", `w_{m,\mathrm{he}}`},
		{graph.Sym("w", graph.Joined("hand", "c")), "w_{(hand,c)}", ``},
		{mul(sym("A + I"), a), "(A + I)·a", ``},
		{graph.Sym("A + I", "i", "j"), "(A + I)ᵢⱼ", ``},
		{mul(graph.Sym("self-attention.z", "t"), a), "self-attention.zₜ·a", ``},
		{mul(sym("F(x + y)"), a), "F(x + y)·a", ``},
		{mul(graph.Sym("∂loss/∂[a; s]", "b"), a), "∂loss/∂[a; s]_b·a", ``},
		{graph.Cases(graph.Expr{Kind: graph.ExprBracket, Text: "<", Args: []graph.Expr{a, b}}, c, a.Plus(b)), "c if a < b, else a + b", `\begin{cases} c & \text{if } a < b \\ a + b & \text{else} \end{cases}`},
		{graph.Cases(graph.Expr{Kind: graph.ExprBracket, Text: "∧", Args: []graph.Expr{{Kind: graph.ExprBracket, Text: "<", Args: []graph.Expr{a, b}}, c}}, a, b), "a if a < b ∧ c, else b", ``},
		{graph.Cases(a, b, graph.Cases(b, c, a)), "b if a, c if b, else a", ``},
		{mul(graph.Cases(a, b, c), a), "(b if a, else c)·a", ``},
		{graph.Call("f", graph.Cases(a, b, c)), "f(b if a, else c)", ``},
		{graph.Call("f", graph.Cases(a, b, c), a), "f((b if a, else c), a)", ``},
		{graph.Call("√", graph.Norm2(a)), "‖a‖", `\left\lVert a \right\rVert`},
		{graph.Call("√", graph.Norm2(a)).Pow(graph.Num(3)), "‖a‖³", ``},
		{graph.Num(1e-5), "1e−05", `10^{-05}`},
		{number(1e-5, graph.F64), "1e−5", `10^{-5}`},
	} {
		if got := Unicode(c.e); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		if got := LaTeX(c.e); c.latex != "" && got != c.latex {
			t.Errorf("%s: got %s, want %s", c.want, got, c.latex)
		}
	}
}

// TestDeepCalls: calls within calls, and masks within masks, are printed once each; were
// they printed twice, sixty of them would never end.
func TestDeepCalls(t *testing.T) {
	const deep = 60
	e, want := graph.Sym("x"), "x"
	mask, masks := graph.Sym("m"), "m"
	for range deep {
		e, want = graph.Call("tanh", e.Pow(graph.Num(2))), "tanh("+want+"²)"
		mask = graph.Expr{Kind: graph.ExprBracket, Text: "<", Args: []graph.Expr{mask, graph.Sym("a")}}
		mask = graph.Expr{Kind: graph.ExprBracket, Text: "∧", Args: []graph.Expr{mask, graph.Sym("b")}}
		masks = "[[" + masks + " < a] ∧ b]"
	}
	if got := Unicode(e); got != want {
		t.Errorf("%s", got)
	}
	if got := Unicode(mask); got != masks {
		t.Errorf("%s, want %s", got, masks)
	}
	cases := Unicode(graph.Cases(mask, e, e))
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

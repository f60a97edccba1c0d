package viz

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestFormulaOfObjectives(t *testing.T) {
	s, g := soft(t), goofy(t)
	for _, c := range []struct{ got, want string }{
		{Formula(s.loss), "loss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ"},
		{Formula(s.α), "αᵢⱼ = softmaxⱼ(−γ·Dᵢⱼ)"},
		{Formula(s.D), "Dᵢⱼ = ‖Δᵢⱼ‖²"},
		{Formula(s.Δ), "Δ_{ijd} = x_{id} − r_{jd}"},
		{Formula(s.γ), "γ = 0.7"},
		{Formula(s.x), "x_{id} = x_{id}"},
		{Formula(g.loss), "loss = meanᵢ ‖r̂ᵢ − xᵢ‖²"},
		{Formula(s.dr), "∂loss/∂r_{jd} = −2/150·Σᵢ Δ_{ijd}·(αᵢⱼ − γ·αᵢⱼ·(Dᵢⱼ − Σₗ αᵢₗ·Dᵢₗ))"},
		{Formula(s.dr, StopAtAdjoints()), "∂loss/∂r_{jd} = −Σᵢ ∂loss/∂Δ_{ijd}"},
		{Formula(g.dr, StopAtAdjoints()), "∂loss/∂r_{jd} = Σᵢ αᵢⱼ·∂loss/∂r̂_{id} − Σᵢ ∂loss/∂Δ_{ijd}"},
		{LaTeX(s.loss), `\mathrm{loss} = \operatorname{mean}_{i} \sum_{j} \alpha_{ij} \, D_{ij}`},
		{LaTeX(g.loss), `\mathrm{loss} = \operatorname{mean}_{i} \left\lVert \hat{r}_{i} - x_{i} \right\rVert^{2}`},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

func TestEquationsGolden(t *testing.T) {
	var b strings.Builder
	for _, o := range []*objective{soft(t), goofy(t)} {
		fmt.Fprintf(&b, "%s\n", o.g.Name())
		for _, n := range []*graph.Node{o.loss, o.dr} {
			for _, e := range append(Equations(n), equation(n, nil)) {
				fmt.Fprintf(&b, "\t%v\n\t\t%s\n", e, e.LaTeX())
			}
		}
	}
	golden(t, "formulas.txt", b.String())
}

func lines(eqs []Equation) string {
	var out []string
	for _, e := range eqs {
		out = append(out, e.String())
	}
	return strings.Join(out, "\n")
}

// A rewritten graph is written like the one it comes from: the differences that
// were specialised away appear as a norm, the mean's 2/150 as a fraction.
func TestEquationsOfRewritten(t *testing.T) {
	o := soft(t)
	res, err := rewrite.Run(o.g, []*graph.Node{o.loss, o.dr}, rewrite.Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := lines(Equations(res.Node(o.loss))), "Dᵢⱼ = ‖xᵢ − rⱼ‖²\nαᵢⱼ = softmaxⱼ(−γ·Dᵢⱼ)\nloss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want := "∂loss/∂r_{jd} = 1/75·Σᵢ (αᵢⱼ − γ·αᵢⱼ·(Dᵢⱼ − Σₗ αᵢₗ·Dᵢₗ))·(r_{jd} − x_{id})"
	if got := lines(Equations(res.Node(o.dr))); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwithout %s", got, want)
	}
}

// One node may be the derivative with respect to two quantities.
func TestSharedDerivative(t *testing.T) {
	g := graph.New("sum")
	a := g.Param("a", graph.F64, graph.Ax("i", 3))
	b := g.Param("b", graph.F64, graph.Ax("i", 3))
	loss := ops.Sum(ops.Square(ops.Add(a, b)), "i").As("ℓ")
	d := grad.Of(loss, a, b)
	if d[0] != d[1] {
		t.Fatal("want one node for both derivatives")
	}
	got := lines(Equations(d[0]))
	if want := "∂ℓ/∂aᵢ = 2·(aᵢ + bᵢ)\n∂ℓ/∂bᵢ = ∂ℓ/∂aᵢ"; got != want && got != "∂ℓ/∂bᵢ = 2·(aᵢ + bᵢ)\n∂ℓ/∂aᵢ = ∂ℓ/∂bᵢ" {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSecondDerivativeHasAName(t *testing.T) {
	g := graph.New("cubic")
	x := g.Param("x", graph.F64)
	loss := ops.Mul(x, ops.Square(x)).As("f")
	first := grad.Of(loss, x)[0]
	second := grad.Of(first, x)[0]
	if got, want := Formula(second), "∂(∂f/∂x)/∂x = "; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s…", got, want)
	}
	if got := LaTeX(second); !strings.HasPrefix(got, `\frac{\partial \mathrm{(\partial f/\partial x)}}{\partial x}`) {
		t.Errorf("got %s", got)
	}
}

func TestUnnamedLoss(t *testing.T) {
	g := graph.New("unnamed")
	x := g.Param("x", graph.F64, graph.Ax("i", 3))
	d := grad.Of(ops.Sum(ops.Square(x), "i"), x)[0]
	if got, want := Formula(d), "∂ℓ/∂xᵢ = 2·xᵢ"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Axes without names are written as matrices; operations along them say which.
func TestUnnamedAxes(t *testing.T) {
	g := graph.New("mlp")
	x := g.Input("x", graph.F32, graph.Dims(32, 16)...)
	w := g.Param("W", graph.F32, graph.Dims(16, 8)...)
	b := g.Param("b", graph.F32, graph.Dims(8)...)
	named := g.Input("y", graph.F32, graph.Ax("n", 32), graph.Ax("h", 8))
	h := ops.Tanh(ops.Add(ops.MatMul(x, w), b))
	for _, c := range []struct {
		n    *graph.Node
		want string
	}{
		{h.As("h"), "h = tanh(matmul(x, W) + b)"},
		{ops.Sum(h, 0).As("s"), "s = Sum{axes=[0]}(h)"},
		{ops.Sum(h).As("t"), "t = Σₗₘ hₗₘ"},
		{ops.Softmax(h, 1).As("p"), "p = Softmax{axis=1}(h)"},
		{ops.Transpose(h).As("q"), "q = hᵀ"},
		{ops.Add(named, b).As("u"), "uₙₕ = yₙₕ + bₕ"},
		{ops.Sub(named, h).As("v"), "vₙₕ = yₙₕ − hₙₕ"},
	} {
		if got := Formula(c.n); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}

// Values that are used twice at every step make a tree of 2⁶⁰ operations.
func TestFormulaStaysShort(t *testing.T) {
	g := graph.New("doubling")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	for range 60 {
		x = ops.Mul(ops.Tanh(x), ops.Sin(x))
	}
	if got := Formula(x); len(got) > 4000 {
		t.Errorf("%d bytes: %.200s…", len(got), got)
	}
	if eqs := Equations(x); len(eqs) < 10 || len(lines(eqs)) > 60000 {
		t.Errorf("%d equations of %d bytes", len(eqs), len(lines(eqs)))
	}
}

func TestFormulaOfNothing(t *testing.T) {
	g := graph.New("wrong")
	bad := ops.Add(g.Input("a", graph.F32, graph.Dims(2)...), g.Input("b", graph.F32, graph.Dims(3)...))
	for _, n := range []*graph.Node{nil, bad} {
		if got := Formula(n) + LaTeX(n) + Unicode(Expr(n)); !strings.Contains(got, "invalid") || Equations(n) != nil {
			t.Errorf("got %s and %v", got, Equations(n))
		}
	}
}

package viz

import (
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/subscript"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// A box has room for one line. Subscripts are dropped first, where the arrays say as much; then
// the settings of a call; then inner and later parts.
func TestFitting(t *testing.T) {
	sym := expr.Sym
	sum := func(i string, e expr.Expr) expr.Expr { return expr.Big("Σ", []string{i}, e) }
	conv := expr.Expr{Kind: expr.KindCall, Text: "conv", Subs: []string{"h", "w"}, Args: []expr.Expr{sym("x", "n", "h", "w"), sym("w", "c")}}
	norm := expr.Expr{Kind: expr.KindCall, Text: "standardise", Subs: []string{"c"}, Args: []expr.Expr{sym("u", "b", "t", "c"), decimal(1e-5)}}
	softmax := expr.Expr{Kind: expr.KindCall, Text: "softmax", Subs: []string{"j"}, Args: []expr.Expr{sym("e", "i", "j").Plus(sym("m", "i", "j"))}}
	for _, c := range []struct {
		e     expr.Expr
		limit int
		want  string
	}{
		{sym("α", "b", "t").Times(sym("v", "t", "d")), 30, "α_{bt}·v_{td}"},
		{sum("t", sym("α", "b", "t").Times(sym("v", "t", "d"))), 9, "Σₜ α·v"},
		{sym("x", "b", "t").Minus(sym("x", "b", subscript.Shifted("t", 1))), 11, "x_{bt} − …"},
		{sym("α", "i", "j").Minus(sum("l", sym("α", "i", "l").Times(sym("D", "i", "l")))), 12, "αᵢⱼ − Σₗ …"},
		{expr.Call("relu", conv.Plus(sym("b", "c"))), 20, "relu(conv(x, w) + b)"},
		{norm.Times(sym("gain", "c")).Plus(sym("bias", "c")), 30, "standardise(u)·gain + bias"},
		{norm.Times(sym("gain", "c")).Plus(sym("bias", "c")), 20, "…·gain + bias"},
		{expr.Cases(sym("A", "i", "j"), softmax, decimal(0)), 26, "softmaxⱼ(…) if A, else 0"},
		{sym("a", "b", "c").Plus(sym("d", "c").Times(sym("f", "c"))).Pow(decimal(2)), 7, "(…)²"},
	} {
		if got := figure.Linear(pictured(fitting(c.e, c.limit))); got != c.want {
			t.Errorf("%s in %d characters is %s, want %s", Unicode(c.e), c.limit, got, c.want)
		}
	}
}

// In a drawing the edges tell which w is meant; in one expression two of them keep
// their scopes.
func TestLabelsWithoutScopes(t *testing.T) {
	g := graph.New("scopes")
	x := g.Input("x", graph.F32, graph.Ax("n", 2), graph.Ax("c", 3))
	param := func(scope string) *graph.Node {
		defer g.Scope(scope)()
		return g.Param("w", graph.F32, graph.Ax("c", 3), graph.Ax("k", 2))
	}
	me, them := param("me"), param("them")
	a := ops.MatMul(ops.Neg(x), me).As("a")
	b := ops.Add(ops.MatMul(x, me), ops.MatMul(x, them)).As("b")
	f := draw(t, []*graph.Node{a, b}, At(Notes))
	var got []string
	for _, n := range f.Nodes {
		got = append(got, n.Main)
	}
	for _, want := range []string{"a = −Σ_c x_{nc}·w_{ck}", "b = Σ_c x_{nc}·me.w_{ck} + Σ_c x_{nc}·them.w_{ck}"} {
		if !slices.Contains(got, want) {
			t.Errorf("no box %q among %q", want, got)
		}
	}
}

// TestNamedDerivatives: a derivative that the user named keeps the name in its box, since formulas
// that are made of it say it.
func TestNamedDerivatives(t *testing.T) {
	g := graph.New("equation")
	x := g.Input("t", graph.F64, graph.Ax("i", 4))
	u := ops.Sin(x).As("u")
	du := grad.Of(ops.Sum(u), x)[0].As("u′")
	f := draw(t, []*graph.Node{ops.Mean(ops.Square(ops.Add(du, u))).As("loss")}, At(Notes))
	var got []string
	for _, n := range f.Nodes {
		got = append(got, n.Main)
	}
	if want := "u′ = ∂ℓ/∂t"; !slices.Contains(got, want) {
		t.Errorf("no box %q among %q", want, got)
	}
}

// The last index is left out of vectors only where the rest is written with real
// subscripts by that, and never one with a prime.
func TestLabelsKeepIndices(t *testing.T) {
	g := graph.New("indices")
	e := g.Input("e", graph.F32, graph.Ax("b", 2), graph.Ax("t", 3), graph.Ax("t′", 3))
	r := g.Input("r", graph.F32, graph.Ax("j", 2), graph.Ax("d", 3))
	p := g.Input("p", graph.F32, graph.Ax("j", 2), graph.Ax("t′", 3))
	f := draw(t, []*graph.Node{ops.Scale(e, 0.5).As("ê"), ops.Scale(r, 0.5).As("s"), ops.Scale(p, 0.5).As("o")}, At(Notes))
	var got []string
	for _, n := range f.Nodes {
		got = append(got, n.Main)
	}
	for _, want := range []string{"ê = 0.5·e_{b,t,t′}", "s = 0.5·rⱼ", "o = 0.5·p_{j,t′}"} {
		if !slices.Contains(got, want) {
			t.Errorf("no box %q among %q", want, got)
		}
	}
}

// Running statistics are updated beside the drawing; an update that something drawn reads again
// is part of it, and so is one if there is nothing else.
func TestIdleUpdates(t *testing.T) {
	g := graph.New("norm")
	x := g.Input("x", graph.F32, graph.Ax("i", 4))
	mean, clock := g.State("mean", graph.F32), g.State("clock", graph.F32)
	moved := ops.Scale(ops.Add(mean, ops.Mean(x)), 0.5).As("moved")
	ticked := ops.Shift(clock, 1).As("ticked")
	g.Assign(mean, moved)
	g.Assign(clock, ticked)
	loss := ops.Sum(ops.Mul(x, clock)).As("loss")
	all := []*graph.Node{moved, ticked, loss}
	for _, c := range []struct {
		roots []*graph.Node
		level Level
		want  string
	}{
		{all, Notes, "x clock clock loss"},
		{all, Ops, "x mean mean mean clock clock loss"},
		{[]*graph.Node{moved}, Notes, "x mean mean"},
	} {
		f := draw(t, c.roots, At(c.level))
		var names []string
		for _, n := range f.Nodes {
			name, _, _ := strings.Cut(n.Main, " ")
			if slices.Contains([]string{"x", "mean", "clock", "loss"}, name) {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(a, b string) int { return strings.Index(c.want, a) - strings.Index(c.want, b) })
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("at level %v: boxes of %s, want %s", c.level, got, c.want)
		}
	}
}

// A random draw that the user did not name with As has the name that it was drawn by.
func TestDrawOfRandom(t *testing.T) {
	g := graph.New("noise")
	y := ops.Exp(ops.RandomNormal(g, "ε", graph.F32, graph.Ax("i", 2), graph.Ax("j", 3)))
	if got := Formula(y); !strings.HasPrefix(got, "%1ᵢⱼ = e^ε") {
		t.Error(got)
	}
	if _, err := Draw([]*graph.Node{y}, At(Ops)); err != nil {
		t.Error(err)
	}
}

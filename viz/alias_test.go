package viz

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestBoxesWithoutNumbers: no box of any model calls a value by its number.
func TestBoxesWithoutNumbers(t *testing.T) {
	number := regexp.MustCompile(`[%#][0-9]`)
	for _, b := range builders.All() {
		m, err := b.Build(nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		roots := Roots(m.Graph)
		if m.Loss != nil {
			wrt := m.Graph.Leaves(graph.RoleParam)
			roots = []*graph.Node{m.Loss}
			cone := graph.Reachable(m.Loss)
			wrt = slices.DeleteFunc(wrt, func(n *graph.Node) bool { return !slices.Contains(cone, n) })
			roots = append(roots, grad.Of(m.Loss, wrt...)...)
		}
		for _, level := range []Level{Notes, Ops, Primitive} {
			f := draw(t, roots, At(level), CollapseAbove(-1))
			for _, n := range f.Nodes {
				if number.MatchString(n.Main) {
					t.Errorf("%s at level %v: a box says %q", b.Name, level, n.Main)
				}
				if level < Primitive && strings.Contains(n.Sub, "%") {
					t.Errorf("%s at level %v: under %q stands %q", b.Name, level, n.Main, n.Sub)
				}
			}
		}
	}
}

// A value too long for the formulas of others, and without a name, is called by what it is the
// derivative of or, if that is long too, by its operation.
func TestAlias(t *testing.T) {
	for name, lines := range map[string][]string{
		"transformer-gpt": {"Σₜ normed_{btm}·∂(Σₘ normed·w + b)_{btf}", "Σ_b Σₜ normed_{btm}·∂(Σₘ normed·w + b)_{btf}", "Σ_{bt} ∂(Σₘ normed·w + b)_{btf}", "∂loss/∂normed"},
		"loss-cosine":     {"∂(Div)_{ic}·z_{ic}/max(‖zᵢ‖, 1e−8)"},
		"rnn-stacked":     {"Σₜ matmul(h_{t−1}, ∂hₜ·(1 − hₜ²))", "matmul(h_{t−1}, ∂hₜ·(1 − hₜ²))"},
	} {
		roots, _ := trained(t, name, nil)
		var got []string
		for _, n := range draw(t, roots, At(Ops), DenseAbove(-1)).Nodes {
			got = append(got, n.Main, n.Sub)
		}
		for _, want := range lines {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no line %q among %q", name, want, got)
			}
		}
	}
}

func TestAliasOfValues(t *testing.T) {
	g := graph.New("values")
	n := graph.Ax("n", 6)
	x := g.Param("x", graph.F32, n)
	c := g.Constant(graph.F32, []float64{4, 5, 7, 2, 0, 1.5}, n)
	long := ops.Mul(x, c)
	for range maxWeight / 3 {
		long = ops.Sub(ops.Mul(long, x), c)
	}
	user := g.Param("%3", graph.F32, n) // a name like a number is the user's
	sin := ops.Sin(long)
	product := ops.Mul(sin, user)
	f := draw(t, []*graph.Node{product}, At(Primitive))
	main, sub := map[string]string{}, map[string]string{}
	for _, b := range f.Nodes {
		main[b.ID], sub[b.ID] = b.Main, b.Sub
	}
	id := func(n *graph.Node) string { return "n" + strconv.Itoa(n.ID()) }
	for _, w := range []struct{ id, main, sub string }{
		{id(c), "[4 5 … 1.5]ₙ", "n=6"},
		{id(sin), "sin((((…·x − …)·x − …)·x − …)·x − …)", "Sin  %" + id(sin)[1:] + "  n=6"},
		{id(product), "sin(((…·x − …)·x − …)·x − …)·%3", "Mul  %" + id(product)[1:] + "  n=6"},
		{id(user), "%3", "n=6"},
	} {
		if main[w.id] != w.main || sub[w.id] != w.sub {
			t.Errorf("box %s says %q over %q, want %q over %q", w.id, main[w.id], sub[w.id], w.main, w.sub)
		}
	}
}

// TestOneNameInLoops checks that a value given to a loop has one name in the chain of
// derivatives, inside and outside the loop.
func TestOneNameInLoops(t *testing.T) {
	for _, name := range []string{"rnn-bidirectional", "rnn-stacked"} {
		roots, _ := trained(t, name, nil)
		seen := map[string]bool{}
		for _, d := range roots[1:] {
			_, chain, _ := Chain(d)
			for _, e := range chain {
				left, _, _ := strings.Cut(Unicode(e.Left), "_")
				seen[left] = true
			}
		}
		if seen["∂loss/∂Wx"] || len(seen) < 8 {
			t.Errorf("%s: the chains have equations of %v; want none of ∂loss/∂Wx, whose scope is not told", name, seen)
		}
	}
}

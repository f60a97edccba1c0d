package viz

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// modelRoots are the result of a model with the derivatives by its parameters.
func modelRoots(t *testing.T, b builders.Builder) []*graph.Node {
	t.Helper()
	m, err := b.Build(nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	roots := []*graph.Node{m.Result()}
	if m.Loss != nil {
		roots = append(roots, grad.OrZero(m.Loss, m.Params()...)...)
	}
	return roots
}

// inside lists the operations of a node's formula: its own and those of hidden nodes, with those
// of their loops.
func inside(n *graph.Node, drawn map[*graph.Node]bool) []*graph.Node {
	out := []*graph.Node{n}
	for i := 0; i < len(out); i++ {
		for _, x := range out[i].Inputs() {
			if !drawn[x] && !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	for _, x := range out[:len(out):len(out)] {
		if x.Body() != nil {
			out = append(out, graph.Reachable(x.Body().Out()...)...)
		}
	}
	return out
}

// TestElementwiseStaysElementwise checks that an elementwise operation beside a product is not
// drawn as one.
func TestElementwiseStaysElementwise(t *testing.T) {
	v, err := newView(modelRoots(t, builderNamed(t, "conv-2d")), collect([]Option{At(Primitive)}))
	if err != nil {
		t.Fatal(err)
	}
	count := map[figure.Role]int{}
	for _, n := range v.shown {
		role := v.role(n)
		count[role]++
		if n.NumIn() > 0 && (match.Is(n, match.Relu) || match.Is(n, match.Add)) && role == figure.Reduce {
			t.Errorf("%v is drawn as %v", v.equation(n), role)
		}
	}
	if count[figure.Op] == 0 || count[figure.Reduce] == 0 {
		t.Errorf("the roles are %v", count)
	}
}

func builderNamed(t *testing.T, name string) builders.Builder {
	t.Helper()
	b, err := builders.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDiffOfModels compares every model with the next and checks the counts of the summary: each
// box once, the derivative of the loss by itself on neither side alone, and matched boxes in the
// same order on both sides.
func TestDiffOfModels(t *testing.T) {
	all := builders.All()
	for i, b := range all[1:] {
		x, y := modelRoots(t, all[i]), modelRoots(t, b)
		d, err := Diff(x, y, At(Notes))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Figure().Validate(); err != nil {
			t.Errorf("%s, %s: %v", all[i].Name, b.Name, err)
		}
		pairs := len(d.Shared) + len(d.Upstream) + len(d.TermA) + len(d.TermB)
		if len(d.OnlyA)+pairs != len(d.a.shown) || len(d.OnlyB)+pairs != len(d.b.shown) {
			t.Errorf("%s, %s: %s, of %d and %d", all[i].Name, b.Name, d.Summary(), len(d.a.shown), len(d.b.shown))
		}
		seed := func(list []*graph.Node) bool {
			return slices.ContainsFunc(list, func(n *graph.Node) bool {
				of, loss := n.AdjointOf()
				return of != nil && of == loss
			})
		}
		if seed(d.OnlyA) && seed(d.OnlyB) {
			t.Errorf("%s, %s: ∂loss/∂loss = 1 counts as two", all[i].Name, b.Name)
		}
	}
}

// TestDiffInherits: after the first skip of a residual net every block gets something
// else and is built alike.
func TestDiffInherits(t *testing.T) {
	d := diff(t, modelRoots(t, builderNamed(t, "resnet-plain")), modelRoots(t, builderNamed(t, "resnet")), At(Notes))
	values := 0
	for _, p := range d.Upstream {
		if d.a.backward[p.A] {
			continue
		}
		values++
		if a, b := d.a.equation(p.A), d.b.equation(p.B); Unicode(a.Right) != Unicode(b.Right) {
			t.Errorf("%v and %v are marked ≈", a, b)
		}
	}
	if values < 5 {
		t.Errorf("%d values inherit a change: %s", values, d.Text())
	}
}

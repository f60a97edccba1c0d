package viz

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestNamesAreToldApart(t *testing.T) {
	g := graph.New("scopes")
	layer := func(outer, inner string, x *graph.Node) *graph.Node {
		defer g.Scope(outer)()
		defer g.Scope(inner)()
		return ops.Mul(x, g.Param("w", graph.F64, graph.Ax("i", 3)))
	}
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	a := layer("enc", "fc1", x)
	b := layer("enc", "fc2", a)
	c := layer("dec", "fc1", b).As("y")
	if got, want := Formula(b), "%4ᵢ = xᵢ·fc1.wᵢ·fc2.wᵢ"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := Formula(c), "yᵢ = xᵢ·enc.fc1.wᵢ·fc2.wᵢ·dec.fc1.wᵢ"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p, q := ops.Tanh(x).As("same"), ops.Exp(x).As("same")
	if got, want := Unicode(Expr(ops.Add(p, q))), "same#7ᵢ + same#8ᵢ"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	odd := ops.Tanh(ops.Exp(x)).As("two\nlines")
	if got, want := Formula(odd), "two linesᵢ = tanh(same#8ᵢ)"; got != want && got != "two linesᵢ = tanh(sameᵢ)" {
		t.Errorf("got %s, want %s", got, want)
	}
}

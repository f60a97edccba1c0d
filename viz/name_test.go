package viz

import (
	"fmt"
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

// TestNamedTwiceInOneScope: quantities that have one name in one scope are told apart by the scopes
// in which they are computed, and by numbers only where these are alike too.
func TestNamedTwiceInOneScope(t *testing.T) {
	g := graph.New("twice")
	x := g.Input("x", graph.F64, graph.Dims(3)...)
	in := func(scope string, f func() *graph.Node) *graph.Node {
		defer g.Scope(scope)()
		return f()
	}
	var first, second, third, fourth *graph.Node
	in("block", func() *graph.Node {
		first = in("norm1", func() *graph.Node { return ops.Exp(x) }).As("normed")
		second = in("norm2", func() *graph.Node { return ops.Tanh(first) }).As("normed")
		third = ops.Sin(second).As("y")
		fourth = ops.Cos(third).As("y")
		return fourth
	})
	m := nameAll([]*graph.Node{first, second, third, fourth})
	for n, want := range map[*graph.Node]string{first: "norm1.normed", second: "norm2.normed", third: fmt.Sprint("block.y#", third.ID()), fourth: fmt.Sprint("block.y#", fourth.ID())} {
		if m[n] != want {
			t.Errorf("%v is called %q, want %q", n, m[n], want)
		}
	}
}

package graph_test

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// places are the occurrences of a node as text.
func places(n *graph.Node) (out []string) {
	for _, o := range n.Occurrences() {
		out = append(out, fmt.Sprintf("%q in %q %v", o.Name, o.Scope, o.Pos))
	}
	return out
}

// TestOccurrences: one node, asked for in several places and called several names.
func TestOccurrences(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32)
	l := line()
	a := ops.Exp(x).As("a")
	b := ops.Exp(x)
	end := g.Scope("outer")
	c := ops.Exp(x).As("c")
	inner := g.Scope("inner")
	d := ops.Exp(x).As("a")
	inner()
	end()
	for range 3 { // the same place, again and again
		ops.Exp(x).As("again")
	}
	a.As("b")
	if a != b || a != c || a != d {
		t.Fatal("equal calls give several nodes")
	}
	at := func(k int) string { return fmt.Sprintf("graph/occurrence_test.go:%d", l+k) }
	want := []string{
		`"a" in "" ` + at(1), `"" in "" ` + at(2), `"c" in "outer" ` + at(4), `"a" in "outer/inner" ` + at(6),
		`"again" in "" ` + at(10), `"b" in "" ` + at(12),
	}
	if got := places(a); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if a.Name() != "a" || a.Label() != "a" || a.String() != "a[]" || a.First().Name != "a" {
		t.Errorf("the first name is not printed: %v", a)
	}
	for _, name := range []string{"a", "b", "c", "again"} {
		if g.Lookup(name) != a {
			t.Errorf("%s is not found", name)
		}
	}
	if g.Lookup("d") != nil || g.Lookup("x") != x {
		t.Error("Lookup finds the wrong node")
	}
}

// TestAsOnEarlierNode: naming a node on a later line is an occurrence of its own,
// and a repeated name is none.
func TestAsOnEarlierNode(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32)
	y := ops.Neg(x)
	l := line()
	y.As("y")
	y.As("y")
	want := []string{
		fmt.Sprintf(`"" in "" graph/occurrence_test.go:%d`, l-1),
		fmt.Sprintf(`"y" in "" graph/occurrence_test.go:%d`, l+1),
	}
	if got := places(y); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestScopes: scopes prefix the paths of leaves; closing an outer one closes the
// inner ones, and closing twice does no harm.
func TestScopes(t *testing.T) {
	g := graph.New("g")
	outer := g.Scope("enc/oder")
	inner := g.Scope("0")
	w := g.Param("w", graph.F32)
	outer()
	v := g.Param("w", graph.F32)
	inner()
	outer()
	u := g.Param("u", graph.F32)
	for n, path := range map[*graph.Node]string{w: "enc_oder/0/w", v: "w", u: "u"} {
		if n.Path() != path || g.Lookup(path) != n {
			t.Errorf("path %q, want %q", n.Path(), path)
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
	if o := w.First(); o.Scope != "enc_oder/0" || o.Name != "w" {
		t.Errorf("a leaf occurs as %+v", o)
	}
}

// inlined is a user's function that the compiler inlines.
func inlined(x *graph.Node) *graph.Node { return ops.Exp(x) }

// TestPositions: the line is the user's, whatever lies between.
func TestPositions(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	f := func(x *graph.Node) *graph.Node { return ops.Neg(x) }
	l := line()
	for _, c := range []struct {
		name string
		n    *graph.Node
		want string
	}{
		{"a closure", f(x), here(l - 1)},
		{"an inlined function", inlined(x), here(lineOf(inlined))},
		{"through several functions of the library", ops.Greater(x, ops.Lit(x, 0)), here(l + 8)},
		{"a reduction, which calls back", ops.Mean(x, "i"), here(l + 9)},
		{"another user's package", elsewhere(x), "layer.go:12"},
		{"a call back from another package", func() *graph.Node { return apply(func() *graph.Node { return ops.Log(x) }) }(), here(l + 11)},
	} {
		if got := c.n.First().Pos.String(); got != c.want {
			t.Errorf("%s stands at %s, want %s", c.name, got, c.want)
		}
	}
	y := ops.Sum(ops.Square(x))
	at := here(line() - 1)
	for _, n := range graph.Reachable(grad.Of(y, x)[0]) {
		if p := n.First().Pos.String(); n.IsBackward() && p != at {
			t.Errorf("derivative %v stands at %s, want its forward node's %s", n, p, at)
		}
	}
}

// lineOf is where a function stands that is written on one line.
func lineOf(f any) int {
	p := reflect.ValueOf(f).Pointer()
	_, n := runtime.FuncForPC(p).FileLine(p)
	return n
}

func here(line int) string { return fmt.Sprintf("graph/occurrence_test.go:%d", line) }

// apply stands for a function of another package that calls back.
func apply(f func() *graph.Node) *graph.Node { return f() }

// TestDuring: the library says why a node exists, and stops saying so.
func TestDuring(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32)
	at := graph.Occurrence{Scope: "s/t", Pos: graph.Pos{File: "model.go", Line: 7}}
	var y *graph.Node
	end := g.Scope("open")
	g.During(at, graph.Origin{Kind: graph.FromGrad, Of: x, Loss: x}, func() { y = ops.Exp(x) })
	z := ops.Neg(x)
	end()
	if o := y.First(); o.Scope != "s/t" || o.Pos.String() != "model.go:7" || o.Origin.Of != x || !y.IsBackward() {
		t.Errorf("got %+v", o)
	}
	if o := z.First(); o.Scope != "open" || o.Origin.Kind != graph.FromUser || z.IsBackward() {
		t.Errorf("got %+v", o)
	}
	var u, v *graph.Node
	g.During(at, graph.Origin{Rule: "first"}, func() {
		u = ops.Sin(x)
		g.Because("second")
		v = ops.Cos(x)
	})
	if a, b, c := u.First().Origin.Rule, v.First().Origin.Rule, ops.Tanh(x).First().Origin.Rule; a != "first" || b != "second" || c != "" {
		t.Errorf("rules %q, %q, %q", a, b, c)
	}
	if ops.Exp(x); y.IsBackward() {
		t.Error("a node that the user asks for too stays backward")
	}
}

// TestManyOccurrences: uses beyond a number are not recorded, unless they carry
// a name or make a backward node the user's.
func TestManyOccurrences(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32)
	var y *graph.Node
	use := func(i int) {
		at := graph.Occurrence{Pos: graph.Pos{File: "model.go", Line: i + 1}}
		g.During(at, graph.Origin{Kind: graph.FromGrad, Of: x, Loss: x}, func() { y = ops.Exp(x) })
	}
	for i := range 100 {
		use(i)
	}
	many := len(y.Occurrences())
	if many >= 100 || !y.IsBackward() {
		t.Errorf("%d occurrences", many)
	}
	if ops.Exp(x).As("y"); y.IsBackward() || y.Name() != "y" || g.Lookup("y") != y {
		t.Errorf("the user's use is lost: %q", places(y)[many:])
	}
}

// TestManyAdjoints: a derivative that many nodes have in common does not carry
// the name of each.
func TestManyAdjoints(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32)
	sum := x
	for i := range 100 {
		sum = ops.Add(sum, ops.Scale(x, float64(i)).As(fmt.Sprint("y", i)))
	}
	grad.Of(sum, x)
	for _, n := range g.Nodes() {
		if k := len(n.Occurrences()); k > 50 {
			t.Errorf("%v occurs %d times", n, k)
		}
	}
}

// TestOccurKeepsOut: an occurrence is added only to a node of the graph.
func TestOccurKeepsOut(t *testing.T) {
	g, h := graph.New("g"), graph.New("h")
	x := h.Input("x", graph.F32)
	g.Occur(x, graph.Occurrence{Name: "y"})
	g.Occur(nil, graph.Occurrence{Name: "y"})
	if len(x.Occurrences()) != 1 {
		t.Errorf("got %q", places(x))
	}
}

// elsewhere is compiled as a line of another package's source.
//
//line /nowhere/user/model/layer.go:11
func elsewhere(x *graph.Node) *graph.Node {
	return ops.Tanh(x)
}

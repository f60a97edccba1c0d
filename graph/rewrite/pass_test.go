package rewrite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// naiveKMeans is soft k-means as a beginner writes it.
func naiveKMeans() (g *graph.Graph, wanted []*graph.Node) {
	g = graph.New("naive")
	x := g.Input("x", graph.F32, graph.Ax("i", 150), graph.Ax("d", 4))
	r := g.Param("r", graph.F32, graph.Ax("j", 3), graph.Ax("d", 4))
	D := ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d").As("D")
	e := ops.Exp(ops.Neg(D)).As("e")
	α := ops.Div(e, ops.Sum(e, "j", ops.Keep)).As("α")
	loss := ops.Mean(ops.Sum(ops.Mul(α, D), "j"), "i").As("loss")
	return g, append([]*graph.Node{loss}, grad.Of(loss, r)...)
}

// TestLog: the log of a small model, and where each line's node was asked for.
func TestLog(t *testing.T) {
	g, wanted := naiveKMeans()
	res, err := Run(g, wanted, Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/log.txt", res.LogText())
	for _, e := range res.Log {
		if !strings.HasPrefix(e.Pos.String(), "graph/rewrite/pass_test.go:") {
			t.Errorf("%v stands at %v: want a line of this file", e, e.Pos)
		}
	}
}

// TestOrigins: a rewritten node says by which rule it came and what it was, and
// keeps its name.
func TestOrigins(t *testing.T) {
	g, wanted := naiveKMeans()
	α := g.Lookup("α")
	res, err := Run(g, append(wanted, α), Passes()[0])
	if err != nil {
		t.Fatal(err)
	}
	n := res.Node(α)
	if n.Name() != "α" || !match.Is(n, match.Softmax) {
		t.Errorf("α is now %v = %s", n, graph.OpText(n.Op()))
	}
	if o := n.First().Origin; o.Rule != "stabilise: naive softmax" || o.Was != α {
		t.Errorf("its origin is %+v: want the rule and the node before", o)
	}
}

// TestDeadCode: what nothing wanted depends on is left out, updates included.
func TestDeadCode(t *testing.T) {
	g := graph.New("dead")
	x := g.Input("x", graph.F32)
	s := g.State("s", graph.F32)
	dead := g.State("dead", graph.F32)
	y := ops.Tanh(x)
	g.Assign(s, y)
	g.Assign(dead, ops.Sin(x))
	res, err := Run(g, []*graph.Node{s, y}, Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Graph.Len(); got != 3 {
		t.Errorf("%d nodes are left: want x, s and y\n%v", got, res.Graph)
	}
	if u := res.Graph.Updates(); len(u) != 1 || u[0].Target != res.Node(s) || u[0].Value != res.Node(y) {
		t.Errorf("updates %v: want that of s by y", u)
	}
	if res.Node(dead) != nil {
		t.Errorf("%v was not wanted", res.Node(dead))
	}
}

// TestBrokenRulesPanic: a rule that is wrong is our mistake and never passes
// silently, as one that never ends, changes a type, or builds nonsense.
func TestBrokenRulesPanic(t *testing.T) {
	for name, c := range map[string]struct {
		rules []Rule
		want  string
	}{
		"endless": {[]Rule{
			{"there", "", func(n *graph.Node) *graph.Node {
				if match.Is(n, match.Tanh) {
					return ops.Sin(n.In(0))
				}
				return nil
			}},
			{"back", "", func(n *graph.Node) *graph.Node {
				if match.Is(n, match.Sin) {
					return ops.Tanh(n.In(0))
				}
				return nil
			}},
		}, `rewrite: pass "broken" does not end on`},
		"type": {[]Rule{{"to integers", "", func(n *graph.Node) *graph.Node {
			if match.Is(n, match.Tanh) {
				return ops.Cast(n.In(0), graph.I32)
			}
			return nil
		}}}, `rewrite: rule "to integers" turns f32[i=3] into i32[i=3]`},
		"nonsense": {[]Rule{{"nonsense", "", func(n *graph.Node) *graph.Node {
			if match.Is(n, match.Tanh) {
				ops.MatMul(n, ops.Sum(n))
			}
			return nil
		}}}, `rewrite: pass "broken" built a wrong node: `},
	} {
		g := graph.New(name)
		y := ops.Tanh(g.Input("x", graph.F32, graph.Ax("i", 3)))
		got := func() (text string) {
			defer func() { text = fmt.Sprint(recover()) }()
			Run(g, []*graph.Node{y}, Pass{Name: "broken", rules: c.rules})
			return ""
		}()
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: panic %q: want %q…", name, got, c.want)
		}
	}
}

// TestCallsStayTogether: derivatives that were taken in one sweep are recorded as
// such through every pass, or each would be taken again in a sweep of its own.
func TestCallsStayTogether(t *testing.T) {
	g := graph.New("two calls")
	x := g.Input("x", graph.F32)
	a, b, c := g.Param("a", graph.F32), g.Param("b", graph.F32), g.Param("c", graph.F32)
	loss := ops.Mul(ops.Exp(ops.Mul(a, x)), ops.Sin(ops.Mul(b, c))).As("loss")
	wanted := append(grad.Of(loss, a, b, c), grad.Of(ops.Square(loss), a, b)...)
	for k := range Passes()[:4] {
		res, err := Run(g, wanted, Passes()[:k]...)
		if err != nil {
			t.Fatal(err)
		}
		firsts := map[int]int{}
		for _, d := range res.Graph.Derivations() {
			firsts[d.First]++
		}
		if len(firsts) != 2 {
			t.Errorf("after %d passes the calls start at %v: want two, of 3 and 2 derivatives", k, firsts)
		}
	}
}

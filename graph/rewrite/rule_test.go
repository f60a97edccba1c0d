package rewrite

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

var update = flag.Bool("update", false, "write the golden files anew")

// ruleCase is a small graph on which one rule, run alone, fires or does not.
type ruleCase struct {
	rule  string
	fires bool
	build func(v leaves) *graph.Node
}

// leaves are what the cases are made of: x and w are alike, a is square, s and
// t are scalars.
type leaves struct {
	g             *graph.Graph
	x, w, a, s, t *graph.Node
	p, q          *graph.Node // p[i=5 c=4], q[j=2 c=4]
	cube          *graph.Node // [2 2 2]
}

// slice is the operation of a slice along both axes.
func (v leaves) slice(start, step, size []int) graph.Op {
	return ops.Slice(v.x, "d", 0, 1).Op().(match.Cut).Taking(start, step, size)
}

func newLeaves() leaves {
	g := graph.New("rule")
	in := func(name string, axes ...graph.Axis) *graph.Node { return g.Input(name, graph.F32, axes...) }
	return leaves{
		g: g, x: in("x", graph.Ax("i", 3), graph.Ax("d", 4)), w: in("w", graph.Ax("i", 3), graph.Ax("d", 4)),
		a: in("a", graph.Dims(3, 3)...), s: in("s"), t: in("t"),
		p: in("p", graph.Ax("i", 5), graph.Ax("c", 4)), q: in("q", graph.Ax("j", 2), graph.Ax("c", 4)),
		cube: in("cube", graph.Dims(2, 2, 2)...),
	}
}

func (v leaves) differences() *graph.Node {
	return ops.Sub(ops.Over(v.p, "i", "j", "c"), ops.Over(v.q, "i", "j", "c"))
}

// square is a matrix of n rows and columns.
func (v leaves) square(n int) *graph.Node {
	return ops.Reshape(ops.Slice(ops.Reshape(v.x, -1), 0, 0, n*n), n, n)
}

// placed is an array like x that is zero but for some columns: the derivative of a slice.
func (v leaves) placed(from, to int) *graph.Node {
	return grad.Of(ops.Sum(ops.Sin(ops.Slice(v.x, "d", from, to))), v.x)[0]
}

func repeated(x *graph.Node) *graph.Node {
	s, _ := graph.NewShape(graph.Ax("i", 3), graph.Ax("d", 4))
	return ops.BroadcastTo(x, s)
}

// ruleCases are all cases, in the order of testdata/rules.txt.
var ruleCases = slices.Concat(inlineCases, forwardCases, algebraCases, layoutCases, factorCases, sumCases, momentCases, turnedCases, gramCases, rowCases, fissionCases, accumulateCases, channelCases)

func mustShape(axes ...graph.Axis) graph.Shape {
	s, err := graph.NewShape(axes...)
	if err != nil {
		panic(err)
	}
	return s
}

// alone is the pass that has nothing but the rules of one name.
func alone(t testing.TB, rule string) Pass {
	t.Helper()
	var one Pass
	for _, p := range FastMath() {
		for _, r := range p.Rules() {
			if r.Name == rule {
				if one.rules == nil {
					one.outermost = p.outermost
				}
				one.Name, one.rules = p.Name, append(one.rules, r)
			}
		}
	}
	if len(one.rules) == 0 {
		t.Fatalf("no rule %q", rule)
	}
	return one
}

// TestRules writes what each rule does into testdata/rules.txt, a line a case.
func TestRules(t *testing.T) {
	var b strings.Builder
	fired, missed := map[string]bool{}, map[string]bool{}
	for _, c := range ruleCases {
		v := newLeaves()
		y := c.build(v)
		res, err := Run(v.g, []*graph.Node{y}, alone(t, c.rule))
		if err != nil {
			t.Fatalf("%s: %v", c.rule, err)
		}
		before, after := expr(y), expr(res.Node(y))
		if c.fires {
			fired[c.rule] = true
			fmt.Fprintf(&b, "%s: %s  →  %s\n", c.rule, before, after)
		} else {
			missed[c.rule] = true
			fmt.Fprintf(&b, "%s: %s  stays\n", c.rule, before)
		}
		if got := len(res.Log) > 0; got != c.fires || (before != after) != c.fires {
			t.Errorf("%s on %s gives %s: want it to fire: %v; log:\n%s", c.rule, before, after, c.fires, res.LogText())
		}
	}
	for _, p := range FastMath() {
		for _, r := range p.Rules() {
			if r.Name != "empty layout" && (!fired[r.Name] || !missed[r.Name]) { // see TestEmptyLayout
				t.Errorf("rule %q lacks a case that fires, or one that must not", r.Name)
			}
			if r.Why == "" || p.Why == "" {
				t.Errorf("rule %q or its pass gives no reason", r.Name)
			}
		}
	}
	golden(t, "testdata/rules.txt", b.String())
}

// TestEmptyLayout: package ops never makes one, but a text may have it.
func TestEmptyLayout(t *testing.T) {
	g, err := graph.Parse(strings.NewReader(`graph "empty"
%0 = input{path="x" type=f32[3]} : f32[3] ;
%1 = Reshape{to=[3]} %0 : f32[3] ;
%2 = Broadcast{to=[3]} %1 : f32[3] ;
%3 = Reshape{to=[1 3]} %2 : f32[1 3] ;
`), ops.Vocabulary()...)
	if err != nil {
		t.Fatal(err)
	}
	y := g.Nodes()[3]
	res, err := Run(g, []*graph.Node{y}, alone(t, "empty layout"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := expr(res.Node(y)), "Reshape{to=[1 3]}(%0)"; got != want {
		t.Errorf("%s  →  %s: want %s", expr(y), got, want)
	}
}

// expr is a node as nested calls, without types and numbers.
func expr(n *graph.Node) string {
	if v, ok := n.Constant(); ok {
		return v.String()
	}
	if n.Role() != graph.RoleOp {
		return n.Label()
	}
	var in []string
	for _, x := range n.Inputs() {
		in = append(in, expr(x))
	}
	return graph.OpText(n.Op()) + "(" + strings.Join(in, ", ") + ")"
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s should be\n%s", file, got)
	}
}

package rewrite

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
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

func repeated(x *graph.Node) *graph.Node {
	s, _ := graph.NewShape(graph.Ax("i", 3), graph.Ax("d", 4))
	return ops.BroadcastTo(x, s)
}

var ruleCases = []ruleCase{
	{"naive softmax", true, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Sum(ops.Exp(v.x), "d", ops.Keep)) }},
	{"naive softmax", true, func(v leaves) *graph.Node {
		return ops.Div(ops.Exp(v.x), ops.Expand(ops.Sum(ops.Exp(v.x), "d"), 1, ""))
	}},
	{"naive softmax", true, func(v leaves) *graph.Node {
		return ops.Div(ops.Exp(v.x), ops.Over(ops.Sum(ops.Exp(v.x), "d"), "i", "d"))
	}},
	{"naive softmax", true, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Sum(ops.Exp(v.x), "i")) }},
	{"naive softmax", true, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.a), ops.Sum(ops.Exp(v.a), 0)) }},
	// The sums of rows beside the columns: e_ij / Σ_k e_jk is no softmax.
	{"naive softmax", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.a), ops.Sum(ops.Exp(v.a), 1)) }},
	{"naive softmax", false, func(v leaves) *graph.Node {
		return ops.Div(ops.Exp(v.a), ops.Transpose(ops.Sum(ops.Exp(v.a), 1, ops.Keep)))
	}},
	{"naive softmax", false, func(v leaves) *graph.Node {
		return ops.Div(ops.Exp(v.cube), ops.Transpose(ops.Sum(ops.Exp(v.cube), 2, ops.Keep), 1, 0, 2))
	}},
	{"naive softmax", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Sum(ops.Exp(v.w), "d", ops.Keep)) }},
	{"naive softmax", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Mean(ops.Exp(v.x), "d", ops.Keep)) }},
	{"naive softmax", false, func(v leaves) *graph.Node { return ops.Div(ops.Exp(v.x), ops.Sum(ops.Exp(v.x))) }},
	{"naive softmax", false, func(v leaves) *graph.Node { return ops.Div(ops.Sum(ops.Exp(v.x), "d", ops.Keep), ops.Exp(v.x)) }},
	{"naive softmax", false, func(v leaves) *graph.Node {
		e := ops.Exp(v.x)
		return ops.Div(e, ops.Reverse(ops.Sum(e, "d", ops.Keep), "i"))
	}},

	{"naive log-sum-exp", true, func(v leaves) *graph.Node { return ops.Log(ops.Sum(ops.Exp(v.x), "d")) }},
	{"naive log-sum-exp", true, func(v leaves) *graph.Node { return ops.Log(ops.Sum(ops.Exp(v.x), "i", ops.Keep)) }},
	{"naive log-sum-exp", true, func(v leaves) *graph.Node { return ops.Log(ops.Sum(ops.Exp(v.x))) }},
	{"naive log-sum-exp", false, func(v leaves) *graph.Node { return ops.Log(ops.Mean(ops.Exp(v.x), "d")) }},
	{"naive log-sum-exp", false, func(v leaves) *graph.Node { return ops.Log(ops.Sum(ops.Mul(v.w, ops.Exp(v.x)), "d")) }},
	{"naive log-sum-exp", false, func(v leaves) *graph.Node { return ops.Log1p(ops.Sum(ops.Exp(v.x), "d")) }},

	{"log of softmax", true, func(v leaves) *graph.Node { return ops.Log(ops.Softmax(v.x, "i")) }},
	{"log of softmax", false, func(v leaves) *graph.Node { return ops.Log(ops.Sigmoid(v.x)) }},
	{"log of softmax", false, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Softmax(v.x, "i"), 0.5)) }},

	{"log of sigmoid", true, func(v leaves) *graph.Node { return ops.Log(ops.Sigmoid(v.x)) }},
	{"log of sigmoid", true, func(v leaves) *graph.Node { return ops.Log(ops.OneMinus(ops.Sigmoid(v.x))) }},
	{"log of sigmoid", false, func(v leaves) *graph.Node { return ops.Log(ops.Sub(ops.Lit(v.x, 2), ops.Sigmoid(v.x))) }},
	{"log of sigmoid", false, func(v leaves) *graph.Node { return ops.Log(ops.Tanh(v.x)) }},

	{"naive softplus", true, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Exp(v.x), 1)) }},
	{"naive softplus", true, func(v leaves) *graph.Node { return ops.Log1p(ops.Exp(ops.Neg(v.x))) }},
	{"naive softplus", false, func(v leaves) *graph.Node { return ops.Log(ops.Shift(ops.Exp(v.x), 2)) }},
	{"naive softplus", false, func(v leaves) *graph.Node { return ops.Log1p(v.x) }},

	{"log of 1 + x", true, func(v leaves) *graph.Node { return ops.Log(ops.Shift(v.x, 1)) }},
	{"log of 1 + x", true, func(v leaves) *graph.Node { return ops.Log(ops.Add(ops.Lit(v.s, 1), v.s)) }},
	{"log of 1 + x", false, func(v leaves) *graph.Node { return ops.Log(ops.Shift(v.x, 2)) }},
	{"log of 1 + x", false, func(v leaves) *graph.Node { return ops.Log(ops.OneMinus(v.x)) }},

	{"pairwise distance", true, func(v leaves) *graph.Node { return ops.Sum(ops.Square(v.differences()), "c") }},
	{"pairwise distance", false, func(v leaves) *graph.Node { return ops.Sum(ops.Square(v.differences()), "i") }},
	{"pairwise distance", false, func(v leaves) *graph.Node { return ops.Sum(ops.Abs(v.differences()), "c") }},
	{"pairwise distance", false, func(v leaves) *graph.Node { return ops.Sum(ops.Square(ops.Sub(v.x, v.w)), "d") }},

	{"constants", true, func(v leaves) *graph.Node {
		return ops.Mul(v.g.Constant(graph.F32, []float64{1, 2, 3}, graph.Dims(3)...), v.g.Constant(graph.F32, []float64{2, 0.5, -1}, graph.Dims(3)...))
	}},
	{"constants", true, func(v leaves) *graph.Node { return ops.Cast(ops.Lit(v.s, -2.7), graph.I32) }},
	{"constants", true, func(v leaves) *graph.Node {
		return ops.Sum(v.g.Constant(graph.F32, []float64{1, 2, 3, 4}, graph.Dims(2, 2)...), 0)
	}},
	{"constants", true, func(v leaves) *graph.Node { return ops.Exp(ops.Lit(v.s, 1e30)) }},
	{"constants", false, func(v leaves) *graph.Node { return repeated(ops.Lit(v.s, 2)) }},
	{"constants", false, func(v leaves) *graph.Node { return ops.Scale(v.s, 2) }},
	// One number would become 100.
	{"constants", false, func(v leaves) *graph.Node {
		return ops.OneHot(v.g.Constant(graph.I64, []float64{3}), 0, graph.Ax("k", 100), graph.F32)
	}},

	{"add zero", true, func(v leaves) *graph.Node { return ops.Shift(v.x, 0) }},
	{"add zero", true, func(v leaves) *graph.Node { return ops.Add(ops.Lit(v.s, 0), v.s) }},
	{"add zero", false, func(v leaves) *graph.Node { return ops.Shift(v.x, 1e-30) }},
	{"add zero", false, func(v leaves) *graph.Node { return ops.Mul(v.x, repeated(ops.Lit(v.s, 0))) }},
	{"subtract zero", true, func(v leaves) *graph.Node { return ops.Sub(v.x, ops.Lit(v.x, 0)) }},
	{"subtract zero", false, func(v leaves) *graph.Node { return ops.Sub(ops.Lit(v.x, 0), v.x) }},
	{"multiply by one", true, func(v leaves) *graph.Node { return ops.Scale(v.x, 1) }},
	{"multiply by one", false, func(v leaves) *graph.Node { return ops.Scale(v.x, -1) }},
	{"divide by one", true, func(v leaves) *graph.Node { return ops.Div(v.x, ops.Lit(v.x, 1)) }},
	{"divide by one", false, func(v leaves) *graph.Node { return ops.Div(ops.Lit(v.x, 1), v.x) }},
	{"double negation", true, func(v leaves) *graph.Node { return ops.Neg(ops.Neg(v.x)) }},
	{"double negation", false, func(v leaves) *graph.Node { return ops.Neg(ops.Abs(ops.Neg(v.x))) }},
	{"add a negative", true, func(v leaves) *graph.Node { return ops.Add(v.x, ops.Neg(v.w)) }},
	{"add a negative", true, func(v leaves) *graph.Node { return ops.Add(ops.Neg(v.x), v.w) }},
	{"add a negative", false, func(v leaves) *graph.Node { return ops.Mul(v.x, ops.Neg(v.w)) }},
	{"subtract a negative", true, func(v leaves) *graph.Node { return ops.Sub(v.x, ops.Neg(v.w)) }},
	{"subtract a negative", false, func(v leaves) *graph.Node { return ops.Sub(ops.Neg(v.x), v.w) }},

	{"layout of a layout", true, func(v leaves) *graph.Node { return ops.Reshape(ops.Reshape(v.x, 12), 2, 6) }},
	{"layout of a layout", true, func(v leaves) *graph.Node { return ops.Transpose(ops.Transpose(v.x)) }},
	{"layout of a layout", true, func(v leaves) *graph.Node { return repeated(ops.BroadcastTo(v.s, mustShape(graph.Ax("d", 4)))) }},
	{"layout of a layout", false, func(v leaves) *graph.Node { return ops.Reshape(ops.Transpose(v.x), 2, 6) }},
	{"layout of a layout", false, func(v leaves) *graph.Node { return ops.Transpose(ops.Transpose(v.cube, 1, 2, 0), 0, 2, 1) }},
	// Three rotations are none, but the last two are not, though all shapes agree.
	{"layout of a layout", false, func(v leaves) *graph.Node {
		y := v.cube
		for range 3 {
			y = ops.Transpose(y, 1, 2, 0)
		}
		return y
	}},

	{"repeat later", true, func(v leaves) *graph.Node { return ops.Tanh(repeated(v.s)) }},
	{"repeat later", true, func(v leaves) *graph.Node { return ops.Mul(repeated(v.s), repeated(v.t)) }},
	{"repeat later", false, func(v leaves) *graph.Node { return ops.Softmax(repeated(v.s), "d") }},
	{"repeat later", false, func(v leaves) *graph.Node { return ops.Mul(repeated(v.s), v.x) }},
	{"repeat later", false, func(v leaves) *graph.Node { return ops.Sum(repeated(v.s), "d") }},
}

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
	for _, p := range Passes() {
		for _, r := range p.Rules() {
			if r.Name == rule {
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
	for _, p := range Passes() {
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

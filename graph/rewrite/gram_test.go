package rewrite

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// gramCases are those of fast math: pairs that are many, and such as are too few.
var gramCases = []ruleCase{
	{"distance by a product", true, func(v leaves) *graph.Node { return ops.SqDist(v.many("x", "i", 40), v.many("r", "j", 50)) }},
	{"distance by a product", true, func(v leaves) *graph.Node { return ops.SqDist(v.many("r", "j", 40), v.many("x", "i", 50)) }},
	{"distance by a product", false, func(v leaves) *graph.Node { return ops.SqDist(v.many("x", "i", 500), v.many("r", "j", 10)) }},
	{"distance by a product", false, func(v leaves) *graph.Node { return ops.SqDist(v.p, v.q) }},
	{"weighted difference by a product", true, func(v leaves) *graph.Node {
		return ops.WeightedDiff(v.g.Input("weights", graph.F32, graph.Dims(40, 50)...), v.many("x", "i", 40), v.many("r", "j", 50))
	}},
	{"weighted difference by a product", false, func(v leaves) *graph.Node {
		return ops.WeightedDiff(v.g.Input("weights", graph.F32, graph.Dims(500, 10)...), v.many("x", "i", 500), v.many("r", "j", 10))
	}},
	{"dot with a difference by a product", true, func(v leaves) *graph.Node {
		x := v.many("x", "i", 40)
		return ops.DiffDot(x, x, v.many("r", "j", 50))
	}},
	{"dot with a difference by a product", false, func(v leaves) *graph.Node { return ops.DiffDot(v.p, v.p, v.q) }},
}

// many is an input of n rows of 60 numbers.
func (v leaves) many(name, axis string, n int) *graph.Node {
	return v.g.Input("many "+name, graph.F32, graph.Ax(axis, n), graph.Ax("d", 60))
}

// eager is the list of fast math with products for the smallest pairs too.
func eager() []Pass {
	passes := FastMath()
	at := slices.IndexFunc(passes, func(p Pass) bool { return p.Name == "fast math" })
	passes[at].rules = slices.Concat(gram(0), simplify)
	return passes
}

// TestFastMathIsAskedFor: the usual list has none of its rules, and its own list is the usual one
// but for them.
func TestFastMathIsAskedFor(t *testing.T) {
	names := func(passes []Pass) (names []string) {
		for _, p := range passes {
			names = append(names, p.Name)
		}
		return names
	}
	for _, p := range Passes() {
		for _, r := range p.Rules() {
			if slices.ContainsFunc(gram(0), func(g Rule) bool { return g.Name == r.Name }) {
				t.Errorf("pass %q has the rule %q", p.Name, r.Name)
			}
		}
	}
	fast := names(FastMath())
	at := slices.Index(fast, "fast math")
	if at < 0 || !slices.Equal(slices.Delete(fast, at, at+1), names(Passes())) {
		t.Errorf("passes %q beside %q", names(FastMath()), names(Passes()))
	}
}

// TestFastMathKeepsAxesApart: whatever names the axes of the operands have, or lack, what fast math
// makes is sound and of the same type.
func TestFastMathKeepsAxesApart(t *testing.T) {
	for _, batch := range [][]graph.Axis{nil, {graph.Ax("b", 2)}, {graph.Ax("", 2), graph.Ax("c", 3)}} {
		for _, c := range []struct{ x, r, w, u [2]string }{ // of x[i d], r[j d], w[i j] and u[i d]; the last u calls i what r calls j
			{x: [2]string{"i", "d"}, r: [2]string{"j", "d"}, w: [2]string{"i", "j"}, u: [2]string{"i", "d"}},
			{},
			{x: [2]string{"i", ""}, r: [2]string{"", "d"}, w: [2]string{"", "j"}, u: [2]string{"i", "d"}},
			{x: [2]string{"", "d"}, r: [2]string{"j", ""}, w: [2]string{"i", "j"}, u: [2]string{"j", "d"}},
		} {
			for _, op := range []string{"SqDist", "WeightedDiff", "DiffDot"} {
				g := graph.New(op)
				in := func(name string, axes ...graph.Axis) *graph.Node {
					return g.Input(name, graph.F64, slices.Concat(batch, axes)...)
				}
				x := in("x", graph.Ax(c.x[0], 3), graph.Ax(c.x[1], 4))
				r := in("r", graph.Ax(c.r[0], 5), graph.Ax(c.r[1], 4))
				var y *graph.Node
				switch op {
				case "SqDist":
					y = ops.SqDist(x, r)
				case "WeightedDiff":
					y = ops.WeightedDiff(in("w", graph.Ax(c.w[0], 3), graph.Ax(c.w[1], 5)), x, r)
				case "DiffDot":
					y = ops.DiffDot(in("u", graph.Ax(c.u[0], 3), graph.Ax(c.u[1], 4)), x, r)
				}
				res, err := Run(g, []*graph.Node{y}, Pass{Name: "fast math", rules: gram(0)})
				if err != nil {
					t.Fatal(err)
				}
				if err := graph.Verify(res.Graph); err != nil {
					t.Error(err)
				}
				if n := res.Node(y); n.Type() != y.Type() || n.Op().Name() == op {
					t.Errorf("%v: %s has become %s of type %v", c, y.Type(), expr(n), n.Type())
				}
			}
		}
	}
}

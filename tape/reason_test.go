package tape

import (
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestReasonsNameTheLimit: an instruction that stays out of the blocks of what it reads says which
// limit that is for, and what exceeds it.
func TestReasonsNameTheLimit(t *testing.T) {
	wide := func(g *graph.Graph) *graph.Node {
		return g.Input("x", graph.F64, graph.Ax("i", 4), graph.Ax("d", 100_000))
	}
	for want, build := range map[string]func(g *graph.Graph) *graph.Node{
		"what every row needs of 2.0 MiB exceeds 512.0 KiB": func(g *graph.Graph) *graph.Node {
			x, w := g.Input("x", graph.F64, graph.Ax("i", 64), graph.Ax("d", 512)), g.Input("w", graph.F64, graph.Ax("d", 512), graph.Ax("e", 512))
			return ops.MatMul(ops.Tanh(x), w)
		},
		"a row of the group's results of 1.5 MiB exceeds 1.5 MiB": func(g *graph.Graph) *graph.Node {
			return ops.Softmax(ops.Tanh(ops.Softmax(wide(g), "d")), "d")
		},
		"in the 4 rows that both have, a row of 781.2 KiB exceeds 128.0 KiB": func(g *graph.Graph) *graph.Node {
			return ops.Softmax(ops.Tanh(wide(g)), "d")
		},
		"the longest result in a block of as many rows as products want of 3.4 MiB exceeds 256.0 KiB": func(g *graph.Graph) *graph.Node {
			x, w := g.Input("x", graph.F64, graph.Ax("i", 900), graph.Ax("d", 64)), g.Input("w", graph.F64, graph.Ax("d", 64), graph.Ax("e", 16))
			return ops.Softmax(ops.Mul(ops.Expand(ops.MatMul(x, w), 2, ""), g.Input("v", graph.F64, graph.Ax("f", 1000))), 2)
		},
		"a sum over the rows of 78.1 KiB exceeds 64.0 KiB": func(g *graph.Graph) *graph.Node {
			return ops.Sum(ops.Tanh(g.Input("x", graph.F64, graph.Ax("i", 1000), graph.Ax("d", 10_000))), 0)
		},
		"a group of 2048 instructions has as many as it may": func(g *graph.Graph) *graph.Node {
			x := g.Input("x", graph.F64, graph.Ax("i", 8))
			for range memberLimit + 1 {
				x = ops.Tanh(x)
			}
			return x
		},
		"it has other rows: 1 of its own, 8 of the group, and no division in common": func(g *graph.Graph) *graph.Node {
			return ops.Exp(ops.Sum(g.Input("x", graph.F64, graph.Ax("i", 8))))
		},
		"what it reads is made as a whole": func(g *graph.Graph) *graph.Node {
			return ops.Tanh(ops.CumSum(g.Input("x", graph.F64, graph.Ax("i", 8)), 0))
		},
		"its rows depend on each other": func(g *graph.Graph) *graph.Node {
			return ops.Closed("f", func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Exp(x[0])} }, ops.Tanh(g.Input("x", graph.F64, graph.Ax("i", 8))))[0]
		},
	} {
		g := graph.New("reason")
		p, err := Compile(g, Fetch(build(g)), Passes())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(p.Rows(), func(r Row) bool { return r.Cut == want }) {
			text := p.String()
			t.Errorf("no row says %q:\n%s", want, text[:min(len(text), 1500)])
		}
	}
	// Limits that no small model meets.
	f := &fused{lowered: &lowered{}}
	f.instrs = make([]draft, 1)
	f.instrs[0].flops = 1 << 40
	f.instrs[0].out.layout = kernel.Dense(kernel.F64, 40_000)
	for got, want := range map[string]string{
		f.tooLarge(0, kernel.Division{}, 10):             "a sum to which each row adds much, of 312.5 KiB exceeds 256.0 KiB",
		f.tooShort("", 0, kernel.Division{}, 40_000, 20): "a stretch of equally spaced rows has 20 elements: fewer than 128",
		exceeds("a row", 825<<10, wholeLimit):            "a row of 825.0 KiB exceeds 512.0 KiB",
	} {
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: want %q", got, want)
		}
	}
}

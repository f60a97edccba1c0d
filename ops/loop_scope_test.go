package ops_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestLoopInScope: the derivative of a loop that stands in a scope, and whose carry
// and result have one name, is that of the unrolled steps.
func TestLoopInScope(t *testing.T) {
	var want [][]float64
	for _, run := range []func(ops.Loop, ops.StepFunc) ops.Scanned{ops.Unroll, ops.Scan} {
		g := graph.New("scoped")
		end := g.Scope("layer")
		x, h := g.Input("x", graph.F64, graph.Ax("t", 4), graph.Ax("d", 3)), g.Input("h", graph.F64, graph.Ax("d", 3))
		r := run(ops.Loop{Carry: []node{h}, Over: []node{x}}, func(c, x, _ []node) (next, out []node) {
			next = []node{ops.Tanh(ops.Add(c[0], x[0])).As("h")}
			return next, next
		})
		loss := ops.Add(ops.Sum(ops.Square(r.Final[0])), ops.Sum(r.Out[0]))
		end()
		if grad.Of(loss, x, h); g.Err() != nil {
			t.Fatal(g.Err())
		}
		got := everything(t, loss, []node{x, h}, r.Final)
		if want == nil {
			want = got
			continue
		}
		for i := range want {
			for k, v := range want[i] {
				if d := got[i][k] - v; d > 1e-12 || d < -1e-12 {
					t.Errorf("result %d: %v, unrolled %v", i, got[i], want[i])
					break
				}
			}
		}
	}
}

// TestMistakenLoopAsksItsStep with as many elements as there are sequences, whatever
// the mistake is.
func TestMistakenLoopAsksItsStep(t *testing.T) {
	for _, run := range []func(ops.Loop, ops.StepFunc) ops.Scanned{ops.Unroll, ops.Scan} {
		g := graph.New("mistaken")
		x := g.Input("x", graph.F64, graph.Ax("t", 4))
		for _, carry := range []node{nil, ops.MatMul(x, g.Input("y", graph.F64, graph.Ax("u", 3)))} {
			r := run(ops.Loop{Carry: []node{carry}, Over: []node{x, x}}, func(c, x, _ []node) (next, out []node) {
				return c, []node{ops.Add(x[0], x[1])}
			})
			if g.Err() == nil || len(r.Out) != 1 || r.Out[0].IsValid() {
				t.Errorf("error %v, outs %v", g.Err(), r.Out)
			}
		}
	}
}

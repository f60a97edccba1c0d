package lab

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestInstructionsOfLoops: the cost of a net counts what is in its loops, once.
func TestInstructionsOfLoops(t *testing.T) {
	g := graph.New("loop")
	x := g.Input("x", graph.F64, graph.Ax("t", 5))
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{g.Input("h", graph.F64)}, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		return []*graph.Node{ops.Tanh(ops.Mul(c[0], x[0]))}, nil
	})
	p, err := tape.Compile(g, tape.Fetch(r.Final[0]), tape.Passes())
	if err != nil {
		t.Fatal(err)
	}
	outer := len(p.Rows())
	if n := instructions(p); n != outer+2 {
		t.Errorf("%d instructions: want %d and 2 in the loop\n%v", n, outer, p)
	}
}

package check_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestCustomIsHeld: a derivative that is given is held to difference quotients, and its node is not
// blamed for what it is not: the derivative of its operand.
func TestCustomIsHeld(t *testing.T) {
	for slope, right := range map[float64]bool{1: true, 1.01: false} {
		g := graph.New("g")
		x := g.Param("x", graph.F64, graph.Ax("n", 3))
		sin := grad.Custom(func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sin(x[0])} },
			func(x, _, dy []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Scale(ops.Mul(dy[0], ops.Cos(x[0])), slope)}
			})
		loss := ops.Sum(ops.Square(sin(x)[0]))
		err := check.Failed(check.Graph(context.Background(), loss))
		if right != (err == nil) || !right && !strings.Contains(err.Error(), "gradient") {
			t.Errorf("slope %v: %v", slope, err)
		}
		blamed, err := check.Blame(context.Background(), loss)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blamed {
			if b.State == check.RuleWrong {
				t.Errorf("slope %v: %v is blamed", slope, b)
			}
		}
	}
}

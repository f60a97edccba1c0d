package lanes

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestSums: what is made of a lane's loss, of a derivative and of an assigned value has names that say what
// it is, and stands with what it is made of.
func TestSums(t *testing.T) {
	g := graph.New("g")
	end := g.Scope("net")
	x, w := g.Input("x", graph.F32, graph.Ax("i", 4)), g.Param("w", graph.F32)
	s := g.State("s", graph.F16)
	end()
	loss := ops.Mean(ops.Mul(x, w)).As("loss")
	l := Weigh(loss)
	sum := Sum(w, grad.Of(l.Own, w)[0])
	mean := l.Mean(graph.Update{Target: s, Value: ops.Cast(loss, graph.F16)})
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if l.Weight.Path() != WeightPath || l.Own.In(0) != l.Weight || l.Own.In(1) != loss || l.Sum.In(0) != l.Own {
		t.Errorf("%v, %v and %v", l.Weight, l.Own, l.Sum)
	}
	if mean.DType() != graph.F16 || mean.In(0).DType() != graph.F32 {
		t.Errorf("the mean is %v of %v, want f16 of what is summed in f32", mean, mean.In(0))
	}
	for n, want := range map[*graph.Node][2]string{
		l.Own: {"lanes", "lane-loss"}, l.Sum: {"lanes", "loss"}, sum: {"net", "∂loss/∂w"}, sum.In(0): {"", "∂lane-loss/∂w"},
		mean.In(0): {"", "mean/net/s"}, mean.In(0).In(0): {"", "lane-mean/net/s"},
	} {
		if got := [2]string{n.First().Scope, n.Name()}; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if l.Own.First().Pos != loss.First().Pos || sum.First().Pos != w.First().Pos {
		t.Errorf("the lane's loss is at %v and the sum at %v, want %v and %v", l.Own.First().Pos, sum.First().Pos, loss.First().Pos, w.First().Pos)
	}
}

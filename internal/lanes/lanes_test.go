package lanes

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

func TestOwn(t *testing.T) {
	g := graph.New("g")
	x, rate := g.Input("x", graph.F32, graph.Ax("i", 4), graph.Ax("d", 3)), g.Input("rate", graph.F32)
	w, m := g.Param("w", graph.F32, graph.Ax("d", 3)), g.State("m", graph.F32, graph.Ax("d", 3))
	decayed := ops.Scale(ops.Mul(w, rate), 2).As("decayed")
	y := ops.Mul(x, decayed).As("y")
	noisy := ops.Add(m, ops.RandomNormal(g, "ε", graph.F32, graph.Ax("d", 3))).As("noisy")
	loss := ops.Sum(y).As("loss")
	sum := ops.SumRanks(grad.Of(loss, w)[0]).As("sum")
	next := ops.Sub(w, ops.Mul(rate, sum)).As("next")
	copied := ops.CopyRanks(m).As("copied")
	again := ops.Mul(copied, next).As("again")
	total := ops.SumRanks(again).As("total")
	dropping := ops.Call("dropping", func(x []*graph.Node) []*graph.Node {
		return []*graph.Node{ops.Add(x[0], ops.RandomNormal(x[0].Graph(), "ν", graph.F32, graph.Ax("d", 3)))}
	}, w)[0].As("dropping")
	plain := ops.Call("plain", func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Exp(x[0])} }, w)[0].As("plain")
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	own := Own(func(n *graph.Node) bool { return n == x }, y, next, noisy, total, dropping, plain)
	for _, n := range []*graph.Node{x, y, noisy, copied, again, dropping} {
		if !own[n] {
			t.Errorf("%v is the same on all lanes, want each lane's own", n)
		}
	}
	for _, n := range []*graph.Node{rate, w, m, decayed, sum, next, total, plain} {
		if own[n] {
			t.Errorf("%v is each lane's own, want the same on all", n)
		}
	}
	if own := Own(func(n *graph.Node) bool { return n == rate }, y, next); !own[decayed] || !own[next] {
		t.Error("what depends on an input that is fed rows is not each lane's own")
	}
	if own := Own(nil, nil, w); len(own) != 0 {
		t.Errorf("of a parameter Own gives %v", own)
	}
}

// TestCheck: the derivatives of what Check lets pass are those of the whole batch, as tests of package nn
// show of norms; of what it refuses they are not.
func TestCheck(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("i", 4), graph.Ax("d", 3))
	w, m := g.Param("w", graph.F32, graph.Ax("d", 3)), g.State("m", graph.F32, graph.Ax("d", 3))
	mean := ops.SumRanks(ops.Sum(x, "i")).As("mean")
	rows := func(n *graph.Node) bool { return n == x }
	for name, c := range map[string]struct {
		y    *graph.Node
		want string
	}{
		"no sum":               {ops.Mul(x, w), ""},
		"copied":               {ops.Sub(x, ops.CopyRanks(mean)), ""},
		"copied, then learnt":  {ops.Mul(ops.CopyRanks(mean), w), ""},
		"with a state":         {ops.Sub(x, ops.CopyRanks(ops.Mul(m, ops.Scale(mean, 2)))), ""},
		"of a parameter":       {ops.Sub(x, ops.CopyRanks(ops.SumRanks(w))), ""},
		"not copied":           {ops.Sub(x, mean), "beside what each lane has its own of"},
		"computed, not copied": {ops.Sub(x, ops.Exp(ops.Mul(m, mean))), "beside what each lane has its own of"},
		"learnt, then copied":  {ops.Sub(x, ops.CopyRanks(ops.Mul(mean, ops.Tanh(w)))), "beside what depends on a parameter"},
	} {
		err := Check(rows, ops.Sum(c.y))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "internal/lanes/lanes_test.go:")) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := Check(nil, nil); err != nil {
		t.Errorf("of no loss: %v", err)
	}
}

package nn_test

import (
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestLayersInALoop: layers made before a loop are applied in its step; values and derivatives are
// those of the steps written out.
func TestLayersInALoop(t *testing.T) {
	var want [][]float64
	for _, run := range []func(ops.Loop, ops.StepFunc) ops.Scanned{ops.Unroll, ops.Scan} {
		g := graph.New("layers")
		d := graph.Ax("d", 4)
		x, h := g.Input("x", graph.F64, graph.Ax("t", 3), graph.Ax("b", 2), graph.Ax("s", 3), d), g.Input("h", graph.F64, graph.Ax("b", 2), graph.Ax("s", 3), d)
		linear, norm := nn.NewLinear(g, "linear", graph.F64, d, graph.Ax("d", 4)), nn.NewLayerNorm(g, "norm", graph.F64, d)
		heads := attention.NewMultiHead(g, "heads", graph.F64, d, d, 2)
		r := run(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			y := norm.Of(ops.Add(heads.Of(c[0], c[0], nil), x[0]))
			return []*graph.Node{ops.Tanh(ops.Add(linear.Of(y), c[0]))}, nil
		})
		loss := ops.Sum(ops.Square(r.Final[0]))
		wrt := append([]*graph.Node{x, h}, g.Leaves(graph.RoleParam)...)
		all := append(grad.Of(loss, wrt...), loss)
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		feed := graph.Values{}
		for k, n := range wrt {
			v := graph.NewValue(n.Type())
			for i := range v.Data {
				v.Data[i] = float64((i*7+k*3)%11)/11 - 0.3
			}
			feed[n] = v
		}
		byDefinition, err := ref.Eval(trait.Env{}, feed, all...)
		if err != nil {
			t.Fatal(err)
		}
		onTape, err := reftest.Tape(0, feed, all)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if want == nil || len(want) < len(all) {
				want = append(want, byDefinition[i].Data)
			}
			for _, got := range []graph.Value{byDefinition[i], onTape[i]} {
				if err := reftest.Near(got.Data, want[i], 1e-10*max(1, reftest.Largest(want[i]))); err != nil {
					t.Errorf("value %d: %v", i, err)
				}
			}
		}
	}
}

// TestDropoutInALoop: a layer of dropout in a step draws a mask of its own at each time; the
// gradient, by the loop back, is that of the loop that is given the masks as a sequence.
func TestDropoutInALoop(t *testing.T) {
	const steps = 6
	d := graph.Ax("d", 5)
	value := func(n *graph.Node, k int) graph.Value {
		v := graph.NewValue(n.Type())
		for i := range v.Data {
			v.Data[i] = float64((i*7+k*3)%11)/11 + 0.1
		}
		return v
	}
	build := func(mask *graph.Value) (feed graph.Values, all []*graph.Node) {
		g := graph.New("dropout")
		x, h, p := g.Input("x", graph.F64, graph.Ax("t", steps), graph.Ax("b", 1), d), g.Input("h", graph.F64, graph.Ax("b", 1), d), g.Input("p", graph.F64)
		cell := nn.NewLinear(g, "cell", graph.F64, d, graph.Ax("d", 5))
		over := []*graph.Node{x}
		if mask != nil {
			over = append(over, g.ConstantValue(*mask))
		}
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: over, Axis: 0}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			ones := ops.BroadcastTo(ops.Lit(c[0], 1), c[0].Shape())
			kept := nn.Dropout(ones, p)
			if mask != nil {
				kept = x[1]
			}
			return []*graph.Node{ops.Tanh(ops.Add(cell.Of(ops.Mul(c[0], kept)), x[0]))}, []*graph.Node{kept}
		})
		wrt := append([]*graph.Node{x, h}, g.Leaves(graph.RoleParam)...)
		all = append(grad.Of(ops.Sum(ops.Square(r.Trace[0])), wrt...), r.Final[0], r.Out[0])
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		feed = graph.Values{p: graph.Value{Type: p.Type(), Data: []float64{0.4}}}
		for k, n := range wrt {
			feed[n] = value(n, k)
		}
		return feed, all
	}
	feed, all := build(nil)
	got, err := reftest.Tape(3, feed, all)
	if err != nil {
		t.Fatal(err)
	}
	mask := got[len(all)-1]
	rows := map[string]bool{}
	for k := range steps {
		rows[fmt.Sprint(mask.Data[5*k:5*k+5])] = true
	}
	if len(rows) < steps-1 {
		t.Errorf("the masks are %v", mask.Data)
	}
	feed, all = build(&mask)
	want, err := ref.Eval(trait.Env{}, feed, all...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if err := reftest.Near(got[i].Data, want[i].Data, 1e-12*max(1, reftest.Largest(want[i].Data))); err != nil {
			t.Errorf("value %d: %v", i, err)
		}
	}
}

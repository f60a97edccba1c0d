package randgraph_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// turned are the values of a leaf with the elements in another order, which differ
// from those of all other leaves as they did.
func turned(v graph.Value, by int) graph.Value {
	out := graph.NewValue(v.Type)
	for p := range out.Data {
		out.Data[p] = v.Data[(p+by)%len(v.Data)]
	}
	return out
}

// TestForwardIsReverse: JVP·v = v·VJP on random graphs, for the loss and for what lies
// between.
func TestForwardIsReverse(t *testing.T) {
	each(t, func(t *testing.T, seed uint64, m *randgraph.Model) {
		if seed >= 200 {
			return
		}
		g := m.Graph
		y := []*graph.Node{m.Loss}
		for _, n := range m.Outputs {
			if n.DType().IsFloat() {
				y = append(y, n)
			}
		}
		var v []*graph.Node
		for _, w := range m.Params {
			v = append(v, g.Constant(w.DType(), turned(m.Values[w], 1).Data, w.Shape().Axes()...))
		}
		d := grad.JVP(y, m.Params, v)
		forward, back := g.Constant(graph.F64, []float64{0}), g.Constant(graph.F64, []float64{0})
		scalar := func(a, b *graph.Node) *graph.Node { return ops.Cast(ops.Sum(ops.Mul(a, b)), graph.F64) }
		loss := forward
		for i, n := range y {
			u := ops.BroadcastTo(ops.Lit(n, 0.5+float64(i)), n.Shape())
			forward, loss = ops.Add(forward, scalar(d[i], u)), ops.Add(loss, scalar(n, u))
		}
		for i, dw := range grad.OrZero(loss, m.Params...) {
			back = ops.Add(back, scalar(dw, v[i]))
		}
		if err := g.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, g)
		}
		got, err := ref.Eval(trait.Env{Seed: seed}, graph.Values(m.Values), forward, back)
		if err != nil {
			t.Fatal(err)
		}
		tol := 1e-10
		if m.Loss.DType() == graph.F32 {
			tol = 1e-5 // constants of the rules are rounded
		}
		if a, b := got[0].Data[0], got[1].Data[0]; !(math.Abs(a-b) <= tol*(1+math.Abs(b))) {
			t.Errorf("seed %d: JVP·v = %v, v·VJP = %v\n%v", seed, a, b, g)
		}
		if seed%4 == 0 {
			want, err := ref.Eval(trait.Env{Seed: seed}, graph.Values(m.Values), d...)
			if err != nil {
				t.Fatal(err)
			}
			onTape(t, seed, graph.Values(m.Values), d, want)
		}
	})
}

// TestMapIsLoop: a random graph and its gradient, mapped over some of its leaves, are
// what a loop gives.
func TestMapIsLoop(t *testing.T) {
	const examples = 2
	each(t, func(t *testing.T, seed uint64, m *randgraph.Model) {
		if seed >= 200 {
			return
		}
		g := m.Graph
		outs := append(slices.Clone(m.Outputs), m.Loss)
		outs = append(outs, grad.OrZero(m.Loss, m.Params[0])...)
		feed, loop := graph.Values{}, [examples]graph.Values{}
		for e := range loop {
			loop[e] = graph.Values{}
		}
		axis := graph.Ax("ex", examples)
		if seed%3 == 0 {
			axis.Name = ""
		}
		var over []vmap.Over
		for i, x := range g.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
			feed[x] = m.Values[x]
			batch := (uint64(i)+seed)%3 != 0 || i == 0
			xs := x
			if batch {
				xs = g.Input("every "+x.Path(), x.DType(), append([]graph.Axis{axis}, x.Shape().Axes()...)...)
				over = append(over, vmap.Over{X: x, Batch: xs})
				feed[xs] = graph.NewValue(xs.Type())
			}
			for e := range loop {
				loop[e][x] = m.Values[x]
				if batch {
					loop[e][x] = turned(m.Values[x], e)
					copy(feed[xs].Data[e*x.Shape().Len():], loop[e][x].Data)
				}
			}
		}
		mapped := vmap.Map(outs, over...)
		if err := g.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, g)
		}
		if err := graph.Verify(g); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		got, err := ref.Eval(trait.Env{Seed: seed}, feed, mapped...)
		if err != nil {
			t.Fatal(err)
		}
		feedDraws(t, seed, outs, axis, loop[:])
		for e := range loop {
			want, err := ref.Eval(trait.Env{Seed: seed}, loop[e], outs...)
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				n := len(w.Data)
				if err := reftest.Near(got[i].Data[e*n:(e+1)*n], w.Data, 1e-11*max(1, reftest.Largest(w.Data))); err != nil {
					t.Errorf("seed %d, example %d of %v: %v\n%v", seed, e, outs[i], err, g)
				}
			}
		}
		if seed%4 == 0 {
			onTape(t, seed, feed, mapped, got)
		}
	})
}

// feedDraws gives each example of the loop the noise that it has in the batch.
func feedDraws(t *testing.T, seed uint64, outs []*graph.Node, axis graph.Axis, loop []graph.Values) {
	t.Helper()
	for _, n := range graph.Reachable(outs...) {
		if !match.Is(n, match.Random) {
			continue
		}
		all := n.Op().(trait.Batched).Batch(n, nil, nil, axis)
		v, err := ref.Eval(trait.Env{Seed: seed}, nil, all)
		if err != nil {
			t.Fatal(err)
		}
		for e := range loop {
			k := n.Shape().Len()
			loop[e][n] = graph.Value{Type: n.Type(), Data: v[0].Data[e*k : (e+1)*k]}
		}
	}
}

// onTape sees that the compiled program computes the same.
func onTape(t *testing.T, seed uint64, feed graph.Values, nodes []*graph.Node, want []graph.Value) {
	t.Helper()
	got, err := reftest.Tape(seed, feed, nodes)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		tol := 500 * reftest.Tolerance(n.DType()) * max(1, reftest.Largest(want[i].Data))
		if err := reftest.Near(got[i].Data, want[i].Data, tol); err != nil {
			t.Errorf("seed %d: %v on the tape: %v", seed, n, err)
		}
	}
}

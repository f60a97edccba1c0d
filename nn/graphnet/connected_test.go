package graphnet_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn/graphnet"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestFullyConnected: fully connected nodes with labels of who was linked, against loops over all
// pairs of nodes that exist; the labels alone carry the topology.
func TestFullyConnected(t *testing.T) {
	const n, exist, d, h = 5, 4, 3, 2
	for _, how := range []graphnet.Aggregation{graphnet.AggregateSum, graphnet.AggregateMean, graphnet.AggregateMax} {
		g := graph.New("connected")
		i := graph.Ax("i", n)
		x, A, mask := g.Param("x", graph.F64, i, graph.Ax("d", d)), g.Input("A", graph.F64, i, graph.Ax("j", n)), g.Input("mask", graph.Bool, i)
		full := graphnet.FullyConnected(mask, graph.Ax("j", n), graph.F64)
		l := graphnet.NewMessagePassing(g, "mp", graph.F64, how, graph.Ax("d", d), graph.Ax("h", h), graph.Axis{}).Labelled(graph.Ax("label", 1))
		y, _ := l.OfLabelled(x, nil, full, ops.Expand(A, -1, "label"))
		feed := graph.Values{mask: {Type: mask.Type(), Data: []float64{1, 1, 1, 1, 0}}}
		parameters(feed, g)
		r := rand.New(rand.NewPCG(9, 1))
		feed[x], feed[A] = layertest.Random(r, x.Type(), 1), layertest.Computed(A.Type(), func(p int) float64 { return float64((p + p/n) % 2) })
		got := layertest.Both(t, feed, 1e-11, y, grad.Of(ops.Sum(ops.Square(y)), l.Label.W)[0])
		var want []float64
		of := func(W, b *graph.Node, x []float64, k int) (v float64) {
			if b != nil {
				v = feed[b].Data[k]
			}
			for f := range x {
				v += x[f] * feed[W].Data[f*h+k]
			}
			return v
		}
		row := func(p int) []float64 { return feed[x].Data[p*d:][:d] }
		for me := range n {
			heard := make([]float64, h)
			for k := range h {
				count := 0.0
				for them := range exist {
					if me == them || me >= exist {
						continue
					}
					m := max(0, of(l.Me.W, l.Me.B, row(me), k)+of(l.Them.W, nil, row(them), k)+of(l.Label.W, nil, feed[A].Data[me*n+them:][:1], k))
					if count++; how == graphnet.AggregateMax {
						heard[k] = max(heard[k], m)
					} else {
						heard[k] += m
					}
				}
				if how == graphnet.AggregateMean && count > 0 {
					heard[k] /= count
				}
			}
			for k := range h {
				want = append(want, max(0, of(l.Self.W, l.Self.B, row(me), k)+of(l.Heard.W, nil, heard, k)))
			}
		}
		layertest.Same(t, how.String(), got[0].Data, want)
		if reftest.Largest(got[1].Data) == 0 {
			t.Errorf("%v: no gradient reaches the labels' weights: %v of outputs %v", how, got[1].Data, got[0].Data)
		}
	}
}

// TestLabelsAreTheTopology: with weights that let a message through only where the label is 1, sums
// over the fully connected graph are those over the linked nodes, by a matrix and by edges.
func TestLabelsAreTheTopology(t *testing.T) {
	c := newGraphCase()
	const closed = 1e3
	layer := func(name string, labelled bool) graphnet.MessagePassing {
		l := graphnet.NewMessagePassing(c.g, name, graph.F64, graphnet.AggregateSum, graph.Ax("d", 3), graph.Ax("h", 4), graph.Axis{})
		if labelled {
			l = l.Labelled(graph.Ax("label", 1))
		}
		return l
	}
	plain, gated := layer("plain", false), layer("gated", true)
	for k, p := range map[*graph.Node]*graph.Node{plain.Me.W: gated.Me.W, plain.Me.B: gated.Me.B, plain.Them.W: gated.Them.W, plain.Self.W: gated.Self.W, plain.Self.B: gated.Self.B, plain.Heard.W: gated.Heard.W} {
		v := layertest.Random(rand.New(rand.NewPCG(2, uint64(len(p.Path())))), p.Type(), 1)
		c.feed[k] = v
		if p == gated.Me.B {
			v = layertest.Computed(p.Type(), func(i int) float64 { return v.Data[i] - closed })
		}
		c.feed[p] = v
	}
	c.feed[gated.Label.W] = layertest.Computed(gated.Label.W.Type(), func(int) float64 { return closed })
	all := c.g.ConstantFunc(graph.Bool, func(v []float64) {
		for i := range v {
			v[i] = 1
		}
	}, graph.Ax("i", 5))
	dense, _ := gated.OfLabelled(c.x, nil, graphnet.FullyConnected(all, graph.Ax("j", 5), graph.F64), ops.Expand(c.dense.A, -1, "label"))
	// All pairs as a list of edges, with the same labels.
	var source, target, label []float64
	A, _ := c.dense.A.Constant()
	for p, a := range A.Data {
		if p/5 != p%5 {
			source, target, label = append(source, float64(p%5)), append(target, float64(p/5)), append(label, a)
		}
	}
	e := graph.Ax("e", len(source))
	edges := graphnet.Edges{Source: c.g.Constant(graph.I64, source, e), Target: c.g.Constant(graph.I64, target, e), Nodes: graph.Ax("i", 5), DT: graph.F64}
	listed, _ := gated.OfLabelled(c.x, nil, edges, c.g.Constant(graph.F64, label, e, graph.Ax("label", 1)))
	linked, _ := plain.Of(c.x, nil, c.dense)
	out := layertest.Values(t, c.feed, linked, dense, listed)
	for k, name := range []string{"by a matrix", "by edges"} {
		for p, v := range out[k+1].Data {
			if d := v - out[0].Data[p]; d > 1e-11 || d < -1e-11 {
				t.Errorf("%s: %d is %v, want %v of the linked nodes", name, p, v, out[0].Data[p])
			}
		}
	}
}

// TestLabelMistakes are recorded.
func TestLabelMistakes(t *testing.T) {
	for k := range 2 {
		c := newGraphCase()
		l := graphnet.NewMessagePassing(c.g, "mp", graph.F64, graphnet.AggregateSum, graph.Ax("d", 3), graph.Ax("h", 4), graph.Axis{})
		labels := ops.Expand(c.dense.A, -1, "label")
		if k == 1 {
			l, labels = l.Labelled(graph.Ax("label", 1)), nil
		}
		l.OfLabelled(c.x, nil, c.dense, labels)
		if err := fmt.Sprint(c.g.Err()); !strings.Contains(err, "labels of the pairs and their weights belong together") {
			t.Errorf("case %d: %v", k, err)
		}
	}
}

package graphnet_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn/graphnet"
	"github.com/tapestry-ml/tapestry/ops"
)

var everyAggregation = []graphnet.Aggregation{
	graphnet.AggregateSum, graphnet.AggregateMean, graphnet.AggregateMax, graphnet.AggregateMin,
	graphnet.AggregateProduct, graphnet.AggregateVariance, graphnet.AggregateSoftmax,
}

// directed is a graph of 5 nodes in which node 3 hears nothing: who hears whom.
var directed = [][2]int{{0, 1}, {0, 2}, {0, 4}, {1, 0}, {2, 0}, {2, 3}, {4, 0}, {4, 1}, {4, 2}, {4, 3}}

// graphCase is that graph, both ways, with features x[i d] in which some are 0.
type graphCase struct {
	g     *graph.Graph
	x     *graph.Node
	feed  graph.Values
	dense graphnet.Adjacency
	edges graphnet.Edges
}

func newGraphCase() graphCase {
	g := graph.New("a graph")
	i, d := graph.Ax("i", 5), graph.Ax("d", 3)
	A, source, target := make([]float64, 25), []float64{1}, []float64{-1} // the first edge is not there
	for _, e := range directed {
		A[5*e[0]+e[1]] = 1
		source, target = append(source, float64(e[1])), append(target, float64(e[0]))
	}
	e := graph.Ax("e", len(source))
	c := graphCase{g: g, x: g.Param("x", graph.F64, i, d)}
	c.dense = graphnet.Adjacency{A: g.Constant(graph.F64, A, i, graph.Ax("j", 5))}
	c.edges = graphnet.Edges{Source: g.Constant(graph.I64, source, e), Target: g.Constant(graph.I64, target, e), Nodes: i, DT: graph.F64}
	c.feed = graph.Values{c.x: {Type: c.x.Type(), Data: []float64{0.5, -1, 0, 2, 0, 0, 1.5, 3, -2, 0.25, 0, 1, -0.75, 1, 4}}}
	return c
}

// TestAggregations: both representations of a graph against loops over the
// neighbours; the empty neighbourhood of node 3 has 0, its product 1; derivatives
// to second order agree between the two, and are finite.
func TestAggregations(t *testing.T) {
	mean := func(m []float64) (v float64) {
		for _, x := range m {
			v += x / float64(len(m))
		}
		return v
	}
	loops := map[graphnet.Aggregation]func(m []float64) float64{
		graphnet.AggregateSum:  func(m []float64) float64 { return mean(m) * float64(len(m)) },
		graphnet.AggregateMean: mean,
		graphnet.AggregateMax:  slices.Max[[]float64],
		graphnet.AggregateMin:  slices.Min[[]float64],
		graphnet.AggregateProduct: func(m []float64) float64 {
			v := 1.0
			for _, x := range m {
				v *= x
			}
			return v
		},
		graphnet.AggregateVariance: func(m []float64) (v float64) {
			for _, x := range m {
				v += (x - mean(m)) * (x - mean(m)) / float64(len(m))
			}
			return v
		},
		graphnet.AggregateSoftmax: func(m []float64) float64 {
			over, under := 0.0, 0.0
			for _, x := range m {
				over, under = over+x*math.Exp(x), under+math.Exp(x)
			}
			return over / under
		},
	}
	for _, how := range everyAggregation {
		c := newGraphCase()
		var outs []*graph.Node
		for _, n := range []graphnet.Neighbours{c.dense, c.edges} {
			// What i hears of j depends on both.
			y := n.Aggregate(how, ops.Sub(n.Them(c.x), ops.Scale(n.Me(c.x), 0.5)))
			w := ops.Add(ops.Square(y), ops.Scale(y, 3))
			first := grad.Of(ops.Sum(w), c.x)[0]
			outs = append(outs, y, first, grad.Of(ops.Sum(ops.Mul(first, ops.Sin(first))), c.x)[0])
		}
		got := layertest.Both(t, c.feed, 1e-11, outs...)
		for k := range 3 {
			if err := reftest.Near(got[k].Data, got[k+3].Data, 1e-11*max(1, reftest.Largest(got[k].Data))); err != nil {
				t.Errorf("%v: by edges, derivative %d differs: %v", how, k, err)
			}
			if slices.ContainsFunc(got[k].Data, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
				t.Errorf("%v: derivative %d is %v", how, k, got[k].Data)
			}
		}
		x := c.feed[c.x].Data
		for p := range 15 {
			var m []float64
			for _, e := range directed {
				if e[0] == p/3 {
					m = append(m, x[3*e[1]+p%3]-x[p]/2)
				}
			}
			want := 0.0
			if how == graphnet.AggregateProduct {
				want = 1
			}
			if len(m) > 0 {
				want = loops[how](m)
			}
			if v := got[0].Data[p]; math.Abs(v-want) > 1e-13 {
				t.Errorf("%v at %d is %v, want %v", how, p, v, want)
			}
		}
	}
}

// layers apply one layer of each kind, with parameters of g, to a graph's nodes x[i d=3].
var layers = map[string]func(g *graph.Graph, x *graph.Node, n graphnet.Neighbours) *graph.Node{
	"gcn": func(g *graph.Graph, x *graph.Node, n graphnet.Neighbours) *graph.Node {
		return graphnet.NewGCN(g, "gcn", graph.F64, graph.Ax("d", 3), graph.Ax("h", 4)).Of(x, n)
	},
	"gat": func(g *graph.Graph, x *graph.Node, n graphnet.Neighbours) *graph.Node {
		return graphnet.NewGAT(g, "gat", graph.F64, 2, graph.Ax("d", 3), graph.Ax("h", 4)).Of(x, n)
	},
	"powers": func(g *graph.Graph, x *graph.Node, n graphnet.Neighbours) *graph.Node {
		return graphnet.NewGraphFilter(g, "filter", graph.F64, 3, graph.Ax("d", 3), graph.Ax("h", 4)).Of(graphnet.Powers(n, n.Strength(), x, 3)...)
	},
	"chebyshev": func(g *graph.Graph, x *graph.Node, n graphnet.Neighbours) *graph.Node {
		return graphnet.NewGraphFilter(g, "filter", graph.F64, 3, graph.Ax("d", 3), graph.Ax("h", 4)).Of(graphnet.Chebyshev(n, graphnet.Normalised(n), x, 3)...)
	},
	"message passing": func(g *graph.Graph, x *graph.Node, n graphnet.Neighbours) *graph.Node {
		u := g.Param("u", graph.F64, graph.Ax("s", 2)).Init(initial.Fill(0.5))
		y, u := graphnet.NewMessagePassing(g, "mp", graph.F64, graphnet.AggregateSoftmax, graph.Ax("d", 3), graph.Ax("h", 4), graph.Ax("s", 2)).Of(x, u, n)
		return ops.Add(y, ops.Expand(ops.Sum(u), 0, "")) // the global state counts too
	},
}

// parameters draws values for the parameters that have none yet.
func parameters(feed graph.Values, g *graph.Graph) {
	r := rand.New(rand.NewPCG(3, 5))
	for _, p := range g.Leaves(graph.RoleParam) {
		v := layertest.Random(r, p.Type(), 1)
		if _, ok := feed[p]; !ok {
			feed[p] = v
		}
	}
}

// TestRepresentations: every layer computes the same from an adjacency matrix and
// from a list of edges, derivatives included.
func TestRepresentations(t *testing.T) {
	for name, layer := range layers {
		for _, self := range []bool{false, true} {
			var results [2][]graph.Value
			for k := range results {
				c := newGraphCase()
				n := []graphnet.Neighbours{c.dense, c.edges}[k]
				if self {
					n = n.WithSelf()
				}
				y := layer(c.g, c.x, n)
				parameters(c.feed, c.g)
				wrt := c.g.Leaves(graph.RoleParam)
				results[k] = layertest.Both(t, c.feed, 1e-11, append([]*graph.Node{y}, grad.OrZero(ops.Sum(ops.Square(y)), wrt...)...)...)
			}
			for k := range results[0] {
				if err := reftest.Near(results[1][k].Data, results[0][k].Data, 1e-11*max(1, reftest.Largest(results[0][k].Data))); err != nil {
					t.Errorf("%s, self %v: result %d differs: %v", name, self, k, err)
				}
			}
			if reftest.Largest(results[0][0].Data) == 0 {
				t.Errorf("%s gives zeros", name)
			}
		}
	}
}

// TestEquivariance: renumbering the nodes renumbers what a layer gives, and a
// readout does not see it.
func TestEquivariance(t *testing.T) {
	order := []int{3, 0, 4, 1, 2}
	for name, layer := range layers {
		var results [2][]graph.Value
		for k := range results {
			c := newGraphCase()
			if k == 1 {
				A, x := make([]float64, 25), make([]float64, 15)
				old, _ := c.dense.A.Constant()
				for i, from := range order {
					copy(x[3*i:3*i+3], c.feed[c.x].Data[3*from:])
					for j, to := range order {
						A[5*i+j] = old.Data[5*from+to]
					}
				}
				c.dense.A = c.g.Constant(graph.F64, A, c.dense.A.Shape().Axes()...)
				c.feed[c.x] = graph.Value{Type: c.x.Type(), Data: x}
			}
			y := layer(c.g, c.x, c.dense)
			nodes := []*graph.Node{y}
			for _, how := range everyAggregation {
				nodes = append(nodes, graphnet.Readout(how, y, nil))
			}
			parameters(c.feed, c.g)
			results[k] = layertest.Both(t, c.feed, 1e-11, nodes...)
		}
		for i, from := range order {
			if err := reftest.Near(results[1][0].Data[4*i:4*i+4], results[0][0].Data[4*from:4*from+4], 1e-13*max(1, reftest.Largest(results[0][0].Data))); err != nil {
				t.Errorf("%s: node %d: %v", name, from, err)
			}
		}
		for k, how := range everyAggregation {
			if err := reftest.Near(results[1][k+1].Data, results[0][k+1].Data, 1e-13*max(1, reftest.Largest(results[0][k+1].Data))); err != nil {
				t.Errorf("%s: the %v of the nodes: %v", name, how, err)
			}
		}
	}
}

// TestBatches: three graphs of different sizes, padded or as blocks of one graph,
// give what each gives alone; padding has no influence.
func TestBatches(t *testing.T) {
	const largest = 4
	r := rand.New(rand.NewPCG(8, 1))
	sizes := []int{4, 2, 3}
	features := make([]float64, 3*largest*len(sizes))
	for p := range features {
		features[p] = r.NormFloat64()
	}
	hears := func(i, j int) bool { return i != j && (i+2*j)%3 != 1 }
	for name, layer := range layers {
		if name == "message passing" { // one global state belongs to one graph
			layer = func(g *graph.Graph, x *graph.Node, n graphnet.Neighbours) *graph.Node {
				y, _ := graphnet.NewMessagePassing(g, "mp", graph.F64, graphnet.AggregateVariance, graph.Ax("d", 3), graph.Ax("h", 4), graph.Axis{}).Of(x, nil, n)
				return y
			}
		}
		for _, how := range everyAggregation {
			// Each graph alone.
			var alone []float64
			for b, size := range sizes {
				g, feed := graph.New("alone"), graph.Values{}
				A := make([]float64, size*size)
				for p := range A {
					if hears(p/size, p%size) {
						A[p] = 1
					}
				}
				x := g.Constant(graph.F64, features[3*largest*b:][:3*size], graph.Ax("i", size), graph.Ax("d", 3))
				y := layer(g, x, graphnet.Adjacency{A: g.Constant(graph.F64, A, graph.Ax("i", size), graph.Ax("j", size))}.WithSelf())
				y = graphnet.Readout(how, y, nil)
				parameters(feed, g)
				alone = append(alone, layertest.Both(t, feed, 1e-11, y)[0].Data...)
			}
			// Padded.
			g, feed := graph.New("padded"), graph.Values{}
			b, i := graph.Ax("b", len(sizes)), graph.Ax("i", largest)
			A, mask := make([]float64, len(sizes)*largest*largest), make([]float64, len(sizes)*largest)
			var source, target, of, packed []float64
			for k, size := range sizes {
				first := len(of)
				for p := range size {
					mask[k*largest+p] = 1
					of = append(of, float64(k))
					for q := range size {
						if hears(p, q) {
							A[(k*largest+p)*largest+q] = 1
							source, target = append(source, float64(first+q)), append(target, float64(first+p))
						}
					}
				}
				packed = append(packed, features[3*largest*k:][:3*size]...)
			}
			x := g.Input("x", graph.F64, b, i, graph.Ax("d", 3))
			feed[x] = graph.Value{Type: x.Type(), Data: features}
			y := layer(g, x, graphnet.Adjacency{A: g.Constant(graph.F64, A, b, i, graph.Ax("j", largest))}.WithSelf())
			y = graphnet.Readout(how, y, g.Constant(graph.Bool, mask, b, i))
			parameters(feed, g)
			got := layertest.Both(t, feed, 1e-11, y, grad.Of(ops.Sum(ops.Square(y)), x)[0])
			if err := reftest.Near(got[0].Data, alone, 1e-11*max(1, reftest.Largest(alone))); err != nil {
				t.Errorf("%s, %v, padded: %v", name, how, err)
			}
			for p, v := range got[1].Data {
				if mask[p/3] == 0 && v != 0 {
					t.Errorf("%s, %v: the padding at %d has the derivative %v", name, how, p, v)
				}
			}
			// As blocks, with an edge too many.
			g, feed = graph.New("blocks"), graph.Values{}
			e, nodes := graph.Ax("e", len(source)+1), graph.Ax("i", len(of))
			n := graphnet.Edges{Source: g.Constant(graph.I64, append(source, 0), e), Target: g.Constant(graph.I64, append(target, -1), e), Nodes: nodes, DT: graph.F64}
			y = layer(g, g.Constant(graph.F64, packed, nodes, graph.Ax("d", 3)), n.WithSelf())
			y = graphnet.ReadoutBlocks(how, y, g.Constant(graph.I64, of, nodes), b)
			parameters(feed, g)
			if err := reftest.Near(layertest.Both(t, feed, 1e-11, y)[0].Data, alone, 1e-11*max(1, reftest.Largest(alone))); err != nil {
				t.Errorf("%s, %v, as blocks: %v", name, how, err)
			}
		}
	}
}

// TestChebyshev: the terms are the polynomials cos(p·arccos λ) of the eigenvalues:
// on a cycle, whose Laplacian has cosines as eigenvectors.
func TestChebyshev(t *testing.T) {
	const n = 8
	g := graph.New("cycle")
	A := make([]float64, n*n)
	wave := make([]float64, n)
	for i := range n {
		A[i*n+(i+1)%n], A[i*n+(i+n-1)%n] = 1, 1
		wave[i] = math.Cos(2 * math.Pi * 3 * float64(i) / n)
	}
	cycle := graphnet.Adjacency{A: g.Constant(graph.F64, A, graph.Ax("i", n), graph.Ax("j", n))}
	x := g.Constant(graph.F64, wave, graph.Ax("i", n), graph.Ax("d", 1))
	λ := -math.Cos(2 * math.Pi * 3 / n) // of L − I
	for p, v := range layertest.Both(t, nil, 1e-13, graphnet.Chebyshev(cycle, graphnet.Normalised(cycle), x, 5)...) {
		want := slices.Clone(wave)
		for i := range want {
			want[i] *= math.Cos(float64(p) * math.Acos(λ))
		}
		if err := reftest.Near(v.Data, want, 1e-13); err != nil {
			t.Errorf("T%d: %v", p, err)
		}
	}
	for p, v := range layertest.Both(t, nil, 1e-13, graphnet.Powers(cycle, cycle.Strength(), x, 4)...) {
		want := slices.Clone(wave)
		for i := range want {
			want[i] *= math.Pow(-2*λ, float64(p))
		}
		if err := reftest.Near(v.Data, want, 1e-12); err != nil {
			t.Errorf("power %d: %v", p, err)
		}
	}
}

// TestClusters: given clusters take the mean of their nodes, one without nodes
// zeros; the coarser adjacency is the mean link between them.
func TestClusters(t *testing.T) {
	c := newGraphCase()
	S := graphnet.Clusters(c.g.Constant(graph.I64, []float64{0, 0, 2, 2, 2}, graph.Ax("i", 5)), graph.Ax("c", 3), graph.F64)
	x, A := graphnet.Coarsen(c.x, c.dense.A, S)
	got := layertest.Both(t, c.feed, 1e-13, x, A)
	v := c.feed[c.x].Data
	for d := range 3 {
		for k, want := range []float64{(v[d] + v[3+d]) / 2, 0, (v[6+d] + v[9+d] + v[12+d]) / 3} {
			if math.Abs(got[0].Data[3*k+d]-want) > 1e-15 {
				t.Errorf("cluster %d has %v, want %v", k, got[0].Data[3*k+d], want)
			}
		}
	}
	// Of the links from 0, 1 to 0, 1: two of four; to 2, 3, 4: two of six; back: three of six;
	// among 2, 3, 4: three of nine.
	want := []float64{2. / 4, 0, 2. / 6, 0, 0, 0, 3. / 6, 0, 3. / 9}
	if err := reftest.Near(got[1].Data, want, 1e-15); err != nil {
		t.Errorf("the coarser adjacency: %v", err)
	}
	if x.Shape().String() != "[c=3 d=3]" || A.Shape().String() != "[c=3 c′=3]" {
		t.Errorf("shapes %v and %v", x.Shape(), A.Shape())
	}
}

// TestGraphMistakes are recorded, never a panic.
func TestGraphMistakes(t *testing.T) {
	layertest.Mistaken(t, layertest.ArrayOf(graph.F64, graph.Ax("i", 5), graph.Ax("d", 3)), map[string]func(g *graph.Graph, x *graph.Node){
		"no adjacency":       func(g *graph.Graph, x *graph.Node) { layers["gcn"](g, x, graphnet.Adjacency{}) },
		"attention, none":    func(g *graph.Graph, x *graph.Node) { layers["gat"](g, x, graphnet.Adjacency{}) },
		"itself, none":       func(g *graph.Graph, x *graph.Node) { layers["gcn"](g, x, graphnet.Adjacency{A: x}.WithSelf()) },
		"messages, none":     func(g *graph.Graph, x *graph.Node) { layers["message passing"](g, x, graphnet.Adjacency{}) },
		"no edges":           func(g *graph.Graph, x *graph.Node) { layers["gcn"](g, x, graphnet.Edges{}) },
		"edges, attention":   func(g *graph.Graph, x *graph.Node) { layers["gat"](g, x, graphnet.Edges{}.WithSelf()) },
		"no neighbours":      func(g *graph.Graph, x *graph.Node) { layers["gcn"](g, x, nil) },
		"gat, no neighbours": func(g *graph.Graph, x *graph.Node) { layers["gat"](g, x, nil) },
		"no nodes": func(g *graph.Graph, x *graph.Node) {
			graphnet.NewGCN(g, "gcn", graph.F64, graph.Ax("d", 3), graph.Ax("h", 4)).Of(nil, graphnet.Adjacency{A: x})
		},
		"no state": func(g *graph.Graph, x *graph.Node) {
			graphnet.NewMessagePassing(g, "mp", graph.F64, 0, graph.Ax("d", 3), graph.Ax("h", 4), graph.Ax("s", 2)).Of(x, nil, graphnet.Adjacency{A: x})
		},
		"readout":  func(g *graph.Graph, x *graph.Node) { graphnet.Readout(0, ops.Sum(x), nil) },
		"blocks":   func(g *graph.Graph, x *graph.Node) { graphnet.ReadoutBlocks(0, x, nil, graph.Ax("b", 2)) },
		"which":    func(g *graph.Graph, x *graph.Node) { graphnet.Readout(99, x, nil) },
		"clusters": func(g *graph.Graph, x *graph.Node) { graphnet.Clusters(x, graph.Ax("c", 2), graph.F64) },
		"coarsen":  func(g *graph.Graph, x *graph.Node) { graphnet.Coarsen(x, nil, x) },
		"heads": func(g *graph.Graph, x *graph.Node) {
			graphnet.NewGAT(g, "gat", graph.F64, 3, graph.Ax("d", 3), graph.Ax("h", 4))
		},
		"taps":       func(g *graph.Graph, x *graph.Node) { graphnet.GraphFilter{}.Of(x) },
		"normalised": func(g *graph.Graph, x *graph.Node) { ops.Add(x, graphnet.Normalised(graphnet.Adjacency{})) },
	})
	for name, s := range map[string]builders.Settings{"graph-gat": {"heads": 3}, "graph-batch": {"n": 3}} {
		if _, err := builders.Build(name, s, graph.F32); err == nil {
			t.Errorf("%s with %v is built", name, s)
		}
	}
}

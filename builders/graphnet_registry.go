package builders

import (
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/graphnet"
	"github.com/tapestry-ml/tapestry/ops"
)

// graphNetworks: weights shared over the nodes of a graph.
var graphNetworks = []Builder{
	messagePassing, gcn, gat, graphPowers, graphChebyshev, graphPoolFixed, graphPoolLearnt, graphBatch,
}

var (
	sizeNodes      = Hyperparameter{Name: "n", Default: 8, Doc: "nodes of the graph", Kind: Count}
	sizeGroups     = Hyperparameter{Name: "c", Default: 2, Doc: "features of a node", Kind: Count}
	sizeLabels     = Hyperparameter{Name: "classes", Default: 2, Doc: "groups that the nodes belong to", Kind: Count}
	sizeNodeHidden = Hyperparameter{Name: "h", Default: 4, Doc: "hidden features of a node", Kind: Count}
	sizeHow        = Hyperparameter{Name: "aggregate", Default: float64(graphnet.AggregateMean), Doc: "how messages are brought together", Kind: Choice, Choices: aggregationNames}
)

// aggregationNames are the choices of how messages are brought together.
var aggregationNames = func() (names []string) {
	for how := graphnet.AggregateSum; how <= graphnet.AggregateSoftmax; how++ {
		names = append(names, how.String())
	}
	return names
}()

// groupTask holds the inputs of the models that find the group of each node from few labels: nodes
// x[i c], their labels, and their neighbours.
type groupTask struct {
	g          *graph.Graph
	dt         graph.DType
	i, c, h    graph.Axis
	classes    int
	x, label   *graph.Node
	neighbours graphnet.Neighbours
}

func newGroupTask(s Settings, dt graph.DType, m *Model) groupTask {
	k := groupTask{g: m.Graph, dt: dt, i: graph.Ax("i", s.Int("n")), c: graph.Ax("c", s.Int("c")), h: graph.Ax("h", s.Int("h")), classes: s.Int("classes")}
	k.x, k.label = k.g.Input("x", dt, k.i, k.c), k.g.Input("label", graph.I64, k.i)
	if s.Is("edges") {
		e := graph.Ax("e", s.Int("edges"))
		k.neighbours = graphnet.Edges{Source: k.g.Input("source", graph.I64, e), Target: k.g.Input("target", graph.I64, e), Nodes: k.i, DT: dt}
	} else {
		k.neighbours = graphnet.Adjacency{A: k.g.Input("A", dt, k.i, graph.Ax("j", k.i.Size))}
	}
	return k
}

// learn makes scores[i …] of the groups the model's, with their cross-entropy at
// the nodes whose label is known.
func (k groupTask) learn(m *Model, scores *graph.Node) {
	m.Output = scores.As("scores")
	m.Loss = nn.CrossEntropy(scores, k.label, nn.Ignoring(-1)).As("loss")
	m.Examples = func(rng *rand.Rand) graph.Values {
		group, l := community(rng, k.i.Size, k.classes)
		f := graph.Values{k.x: groupHints(rng, k.x.Type(), group), k.label: fewLabels(k.label.Type(), group)}
		switch n := k.neighbours.(type) {
		case graphnet.Adjacency:
			f[n.A] = graph.NewValue(n.A.Type())
			l.fill(f[n.A].Data, k.i.Size)
		case graphnet.Edges:
			f[n.Source], f[n.Target] = graph.NewValue(n.Source.Type()), graph.NewValue(n.Target.Type())
			l.lists(f[n.Source], f[n.Target])
		}
		return f
	}
}

// groupSizes returns the sizes of such a model, and others.
func groupSizes(more ...Hyperparameter) []Hyperparameter {
	return append([]Hyperparameter{sizeNodes, sizeGroups, sizeLabels, sizeNodeHidden}, more...)
}

// outcome returns the axis of scores.
func (k groupTask) outcome() graph.Axis { return graph.Ax("o", k.classes) }

var messagePassing = Builder{
	Name:    "graph-message-passing",
	Title:   "message passing",
	Notes:   "graph networks: self, neighbours and global state, aggregated symmetrically; residual connections and norms",
	Formula: "mᵢⱼ = φ(xᵢ, xⱼ);  fᵢ = ψ(xᵢ, aggregateⱼ mᵢⱼ, u);  xᵢ′ = fᵢ, or xᵢ + fᵢ, or norm of it;  u′ = χ(u, meanᵢ fᵢ)",
	Hyperparameters: groupSizes(sizeHow,
		Hyperparameter{Name: "state", Default: 2, Doc: "features of the global state; 0 for none", Kind: Natural},
		Hyperparameter{Name: "edges", Default: 0, Doc: "edges in a list of them; 0 for an adjacency matrix", Kind: Natural},
		Hyperparameter{Name: "depth", Default: 2, Doc: "layers", Kind: Count},
		Hyperparameter{Name: "residual", Doc: "shortcuts past the layers: a layer changes its nodes instead of replacing them", Kind: Flag},
		Hyperparameter{Name: "norm", Doc: "after each layer: over a node's features, or over those of all nodes of the graph", Kind: Choice, Choices: []string{"none", "node", "graph"}}),
	make: func(s Settings, dt graph.DType, m *Model) {
		k := newGroupTask(s, dt, m)
		how, state := graphnet.Aggregation(s.Int("aggregate")), graph.Ax("s", s.Int("state"))
		var u *graph.Node
		if state.Size > 0 {
			u = k.g.Param("u", dt, state)
		}
		x, from := k.x, k.c
		for i := range m.atMost("depth", s.Int("depth"), mostLayers) {
			to := k.h
			if i%2 == 1 {
				to.Name = "h′"
			}
			var y *graph.Node
			y, u = graphnet.NewMessagePassing(k.g, build.Numbered("layer", i), dt, how, from, to, state).Of(x, u, k.neighbours)
			if s.Is("residual") {
				y = ops.Add(k.shortcut(build.Numbered("skip", i), x, to), y).As(build.Indexed("r", i))
			}
			if over := s.Int("norm"); over > 0 {
				norm := nn.NewLayerNorm(k.g, build.Numbered("norm", i), dt, to)
				norm.Axes = over // the features, and with them the nodes
				y = norm.Of(y).As(build.Indexed("x̂", i))
			}
			x, from = y, to
		}
		k.learn(m, nn.NewLinear(k.g, "out", dt, from, k.outcome()).Of(x))
	},
}

// shortcut returns the nodes x with as many features as the axis to has: as they are, or by a linear
// map where the number differs.
func (k groupTask) shortcut(name string, x *graph.Node, to graph.Axis) *graph.Node {
	if build.Last(x).Size != to.Size {
		return nn.NewProjection(k.g, name, k.dt, build.Last(x), to).Of(x)
	}
	return ops.Rename(x, -1, to.Name)
}

var gcn = Builder{
	Name:            "graph-gcn",
	Title:           "graph-convolutional network",
	Notes:           "graph networks: GCN, neighbours influence the context",
	Formula:         "Â = D^(−½)(A + I)D^(−½);  y = Â·relu(Â·x·W₁ + b₁)·W₂ + b₂",
	Hyperparameters: groupSizes(Hyperparameter{Name: "edges", Default: 0, Doc: "edges in a list of them; 0 for an adjacency matrix", Kind: Natural}),
	make: func(s Settings, dt graph.DType, m *Model) {
		k := newGroupTask(s, dt, m)
		n := k.neighbours.WithSelf()
		x := ops.ReLU(graphnet.NewGCN(k.g, "gcn1", dt, k.c, k.h).Of(k.x, n))
		k.learn(m, graphnet.NewGCN(k.g, "gcn2", dt, k.h, k.outcome()).Of(x, n))
	},
}

var gat = Builder{
	Name:    "graph-gat",
	Title:   "graph attention network",
	Notes:   "graph networks: GAT, similar neighbours influence the context most",
	Formula: "αᵢⱼ = softmaxⱼ(leakyrelu(a·hᵢ + a′·hⱼ)) over neighbours;  yᵢ = elu(Σⱼ αᵢⱼhⱼ)",
	Hyperparameters: groupSizes(Hyperparameter{Name: "heads", Default: 2, Doc: "heads, which share the hidden features", Kind: Count},
		Hyperparameter{Name: "edges", Default: 0, Doc: "edges in a list of them; 0 for an adjacency matrix", Kind: Natural}),
	make: func(s Settings, dt graph.DType, m *Model) {
		k := newGroupTask(s, dt, m)
		n := k.neighbours.WithSelf()
		x := ops.ELU(graphnet.NewGAT(k.g, "gat", dt, m.atMost("heads", s.Int("heads"), 1000), k.c, k.h).Of(k.x, n))
		k.learn(m, nn.NewLinear(k.g, "out", dt, k.h, k.outcome()).Of(x))
	},
}

// graphFiltered returns a model of one filter over terms of the normalised adjacency matrix.
func graphFiltered(terms func(n graphnet.Neighbours, weights, x *graph.Node, k int) []*graph.Node) func(Settings, graph.DType, *Model) {
	return func(s Settings, dt graph.DType, m *Model) {
		k := newGroupTask(s, dt, m)
		most := m.atMost("k", s.Int("k"), 1000)
		x := terms(k.neighbours, graphnet.Normalised(k.neighbours), k.x, most)
		h := ops.ReLU(graphnet.NewGraphFilter(k.g, "filter", dt, most, k.c, k.h).Of(x...))
		k.learn(m, nn.NewLinear(k.g, "out", dt, k.h, k.outcome()).Of(h))
	}
}

var graphPowers = Builder{
	Name:            "graph-powers",
	Title:           "powers of the adjacency matrix",
	Notes:           "graph networks: products of the adjacency matrix as shifts",
	Formula:         "y = Σ_p Âᵖ·x·W_p + b",
	Hyperparameters: groupSizes(Hyperparameter{Name: "k", Default: 2, Doc: "steps that a filter reaches", Kind: Natural}),
	make:            graphFiltered(graphnet.Powers),
}

var graphChebyshev = Builder{
	Name:            "graph-chebyshev",
	Title:           "spectral filter by Chebyshev polynomials",
	Notes:           "graph networks: spectral methods",
	Formula:         "y = Σ_p T_p(L − I)·x·W_p + b",
	Hyperparameters: groupSizes(Hyperparameter{Name: "k", Default: 2, Doc: "degree of the polynomial", Kind: Natural}),
	make:            graphFiltered(graphnet.Chebyshev),
}

// shapeTask holds the inputs of the models that classify graphs.
type shapeTask struct {
	g       *graph.Graph
	b, i, o graph.Axis
	label   *graph.Node
}

// learn makes the scores of the graphs' kinds the model's.
func (k shapeTask) learn(m *Model, x *graph.Node) {
	m.Output = nn.NewLinear(k.g, "out", build.DType(x), build.Last(x), k.o).Of(x).As("scores")
	m.Loss = nn.CrossEntropy(m.Output, k.label).As("loss")
}

func newShapeTask(s Settings, m *Model) shapeTask {
	b := graph.Ax("b", s.Int("b"))
	return shapeTask{g: m.Graph, b: b, i: graph.Ax("i", s.Int("n")), o: graph.Ax("o", 2), label: m.Graph.Input("label", graph.I64, b)}
}

var sizeGraphs = Hyperparameter{Name: "b", Default: 4, Doc: "graphs in a batch", Kind: Count}

var graphPoolFixed = Builder{
	Name:    "graph-pool-fixed",
	Title:   "pooling by clusters of the topology",
	Notes:   "graph networks: pooling coarsens the graph, clusters computed beforehand from its topology",
	Formula: "S = clusters of a matching of linked nodes;  x′ = Sᵀ·x,  A′ = Sᵀ·A·S;  scores = mean of GCN(x′, A′)",
	Hyperparameters: []Hyperparameter{sizeGraphs, {Name: "n", Default: 6, Doc: "nodes of the graph", Kind: Count}, sizeNodeHidden,
		{Name: "graph", Doc: "the topology of every graph: a cycle, a ladder of two rows, or a binary tree", Kind: Choice, Choices: []string{"cycle", "ladder", "tree"}}},
	make: func(s Settings, dt graph.DType, m *Model) {
		k := newShapeTask(s, m)
		n, h := k.i.Size, graph.Ax("h", s.Int("h"))
		x := k.g.Input("x", dt, k.b, k.i, graph.Ax("d", 1))
		var l links
		A := k.g.ConstantFunc(dt, func(data []float64) {
			l = topology(s.Int("graph"), n)
			l.fill(data, n)
		}, k.i, graph.Ax("j", n)).As("A")
		fixed, ok := A.Constant()
		if !ok {
			return // the mistake is recorded
		}
		numbers, err := graphnet.Matching(fixed.Data, n)
		if err != nil {
			k.g.Fail(m.Builder.Name, err)
			return
		}
		cluster := k.g.ConstantFunc(graph.I64, func(data []float64) {
			for i, c := range numbers {
				data[i] = float64(c)
			}
		}, k.i).As("cluster")
		S := graphnet.Clusters(cluster, graph.Ax("c", slices.Max(numbers)+1), dt)
		z := ops.ReLU(graphnet.NewGCN(k.g, "fine", dt, graph.Ax("d", 1), h).Of(x, graphnet.Adjacency{A: A}.WithSelf()))
		z, A = graphnet.Coarsen(z, A, S)
		z = ops.ReLU(graphnet.NewGCN(k.g, "coarse", dt, h, graph.Ax("h′", h.Size)).Of(z, graphnet.Adjacency{A: A}))
		k.learn(m, graphnet.Readout(graphnet.AggregateMean, z, nil))
		far := l.distances(n)
		m.Examples = func(rng *rand.Rand) graph.Values {
			f := graph.Values{k.label: choices(rng, k.label.Type(), 2)}
			// A signal alternates from neighbour to neighbour, or does not.
			f[x] = build.Computed(x.Type(), func(p int) float64 {
				v := 1 + 0.3*rng.NormFloat64()
				if f[k.label].Data[p/n] == 1 && far[p%n]%2 == 1 {
					v = -v
				}
				return v
			})
			return f
		}
	},
}

var graphPoolLearnt = Builder{
	Name:            "graph-pool-learnt",
	Title:           "pooling by learnt clusters",
	Notes:           "graph networks: the clustering can be learnt",
	Formula:         "S = softmax_c(GCN(x)),  x′ = Sᵀ·GCN(x),  A′ = Sᵀ·A·S;  scores = mean of GCN(x′, A′)",
	Hyperparameters: []Hyperparameter{sizeGraphs, {Name: "n", Default: 6, Doc: "nodes of a graph", Kind: Count}, {Name: "c", Default: 2, Doc: "clusters", Kind: Count}, sizeNodeHidden},
	make: func(s Settings, dt graph.DType, m *Model) {
		k := newShapeTask(s, m)
		d, h := graph.Ax("d", 2), graph.Ax("h", s.Int("h"))
		x, A := k.g.Input("x", dt, k.b, k.i, d), k.g.Input("A", dt, k.b, k.i, graph.Ax("j", k.i.Size))
		z, coarse, _ := graphnet.NewDiffPool(k.g, "diffpool", dt, d, graph.Ax("c", s.Int("c")), h).Of(x, A)
		z = ops.ReLU(graphnet.NewGCN(k.g, "coarse", dt, h, graph.Ax("h′", h.Size)).Of(z, graphnet.Adjacency{A: coarse}))
		k.learn(m, graphnet.Readout(graphnet.AggregateMean, z, nil))
		m.Examples = func(rng *rand.Rand) graph.Values {
			f := graph.Values{k.label: choices(rng, k.label.Type(), 2), x: graph.NewValue(x.Type()), A: graph.NewValue(A.Type())}
			n := k.i.Size
			for b, kind := range f[k.label].Data {
				l := shaped(rng, kind == 1, n, 0)
				l.fill(f[A].Data[b*n*n:], n)
				l.describe(rng, f[x], b*n, n, b*n)
			}
			return f
		}
	},
}

var graphBatch = Builder{
	Name:    "graph-batch",
	Title:   "graphs of different sizes",
	Notes:   "graph networks: graphs with different topologies, padding with null nodes or not; fully connected with labels of the edges",
	Formula: "mᵢⱼ = φ(xᵢ, xⱼ), or φ(xᵢ, xⱼ, Aᵢⱼ) for all i ≠ j;  xᵢ′ = ψ(xᵢ, aggregateⱼ mᵢⱼ);  scores = W·(max over each graph's nodes of xᵢ′)",
	Hyperparameters: []Hyperparameter{sizeGraphs, {Name: "n", Default: 6, Doc: "nodes of the largest graph, at least 4", Kind: Count}, sizeNodeHidden,
		{Name: "aggregate", Default: float64(graphnet.AggregateSum), Doc: sizeHow.Doc, Kind: Choice, Choices: aggregationNames},
		{Name: "packing", Default: 0, Doc: "padded with null nodes, as blocks of one graph, or padded and fully connected, with labels of which nodes are linked", Kind: Choice, Choices: []string{"padded", "blocks", "connected"}}},
	make: func(s Settings, dt graph.DType, m *Model) {
		k := newShapeTask(s, m)
		b, n := k.b.Size, k.i.Size
		if n < 4 {
			m.Graph.Fail("graph-batch", &graph.Mistake{Problem: "graphs of fewer than 4 nodes have one shape", Fix: "set n to 4 or more"})
		}
		d, h := graph.Ax("d", 2), graph.Ax("h", s.Int("h"))
		layer := graphnet.NewMessagePassing(k.g, "layer", dt, graphnet.Aggregation(s.Int("aggregate")), d, h, graph.Axis{})
		if packing := s.Int("packing"); packing != 1 {
			x, A := k.g.Input("x", dt, k.b, k.i, d), k.g.Input("A", dt, k.b, k.i, graph.Ax("j", n))
			mask := k.g.Input("mask", graph.Bool, k.b, k.i)
			var z *graph.Node
			if packing == 0 {
				z, _ = layer.Of(x, nil, graphnet.Adjacency{A: A})
			} else {
				linked := graph.Ax("linked", 1)
				z, _ = layer.Labelled(linked).OfLabelled(x, nil, graphnet.FullyConnected(mask, build.Last(A), dt), ops.Expand(A, -1, linked.Name))
			}
			k.learn(m, graphnet.Readout(graphnet.AggregateMax, z, mask))
			m.Examples = func(rng *rand.Rand) graph.Values {
				f := graph.Values{k.label: choices(rng, k.label.Type(), 2), x: graph.NewValue(x.Type()), A: graph.NewValue(A.Type()), mask: graph.NewValue(mask.Type())}
				for g, kind := range f[k.label].Data {
					size := 4 + rng.IntN(n-3)
					l := shaped(rng, kind == 1, size, 0)
					l.fill(f[A].Data[g*n*n:], n)
					l.describe(rng, f[x], g*n, size, g*n)
					for i := range size {
						f[mask].Data[g*n+i] = 1
					}
				}
				return f
			}
			return
		}
		i, e := graph.Ax("i", b*n), graph.Ax("e", 2*b*n)
		x, of := k.g.Input("x", dt, i, d), k.g.Input("graph", graph.I64, i)
		edges := graphnet.Edges{Source: k.g.Input("source", graph.I64, e), Target: k.g.Input("target", graph.I64, e), Nodes: i, DT: dt}
		z, _ := layer.Of(x, nil, edges)
		k.learn(m, graphnet.ReadoutBlocks(graphnet.AggregateMax, z, of, k.b))
		m.Examples = func(rng *rand.Rand) graph.Values {
			f := graph.Values{k.label: choices(rng, k.label.Type(), 2), x: graph.NewValue(x.Type()), of: build.Computed(of.Type(), func(int) float64 { return -1 }),
				edges.Source: graph.NewValue(edges.Source.Type()), edges.Target: graph.NewValue(edges.Target.Type())}
			var all links
			first := 0
			for g, kind := range f[k.label].Data {
				size := 4 + rng.IntN(n-3)
				l := shaped(rng, kind == 1, size, first)
				l.describe(rng, f[x], first, size, 0)
				all = append(all, l...)
				for p := range size {
					f[of].Data[first+p] = float64(g)
				}
				first += size
			}
			all.lists(f[edges.Source], f[edges.Target])
			return f
		}
	},
}

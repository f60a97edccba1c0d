// Package graphnet holds graph networks: layers over nodes x[… i d] that are joined by edges.
//
// The edges are a [Neighbours]: a matrix ([Adjacency], A[… i j]) or lists of sources and targets
// ([Edges]). Layers take either:
//
//	layer := graphnet.NewGCN(g, "gcn", graph.F32, graph.Ax("d", 8), graph.Ax("h", 16))
//	h := layer.Of(x, graphnet.Adjacency{A: A}.WithSelf()) // x[i d] → h[i h]
//
// [GCN], [GAT] and [MessagePassing] are the usual layers; [Powers] and [Chebyshev] are spectral
// filters; [Readout] brings the nodes of a graph together, [DiffPool] and [Coarsen] make coarser
// graphs. Axes before the nodes' are a batch of graphs.
//
// As in package nn, layers are structs of their parameters, mistakes are recorded in the graph, and
// the nodes are ordinary ones with the text form of package graph. No call panics.
package graphnet

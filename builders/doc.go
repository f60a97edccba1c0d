// Package builders holds the models of the lecture notes, and the layers that they
// are made of.
//
// A layer is a struct of its parameters with a method Of that applies it; what is
// applied twice shares its weights, and weights from elsewhere make a layer too:
//
//	fc := builders.NewLinear(g, "fc", graph.F32, graph.Ax("in", 64), graph.Ax("h", 128))
//	h := ops.Relu(fc.Of(x)) // x[b in] → h[b h]; parameters fc/w[in h] and fc/b[h]
//
// What has no parameters is a function of nodes:
//
//	loss := builders.CrossEntropy(logits, labels, builders.Smoothed(ε))
//
// Both open a scope, which groups their nodes in drawings and prefixes the paths of
// their parameters, and give quantities the names of the notes (α, q, r̂). The
// last axis of an array is that of features or channels, the first that of examples;
// axes are found by their place, so that they may have any names: points i, clusters
// j and features d in clustering; b, t and m (examples, time, width) in sequences;
// n, h, w and c in images. Layers that keep statistics assign them to states.
// Mistakes, nil among them, are recorded in the graph at the caller's line.
//
// A [Builder] of the registry ([All], by topic [Families]) makes a whole graph of
// given sizes, with an objective and a small task to learn:
//
//	m, err := builders.Build("transformer-gpt", builders.Settings{"layers": 2}, graph.F32)
//	feed := m.Examples(rng) // values for every input
//
// Settings that are missing take defaults that keep the graph small enough to be
// drawn and checked at once.
package builders

// Package nn holds layers, losses, norms, masks and noise: the parts that nets are built of.
// Further families have packages of their own: attention and transformers (nn/attention), recurrent
// nets (nn/rnn), graph networks (nn/graphnet) and augmentation of images (nn/augment). Package
// builders has whole models.
//
// A layer is a struct of its parameters with a method Of that applies it. Applying it twice shares
// its weights, and a struct of other nodes is a layer with these as its weights:
//
//	fc := nn.NewLinear(g, "fc", graph.F32, graph.Ax("in", 64), graph.Ax("h", 128))
//	h := ops.ReLU(fc.Of(x)) // x[b in] → h[b h]; parameters fc/w[in h] and fc/b[h]
//
// What has no parameters is a function of nodes:
//
//	loss := nn.CrossEntropy(logits, labels, nn.Smoothed(ε))
//
// Functions take nodes of one graph and return nodes of the same graph, of the same element type
// unless they say otherwise. Functions whose names begin with New add parameters (or, where they
// say so, states) at the paths that they name, initialised as is usual for the layer. Functions and
// layers open a scope, which groups their nodes in drawings and prefixes the paths of their
// parameters.
//
// The last axis of an array is that of features or channels, the first that of examples. Axes are
// found by position, so they may have any names; the docs use b, t and m for examples, time and
// width of sequences, and n, h, w and c for images. Shapes are written as in x[b t m]; an ellipsis,
// as in x[… d], stands for any axes.
//
// Layers that behave differently in training have a method OfTrain, which also returns the step
// that updates their statistics. Rates of noise are scalars of the graph, so that one graph serves
// training and evaluation, which feeds 0.
//
// Nothing panics and nothing returns an error: a mistake, such as a nil operand, is recorded in the
// graph at the caller's line (graph.Graph.Err returns them all), and the result is an invalid node,
// which later calls pass on without another mistake. Layers make ordinary nodes, whose text form is
// that of package graph:
//
//	%3 = MatMul %0 %1 : f32[b=32 h=128] ; @net.go:12 in "fc"
package nn

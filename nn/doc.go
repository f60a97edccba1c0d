// Package nn holds layers, losses, norms, masks and noise: the parts that nets are built of. Its
// sub-packages hold families that are fields of their own: attention and transformers
// (nn/attention), recurrent nets (nn/rnn), graph networks (nn/graphnet) and augmentation of images
// (nn/augment). Package builders has whole models made of them.
//
// A layer is a struct of its parameters with a method Of that applies it; what is applied twice
// shares its weights, and weights from elsewhere make a layer too:
//
//	fc := nn.NewLinear(g, "fc", graph.F32, graph.Ax("in", 64), graph.Ax("h", 128))
//	h := ops.ReLU(fc.Of(x)) // x[b in] → h[b h]; parameters fc/w[in h] and fc/b[h]
//
// What has no parameters is a function of nodes:
//
//	loss := nn.CrossEntropy(logits, labels, nn.Smoothed(ε))
//
// Functions take nodes of one graph and return nodes of the same graph, of the same element type
// unless they say otherwise. Those named New add parameters (or, where they say so, states) at the
// paths that they name, with initial values of the usual kind. Both open a scope, which groups
// their nodes in drawings and prefixes the paths of their parameters.
//
// The last axis of an array is that of features or channels, the first that of examples; axes are
// found by their place, so that they may have any names: b, t and m (examples, time, width) in
// sequences; n, h, w and c in images. Shapes are written as in x[b t m]; an ellipsis, as in
// x[… d], stands for any axes.
//
// Layers that behave differently in training have a method OfTrain, which also returns the step
// that updates their statistics; rates of noise are scalars of the graph, so that evaluation feeds
// 0 to the same graph.
//
// Nothing panics and nothing returns an error: a mistake, a nil operand among them, is recorded in
// the graph at the caller's line (graph.Graph.Err gives them all), and the result is an invalid
// node, which later calls pass on in silence. What is made is an ordinary part of the graph, so its
// text form is that of package graph:
//
//	%6 = MatMul(%1, %4)  f32[b=32 h=128]  "fc"
package nn

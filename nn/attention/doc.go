// Package attention holds attention and what transformers are made of it: scores, masks,
// positions, heads, encoder and decoder blocks, and the key/value cache that reads token by token.
//
// Plain attention is a function of queries q[… t d], keys k[… u d] and values v[… u f]:
//
//	y, α := attention.Attend(q, k, v, mask) // y = softmax(q·kᵀ/√d)·v, weights α[… t u]
//
// [MultiHead] has the linear maps and several heads; [Encoder] and [Decoder] stack it with
// feed-forward layers as [Blocks] says:
//
//	b := attention.Blocks{Layers: 2, Heads: 4, Width: graph.Ax("m", 64), Hidden: graph.Ax("f", 256), Activation: ops.GELU}
//	y := attention.NewEncoder(g, "encoder", graph.F32, b).Of(x, mask) // x[b t m] → y[b t m]
//
// A mask is an array of booleans that lines up with the scores e[… t u] from the right and is true
// where query t may see key u: [t u], [b 1 u] or [b t u]; nil lets every query see every key, and
// ops.And joins two. [Causal] and [Padding] make the usual ones. Where queries and keys share an
// axis t, as in self-attention, that of the keys is called t′.
//
// Attention has no sense of order: [Sinusoidal] and [NewPositions] are added to the features,
// [Rotary] turns queries and keys.
//
// As in package nn, layers are structs of their parameters, mistakes are recorded in the graph, and
// the nodes are ordinary ones with the text form of package graph. No call panics.
package attention

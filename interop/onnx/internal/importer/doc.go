// Package importer adds the graph of an ONNX file to a graph of package graph: each operator becomes
// nodes of package ops, by a table with one row an operator.
//
//	r, err := importer.Import(g, model, importer.Options{Sizes: map[string]int{"N": 32}, Float: graph.F32})
//	y := r.Values["logits"]
//
// Sizes are known while a graph is built, so what computes shapes, bounds and axes is evaluated on
// the way, by the definitions: any value that depends on no leaf is a number to the rules
// ([call.ints]). Mistakes and operators without a row are collected, and reported together.
//
// # ONNX Runtime
//
// Models of one node with drawn operands give what ONNX Runtime 1.20 gives (TestRuntimeOperators), but
// for what it has in another way than ONNX's text, or than its tests:
//
//   - reductions of no elements, of which it gives other shapes; OneHot of no indices ends its process;
//   - Slice backwards from a start that is followed by the largest end, which it takes for the place
//     before the first element; ReverseSequence of length 0, of which it writes nothing;
//   - averages with ceil_mode and count_include_pad, where it counts what lies behind the padding;
//     SAME padding of averages whose steps are larger than the windows, where its padding is negative;
//   - Resize with align_corners and scales, where it rounds the size down before it divides;
//   - MeanVarianceNormalization of equal numbers, which it makes NaN and its definition 0;
//   - variances, which it takes as a difference of squares: of few numbers near to each other its
//     InstanceNormalization and LayerNormalization have three digits;
//   - float64 of Shrink and of LayerNormalization, which it computes in float32; the root of +∞, NaN.
//
// A window that with ceil_mode lies in the padding alone is refused: versions of ONNX count it or do
// not. Numbers of uint64 from 2⁶³ on are negative here: their sums, differences, products and shifts to
// the left are right, and nothing else is.
package importer

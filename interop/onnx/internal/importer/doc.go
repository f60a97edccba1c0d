// Package importer adds the graph of an ONNX file to a graph of package graph: each operator becomes
// nodes of package ops, by a table with one row an operator.
//
//	r, err := importer.Import(g, model, importer.Options{Sizes: map[string]int{"N": 32}, Float: graph.F32})
//	y := r.Outputs["logits"]
//
// Sizes are known while a graph is built, so what computes shapes, bounds and axes is evaluated on
// the way, by the definitions: any value that depends on no leaf is a number to the rules
// ([call.ints]). Mistakes and operators without a row are collected, and reported together.
package importer

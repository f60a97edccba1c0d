// Package exporter writes graphs as ONNX models: the nodes of a graph become nodes of
// [format.Graph], by one table of rules, which has a row for every operation of package ops.
//
// # How a graph becomes a model
//
// The graph is rewritten first, as the tape has it rewritten, so that what overflows as written
// does not overflow there either. Then nodes are written in order, each by the rule of its operation. A rule
// works on values: the name of an array that the model computes, with a layout. Changes of layout are
// not written where they arise but where they are read. A transpose of a transpose is none, what is repeated
// stays small as long as ONNX repeats it by itself, and a chain of elementwise operations between two
// convolutions, whose channels come last here and first there, stays in ONNX's order.
//
// An operation that ONNX lacks is composed of others. Those that are long to say are composed of
// operations of package ops in a small graph of their own, which is written in place.
//
// f16, bf16, i8 and u8 are the types of inputs, outputs and weights; between them, arrays of these
// types are f32 and i32, rounded after each operation, as the tape computes them.
//
// # Names
//
// The name of a node is its scope and its name, encoder/attention/scores, or its operation where it has no
// name; that of a value is the name of the node that makes it. Nodes that exist only for
// derivatives stand in the scope grad. Parameters, states and inputs are called by their paths,
// constants const/….
package exporter

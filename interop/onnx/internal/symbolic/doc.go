// Package symbolic makes a size of an exported model symbolic: it takes the model as it is written
// at several sizes, and gives one that runs at any.
//
//	m, err := symbolic.Join("N", []symbolic.At{{22, at22}, {26, at26}, {34, at34}, {38, at38}})
//
// The models are walked in lock step. They are to be alike node by node but for constants, and the
// sizes of inputs, outputs and constants; these become the symbol, or are computed from the shape of
// an input. What a constant is as a function of the size is found from its values at the sizes, all
// but a few of which find nothing and only confirm: a constant whose values are not understood is
// an error, as is a model that is built otherwise at another size.
//
// Promises:
//
//   - At each of the given sizes, the result computes what the model of that size does, with the
//     constants that are floats to the digits of their type.
//   - Every constant that cannot be computed is in the error, with the node that reads it.
//   - Equal models give equal results.
package symbolic

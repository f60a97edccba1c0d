// Package tensor is the part of gorgonia.org/tensor that the engine of a static page uses, under the
// same names. That engine is compiled with it in the place of gorgonia's package, which brings
// columns, protocol buffers and linear algebra along: two thirds of what a reader would download.
//
// Nothing else imports it. It takes and gives what gorgonia's package does for dense tensors in row
// order, and panics where that panics; it knows no views, no masks and no operations.
package tensor

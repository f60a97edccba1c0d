// Package chars is what the examples share that learn to write a text character by
// character: the text, the training, what the model says, and where it is surprised.
//
// A [Study] takes a model and gives it [Trained]: what was the loss after which step, on
// the text and on its last tenth, which is held out.
package chars

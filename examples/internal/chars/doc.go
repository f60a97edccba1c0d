// Package chars is shared by the examples that learn to write a text character by character: it has
// the text, the training, the generated text, and the surprise at each character.
//
// A [Study] trains a model and returns it as [Trained], with the losses by steps on the text and on
// its last tenth, which is held out.
package chars

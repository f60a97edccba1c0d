// Package look measures what there is to see in a model: what its attention weighs, where the elbows
// of its ReLUs are and which of these are dead, along which directions a linear model learns first,
// what a unit of a convolutional net sees, the spectrum of its graph, and how values and gradients
// go through its layers.
//
// What a model has is found in its graph, by operations and shapes, never by names, so a file in the
// notation is seen like a model of the registry. A [Run] is a model with its values at some moments
// of a training:
//
//	run, err := look.Train(ctx, model, lab.Config{Steps: 400}, look.Spaced(400))
//	units, err := run.Units(ctx)
//
// A measurement that does not apply returns nothing, and no error: a model without ReLUs has no
// [Units]. Nothing is added to the graph of the model.
package look

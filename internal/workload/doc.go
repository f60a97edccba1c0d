// Package workload builds the training steps that Tapestry is timed on: clustering,
// a perceptron, a transformer block, an LSTM and a convolutional network, each with
// its batch, its starting values and the update of plain gradient descent.
//
// Everything is filled by one small generator that any language can repeat (see
// [Uniform]), so that another framework can run the same step on the same numbers
// and be held to the same losses; bench/workloads.py does so in PyTorch.
package workload

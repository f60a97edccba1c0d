// Package workload builds the training steps that Tapestry is timed on, from clustering
// and logistic regression to ResNet-18 and GPT-2, each with its batch, its starting
// values and the update of plain gradient descent; and some evaluations of arrays
// and their derivatives.
//
// Everything is filled by one small generator that any language can repeat (see
// [Uniform]), so that another framework can run the same step on the same numbers
// and be held to the same losses; bench/workloads.py does so in PyTorch, bench/cpp
// in C++.
package workload

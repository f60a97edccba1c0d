// Package augment changes images x[n h w c] at random as a part of the graph, anew in every run, so
// that training never sees an image twice.
//
// A plain name, such as [Rotate], changes images by given amounts: a scalar for all, or a number
// for each example, [n]. A name with Random draws the amount for each example, and leaves an
// example alone with probability 1 − p; strength and p are scalars of x's type:
//
//	x = augment.RandomFlip(x, p)
//	x = augment.RandomCrop(x, padding, p, 28, 28)
//
// [Mixup] and [CutMix] mix examples and their labels. All but posterising let the derivative
// through to x, and all give x itself with p = 0, so that evaluation feeds 0 to the same graph.
//
// As in package nn, mistakes are recorded in the graph, and the nodes are ordinary ones with the
// text form of package graph. No call panics.
package augment

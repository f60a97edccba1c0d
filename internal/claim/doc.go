// Package claim checks what docs/notes-map.md claims of the models. A claim is a line of text:
//
//	kmeans-softmax: α[i,j] = softmax(−γ·D, j)
//	kmeans-goofy: ∂loss/∂r̂[i,d] = 2/size(i)·(r̂ − x)
//	regression-ols by smoothed-momentum(0.1): v/w'[d] = 0.9·v/w + 0.1·∂loss/∂w
//	regression-minimum-norm by sgd(0.1) after 1000 steps on one batch with w=0: max(abs(w − pseudo-inverse/w⁺)) < 1e-9
//	resnet{depth=8} after 60 steps: loss < loss of resnet-plain{depth=8}
//	test TestMirrorPadding: a padding that mirrors continues the image by its reflection, pixel by pixel
//
// Before the colon stand a model of the registry with its settings and the conditions; after it one
// or more statements, joined by the word and. A statement is an equation, which holds element by
// element in float64, or a comparison of numbers. Both sides are expressions of package notation
// over the model's own quantities. In an equation whose left side is no quantity of the model, the
// name is defined for the statements after it.
//
// # Quantities
//
// A quantity has the name that the model gives it, with as many of its scopes as tell it apart:
// block1/attend/α. The objective is loss, the result output. ∂loss/∂r is the node that package grad
// derives, and r' the value of the leaf r after one step. Dots reach into a shape: y.c is the size of
// y's axis c. "parameters" is the number of scalars that training changes. A quantity of another model,
// under the same conditions, is followed by "of" and the model.
//
// A quantity without brackets has its own axes. In brackets stand the claim's own indices by place,
// as in mathematics: x[b,i+a−1,j,c] is a window, h[t−1] the state before, w[m,4h+e] a part of
// merged axes. Beyond the edge everything is 0. The size of an index is that of the axis where it
// stands alone, or is stated: h[b,4i+a:4,c] is the windows of four. at(i) is
// the number of the index itself. Indices of the claim need not be called as the axes of the model are.
//
// # Conditions
//
// Without any, parameters are drawn at random, states as positive numbers, and inputs as the model's
// task draws them.
//
//	by OPTIMISER(RATE)   the optimiser of the step, or of the training; with options:
//	                     sgd(0.1, clip-norm 1)
//	after N steps        training; after 0 steps is after initialisation
//	on one batch         the same examples in every step
//	with NAME=NUMBER     all elements of a leaf, at the beginning
//
// # What passes
//
// A claim passes if all its statements hold, and at least one is about a computed quantity. An
// equation whose sides are the same quantity, or whose left side is 0 everywhere, is refused: it
// would hold of a wrong model, too. Everything is evaluated by the definitions (package ref), and
// trained on the tape in float64.
//
// A test is claimed by its name and by a sentence with which its comment must end, word by word,
// after "Claim:" or after the name of the test and a colon. A test that may be skipped is refused.
package claim

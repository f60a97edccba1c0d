// Package train trains models: optimisers that are nodes of the graph,
// schedules, and the loop.
//
//	step := train.SGD(0.1).Minimize(loss, r)
//
// adds the gradient of the loss and the update of r to the graph and gives the
// update, which tape.Do puts on the tape. What one may want to vary while
// training, such as the learning rate, is a scalar input with a default.
package train

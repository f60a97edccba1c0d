// Package train trains models: optimisers that are nodes of the graph,
// schedules, the loop, and when to stop it.
//
//	step := train.SGD(0.1).Minimize(loss, r)
//
// adds the gradient of the loss and the update of r to the graph and gives the
// update, which tape.Do puts on the tape. What one may want to vary while
// training, such as the learning rate, is a scalar input with a default:
//
//	opt := train.Adam(1e-3, train.Betas(0.9, 0.98), train.ClipNorm(1), train.EMA(0.999))
//	loop := train.Loop{VM: vm, Steps: 300, Scheduled: map[*graph.Node]train.Schedule{
//		opt.Rate(g): train.Warmup(10, train.Cosine(1e-3, 290)),
//	}}
package train

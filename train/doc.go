// Package train trains models: it takes a model, data and a plan, and gives the trained
// parameters, with what happened on the way.
//
//	t := &train.Trainer{Build: mlp, Optimiser: train.Adam(1e-3, train.ClipNorm(1)), Seed: 1}
//	defer t.Close()
//	err := t.Fit(ctx, train.Plan{
//		Data:        data.Shuffled(fit, 64, 1),
//		Epochs:      30,
//		Rate:        train.Warmup(100, train.Cosine(1e-3, 740)),
//		Validate:    func(ctx context.Context) (metric.Scores, error) { return t.Evaluate(ctx, held, metric.Accuracy("y")) },
//		Patience:    5,
//		Checkpoints: train.Checkpoints{Dir: "run"},
//		Resume:      "run",
//		Observers:   []train.Observer{watch.Bar(os.Stderr)},
//	})
//	scores, err := t.Evaluate(ctx, test, metric.Accuracy("y"))
//
// A [Run] is one training, step by step; Fit is a Run with what a plan has besides: measurements,
// early stopping and checkpoints.
//
// A [Trainer] calls [Build] for each size of batch that comes, for training and for
// evaluating, compiles what it gives once, and runs all of it on one store. A [Plan] says
// how long, on what, and who looks on. Package train/data reads and batches, train/metric
// measures, train/checkpoint keeps, and train/watch shows.
//
// # Optimisers
//
// An [Optimiser] is no loop but a part of the graph: Minimize adds the gradient of the
// loss and the updates, which can be drawn, rewritten and run as everything else is.
//
//	step := train.SGD(0.1).Minimize(loss, r)
//
// tape.Do puts such updates on the tape, where there is no Trainer. What one may want to
// vary while training, such as the learning rate, is a scalar input with a default:
//
//	opt := train.Adam(1e-3, train.Betas(0.9, 0.98), train.ClipNorm(1), train.EMA(0.999))
//	run := train.Run{Trainer: t, Data: rows, Steps: 300, Rate: train.Warmup(10, train.Cosine(1e-3, 290))}
//
// [Accumulate] moves once in n runs, by the mean of their gradients, for batches that
// memory has no room for; a run that does not move takes no time for the optimiser but to
// add the gradients up. [EMA] keeps averages of the parameters, which [Trainer.Averages]
// evaluates and predicts with.
//
// # Checkpoints
//
// [Checkpoints] of a plan are written when they are due, at the end, and when training is
// interrupted: Ctrl-C, through its context, ends after the step under way. Resume goes on
// from the newest that is whole, and passes over damaged ones; with an empty folder it
// begins, so that a command can be given again until it is done. [Trainer.Load] takes a
// checkpoint to predict with.
//
// # Text forms
//
// Optimisers and schedules print what they are; [ParseSchedule] reads a schedule again:
//
//	adam(0.001, betas 0.9 0.98, clip-norm 1, ema 0.999)
//	warmup(100,cosine(0.001,740))
//
// An [Event] is what an [Observer] is told; a log of them, as watch.JSONLines writes it,
// is a line for each:
//
//	{"event":"stepped","step":1,"epoch":0,"batch":1,"loss":2.306,"rate":0.001}
//	{"event":"saved","step":28,"epoch":1,"batch":0,"path":"run/step-00000028.safetensors"}
//
// # Promises
//
//   - The same seed, data and plan give the same parameters, bit for bit, on any number
//     of workers, and whether training was resumed or never stopped.
//   - A step is done or not done: after an error parameters, states and the position in
//     the data are those before the step, and a checkpoint says so.
//   - A loss that is not finite commits nothing: Fit ends with a [*Diverged], which names
//     the first value that was not finite, its place in the program, and why.
//   - A checkpoint that cannot be written ends training with the error, and leaves those
//     before it good. One of another model is refused with a list of what differs, before
//     anything is changed.
//   - Observers change nothing that is trained; an error of one ends training.
//   - Once the programs for all sizes of batch are compiled, a step allocates nothing of
//     its own.
package train

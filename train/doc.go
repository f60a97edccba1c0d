// Package train trains models: it takes a model, data and a plan, and leaves the trained parameters
// in a store.
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
// A [Trainer] calls [Build] for each size of batch, once for training and once for evaluating,
// compiles the nets, and runs them on one store. A [Plan] says on which data, for how long, and
// what is measured, saved and reported. A [Run] is one training, step by step; Fit is a Run with
// the measurements, early stopping and checkpoints of a plan. Package train/data reads and batches
// data, train/metric has the metrics, train/checkpoint the files, and train/watch shows progress.
//
// # Optimisers
//
// An [Optimiser] is part of the graph: Minimize adds the gradient of the loss and the updates,
// which can be drawn, rewritten and run like everything else. Without a Trainer, tape.Do puts them
// on the tape.
//
//	step := train.SGD(0.1).Minimize(loss, r)
//
// What may vary during training, such as the learning rate, is a scalar input with a default, which
// a [Schedule] sets:
//
//	opt := train.Adam(1e-3, train.Betas(0.9, 0.98), train.ClipNorm(1), train.EMA(0.999))
//	run := train.Run{Trainer: t, Data: rows, Steps: 300, Rate: train.Warmup(10, train.Cosine(1e-3, 290))}
//
// [Custom] makes an optimiser of a rule of your own, and [LBFGS] evaluates the loss several times in a
// step to find its length.
//
// [Accumulate] makes one update from the gradients of several batches, where one large batch does
// not fit into memory. [EMA] keeps averages of the parameters, with which [Trainer.Averages]
// evaluates and predicts.
//
// # Checkpoints
//
// [Checkpoints] of a plan are written when they are due, at the end, and when training is
// interrupted: Ctrl-C, through the context, ends training after the step under way. Resume goes on
// from the newest checkpoint that is whole. [Trainer.Load] reads a checkpoint to predict with.
//
// # Ranks
//
// The ranks of a job, processes on one machine or many, train one model: each sets Trainer.Ranks and
// fits the same plan (package train/parallel; [Trainer.Lanes] shows a step, [Trainer.ProfileLanes] and
// [Trainer.TraceLanes] measure one).
//
//	ranks, err := parallel.Join(ctx, transport, parallel.Config{Lanes: 8})
//	t := &train.Trainer{Build: mlp, Optimiser: train.Adam(1e-3), Seed: 1, Ranks: ranks}
//
// The number of lanes counts as the seed does: a checkpoint goes on with any number of ranks, but
// not of lanes. What must be the same on all ranks is compared before the first step: the program,
// its machine's instruction set, model, optimiser, data, plan and values. All ranks observe the same
// events, and all get an error that one has, a [*RankError] or that of the transport.
//
// A step computes the loss and the gradients of each lane by itself, and sums these over the lanes,
// times the lane's part of the rows, before the optimiser sees them: clipping is that of the whole
// batch. So the loss has to be a mean over rows. One that adds up rows, or compares them with each
// other, as a contrastive one does, would be another objective: it is refused before the first step,
// where its value for rows that come twice shows it, unless [Trainer] has LaneLosses. Updates of the
// net's own that depend on the rows, such as running statistics, become means over the lanes;
// statistics of the
// whole batch within the loss are sums over lanes, ops.SumRanks. Each lane draws its own random
// numbers, the first those of a step without lanes. One lane computes what no lanes do, but for the
// rounding of the factors of a gradient, which are multiplied in before the optimiser's. Tables of which a
// step reads a few rows ([LazyAdam]) are updated alike, but at the cost of all rows.
//
// With [parallel.Config].Shard each rank keeps the optimiser's states of some parameters, updates
// these and sends them to the others: the same bits in less memory.
//
//   - Fit, Run.Do, Run.Step and Evaluate are called by all ranks, as are Validate of a plan and
//     [Averages.Evaluate].
//   - Predict, Look, Load, Prepare and a trainer of [Trainer.With] use no other rank.
//   - Engines of [Trainer.Engine] and [LBFGS] are refused.
//
// # Text forms
//
// Optimisers and schedules print as calls; [ParseSchedule] reads a schedule again:
//
//	adam(0.001, betas 0.9 0.98, clip-norm 1, ema 0.999)
//	warmup(100,cosine(0.001,740))
//
// Each [Observer] is told every [Event]; watch.JSONLines writes one line for each:
//
//	{"event":"stepped","step":1,"epoch":0,"batch":1,"loss":2.306,"rate":0.001}
//	{"event":"saved","step":28,"epoch":1,"batch":0,"path":"run/step-00000028.safetensors"}
//
// # Promises
//
//   - The same seed, data and plan give the same parameters, bit for bit, on any number of workers,
//     and whether training was resumed or never stopped.
//   - A step is done or not done: after an error parameters, states and the position in the data
//     are those before the step, and a checkpoint says so.
//   - A loss that is not finite commits nothing: Fit ends with a [*Diverged], which names the first
//     value that was not finite, its place in the program, and why. With Trainer.CheckUpdates it also
//     does where a new parameter or state is not. In lanes it names the lane, on all ranks alike.
//   - A checkpoint that cannot be written ends training with the error, and leaves those before it
//     intact. One of another model is refused with a list of the differences, before anything
//     changes.
//   - Observers do not change the training; an error of one ends it.
//   - Once the programs for all sizes of batch are compiled, a step allocates nothing of its own.
package train

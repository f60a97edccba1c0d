// Package watch shows the progress of a training and logs it.
//
// [Bar] and [JSONLines] return observers of [train.Trainer.Fit], and [ReadLog] and [Reader] read
// the log:
//
//	log := watch.JSONLines(file, watch.Timed())
//	err := t.Fit(ctx, train.Plan{…, Observers: []train.Observer{watch.Bar(os.Stderr), log}})
//
// The bar is one line of a terminal (here cut in two), redrawn at most ten times a second.
// Elsewhere a line is printed for each measurement:
//
//	epoch 12 of 30 ━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌ 332 of 840, 116 steps/s, 0:04 left, loss 0.09213;
//	measured: loss 0.1861, accuracy 0.9444
//
//	step 308, after 11 epochs: loss 0.1861, accuracy 0.9444
//
// The text form of a log is JSON lines, an object for each event. The kind of event determines its
// keys and their order:
//
//	{"event":"begun","version":1,"step":0,"epoch":0,"batch":0,"steps":840,"epochs":30}
//	{"event":"stepped","step":1,"epoch":0,"batch":1,"loss":2.306,"rate":0.001}
//	{"event":"validated","step":28,"epoch":1,"batch":0,"scores":{"loss":0.4141,"accuracy":0.8861}}
//	{"event":"saved","step":28,"epoch":1,"batch":0,"path":"run/step-00000028.safetensors"}
//	{"event":"ended","step":840,"epoch":30,"batch":0}
//
// steps and epochs are 0 if there is no limit, epoch and batch are the next position in the data,
// and loss and rate (the learning rate) are those of the step. If training resumes from a
// checkpoint, the first line also has its "path", and an "error" if newer checkpoints are damaged
// and were skipped. The last line has an "error" if training ended with one. With [Timed] each line
// has "time", in UTC, and the first has "about" with [About], "folder" with [In]
// and "settings" with [With]. Numbers that JSON lacks are the strings "NaN", "+Inf" and "-Inf". Readers
// skip keys that they do not know.
//
// Promises:
//
//   - Without Timed, equal runs give equal logs, byte for byte.
//   - A log is written in whole lines, at most a fifth of a second after a step unless the next
//     step takes longer, so that a [Reader] can follow it. A resumed run may be appended, even to
//     half a line: the lines after "begun" at a step replace what was logged beyond that step.
//   - An event for which nothing is written or drawn allocates nothing.
//   - Neither observer changes the results of training.
package watch

// Package watch looks on while a model is trained: a progress bar, and a log.
//
// It takes the events of [train.Trainer.Fit], whose observers [Bar] and [JSONLines] give,
// and gives a line of text for those who wait, and records for those who come later:
//
//	log := watch.JSONLines(file, watch.Timed())
//	err := t.Fit(ctx, train.Plan{…, Observers: []train.Observer{watch.Bar(os.Stderr), log}})
//
// The bar is one line of a terminal, redrawn at most ten times a second; elsewhere a
// line is printed for each measurement:
//
//	epoch 12 of 30 ━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌ 332 of 840, 116 steps/s, 0:04 left, loss 0.09213; measured: loss 0.1861, accuracy 0.9444
//	step 308, after 11 epochs: loss 0.1861, accuracy 0.9444
//
// The text form of a log is JSON lines, an object for each event, with the keys that its
// kind has, in this order:
//
//	{"event":"begun","version":1,"step":0,"epoch":0,"batch":0,"steps":840,"epochs":30}
//	{"event":"stepped","step":1,"epoch":0,"batch":1,"loss":2.306,"rate":0.001}
//	{"event":"validated","step":28,"epoch":1,"batch":0,"scores":{"loss":0.4141,"accuracy":0.8861}}
//	{"event":"saved","step":28,"epoch":1,"batch":0,"path":"run/step-00000028.safetensors"}
//	{"event":"ended","step":840,"epoch":30,"batch":0}
//
// steps and epochs are 0 where there is no limit, epoch and batch are those that come
// next, loss and rate those of the step. Where training goes on from a checkpoint the
// first line has its "path" besides, and an "error" if newer ones are damaged and were
// passed over; the last has "error" if training ended in one. With [Timed] each has "time", in UTC. Numbers that JSON lacks are the
// strings "NaN", "+Inf" and "-Inf". Readers pass over keys they do not know.
//
// What it promises:
//
//   - Without Timed, equal runs give equal logs, byte for byte.
//   - A log is written in whole lines, and never later than a fifth of a second after a
//     step unless the next step takes longer, so that a [Reader] can follow it. A run that
//     was resumed may be appended, also to half a line: what follows "begun" at a step
//     replaces what was logged beyond that step.
//   - Where nothing is written or drawn, an event allocates nothing.
//   - Neither observer changes what is trained.
package watch

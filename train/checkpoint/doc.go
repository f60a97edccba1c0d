// Package checkpoint writes down where a training stands, and reads it back.
//
// It takes a [State]: a store with seed, step and runs, the position in the data, what the
// model is, how far validation has come, and texts of the user's. It gives a file from
// which the training goes on as if it had never stopped, bit for bit. package train
// writes and reads them while it fits; here is what is done without it:
//
//	s, err := checkpoint.Load("runs/gpt/best.safetensors")
//	vm, err := prog.NewVM(s.Store)                           // to predict
//	paths, err := checkpoint.LoadPart(file, store, "encoder", "features") // to learn from it
//
// # The file
//
// A checkpoint is a safetensors file, which Python's safetensors reads, too: every
// parameter and state of the store is a tensor under its path. The metadata are:
//
//	format       tapestry.checkpoint
//	version      1
//	model        the name of the training graph
//	rows         of the batch that the fingerprint is of
//	fingerprint  SHA-256 of what the training graph computes, in hexadecimal digits
//	leaves       its parameters and states: [{"path":"fc/w","role":"param","type":"f32[d=3 h=2]"}]
//	seed, step   of the store; all random draws follow from them and from
//	runs         since that step, those that drew without an update (tape.Store.Runs); 0 where it is missing
//	epoch, batch the position of the next batch
//	batches      in an epoch of the data, 0 where it is not known
//	data         shuffled(1437 rows, batches of 64, seed 3): what the batches depend on, where it is known
//	validation   {"step":40,"best":"0.125","at":30,"waiting":1}, where there is validation
//	meta.NAME    texts: those of the user, and the nets that predict, of train.Trainer; see package infer
//
// and safetensors' checksum. Version 1 is the only one so far; a later one is refused. (It has had
// the runs since before the first release; a file without them is one in which they are 0.)
//
// # The folder
//
// A [Folder] holds the checkpoints of one training:
//
//	runs/gpt/step-00001000.safetensors
//	runs/gpt/step-00002000.safetensors
//	runs/gpt/best.safetensors          the step that validation liked best
//
// The newest are kept, older ones deleted. best.safetensors is a checkpoint like the
// others, so the newest file always knows the best one that is there: either it was
// written after it, or it is it. One training at a time writes to a folder: it holds it
// while it trains, and another is refused with [ErrBusy], where the system has flock. A
// killed process holds nothing, and whoever reads need not wait.
//
// # Promises
//
// A file appears whole or not at all: it is written beside its place, brought to the
// disk, and renamed; the folder is brought to the disk after it. What a killed process
// leaves is removed when the folder is next opened. When a write fails, for want of
// space or of permission, what was there before stays good and nothing else is left.
// A file that was cut off or of which any bit was changed is an error in whose chain is
// safetensors.ErrFormat or safetensors.ErrChecksum, and [Folder.Latest] passes it over.
// A checkpoint of another model is a [*Mismatch], one of another objective over the same
// parameters, or of data in another order, a [*Changed].
package checkpoint

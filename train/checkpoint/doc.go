// Package checkpoint saves the state of a training to a file and loads it again.
//
// A [State] holds the store with its seed, step and runs, the position in the data, the identity of
// the model, the progress of validation, and texts of the user. From its file, training goes on as
// if it had never stopped, bit for bit. Package train saves and loads checkpoints while it fits.
// Without it:
//
//	s, err := checkpoint.Load("runs/gpt/best.safetensors")
//	vm, err := prog.NewVM(s.Store)                           // to predict
//	paths, err := checkpoint.LoadPart(file, store, "encoder", "features") // to learn from it
//
// # The file
//
// A checkpoint is a safetensors file, which Python's safetensors reads too. Every parameter and
// state of the store is a tensor, named by its path. The metadata are:
//
//	format       tapestry.checkpoint
//	version      1
//	model        the name of the training graph
//	rows         of a batch of the training graph
//	sizes        of that batch besides, such as the length of its sequences; default none
//	lanes        into which that batch is cut (package train/parallel); default none
//	fingerprint  SHA-256 of what the training graph computes, in hexadecimal digits
//	leaves       its parameters and states: [{"path":"fc/w","role":"param","type":"f32[d=3 h=2]"}]
//	seed, step   of the store; with runs they determine all random draws
//	runs         since that step that drew without an update (tape.Store.Runs); default 0
//	epoch, batch the position of the next batch
//	batches      in an epoch of the data; 0 if unknown
//	data         what the batches depend on: shuffled(1437 rows, batches of 64, seed 3)
//	validation   {"step":40,"best":"0.125","at":30,"waiting":1}, if there is validation
//	meta.NAME    texts of the user, and train.Trainer's nets that predict (see package infer)
//
// and safetensors' checksum. Version 1 is the only one so far; later ones are refused.
//
// # Ranks
//
// A checkpoint of a training on several ranks has all that they have, and does not tell how many
// there were, nor that each kept the optimiser's states of its own part alone: another number of
// ranks goes on from it. The number of lanes decides the bits, so another one is a [*Changed].
//
// # The folder
//
// A [Folder] holds the checkpoints of one training:
//
//	runs/gpt/step-00001000.safetensors
//	runs/gpt/step-00002000.safetensors
//	runs/gpt/best.safetensors          the best step by validation
//
// The newest are kept and older ones deleted. best.safetensors is a checkpoint like the others, so
// the newest file always knows the best value: it was written after best.safetensors, or is that
// file. Only one training at a time may write to a folder: it locks the folder, and another gets
// [ErrBusy], on systems that have flock. A killed process leaves no lock, and reading needs none.
//
// # Promises
//
// A file appears whole or not at all: it is written under another name, synced, and renamed, and
// then its folder is synced. Files that a killed process leaves unfinished are removed when the
// folder is next opened. If a write fails, for lack of space or permission, the files that were
// there stay intact and nothing else is left. A file that was cut off, or of which any bit was
// changed, is an error that wraps safetensors.ErrFormat or safetensors.ErrChecksum, and
// [Folder.Latest] skips it. A checkpoint of another model is a [*Mismatch]; one of another
// objective over the same parameters, or of data in another order, is a [*Changed].
package checkpoint

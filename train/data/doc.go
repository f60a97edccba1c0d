// Package data reads tables, arrays, texts and networks and prepares them for training.
//
// Each kind of file has a function that reads an io.Reader and one that opens a path:
//
//	file                                   reader                  gives                              writer
//	comma-separated text                   Open, ReadCSV           *Table: float64 features, labels   WriteCSV
//	NumPy .npy                             OpenNPY, ReadNPY        *tensor.Dense                      WriteNPY
//	NumPy .npz                             OpenNPZ, ReadNPZ        *NPZ: a *tensor.Dense by name      NPZWriter
//	IDX (MNIST)                            OpenIDX, ReadIDX        *tensor.Dense                      WriteIDX
//	text in UTF-8                          OpenText, ReadText      string, for a Tokeniser            –
//	edge list, commas or white space       OpenEdges, ReadEdges    *Network                           WriteEdges
//
// A file that gzip has compressed is read as what it holds, but for archives and where its
// rows are wanted in any order (OpenCSV, OpenRecords).
//
// Built in are Iris, Digits and Wine (Builtin by name), Karate and Constitution; Clusters
// is a recipe for points.
//
// A Table holds features in row-major order, a column of labels or columns of [Targets] or
// neither, and the line of the file that each row came from. Cells that [Missing] names are
// NaN, until FillMean, FillMedian, Fill or DropMissing; Table.Dense turns the features into
// a *tensor.Dense, Table.Set gives them with the labels' codes or the targets, and
// Table.Take parts features from each other. Arrays come in the types that a graph has:
// float32, float64, int32, int64 and bool; Set.Floats makes floats of them. A Tokeniser
// splits a text into characters or words and gives a Vocabulary, which stands for them by
// codes; it is kept as JSON. A Network gives the adjacency or the edges that graph networks
// take. Around these stand what a training loop needs: Standardise, Centre and Scale, the
// shuffled Order of an epoch, Batches, Codes for labels, and ARI to compare two clusterings.
//
// What a model is trained on comes from a Source, batch by batch, which is made in steps:
//
//	Dataset   rows in any order    *Set in memory, *CSVFile and *Records on disk (OpenCSV, OpenRecords), Where of one
//	Source    rows in some order   Shuffled, InOrder; DropLast, Window
//	          made anew            Drawn; Windows of a text
//	Map       changed at random    RandomFlip, RandomShift, RandomCutout, Noise, Standardiser.Change
//	Prefetch  made ahead           on another goroutine
//
// A Set is split by Split, RandomSplit, StratifiedSplit and Folds, any data set by Where; a
// Standardiser is fitted on one part and applied to the others. Where a Source stands is a Position, such as epoch
// 3, batch 17: with its arguments it is all that a source depends on, so that a training
// that is taken up there goes on as if it had not been left.
//
// Promises: a file is read whole or not at all; every complaint about a file is an
// *Error, one line long, that names file, line or byte, and column; memory is bounded
// by limits (MaxBytes, MaxCells, MaxLine) that are checked while reading, and what a
// header claims is believed only as far as the file bears it out; the same seed gives the
// same order, batches and points, wherever rows lie and however far is read ahead. A Source
// that has found its arrays allocates nothing for a batch, but for what parsing CSV takes.
package data

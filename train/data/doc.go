// Package data reads tables, prepares them, and gives what a model is trained on, batch by batch.
//
// These packages read files. Each kind has a function that reads an io.Reader and one that opens a
// path:
//
//	file                   read by                   as                 written by
//	comma-separated text   Open, ReadCSV             *Table             WriteCSV
//	NumPy .npy             array.OpenNPY, ReadNPY    *tensor.Dense      array.WriteNPY
//	NumPy .npz             array.OpenNPZ, ReadNPZ    *array.NPZ         array.NPZWriter
//	IDX (MNIST)            array.OpenIDX, ReadIDX    *tensor.Dense      array.WriteIDX
//	text in UTF-8          text.Open, Read           string             –
//	edge list              edges.Open, Read          *edges.Network     edges.Write
//	any of these           columns.Open              *columns.Columns   –
//
// Files that gzip has compressed are unpacked, except archives and files whose rows are read in any
// order (OpenCSV, OpenRecords). Iris, Digits and Wine are built in; Clusters draws points.
//
// A Table holds features in row-major order, and labels, or [Targets], or neither. Cells that
// [Missing] names are NaN until FillMean, FillMedian, Fill or DropMissing. Table.Dense turns the
// features into a tensor, Table.Set adds the codes of the labels, or the targets.
//
// A Source gives one batch after the other. It is made in steps:
//
//	Dataset   rows in any order    *Set in memory, *CSVFile and *Records on disk, Where of one
//	Source    rows in some order   Shuffled, InOrder; DropLast, Window
//	          drawn anew           Drawn; Windows of the codes of a text
//	Map       changed at random    Noise, ReplaceNaN, Standardiser.Change, a function of your own
//	Prefetch  made ahead           on another goroutine
//	Share     a part of each       for programs that train together
//
// Split, RandomSplit, StratifiedSplit and Folds split a Set, and Where splits any data set; a
// Standardiser is fitted on one part and applied to the others. A Source stands at a Position, such
// as epoch 3, batch 17, and gives the same batches whenever it is put there: a training that is
// resumed needs nothing else of its data.
//
// Promises: a file is read whole or not at all. Every error about a file is an *Error, one line
// that names file, line or byte, and column. Limits (MaxBytes, MaxCells, MaxLine) are checked while
// reading, and a header is believed only as far as the length of the file bears it out. The same
// seed gives the same order, batches and points, wherever rows lie and however far is read ahead.
// Once its arrays exist, a Source allocates nothing for a batch, except for parsing CSV.
package data

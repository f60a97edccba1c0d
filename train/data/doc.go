// Package data reads tables of numbers and prepares them for training.
//
// It takes comma-separated text (ReadCSV, Open), the data sets that are built
// in (Iris, Digits, Wine, Builtin) or a recipe for points (Clusters), and gives
// a Table: features as float64 in row-major order, at most one column of
// labels, and the line of the file that each row came from. Table.Dense turns
// the features into a *tensor.Dense. Around it stand what a training loop
// needs: Standardise, Centre and Scale, the shuffled Order of an epoch,
// Batches, Codes for labels, and ARI to compare two clusterings.
//
// Promises: a table is read whole or not at all; every complaint about a file
// is an *Error, one line long, that names file, line and column; memory is
// bounded by limits that are checked while reading; the same seed gives the
// same order and the same points. Nothing here keeps state between calls.
package data

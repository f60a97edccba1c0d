// Package edges reads and writes networks as lists of edges:
//
//	friends, err := edges.Open("friends.csv")
//	a, err := friends.Adjacency(tensor.Float32)
//
// A [Network] gives the adjacency matrix or the arcs that the layers of package nn/graphnet take.
// [Karate] is built in.
//
// Beside the options of this package, readers take Header, Delimiter, Comment, Ignore, MaxLine,
// MaxBytes and MaxCells of package data. Every error about a file is an *Error of package data,
// which names the file, line and column.
package edges

// Package columns reads a file of any kind by column, before it is decided which input of a model
// reads which column:
//
//	c, err := columns.Open("houses.csv")
//	fmt.Print(c)
//
// A table gives a column of numbers or of classes for each of its own; an archive of arrays, one
// for each array; a text, its characters and those that follow them; a network, its adjacency.
// Package fit binds them to the inputs of a model.
//
// Every error about a file is an *Error of package data, which names the file, line and column.
package columns

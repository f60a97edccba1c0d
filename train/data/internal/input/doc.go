// Package input is what the readers of train/data share: options, files opened and unpacked, limits
// that hold while reading, rows of delimited text and what their columns are, bytes of binary
// files, and errors that are located.
package input

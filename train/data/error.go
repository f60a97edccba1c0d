package data

import "github.com/tapestry-ml/tapestry/train/data/internal/input"

// Error is a mistake in a file or in what was read from it, located as far as it can be. Its text
// is one line:
//
//	iris.csv:17: column "petal_length": "abc" is not a number
//	digits.npy: byte 128: the file ends after 3 of 10 elements
//
// Its fields are File, as given to the reader; Line, counted from 1, and Offset, a byte counted
// from 0 after decompression, both 0 where they are unknown; Column, a name or ""; Msg; Err, the
// cause, which Unwrap returns; and Missing, which is true where a value seems to be missing, so
// that the text recommends the option [Missing]. A program that offers another way may clear it.
type Error = input.Error

// Option changes how a file is read. Each reader says which options it takes and refuses the
// others. Options of its own has package edges.
type Option = input.Option

// Package text reads texts and turns them into codes:
//
//	all, err := text.Open("novel.txt")
//	v, err := text.Tokeniser{Words: true, MinCount: 2, Unknown: "?"}.Vocabulary(all)
//	codes, err := v.Encode(all)
//
// A [Tokeniser] splits a text into characters or words and gives a [Vocabulary], which numbers them
// and is kept as JSON. Windows and Consecutive of package data cut codes into examples for a
// language model. [Constitution] is built in.
//
// The option MaxBytes of package data limits what is read. Every error about a text is an *Error of
// package data, which names the file, line and byte.
package text

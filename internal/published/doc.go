// Package published compares files of interop/safetensors with those of another
// implementation, github.com/nlpodyssey/safetensors, which follows the published one.
//
// It holds tests alone, in a module of its own, so that Tapestry itself needs none of
// what they import.
package published

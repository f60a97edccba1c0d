// Package array reads and writes arrays of numbers: NumPy's .npy and .npz, and IDX, the format of
// MNIST.
//
//	x, err := array.OpenNPY("x.npy")
//
// Arrays become tensors of the types that a graph has: float32, float64, int32, int64 and bool.
// Package data puts them into a Set ([github.com/tapestry-ml/tapestry/train/data.NewSet]) and reads
// rows of files that are larger than memory.
//
// The options MaxBytes and MaxCells of package data limit what is read. A file is read whole or not
// at all, a header is believed only as far as the length of the file bears it out, and every error
// about a file is an *Error of package data, which names the file and the byte.
package array

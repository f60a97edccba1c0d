// Package parity compares operations with what PyTorch, NumPy and SciPy compute: values, first and
// second derivatives, each for random shapes. It has tests alone. The reference values are in
// testdata, one file for each family of operations; make.py, which says what they hold, writes them
// from the calls in FAMILY.py, and FAMILY_test.go has the same calls in Go.
package parity

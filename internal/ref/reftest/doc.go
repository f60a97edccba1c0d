// Package reftest lets tests run one graph twice, on the tape and by the
// reference, and compare: it takes nodes and the values of the leaves, and gives
// values in float64 either way.
package reftest

package data

import (
	"iter"
	"math/rand/v2"
)

// Order returns the order in which an epoch visits n rows: a permutation of
// 0 … n−1 that depends on seed, epoch and n alone. It is empty for n < 1.
func Order(seed uint64, epoch, n int) []int {
	return newRand(seed, uint64(epoch)).Perm(max(n, 0))
}

// Batches yields the index ranges [lo, hi) that cut n rows into batches of size;
// the last may be shorter. A size below 1 means one batch of everything.
//
//	for lo, hi := range data.Batches(n, 32) { rows := order[lo:hi]; … }
func Batches(n, size int) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		if size < 1 || size > n {
			size = n
		}
		for lo := 0; lo < n; {
			hi := lo + min(size, n-lo)
			if !yield(lo, hi) {
				return
			}
			lo = hi
		}
	}
}

// newRand returns the generator of one stream of a seed. Both are mixed first,
// since generators whose states are close by run in step.
func newRand(seed, stream uint64) *rand.Rand {
	s := mix(seed)
	return rand.New(rand.NewPCG(s, mix(s^mix(stream))))
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

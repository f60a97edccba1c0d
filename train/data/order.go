package data

import (
	"iter"
	"math/rand/v2"
)

// Order returns the order in which an epoch visits n rows: a permutation of
// 0 … n−1 that depends on seed, epoch and n alone. It is empty for n < 1.
func Order(seed uint64, epoch, n int) []int {
	order := make([]int, max(n, 0))
	shuffle(order, newDraws().at(seed, uint64(epoch)))
	return order
}

// identity is 0 … n−1.
func identity(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// shuffle fills p with a permutation of its indices, that of rand.Perm.
func shuffle(p []int, rng *rand.Rand) {
	for i := range p {
		p[i] = i
	}
	rng.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
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

// draws is a generator that is set to one stream of a seed after the other without
// allocating.
type draws struct {
	pcg rand.PCG
	rng *rand.Rand
}

func newDraws() *draws {
	d := new(draws)
	d.rng = rand.New(&d.pcg)
	return d
}

// at returns the generator at the beginning of a stream of a seed. Both are mixed
// first, since generators whose states are close by run in step.
func (d *draws) at(seed, stream uint64) *rand.Rand {
	s := mix(seed)
	d.pcg.Seed(s, mix(s^mix(stream)))
	return d.rng
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

package data

import "math/rand/v2"

// Order returns the order in which an epoch visits n rows: a permutation of 0 … n−1 that depends on
// seed, epoch and n only. It is empty for n < 1.
func Order(seed uint64, epoch, n int) []int {
	order := make([]int, max(n, 0))
	shuffle(order, newDraws().at(seed, uint64(epoch)))
	return order
}

// identity returns 0 … n−1.
func identity(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// shuffle fills p with a random permutation of its indices, the same as rand.Perm.
func shuffle(p []int, rng *rand.Rand) {
	for i := range p {
		p[i] = i
	}
	rng.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
}

// draws is a generator that can be set to any stream of any seed without allocating.
type draws struct {
	pcg rand.PCG
	rng *rand.Rand
}

func newDraws() *draws {
	d := new(draws)
	d.rng = rand.New(&d.pcg)
	return d
}

// at returns the generator at the beginning of a stream of a seed. Both are mixed first, because
// generators with similar states are correlated.
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

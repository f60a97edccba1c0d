package parallel

import "math/bits"

// step is one exchange with a peer, of runs of bytes of a vector.
type step struct {
	peer       int
	send, recv []span
}

// whole reports whether the lanes of each rank are a subtree.
func (r *Ranks) whole() bool {
	own := r.Lanes() / r.Count()
	return own&(own-1) == 0
}

// groups returns how the ranks are grouped for sums: g groups of 1<<k ranks whose lanes are a
// subtree. Where those of a rank are none, each rank is a group.
func (r *Ranks) groups() (k, g int) {
	if r.whole() {
		k = bits.TrailingZeros(uint(r.Count()))
	}
	return k, r.Count() >> k
}

// partners returns in which order one of n meets all others, −1 where it waits: in each round, each
// is with one other at most. (It is the circle method of a round-robin tournament.)
func partners(n, i int) []int {
	m := n - 1 + n%2 // all but the last, if they are even
	var list []int
	for t := range m {
		switch peer := (t - i%m + m) % m; {
		case i == m: // the last meets who would meet itself
			list = append(list, t*(m+1)/2%m)
		case peer != i:
			list = append(list, peer)
		case m < n:
			list = append(list, m)
		default:
			list = append(list, -1)
		}
	}
	return list
}

// meetings returns the steps between the groups: the rank meets those of the other groups that have
// its place in theirs.
func (r *Ranks) meetings(step func(peer int)) {
	k, g := r.groups()
	place := r.Rank() & (1<<k - 1)
	for _, group := range partners(g, r.Rank()>>k) {
		if group >= 0 {
			step(group<<k | place)
		}
	}
}

// class returns the runs of all ranks whose numbers agree with rank in the lowest k bits.
func class(runs [][]span, rank, k int) []span {
	var list []span
	for q := rank & (1<<k - 1); q < len(runs); q += 1 << k {
		list = append(list, runs[q]...)
	}
	return tidy(list)
}

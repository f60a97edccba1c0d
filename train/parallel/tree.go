package parallel

import "math/bits"

// split returns the number of lanes in the left part of the tree over n lanes, n > 1: the largest
// power of two below n.
func split(n int) int { return 1 << (bits.Len(uint(n-1)) - 1) }

// span is a run [from,to) of lanes, ranks, or bytes.
type span struct{ from, to int }

func (s span) size() int { return s.to - s.from }

// subtrees appends the largest subtrees of the tree over all that lie within some lanes, in order.
func subtrees(list []span, all, within span) []span {
	switch {
	case all.to <= within.from || within.to <= all.from:
		return list
	case within.from <= all.from && all.to <= within.to:
		return append(list, all)
	}
	mid := all.from + split(all.size())
	list = subtrees(list, span{all.from, mid}, within)
	return subtrees(list, span{mid, all.to}, within)
}

// pair is one addition of a fold: the sum of two terms takes the place of the left one.
type pair struct{ left, right int }

// fold returns the additions that sum up the terms of a tree, given as its subtrees from left to
// right, and leave the sum in the first.
func fold(terms []span) []pair {
	var list []pair
	at := 0
	var sum func(all span) int
	sum = func(all span) int {
		if terms[at] == all {
			at++
			return at - 1
		}
		mid := all.from + split(all.size())
		left := sum(span{all.from, mid})
		right := sum(span{mid, all.to})
		list = append(list, pair{left, right})
		return left
	}
	sum(span{terms[0].from, terms[len(terms)-1].to})
	return list
}

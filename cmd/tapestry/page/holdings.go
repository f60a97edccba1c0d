package page

import (
	"cmp"
	"slices"

	"github.com/tapestry-ml/tapestry/tape"
)

// holding is an instruction's share of the arena, in bytes.
type holding struct {
	held    int // its result, and the memory of a loop's steps
	counted int // the part of held that no larger holding uses at another time
	scratch int // a block in a worker's scratch
}

// holdings returns the holding of each instruction. Every byte of the arena in use is counted once,
// for the largest instruction that holds it.
func holdings(rows []tape.Row) []holding {
	out := make([]holding, len(rows))
	type place struct{ row, lo, hi int }
	var places []place
	add := func(row, offset, bytes int) {
		if bytes > 0 {
			out[row].held += bytes
			places = append(places, place{row, offset, offset + bytes})
		}
	}
	for i, r := range rows {
		switch {
		case r.Scratch:
			out[i].scratch = r.Bytes
		case !r.Stored:
			add(i, r.Offset, r.Bytes)
		}
		if r.Body != nil {
			add(i, r.Work, r.Body.Arena())
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(b.hi-b.lo, a.hi-a.lo) })
	var taken spans
	for _, p := range places {
		out[p.row].counted += taken.take(p.lo, p.hi)
	}
	return out
}

// spans is a list of disjoint ranges of bytes, in order.
type spans [][2]int

// take adds a range and returns how many of its bytes are new.
func (s *spans) take(lo, hi int) int {
	first, _ := slices.BinarySearchFunc(*s, lo, func(x [2]int, at int) int { return cmp.Compare(x[1], at) })
	fresh, end := hi-lo, first
	from, to := lo, hi
	for ; end < len(*s) && (*s)[end][0] <= hi; end++ {
		x := (*s)[end]
		fresh -= max(0, min(hi, x[1])-max(lo, x[0]))
		from, to = min(from, x[0]), max(to, x[1])
	}
	*s = slices.Replace(*s, first, end, [2]int{from, to})
	return fresh
}

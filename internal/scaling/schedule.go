package scaling

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/tapestry-ml/tapestry/internal/spelling"
)

// Exchange is a message between two ranks each way. Either may have no bytes.
type Exchange struct {
	A, B        int
	There, Back float64 // bytes from A to B, and from B to A
}

// Phase is what ranks do at one time: exchanges, and then additions of what they received.
type Phase struct {
	Exchanges []Exchange
	Adds      bool    // ranks add what they receive to their own
	Add       float64 // bytes that all ranks add, where there are no exchanges
	Times     int     // how often the phase is repeated; 1 for 0
}

// Schedule makes the phases of a sum over ranks, each of which has some lanes, of so many bytes. The
// exchanges of a phase are valid until the next one.
type Schedule struct {
	Name   string
	What   string // in a line, for people
	Phases func(ranks, lanes int, bytes float64) iter.Seq[Phase]
	// Shards makes those of a step in which each rank gets a part of the sum, of so many bytes by rank,
	// and sends as many of parameters to all others. It is nil where no rank has a part of the sum before
	// all have it.
	Shards func(lanes int, parts []float64) iter.Seq[Phase]
}

var schedules = []Schedule{
	{"tree", "that of train/parallel: recursive halving and doubling, and pairwise exchange where the ranks are no power of two", tree, treeShards},
	{"ring", "reduce-scatter and all-gather around a ring", ring, ringShards},
	{"doubling", "recursive doubling of whole vectors, in few messages", doubling, nil},
	{"mpi", "MPI's choice by the size: recursive doubling up to 2 KiB, then Rabenseifner's algorithm", mpi, nil},
}

// Schedules lists the names of the schedules.
func Schedules() []string {
	out := make([]string, len(schedules))
	for i, s := range schedules {
		out[i] = s.Name
	}
	return out
}

// ScheduleOf returns the schedule called name. The error for a name that none has suggests the
// nearest.
func ScheduleOf(name string) (Schedule, error) {
	for _, s := range schedules {
		if s.Name == name {
			return s, nil
		}
	}
	return Schedule{}, fmt.Errorf("unknown schedule %q: did you mean %q?", name, spelling.Nearest(name, Schedules()))
}

func powerOfTwo(n int) bool { return n&(n-1) == 0 }

// halving yields the phases in which ranks, in groups of so many, a power of two, halve what they are
// responsible for and add it up, the nearest ranks first.
func halving(ranks, group int, bytes float64, yield func(Phase) bool) bool {
	for d := 1; d < group; d *= 2 {
		bytes /= 2
		if !yield(Phase{Exchanges: apart(ranks, d, bytes), Adds: true}) {
			return false
		}
	}
	return true
}

// gathering yields the phases of halving backwards, without additions: bytes are those of a group.
func gathering(ranks, group int, bytes float64, yield func(Phase) bool) bool {
	part := bytes / float64(group)
	for d := group / 2; d >= 1; d /= 2 {
		if !yield(Phase{Exchanges: apart(ranks, d, part)}) {
			return false
		}
		part *= 2
	}
	return true
}

// whole yields the phases in which all ranks of each group exchange all they have.
func whole(ranks, group int, bytes float64, yield func(Phase) bool) bool {
	for d := 1; d < group; d *= 2 {
		if !yield(Phase{Exchanges: apart(ranks, d, bytes), Adds: true}) {
			return false
		}
	}
	return true
}

// apart returns the exchanges between all ranks whose numbers differ in the bit d.
func apart(ranks, d int, bytes float64) []Exchange {
	list := make([]Exchange, 0, ranks/2)
	for r := range ranks {
		if r&d == 0 && r|d < ranks {
			list = append(list, Exchange{r, r | d, bytes, bytes})
		}
	}
	return list
}

// small is the number of bytes up to which ranks send whole terms in half the exchanges; see
// parallel.Bucket.Sum.
const small = 64 << 10

// grouped returns how many ranks a group of the tree has, and of how many terms the lanes of a group's
// rank consist, by group.
func grouped(ranks, lanes int) (group int, terms []float64) {
	group = 1
	if powerOfTwo(lanes) {
		group = ranks & -ranks
	}
	terms = make([]float64, ranks/group)
	for g := range terms {
		terms[g] = 1
		if !powerOfTwo(lanes) {
			terms[g] = float64(subtrees(ranks*lanes, g*lanes, (g+1)*lanes))
		}
	}
	return group, terms
}

// tree is the schedule of package train/parallel: recursive halving within groups of 2ᵏ ranks, pairwise
// exchange between the groups, and both backwards.
func tree(ranks, lanes int, bytes float64) iter.Seq[Phase] {
	group, terms := grouped(ranks, lanes)
	groups := len(terms)
	messages := bits.Len(uint(group)) - 1 + groups - 1
	return func(yield func(Phase) bool) {
		if slices.Max(terms)*float64(messages)*bytes <= small {
			if whole(ranks, group, bytes, yield) {
				between(group, terms, bytes, yield)
			}
			return
		}
		part := bytes / float64(ranks)
		if !halving(ranks, group, bytes, yield) || !between(group, terms, part, yield) {
			return
		}
		for round := range rounds(groups) {
			same := func(int, int) float64 { return part }
			if !yield(Phase{Exchanges: opponents(groups, group, round, same)}) {
				return
			}
		}
		gathering(ranks, group, part*float64(ranks), yield)
	}
}

// treeShards is the tree for parts that differ, as parallel.Bucket.ReduceScatter and AllGather go. What
// all ranks get besides, the loss, is a message of a few bytes.
func treeShards(lanes int, parts []float64) iter.Seq[Phase] {
	ranks := len(parts)
	group, terms := grouped(ranks, lanes)
	// class returns the bytes of the ranks that agree with one in their numbers below d.
	class := func(rank, d int) (sum float64) {
		for q := rank % d; q < ranks; q += d {
			sum += parts[q]
		}
		return sum
	}
	pairs := func(d int, send func(from, to int) float64) Phase {
		list := apart(ranks, d, 0)
		for i, e := range list {
			list[i].There, list[i].Back = send(e.A, e.B), send(e.B, e.A)
		}
		return Phase{Exchanges: list}
	}
	return func(yield func(Phase) bool) {
		for d := 1; d < group; d *= 2 {
			p := pairs(d, func(_, to int) float64 { return class(to, 2*d) })
			if p.Adds = true; !yield(p) {
				return
			}
		}
		for round := range rounds(len(terms)) {
			send := func(from, to int) float64 { return terms[from/group] * parts[to] }
			if !yield(Phase{Exchanges: opponents(len(terms), group, round, send)}) {
				return
			}
		}
		if !yield(Phase{Add: folding(terms) * slices.Max(parts)}) {
			return
		}
		gather := func(between func(from, to int) float64, within func(d, from int) float64) bool {
			for round := range rounds(len(terms)) {
				if !yield(Phase{Exchanges: opponents(len(terms), group, round, between)}) {
					return false
				}
			}
			for d := group / 2; d >= 1; d /= 2 {
				if !yield(pairs(d, func(from, _ int) float64 { return within(d, from) })) {
					return false
				}
			}
			return true
		}
		_ = gather(func(int, int) float64 { return 0 }, func(int, int) float64 { return 0 }) && // the loss
			gather(func(from, _ int) float64 { return parts[from] }, func(d, from int) float64 { return class(from, 2*d) })
	}
}

// between yields the phases in which each group gets the terms of all others, and adds them up.
func between(group int, terms []float64, part float64, yield func(Phase) bool) bool {
	for round := range rounds(len(terms)) {
		own := func(from, _ int) float64 { return terms[from/group] * part }
		if !yield(Phase{Exchanges: opponents(len(terms), group, round, own)}) {
			return false
		}
	}
	return yield(Phase{Add: folding(terms) * part})
}

// folding returns how many times as many bytes as its part of the sum a rank adds up for it, when it has
// the terms of all groups.
func folding(terms []float64) float64 {
	if len(terms) == 1 {
		return 0
	}
	copies, all := terms[0]+1, 0.0 // own terms to the others', and the sum back
	for _, n := range terms {
		all += n
	}
	if terms[0] > 1 {
		copies += terms[0] * float64(len(terms)-1) // what is sent
	}
	return all - 1 + copies*copying
}

// copying is what a copy of bytes takes, compared with an addition: two passes over memory, not three.
const copying = 2.0 / 3

// subtrees returns of how many whole subtrees of the tree over n lanes the lanes [from,to) consist.
func subtrees(n, from, to int) int {
	switch {
	case to <= 0 || n <= from:
		return 0
	case from <= 0 && n <= to:
		return 1
	}
	left := 1 << (bits.Len(uint(n-1)) - 1)
	return subtrees(left, from, to) + subtrees(n-left, from-left, to-left)
}

// rounds returns in how many rounds each of n can meet every other.
func rounds(n int) int {
	if n == 1 {
		return 0
	}
	return n - 1 + n%2
}

// opponents returns the exchanges of a round in which groups of ranks meet in pairs, each rank the one
// that has its place in the other group (the circle method of tournaments). One rank sends another what
// send says. Of an odd number of groups, one rests.
func opponents(groups, size, round int, send func(from, to int) float64) []Exchange {
	m := rounds(groups)
	list := make([]Exchange, 0, groups/2*size)
	for a := range groups {
		b := (round - a + m) % m
		if b == a {
			b = m // who would meet itself meets the last, if they are even
		}
		if b <= a || b >= groups {
			continue
		}
		for place := range size {
			x, y := a*size+place, b*size+place
			list = append(list, Exchange{x, y, send(x, y), send(y, x)})
		}
	}
	return list
}

// ring is the all-reduce around a ring.
func ring(ranks, _ int, bytes float64) iter.Seq[Phase] {
	return func(yield func(Phase) bool) {
		if ranks == 1 {
			return
		}
		part := bytes / float64(ranks)
		list := make([]Exchange, ranks)
		for r := range list {
			list[r] = Exchange{A: r, B: (r + 1) % ranks, There: part}
		}
		_ = yield(Phase{Exchanges: list, Adds: true, Times: ranks - 1}) && yield(Phase{Exchanges: list, Times: ranks - 1})
	}
}

// ringShards is the ring for parts that differ: the largest is always under way.
func ringShards(lanes int, parts []float64) iter.Seq[Phase] {
	return ring(len(parts), lanes, float64(len(parts))*slices.Max(parts))
}

// doubling is the all-reduce in which ranks exchange whole vectors. Ranks beyond a power of two give
// theirs to another one before, and get the sum after.
func doubling(ranks, _ int, bytes float64) iter.Seq[Phase] {
	return folded(ranks, bytes, func(most int, yield func(Phase) bool) bool {
		return whole(most, most, bytes, yield)
	})
}

// mpi is the all-reduce as Thakur, Rabenseifner and Gropp (2005) choose it.
func mpi(ranks, lanes int, bytes float64) iter.Seq[Phase] {
	if bytes <= 2<<10 {
		return doubling(ranks, lanes, bytes)
	}
	return folded(ranks, bytes, func(most int, yield func(Phase) bool) bool {
		return halving(most, most, bytes, yield) && gathering(most, most, bytes, yield)
	})
}

// folded brings ranks to a power of two and back, around the phases of those.
func folded(ranks int, bytes float64, among func(most int, yield func(Phase) bool) bool) iter.Seq[Phase] {
	most := 1 << (bits.Len(uint(ranks)) - 1)
	return func(yield func(Phase) bool) {
		var fold, back []Exchange
		for r := most; r < ranks; r++ {
			fold = append(fold, Exchange{A: r, B: r - most, There: bytes})
			back = append(back, Exchange{A: r, B: r - most, Back: bytes})
		}
		if fold != nil && !yield(Phase{Exchanges: fold, Adds: true}) || !among(most, yield) {
			return
		}
		if back != nil {
			yield(Phase{Exchanges: back})
		}
	}
}

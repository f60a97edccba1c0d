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
	Add       float64 // bytes that each rank of an exchange adds to its own; all ranks, where there is none
	Times     int     // how often the phase is repeated; 1 for 0
	Gathers   bool    // sums are complete and only passed on, as are all after it
}

// Schedule makes the phases of a sum over ranks, each of which has some lanes, of so many bytes. The
// exchanges of a phase are valid until the next one.
type Schedule struct {
	Name   string
	What   string // in a line, for people
	Phases func(ranks, lanes int, bytes float64) iter.Seq[Phase]
	// Scatters says that a rank has only its part of the sum when half of the bytes have travelled, so
	// that it can update its part of the parameters and send these on instead.
	Scatters bool
}

var schedules = []Schedule{
	{"tree", "that of train/parallel: recursive halving and doubling, and pairwise exchange where the ranks are no power of two", tree, true},
	{"ring", "reduce-scatter and all-gather around a ring", ring, true},
	{"doubling", "recursive doubling of whole vectors, in few messages", doubling, false},
	{"mpi", "MPI's choice by the size: recursive doubling up to 2 KiB, then Rabenseifner's algorithm", mpi, false},
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
		if !yield(Phase{Exchanges: apart(ranks, d, bytes), Add: bytes}) {
			return false
		}
	}
	return true
}

// gathering yields the phases of halving backwards, without additions: bytes are those of a group.
func gathering(ranks, group int, bytes float64, yield func(Phase) bool) bool {
	part := bytes / float64(group)
	for d := group / 2; d >= 1; d /= 2 {
		if !yield(Phase{Exchanges: apart(ranks, d, part), Gathers: true}) {
			return false
		}
		part *= 2
	}
	return true
}

// whole yields the phases in which all ranks of each group exchange all they have.
func whole(ranks, group int, bytes float64, yield func(Phase) bool) bool {
	for d := 1; d < group; d *= 2 {
		if !yield(Phase{Exchanges: apart(ranks, d, bytes), Add: bytes}) {
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

// tree is the schedule of package train/parallel: recursive halving within groups of 2ᵏ ranks, pairwise
// exchange between the groups, and both backwards.
func tree(ranks, lanes int, bytes float64) iter.Seq[Phase] {
	group := 1
	if powerOfTwo(lanes) {
		group = ranks & -ranks
	}
	groups := ranks / group
	terms, all := make([]float64, groups), 0.0
	for g := range terms {
		terms[g] = 1
		if !powerOfTwo(lanes) {
			terms[g] = float64(subtrees(ranks*lanes, g*lanes, (g+1)*lanes))
		}
		all += terms[g]
	}
	messages := bits.Len(uint(group)) - 1 + groups - 1
	return func(yield func(Phase) bool) {
		if slices.Max(terms)*float64(messages)*bytes <= small {
			if whole(ranks, group, bytes, yield) {
				between(group, terms, all, bytes, yield)
			}
			return
		}
		part := bytes / float64(ranks)
		if !halving(ranks, group, bytes, yield) || !between(group, terms, all, part, yield) {
			return
		}
		for round := range rounds(groups) {
			same := func(int) float64 { return part }
			if !yield(Phase{Exchanges: opponents(groups, group, round, same), Gathers: true}) {
				return
			}
		}
		gathering(ranks, group, part*float64(ranks), yield)
	}
}

// between yields the phases in which each group gets the terms of all others, and adds them up.
func between(group int, terms []float64, all, part float64, yield func(Phase) bool) bool {
	for round := range rounds(len(terms)) {
		own := func(g int) float64 { return terms[g] * part }
		if !yield(Phase{Exchanges: opponents(len(terms), group, round, own)}) {
			return false
		}
	}
	if len(terms) == 1 {
		return true
	}
	copies := terms[0] + 1 // own terms to the others', and the sum back
	if terms[0] > 1 {
		copies += terms[0] * float64(len(terms)-1) // what is sent
	}
	return yield(Phase{Add: (all - 1 + copies*copying) * part})
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
// that has its place in the other group (the circle method of tournaments). A group sends what send
// says. Of an odd number, one rests.
func opponents(groups, size, round int, send func(group int) float64) []Exchange {
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
			list = append(list, Exchange{a*size + place, b*size + place, send(a), send(b)})
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
		_ = yield(Phase{Exchanges: list, Add: part, Times: ranks - 1}) && yield(Phase{Exchanges: list, Times: ranks - 1, Gathers: true})
	}
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
		if fold != nil && !yield(Phase{Exchanges: fold, Add: bytes}) || !among(most, yield) {
			return
		}
		if back != nil {
			yield(Phase{Exchanges: back, Gathers: true})
		}
	}
}

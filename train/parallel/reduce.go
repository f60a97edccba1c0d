package parallel

import (
	"context"
	"math/bits"
)

// reduction is the schedule of a rank that gets the sums over all ranks of some runs of a vector.
// Within a group, of each pair of ranks at distance 1, 2, 4 … one goes on with half of what is left
// and the other with the other half (recursive halving: Thakur, Rabenseifner and Gropp, 2005).
// Then each gets the terms of its runs from the other groups, and adds them up.
type reduction struct {
	rank   int
	wide   int // the bytes of float64
	halves []step
	meet   []meeting
	mine   []span
	terms  []span // of all groups, in the tree over groups or lanes; nil for one group
	own    int    // the first of the own terms
	pairs  []pair
	rest   gather
	add    arithmetic
}

// meeting is a step that sends all own terms and receives those of the peer.
type meeting struct {
	step
	at, terms int // the first of the peer's, and how many
}

// reduce returns the schedule for a vector of so many bytes, the first wide of which are float64,
// and runs by rank. If runs is nil, all ranks get everything.
func (r *Ranks) reduce(size, wide int, runs [][]span) *reduction {
	rank := r.Rank()
	k, g := r.groups()
	share := func(q, k int) []span { return class(runs, q, k) }
	if runs == nil {
		everything := tidy([]span{{0, size}})
		share = func(int, int) []span { return everything }
	}
	alone := bits.Len(uint(r.Count())) // so many bits tell a rank from all others
	red := &reduction{add: newArithmetic(), rank: rank, wide: wide, mine: share(rank, alone)}
	for bit := range k {
		peer := rank ^ 1<<bit
		red.halves = append(red.halves, step{peer: peer, send: share(peer, bit+1), recv: share(rank, bit+1)})
	}
	if g == 1 {
		return red
	}
	first := make([]int, g+1)
	for group := range g {
		if r.whole() {
			red.terms = append(red.terms, span{group, group + 1})
		} else {
			red.terms = append(red.terms, r.subtrees(group)...)
		}
		first[group+1] = len(red.terms)
	}
	red.own, red.pairs = first[rank>>k], fold(red.terms)
	r.meetings(func(peer int) {
		at, end := first[peer>>k], first[peer>>k+1]
		red.meet = append(red.meet, meeting{step{peer, share(peer, alone), red.mine}, at, end - at})
	})
	return red
}

// run leaves the sums in the first of the own terms.
func (red *reduction) run(ctx context.Context, r *Ranks, own []vector, s *scratch) error {
	mem := own[0].mem
	for bit, step := range red.halves {
		in := s.recv(bytes(step.recv))
		if err := r.exchange(ctx, step.peer, s.pack(own, step.send), in); err != nil {
			return err
		}
		for _, run := range step.recv {
			x, y := mem[run.from:run.to], in[:run.size()]
			in = in[run.size():]
			if wide := red.wideOf(run); red.rank>>bit&1 == 0 {
				red.add.add(x, x, y, wide)
			} else {
				red.add.add(x, y, x, wide)
			}
		}
	}
	if len(red.meet) > 0 {
		if err := red.meetAll(ctx, r, own, s); err != nil {
			return err
		}
	}
	return red.rest.run(ctx, r, own[:1], s)
}

// meetAll adds up the terms of all groups.
func (red *reduction) meetAll(ctx context.Context, r *Ranks, own []vector, s *scratch) error {
	size, wide := bytes(red.mine), 0
	for _, run := range red.mine {
		wide += red.wideOf(run)
	}
	stride := aligned(size)
	in := s.recv(extent(len(red.terms), size))
	for i, term := range own {
		pack(in[(red.own+i)*stride:], term.mem, red.mine)
	}
	for _, m := range red.meet {
		if len(m.send) == 0 && len(m.recv) == 0 {
			continue
		}
		theirs := in[:0]
		if size > 0 {
			theirs = in[m.at*stride:][:extent(m.terms, size)]
		}
		if err := r.exchange(ctx, m.peer, s.pack(own, m.send), theirs); err != nil {
			return err
		}
	}
	for _, p := range red.pairs {
		x, y := in[p.left*stride:][:size], in[p.right*stride:][:size]
		red.add.add(x, x, y, wide)
	}
	unpack(own[0].mem, red.mine, in)
	return nil
}

// wideOf returns how many values of float64 are in a run.
func (red *reduction) wideOf(run span) int { return max(0, min(run.to, red.wide)-run.from) / 8 }

// memory returns the bytes of scratch that the schedule takes.
func (red *reduction) memory(own int) int {
	in, out := 0, 0
	if len(red.meet) > 0 {
		in = extent(len(red.terms), bytes(red.mine))
	}
	note := func(s step, terms int, direct bool) {
		if len(s.send) > 1 || terms > 1 && len(s.send) > 0 {
			out = max(out, extent(terms, bytes(s.send)))
		}
		if len(s.recv) > 1 || !direct {
			in = max(in, bytes(s.recv))
		}
	}
	for _, s := range red.halves {
		note(s, 1, false)
	}
	for _, m := range red.meet {
		note(m.step, own, false)
	}
	for _, s := range red.rest {
		note(s, 1, true)
	}
	return aligned(in) + aligned(out)
}

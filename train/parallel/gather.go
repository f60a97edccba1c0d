package parallel

import (
	"context"
	"encoding/binary"
	"fmt"
)

// gather is the schedule of a rank that has some runs of a vector and gets those of all others:
// from the other groups, and then by doubling what it has within its own.
type gather []step

func (r *Ranks) newGather(runs [][]span) gather {
	var g gather
	rank := r.Rank()
	r.meetings(func(peer int) {
		g = append(g, step{peer: peer, send: runs[rank], recv: runs[peer]})
	})
	k, _ := r.groups()
	for k--; k >= 0; k-- {
		peer := rank ^ 1<<k
		g = append(g, step{peer: peer, send: class(runs, rank, k+1), recv: class(runs, peer, k+1)})
	}
	return g
}

// run fills in the runs of the other ranks in a single vector.
func (g gather) run(ctx context.Context, r *Ranks, all []vector, s *scratch) error {
	mem := all[0].mem
	for _, step := range g {
		if len(step.send) == 0 && len(step.recv) == 0 {
			continue
		}
		var in []byte
		direct := len(step.recv) == 1
		if direct {
			in = mem[step.recv[0].from:step.recv[0].to]
		} else {
			in = s.recv(bytes(step.recv))
		}
		if err := r.exchange(ctx, step.peer, s.pack(all, step.send), in); err != nil {
			return err
		}
		if !direct {
			unpack(mem, step.recv, in)
		}
	}
	return nil
}

// mostGathered is the largest number of bytes that a rank may give to Gather: more is taken for the
// message of another program.
const mostGathered = 1 << 40

// Gather returns what each rank gave, by rank, to all of them. The lengths may differ. Of g·2ᵏ
// ranks, g odd, each takes part in 2·(g−1+k) exchanges, and receives what the others gave once.
func (r *Ranks) Gather(ctx context.Context, mine []byte) ([][]byte, error) {
	n, rank := r.Count(), r.Rank()
	runs := make([][]span, n)
	for q := range runs {
		runs[q] = []span{{8 * q, 8*q + 8}}
	}
	var s scratch
	lengths := []vector{{mem: make([]byte, 8*n)}}
	binary.LittleEndian.PutUint64(lengths[0].mem[8*rank:], uint64(len(mine)))
	if err := r.newGather(runs).run(ctx, r, lengths, &s); err != nil {
		return nil, err
	}
	at := 0
	for q := range runs {
		size, err := gathered(q, lengths[0].mem[8*q:])
		if err != nil {
			return nil, err
		}
		runs[q] = tidy([]span{{at, at + size}})
		at += size
	}
	all := []vector{{mem: make([]byte, at)}}
	unpack(all[0].mem, runs[rank], mine)
	if err := r.newGather(runs).run(ctx, r, all, &s); err != nil {
		return nil, err
	}
	out := make([][]byte, n)
	for q := range out {
		out[q] = []byte{}
		for _, run := range runs[q] {
			out[q] = all[0].mem[run.from:run.to:run.to]
		}
	}
	return out, nil
}

// gathered returns the length that a rank sent.
func gathered(rank int, p []byte) (int, error) {
	size := binary.LittleEndian.Uint64(p)
	if size > mostGathered || uint64(int(size)) != size {
		return 0, fmt.Errorf("parallel: rank %d gives %d bytes, which it cannot have: it runs another program", rank, size)
	}
	return int(size), nil
}

// GatherTo is Gather for one rank: the others get nil. That rank takes part in 2·(ranks−1)
// exchanges, and each other in 2.
func (r *Ranks) GatherTo(ctx context.Context, rank int, mine []byte) ([][]byte, error) {
	if rank < 0 || rank >= r.Count() {
		return nil, fmt.Errorf("parallel: gather to rank %d: there are %d ranks", rank, r.Count())
	}
	size := make([]byte, 8)
	if r.Rank() != rank {
		binary.LittleEndian.PutUint64(size, uint64(len(mine)))
		if err := r.exchange(ctx, rank, size, nil); err != nil {
			return nil, err
		}
		return nil, r.exchange(ctx, rank, mine, nil)
	}
	out := make([][]byte, r.Count())
	for q := range out {
		if q == rank {
			out[q] = append([]byte{}, mine...)
			continue
		}
		if err := r.exchange(ctx, q, nil, size); err != nil {
			return nil, err
		}
		n, err := gathered(q, size)
		if err != nil {
			return nil, err
		}
		out[q] = make([]byte, n)
		if err := r.exchange(ctx, q, nil, out[q]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

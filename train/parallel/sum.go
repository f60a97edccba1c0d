package parallel

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

var errUnmade = errors.New("parallel: a Bucket that Ranks.NewBucket did not make")

// small is the number of bytes up to which a rank rather sends whole terms, in half the exchanges.
const small = 64 << 10

// Sum completes the sum over the lanes of all ranks, for all of them. All ranks call it, each after
// it has put all its own lanes; then the bucket is empty, and [Bucket.Total] has the sum. After an
// error the job cannot go on: call [Ranks.Abort], so that the others do not wait.
//
// On R = g·2ᵏ ranks, g odd, where the own lanes are a power of two, a rank takes part in
// 2·(k+g−1) exchanges and sends 2·(R−1)/R times the size of a term, the least that is possible.
// Otherwise it takes part in 2·(R−1), and sends (m+1)·(R−1)/R times the size of a term, where m is
// the number of the largest subtrees that its lanes consist of: 2 for 3 lanes, at most 2·log2 of
// the lanes. Where whole terms are 64 KiB or less in all, they are sent in half the exchanges.
func (b *Bucket) Sum(ctx context.Context) error {
	if b == nil || b.nodes == nil {
		return errUnmade
	}
	terms, err := b.finish()
	if err != nil {
		return err
	}
	return b.complete(ctx, terms, b.schedule())
}

// schedule returns how Sum goes.
func (b *Bucket) schedule() *reduction {
	if b.sum == nil {
		size, wide := b.Bytes(), 8*b.n64
		k, g := b.ranks.groups()
		if b.ranks.terms()*(k+g-1)*size <= small {
			b.sum = b.ranks.reduce(size, wide, nil)
		} else {
			runs := b.ranks.slices(size)
			b.sum = b.ranks.reduce(size, wide, runs)
			b.sum.rest = b.ranks.newGather(runs)
		}
	}
	return b.sum
}

// terms returns of how many subtrees the lanes of a rank consist at the most. They need not be equally
// many on all ranks, which must agree on how a sum goes.
func (r *Ranks) terms() int {
	most := 0
	for rank := range r.Count() {
		most = max(most, len(r.subtrees(rank)))
	}
	return most
}

// complete adds up the terms of all ranks.
func (b *Bucket) complete(ctx context.Context, terms []vector, red *reduction) error {
	err := red.run(ctx, b.ranks, terms, &b.scratch)
	b.total, b.free = terms[0], append(b.free, terms[1:]...)
	if err != nil {
		b.forget()
	}
	return err
}

// slices cuts so many bytes into a run for each rank, such that those of the ranks that agree in
// their lowest bits are side by side, and need not be copied to be sent.
func (r *Ranks) slices(size int) [][]span {
	k, g := r.groups()
	n := g << k
	runs := make([][]span, n)
	words := (size + 7) / 8
	for q := range runs {
		place := int(bits.Reverse(uint(q&(1<<k-1))) >> (bits.UintSize - k))
		i := place*g + q>>k
		runs[q] = tidy([]span{{8 * (words * i / n), min(size, 8*(words*(i+1)/n))}})
	}
	return runs
}

// Range is a run of the values of a bucket: those of float32 from F32[0] up to, but without,
// F32[1], and those of float64 likewise.
type Range struct{ F32, F64 [2]int }

// sharding is a bucket that is shared out to the ranks.
type sharding struct {
	ranges []Range
	reduce *reduction
	gather gather
}

// ReduceScatter is like Sum, but [Bucket.Total] then has the sums of ranges[rank] only, and of the
// values that are in no range: those go to all ranks. The rest is undefined. Ranges are given by
// rank, the same on all, and do not overlap.
//
// It takes the exchanges of a Sum, half of them if each value is in a range, and half the bytes.
func (b *Bucket) ReduceScatter(ctx context.Context, ranges []Range) error {
	s, err := b.shard(ranges)
	if err != nil {
		return err
	}
	terms, err := b.finish()
	if err != nil {
		return err
	}
	return b.complete(ctx, terms, s.reduce)
}

// AllGather sends ranges[rank] of [Bucket.Total], such as parameters that the rank has updated
// there, to all ranks, and fills in the ranges of the others. A sum came before it. Of g·2ᵏ ranks,
// each takes part in k+g−1 exchanges, and receives the ranges of the others once.
func (b *Bucket) AllGather(ctx context.Context, ranges []Range) error {
	s, err := b.shard(ranges)
	if err != nil {
		return err
	}
	if b.total.mem == nil && b.Bytes() > 0 {
		return errors.New("parallel: AllGather without a sum before it")
	}
	b.scratch.terms = append(b.scratch.terms[:0], b.total)
	return s.gather.run(ctx, b.ranks, b.scratch.terms, &b.scratch)
}

// shard returns the schedules for ranges.
func (b *Bucket) shard(ranges []Range) (*sharding, error) {
	switch {
	case b == nil || b.nodes == nil:
		return nil, errUnmade
	case b.shards != nil && slices.Equal(b.shards.ranges, ranges):
		return b.shards, nil
	case len(ranges) != b.ranks.Count():
		return nil, fmt.Errorf("parallel: %d ranges for %d ranks", len(ranges), b.ranks.Count())
	}
	size, wide := b.Bytes(), 8*b.n64
	runs := make([][]span, len(ranges))
	var taken []span
	for q, x := range ranges {
		if !within(x.F32, b.n32) || !within(x.F64, b.n64) {
			return nil, fmt.Errorf("parallel: the range of rank %d, %v, is not within %d values of float32 and %d of float64", q, x, b.n32, b.n64)
		}
		runs[q] = tidy([]span{{8 * x.F64[0], 8 * x.F64[1]}, {wide + 4*x.F32[0], wide + 4*x.F32[1]}})
		taken = append(taken, runs[q]...)
	}
	slices.SortFunc(taken, func(a, b span) int { return a.from - b.from })
	var common []span
	at := 0
	for _, s := range append(taken, span{size, size}) {
		if s.from < at {
			return nil, fmt.Errorf("parallel: ranges of ranks overlap: %v", ranges)
		}
		common = append(common, span{at, s.from})
		at = s.to
	}
	common = tidy(common)
	s := &sharding{ranges: slices.Clone(ranges), gather: b.ranks.newGather(runs)}
	// What all ranks get, rank 0 adds up with its own.
	all := slices.Clone(runs)
	all[0] = tidy(append(slices.Clone(runs[0]), common...))
	rest := make([][]span, len(ranges))
	rest[0] = common
	s.reduce = b.ranks.reduce(size, wide, all)
	s.reduce.rest = b.ranks.newGather(rest)
	b.shards = s
	return s, nil
}

// within reports whether a run is within n values.
func within(run [2]int, n int) bool { return 0 <= run[0] && run[0] <= run[1] && run[1] <= n }

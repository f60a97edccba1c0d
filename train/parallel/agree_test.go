package parallel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/train/parallel"
)

// TestJoin: ranks that were configured differently, or that do not divide the lanes, are refused by
// name on all ranks.
func TestJoin(t *testing.T) {
	ctx := context.Background()
	join := func(want string, c ...parallel.Config) {
		t.Helper()
		all := parallel.Local(len(c))
		errs := make(chan error, len(c))
		for rank, transport := range all {
			go func() {
				_, err := parallel.Join(ctx, transport, c[rank])
				errs <- err
			}()
		}
		for range c {
			if err := <-errs; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
	a, b := parallel.Config{}, parallel.Config{Lanes: 24}
	join("parallel: ranks differ in lanes: 8 on ranks 0, 2; 24 on rank 1", a, b, a)
	join("parallel: ranks differ in lanes: 24 on ranks 0, 1; 8 on ranks 2–4, 6; 4 on rank 5", b, b, a, a, a, parallel.Config{Lanes: 4}, a)
	join("parallel: ranks differ in lanes: 8 on rank 0; 24 on rank 1 (and in sharding)", a, parallel.Config{Lanes: 24, Shard: true})
	join("parallel: ranks differ in sharding: true on rank 0; false on rank 1", parallel.Config{Shard: true}, a)
	join("parallel: 3 ranks do not divide 8 lanes", a, a, a)
	join("parallel: 2000 lanes: want 1 to 1024", parallel.Config{Lanes: 2000}, parallel.Config{Lanes: 2000})
	join("parallel: -1 lanes: want 1 to 1024", parallel.Config{Lanes: -1})
}

// TestAgree: lists of facts that differ are compared by the names.
func TestAgree(t *testing.T) {
	facts := [][]parallel.Fact{
		{{"graph", "a"}, {"seed", "1"}},
		{{"seed", "1"}, {"graph", "a"}},
		{{"graph", "b"}, {"note", ""}},
		{{"graph", "a"}, {"seed", "1"}},
	}
	want := "parallel: ranks differ in graph: a on ranks 0, 1, 3; b on rank 2 (and in seed, note)"
	for _, err := range job(4, parallel.Config{}, func(r *parallel.Ranks) error {
		return r.Agree(context.Background(), facts[r.Rank()]...)
	}) {
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	}
	must(t, job(6, parallel.Config{Lanes: 24}, func(r *parallel.Ranks) error {
		return errors.Join(r.Agree(context.Background()), r.Agree(context.Background(), facts[r.Rank()%2]...))
	}))
	for _, err := range job(2, parallel.Config{}, func(r *parallel.Ranks) error {
		return r.Agree(context.Background(), parallel.Fact{"mask", map[bool]string{true: "", false: "x"}[r.Rank() == 0]})
	}) {
		if err == nil || err.Error() != "parallel: ranks differ in mask: empty on rank 0; x on rank 1" {
			t.Errorf("got %v", err)
		}
	}
}

// TestGather: all ranks get what each gave, or one rank does.
func TestGather(t *testing.T) {
	for _, ranks := range rankCounts {
		must(t, job(ranks, parallel.Config{Lanes: 8 * ranks}, func(r *parallel.Ranks) error {
			give := func(rank, round int) []byte { return bytes.Repeat([]byte{byte(rank + round)}, (rank*7+round*5)%11) }
			for round := range 12 {
				mine := give(r.Rank(), round)
				all, err := r.Gather(context.Background(), mine)
				if err != nil {
					return err
				}
				to := round % r.Count()
				some, err := r.GatherTo(context.Background(), to, mine)
				if err != nil {
					return err
				}
				if (some != nil) != (to == r.Rank()) {
					return fmt.Errorf("GatherTo(%d) gave %v", to, some)
				}
				for rank := range ranks {
					if !bytes.Equal(all[rank], give(rank, round)) || some != nil && !bytes.Equal(some[rank], give(rank, round)) {
						return fmt.Errorf("rank %d gave %v and %v, want %v", rank, all[rank], some, give(rank, round))
					}
				}
				if len(mine) > 0 {
					if all[r.Rank()][0]++; mine[0] == all[r.Rank()][0] {
						return errors.New("what was gathered is what was given, not a copy")
					}
				}
			}
			if _, err := r.GatherTo(context.Background(), r.Count(), nil); err == nil {
				return errors.New("gathered to no rank")
			}
			return nil
		}))
	}
}

// TestRows: lanes share out the rows of a batch in order.
func TestRows(t *testing.T) {
	r, err := parallel.Alone(parallel.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for batch := range 40 {
		at := 0
		for lane := range r.Lanes() {
			from, to := r.Rows(lane, batch)
			if from != at || to-from != batch/8 && to-from != batch/8+1 {
				t.Errorf("lane %d of %d rows: %d to %d", lane, batch, from, to)
			}
			at = to
		}
		if at != batch {
			t.Errorf("lanes have %d of %d rows", at, batch)
		}
	}
}

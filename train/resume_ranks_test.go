package train_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// events is what an observer was told.
func events(r *recorder) string {
	var b strings.Builder
	for _, e := range r.events {
		if e.Err != nil {
			e.Err = errors.New("an error")
		}
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// TestLanesChanged: another number of lanes gives other bits, so a checkpoint of it is refused,
// with both numbers.
func TestLanesChanged(t *testing.T) {
	dir := t.TempDir()
	stop := func(_ int, _ *train.Trainer, p *train.Plan) { p.Epochs, p.Resume = 2, dir }
	if errs, _ := fitOnRanks(t, 2, parallel.Config{Lanes: 4}, dir, stop); errors.Join(errs...) != nil {
		t.Fatal(errs)
	}
	for _, c := range []struct {
		ranks, lanes int
		want         string
	}{
		{2, 6, "its batches were cut into 4 lanes, these are cut into 6 lanes"},
		{1, 1, "its batches were cut into 4 lanes, these are cut into 1 lane"},
	} {
		errs, _ := fitOnRanks(t, c.ranks, parallel.Config{Lanes: c.lanes}, dir, stop)
		for rank, err := range errs {
			if changed := new(checkpoint.Changed); err == nil || !strings.Contains(err.Error(), c.want) || rank == 0 && !errors.As(err, &changed) {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
	}
	tr := noisyTrainer(t)
	p := bumpyPlan(t, tr, dir)
	p.Resume = dir
	if err := tr.Fit(t.Context(), p); err == nil || !strings.Contains(err.Error(), "its batches were cut into 4 lanes, these are cut into no lanes") {
		t.Error(err)
	}
}

// TestInterruptOnRanks: when the context of one rank ends all stop after the same step, with a
// checkpoint of it, from which another number of ranks goes on to the same end.
func TestInterruptOnRanks(t *testing.T) {
	want := undisturbedOnRanks(t)
	for _, c := range []struct {
		rank, step int
		shard      bool
	}{{2, 1, true}, {0, 29, false}} {
		dir := t.TempDir()
		ctxs := make([]context.Context, 3)
		recorders := make([]*recorder, 3)
		errs := onRanks(t, 3, parallel.Config{Lanes: lanes, Shard: c.shard}, func(r *parallel.Ranks) error {
			tr := noisyTrainer(t)
			tr.Ranks = r
			p := bumpyPlan(t, tr, dir)
			ctx, cancel := cancelAfter(c.step)
			recorders[r.Rank()] = &recorder{}
			p.Observers = []train.Observer{recorders[r.Rank()]}
			if ctxs[r.Rank()] = t.Context(); r.Rank() == c.rank {
				ctxs[r.Rank()] = ctx
				p.Observers = append(p.Observers, cancel)
			}
			return tr.Fit(ctxs[r.Rank()], p)
		})
		stopped := uint64(c.step + 1) // the other ranks hear of it in the step after
		for rank, err := range errs {
			want := "context canceled"
			if rank != c.rank {
				want = fmt.Sprintf("rank %d was interrupted: context canceled", c.rank)
			}
			if !errors.Is(err, context.Canceled) || err.Error() != want {
				t.Errorf("rank %d: %v, want %s", rank, err, want)
			}
			if got := recorders[rank].events[len(recorders[rank].events)-1]; got.Step != int(stopped) || got.Kind != train.Ended {
				t.Errorf("rank %d ends with %v after step %d", rank, got.Kind, got.Step)
			}
		}
		if step, _, err := (checkpoint.Folder{Dir: dir}).Newest(); step != stopped || err != nil {
			t.Errorf("the newest checkpoint is of step %d, not %d, %v", step, stopped, err)
		}
		errs, trainers := fitOnRanks(t, 2, parallel.Config{Lanes: lanes}, dir, func(_ int, _ *train.Trainer, p *train.Plan) { p.Resume = dir })
		for rank, err := range errs {
			if err != nil || bits(t, trainers[rank].Store()) != want {
				t.Errorf("stopped after step %d, rank %d goes on to another end, %v", c.step, rank, err)
			}
		}
	}
	// A context that has ended before the first step.
	errs := onRanks(t, 2, parallel.Config{Lanes: lanes}, func(r *parallel.Ranks) error {
		tr := noisyTrainer(t)
		tr.Ranks = r
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if r.Rank() == 1 {
			cancel()
		}
		err := tr.Fit(ctx, bumpyPlan(t, tr, ""))
		if tr.Store().Step() != 0 {
			t.Errorf("rank %d took a step", r.Rank())
		}
		return err
	})
	if !errors.Is(errs[0], context.Canceled) || !errors.Is(errs[1], context.Canceled) {
		t.Error(errs)
	}
}

// TestWithOnRanks: a trainer that With makes trains alone, without lanes, on nets of the sizes that

// TestResumeOnRanks: ranks that share no folder go on from what the first one reads, by another
// number of ranks than the checkpoint was written by, and their observers are told the same. A
// checkpoint that is damaged on the way is skipped by all.
func TestResumeOnRanks(t *testing.T) {
	want, dir := undisturbedOnRanks(t), t.TempDir()
	for _, c := range []struct{ ranks, stop int }{{1, 6}, {2, 12}, {3, 15}, {6, 21}, {2, 0}} {
		if c.stop == 0 {
			newest := filepath.Join(dir, "step-00000021.safetensors")
			if err := os.Truncate(newest, 1000); err != nil {
				t.Fatal(err)
			}
		}
		recorders := make([]*recorder, c.ranks)
		errs, trainers := fitOnRanks(t, c.ranks, parallel.Config{Lanes: lanes}, dir, func(rank int, _ *train.Trainer, p *train.Plan) {
			p.Resume = dir
			if rank > 0 {
				p.Resume = filepath.Join(t.TempDir(), "nothing")
				p.Checkpoints.Dir = filepath.Join(p.Resume, "either")
			}
			recorders[rank] = &recorder{}
			p.Observers = []train.Observer{recorders[rank], train.ObserverFunc(func(e train.Event) error {
				if e.Kind == train.Stepped && e.Step == c.stop {
					return train.ErrStop
				}
				return nil
			})}
		})
		for rank, r := range recorders {
			if errs[rank] != nil {
				t.Fatalf("rank %d of %d: %v", rank, c.ranks, errs[rank])
			}
			if got, first := events(r), events(recorders[0]); got != first {
				t.Errorf("rank %d of %d is told\n%s\nand rank 0\n%s", rank, c.ranks, got, first)
			}
			if c.stop == 0 && bits(t, trainers[rank].Store()) != want {
				t.Errorf("rank %d of %d ends with other bits", rank, c.ranks)
			}
		}
		if begun := recorders[c.ranks-1].events[0]; c.stop == 0 && (begun.Err == nil || !strings.Contains(begun.Err.Error(), "step-00000021.safetensors")) {
			t.Errorf("the last rank is told nothing of the damage: %v", begun.Err)
		}
	}
}

// TestIntervalOnRanks: the clock of the first rank says when a checkpoint is due, and all ranks
// save it after the same step.
func TestIntervalOnRanks(t *testing.T) {
	recorders := make([]*recorder, 3)
	errs, _ := fitOnRanks(t, 3, parallel.Config{Lanes: lanes}, t.TempDir(), func(rank int, _ *train.Trainer, p *train.Plan) {
		p.Validate, p.Patience = nil, 0
		p.Checkpoints.Every, p.Checkpoints.Interval = 0, time.Nanosecond
		recorders[rank] = &recorder{}
		p.Observers = []train.Observer{recorders[rank], train.ObserverFunc(func(train.Event) error {
			time.Sleep(time.Duration(rank) * time.Millisecond)
			return nil
		})}
	})
	want := "B" + strings.Repeat("sS", 36) + "E"
	for rank, r := range recorders {
		if errs[rank] != nil || r.kinds() != want || events(r) != events(recorders[0]) {
			t.Errorf("rank %d: %s, %v, want %s", rank, r.kinds(), errs[rank], want)
		}
	}
}

// TestShardsOnRanks: states that ranks have shared out are whole in checkpoints, which do not tell
// that they were, and training goes on from them with other ranks, sharing states out or not.
func TestShardsOnRanks(t *testing.T) {
	last := "step-00000030.safetensors"
	whole := t.TempDir()
	if errs, _ := fitOnRanks(t, 1, parallel.Config{Lanes: lanes}, whole, nil); errs[0] != nil {
		t.Fatal(errs[0])
	}
	want, err := os.ReadFile(filepath.Join(whole, last))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct {
		ranks, stop int
		shard       bool
	}{{3, 6, true}, {2, 12, true}, {1, 15, false}, {6, 21, true}, {3, 0, true}} {
		errs, trainers := fitOnRanks(t, c.ranks, parallel.Config{Lanes: lanes, Shard: c.shard}, dir, func(_ int, _ *train.Trainer, p *train.Plan) {
			p.Resume = dir
			p.Observers = []train.Observer{train.ObserverFunc(func(e train.Event) error {
				if e.Kind == train.Stepped && e.Step == c.stop {
					return train.ErrStop
				}
				return nil
			})}
		})
		kept := map[string]int{}
		for rank, err := range errs {
			if err != nil {
				t.Fatalf("%d of %d ranks: %v", rank, c.ranks, err)
			}
			for _, path := range trainers[rank].Store().Paths() {
				kept[path]++
			}
		}
		for path, n := range kept {
			want := c.ranks
			if c.shard && (strings.HasPrefix(path, "adam/m/") || strings.HasPrefix(path, "adam/v/") || strings.HasPrefix(path, "ema/")) {
				want = 1
			}
			if n != want {
				t.Errorf("%d of %d ranks have %s, want %d", n, c.ranks, path, want)
			}
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, last)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the checkpoint differs from that of one rank, %v", err)
	}
}

// TestPassOnRanks: a checkpoint that is passed on in several pieces is the same on all ranks.
func TestPassOnRanks(t *testing.T) {
	wide := func(rows int, _ train.Mode) *train.Net {
		g := graph.New("wide")
		n, d, h := graph.Ax("n", rows), graph.Ax("d", 4), graph.Ax("h", 500_000)
		w := g.Param("w", graph.F32, d, h).Init(initial.Normal(0, 1))
		return &train.Net{Loss: ops.Mean(ops.Square(ops.MatMul(g.Input("x", graph.F32, n, d), w)))}
	}
	dir := t.TempDir()
	sums := make([]uint32, 2)
	for steps := 1; steps <= 2; steps++ {
		for rank, err := range onRanks(t, 2, parallel.Config{Lanes: 2}, func(r *parallel.Ranks) error {
			tr := &train.Trainer{Build: wide, Optimiser: train.SGD(1), Seed: 1, Ranks: r}
			defer tr.Close()
			at := dir
			if r.Rank() > 0 {
				at = filepath.Join(dir, "nothing")
			}
			if err := tr.Fit(t.Context(), train.Plan{
				Data: data.InOrder(iris(t), 2), Steps: steps, Resume: at, Checkpoints: train.Checkpoints{Dir: at},
			}); err != nil {
				return err
			}
			w, err := tr.Store().View("w")
			if err == nil {
				sums[r.Rank()] = crc32.ChecksumIEEE(w.Raw)
			}
			return err
		}) {
			if err != nil {
				t.Fatalf("rank %d: %v", rank, err)
			}
		}
		if sums[0] != sums[1] {
			t.Errorf("after step %d the ranks have other parameters", steps)
		}
	}
}

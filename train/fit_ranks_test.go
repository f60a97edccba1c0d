package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"gorgonia.org/tensor"
)

// fitOnRanks fits the noisy model on n ranks, each after change, and returns the errors and the
// trainers by rank.
func fitOnRanks(t testing.TB, n int, c parallel.Config, dir string, change func(rank int, tr *train.Trainer, p *train.Plan)) ([]error, []*train.Trainer) {
	t.Helper()
	trainers := make([]*train.Trainer, n)
	for rank := range trainers {
		trainers[rank] = noisyTrainer(t)
	}
	return onRanks(t, n, c, func(r *parallel.Ranks) error {
		tr := trainers[r.Rank()]
		tr.Ranks = r
		p := bumpyPlan(t, tr, dir)
		if change != nil {
			change(r.Rank(), tr, &p)
		}
		return tr.Fit(t.Context(), p)
	}), trainers
}

// lanes is the number of lanes in these tests.
const lanes = 6

// TestFitDisagrees: ranks that are not to train the same are refused before anything happens, with
// an error on all that names what differs and where.
func TestFitDisagrees(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(tr *train.Trainer, p *train.Plan)
	}{
		{"optimiser: adam(warmup(", func(tr *train.Trainer, _ *train.Plan) { tr.Optimiser = train.Adam(0.02) }},
		{"optimiser", func(_ *train.Trainer, p *train.Plan) { p.Rate = train.Constant(0.01) }},
		{"schedules", func(_ *train.Trainer, p *train.Plan) { p.Scheduled = nil }},
		{"seed: 7 on ranks 0, 2; 8 on rank 1", func(tr *train.Trainer, _ *train.Plan) { tr.Seed = 8 }},
		{"data: shuffled(150 rows, batches of 64, seed 3) on ranks 0, 2; shuffled(150 rows, batches of 64, seed 4) on rank 1",
			func(_ *train.Trainer, p *train.Plan) { p.Data = data.Shuffled(iris(t), 64, 4) }},
		{"epochs: 12 on ranks 0, 2; 13 on rank 1", func(_ *train.Trainer, p *train.Plan) { p.Epochs++ }},
		{"steps", func(_ *train.Trainer, p *train.Plan) { p.Steps = 5 }},
		{"checking updates: false on ranks 0, 2; true on rank 1", func(tr *train.Trainer, _ *train.Plan) { tr.CheckUpdates = true }},
		{"validation", func(_ *train.Trainer, p *train.Plan) { p.Every = 4 }},
		{"checkpoints", func(_ *train.Trainer, p *train.Plan) { p.Checkpoints.Every = 5 }},
		{"resuming", func(_ *train.Trainer, p *train.Plan) { p.Resume = "somewhere" }},
		{"model: ", func(tr *train.Trainer, _ *train.Plan) { tr.Build = plain }},
		{"parameters and states: ", func(tr *train.Trainer, _ *train.Plan) {
			s, err := tr.Prepare(t.Context(), 64)
			if err != nil {
				t.Error(err)
				return
			}
			v, err := s.Get(s.Paths()[0])
			if err != nil {
				t.Error(err)
				return
			}
			if v.Raw[0]++; s.Set(s.Paths()[0], v) != nil {
				t.Error("not set")
			}
		}},
		{"steps done: 0 on ranks 0, 2; 3 on rank 1", func(tr *train.Trainer, _ *train.Plan) { tr.Store().Resume(7, 3, 0) }},
	} {
		dir := t.TempDir()
		errs, trainers := fitOnRanks(t, 3, parallel.Config{Lanes: lanes}, dir, func(rank int, tr *train.Trainer, p *train.Plan) {
			p.Patience, p.Validate = 0, nil
			if c.want == "validation" {
				p.Validate = func(context.Context) (metric.Scores, error) { return nil, nil }
			}
			if rank == 1 {
				c.change(tr, p)
			}
		})
		for rank, err := range errs {
			if err == nil || !strings.Contains(err.Error(), "ranks differ in "+c.want) {
				t.Errorf("rank %d: %v, want %s", rank, err, c.want)
			}
			if s := trainers[rank].Store(); s.Step() != 0 && s.Step() != 3 {
				t.Errorf("%s: rank %d has taken steps", c.want, rank)
			}
		}
		if _, ok, err := (checkpoint.Folder{Dir: dir}).Newest(); ok || err != nil {
			t.Errorf("%s: a checkpoint was written, %v", c.want, err)
		}
	}
}

// plain is the noisy model under another loss.
func plain(rows int, mode train.Mode) *train.Net {
	n := noisy(rows, mode)
	n.Params = nil
	n.Step = nil
	return n
}

// TestFitFailsOnRanks: what fails on one rank ends the training of all after the same step, with an
// error that names the rank and its cause; the folder keeps whole checkpoints, and training goes on
// from them to the same end.
func TestFitFailsOnRanks(t *testing.T) {
	want := undisturbedOnRanks(t)
	broken := errors.New("the tape is torn")
	for _, c := range []struct {
		name   string
		rank   int // that fails
		change func(p *train.Plan)
		step   uint64 // of the newest checkpoint
		resume bool
	}{
		{"an observer", 1, func(p *train.Plan) {
			p.Observers = append(p.Observers, train.ObserverFunc(func(e train.Event) error {
				if e.Kind == train.Stepped && e.Step == 6 {
					return broken
				}
				return nil
			}))
		}, 6, true},
		{"an observer of the end", 1, func(p *train.Plan) {
			p.Observers = append(p.Observers, train.ObserverFunc(func(e train.Event) error {
				if e.Kind == train.Ended {
					return broken
				}
				return nil
			}))
		}, 30, false},
		{"an observer of the beginning", 2, func(p *train.Plan) {
			p.Observers = append(p.Observers, train.ObserverFunc(func(e train.Event) error { return broken }))
		}, 0, true},
		{"the observer that measures", 0, func(p *train.Plan) {
			p.Observers = append(p.Observers, train.ObserverFunc(func(e train.Event) error {
				if e.Kind == train.Validated && e.Step == 6 {
					return broken
				}
				return nil
			}))
		}, 6, false},
		{"data", 2, func(p *train.Plan) { p.Data = brokenAt{p.Data, 1, broken} }, 1, false},
		{"data of the first rank", 0, func(p *train.Plan) { p.Data = brokenAt{p.Data, 2, broken} }, 2, true},
		{"Validate", 1, func(p *train.Plan) {
			p.Validate = func(context.Context) (metric.Scores, error) { return nil, broken }
		}, 3, false},
		{"Validate of the first rank", 0, func(p *train.Plan) {
			was := p.Validate
			p.Validate = func(ctx context.Context) (metric.Scores, error) {
				if _, err := was(ctx); err != nil {
					return nil, err
				}
				return nil, broken
			}
		}, 3, false},
	} {
		dir := t.TempDir()
		start := time.Now()
		errs, _ := fitOnRanks(t, 3, parallel.Config{Lanes: lanes}, dir, func(rank int, _ *train.Trainer, p *train.Plan) {
			if rank == c.rank {
				c.change(p)
			}
		})
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: it took %v", c.name, took)
		}
		for rank, err := range errs {
			switch {
			case rank == c.rank && !errors.Is(err, broken):
				t.Errorf("%s: rank %d: %v", c.name, rank, err)
			case rank != c.rank && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("rank %d: ", c.rank)) || !strings.Contains(err.Error(), broken.Error())):
				t.Errorf("%s: rank %d: %v, want that rank %d failed because %v", c.name, rank, err, c.rank, broken)
			}
		}
		// A rank that fails between two steps may do so while others end the step before.
		if step, _, err := (checkpoint.Folder{Dir: dir}).Newest(); step != c.step && step+1 != c.step || err != nil {
			t.Errorf("%s: the newest checkpoint is of step %d, %v; want %d", c.name, step, err, c.step)
		}
		if !c.resume {
			continue
		}
		errs, trainers := fitOnRanks(t, 2, parallel.Config{Lanes: lanes}, dir, func(_ int, _ *train.Trainer, p *train.Plan) { p.Resume = dir })
		for rank, err := range errs {
			if err != nil || bits(t, trainers[rank].Store()) != want {
				t.Errorf("%s: rank %d goes on to another end, %v", c.name, rank, err)
			}
		}
	}
}

// undisturbedOnRanks returns the bits of the plan's end on one rank.
func undisturbedOnRanks(t testing.TB) string {
	t.Helper()
	errs, trainers := fitOnRanks(t, 1, parallel.Config{Lanes: lanes}, t.TempDir(), nil)
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	return bits(t, trainers[0].Store())
}

// TestFitUnwritableOnRanks: the first rank alone writes; what it cannot write ends all ranks.
func TestFitUnwritableOnRanks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	errs, _ := fitOnRanks(t, 3, parallel.Config{Lanes: lanes}, dir, func(rank int, _ *train.Trainer, p *train.Plan) {
		if rank != 0 {
			p.Checkpoints.Dir = "/does/not/exist" // nobody looks there
			return
		}
		p.Observers = append(p.Observers, train.ObserverFunc(func(e train.Event) error {
			if e.Kind != train.Stepped || e.Step != 7 {
				return nil
			}
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.WriteFile(dir, nil, 0o666)
		}))
	})
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "step-00000008.safetensors: not a directory") || rank > 0 && !strings.HasPrefix(err.Error(), "rank 0: ") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	busy := t.TempDir()
	release, err := checkpoint.Folder{Dir: busy}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	errs, _ = fitOnRanks(t, 2, parallel.Config{Lanes: lanes}, busy, nil)
	if !errors.Is(errs[0], checkpoint.ErrBusy) || errs[1] == nil || errs[1].Error() != "rank 0: "+errs[0].Error() {
		t.Errorf("%v", errs)
	}
}

// lanes have, too.
func TestWithOnRanks(t *testing.T) {
	want := undisturbedOnRanks(t)
	alone := func(tr *train.Trainer) string {
		tr = tr.With(nil)
		defer tr.Close()
		if err := tr.Fit(t.Context(), train.Plan{Data: data.InOrder(iris(t), 11), Steps: 2}); err != nil {
			t.Error(err)
		}
		if _, err := tr.Evaluate(t.Context(), data.InOrder(iris(t), 50)); err != nil {
			t.Error(err)
		}
		return bits(t, tr.Store())
	}
	other := alone(noisyTrainer(t))
	errs, trainers := fitOnRanks(t, 2, parallel.Config{Lanes: lanes}, t.TempDir(), func(rank int, tr *train.Trainer, _ *train.Plan) {
		if rank == 1 && alone(tr) != other {
			t.Error("the trainer of With has other bits")
		}
	})
	for rank, err := range errs {
		if err != nil || bits(t, trainers[rank].Store()) != want || alone(trainers[rank]) != other {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestStopAloneOnRanks: a rank that stops alone ends the job of the others, which do not wait for
// it.
func TestStopAloneOnRanks(t *testing.T) {
	for _, measures := range []bool{false, true} {
		start := time.Now()
		errs, _ := fitOnRanks(t, 3, parallel.Config{Lanes: lanes}, t.TempDir(), func(rank int, _ *train.Trainer, p *train.Plan) {
			if !measures {
				p.Validate, p.Patience = nil, 0
			}
			p.Observers = []train.Observer{train.ObserverFunc(func(e train.Event) error {
				if rank == 1 && e.Kind == train.Stepped && e.Step == 6 {
					return train.ErrStop
				}
				return nil
			})}
		})
		for rank, err := range errs {
			if err == nil {
				t.Errorf("rank %d ends well", rank)
			}
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("it took %v", took)
		}
	}
}

// TestDivergedOnRanks: a loss that is not finite is the same on all ranks, which say in which lane of
// which rank it was found first, and why. Nothing of the step is committed, and no checkpoint written.
func TestDivergedOnRanks(t *testing.T) {
	set := iris(t)
	x := set.Column("x").Clone().(*tensor.Dense)
	x.Float32s()[149*4+2] = float32(math.NaN())
	set, err := set.With("x", x)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	errs, trainers := fitOnRanks(t, 3, parallel.Config{Lanes: lanes}, dir, func(rank int, _ *train.Trainer, p *train.Plan) {
		p.Validate, p.Patience, p.Data = nil, 0, data.InOrder(set, 50)
	})
	for rank, err := range errs {
		d := new(train.Diverged)
		if !errors.As(err, &d) || d.Step != 2 || trainers[rank].Store().Step() != 2 {
			t.Errorf("rank %d after step %d: %v", rank, trainers[rank].Store().Step(), err)
			continue
		}
		want := "step 3: lane 5 on rank 2, rows 42–49 of the batch: a value that is not finite was fed: x[n=7 d=2] = NaN, row 149: the loss is NaN: nothing was committed"
		if err.Error() != want {
			t.Errorf("rank %d: %v, want %s", rank, err, want)
		}
	}
	if _, ok, err := (checkpoint.Folder{Dir: dir}).Newest(); ok || err != nil {
		t.Errorf("a checkpoint was written, %v", err)
	}
}

// TestAveragesOnRanks: averages are measured by all ranks, as on one.
func TestAveragesOnRanks(t *testing.T) {
	measure := func(r *parallel.Ranks) (string, error) {
		tr := noisyTrainer(t)
		tr.Ranks = r
		averages := tr.Averages()
		defer averages.Close()
		err := tr.Fit(t.Context(), train.Plan{Data: data.Shuffled(iris(t), 64, 3), Steps: 4})
		if err != nil {
			return "", err
		}
		scores, err := averages.Evaluate(t.Context(), data.InOrder(iris(t), 40), metric.Accuracy("y"))
		return fmt.Sprintf("%x", scores), err
	}
	alone, err := parallel.Alone(parallel.Config{Lanes: lanes})
	if err != nil {
		t.Fatal(err)
	}
	want, err := measure(alone)
	if err != nil {
		t.Fatal(err)
	}
	for rank, err := range onRanks(t, 3, parallel.Config{Lanes: lanes}, func(r *parallel.Ranks) error {
		got, err := measure(r)
		if err == nil && got != want {
			err = fmt.Errorf("%s, not %s", got, want)
		}
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	for rank, err := range onRanks(t, 2, parallel.Config{Lanes: lanes, Shard: true}, func(r *parallel.Ranks) error {
		_, err := measure(r)
		return err
	}) {
		if err == nil || !strings.Contains(err.Error(), "each rank has the averages of its own part") {
			t.Errorf("shared out, rank %d: %v", rank, err)
		}
	}
}

// readRows counts the rows that are read of a set.
type readRows struct {
	*data.Set
	rows int
}

func (c *readRows) Gather(ctx context.Context, b data.Batch, rows []int) error {
	c.rows += len(rows)
	return c.Set.Gather(ctx, b, rows)
}

// TestRowsOnRanks: each rank reads the rows of its own lanes, and names a bad label by its row in
// the data, to the other ranks, too.
func TestRowsOnRanks(t *testing.T) {
	good := iris(t)
	y := good.Column("y").Clone().(*tensor.Dense)
	y.Int32s()[148] = 7
	bad, err := good.With("y", y)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []*data.Set{good, bad} {
		read := make([]int, 3)
		errs, _ := fitOnRanks(t, 3, parallel.Config{Lanes: lanes}, "", func(rank int, _ *train.Trainer, p *train.Plan) {
			c := &readRows{Set: set}
			p.Validate, p.Patience, p.Epochs, p.Data = nil, 0, 1, data.InOrder(c, 50)
			p.Observers = []train.Observer{train.ObserverFunc(func(e train.Event) error {
				read[rank] = c.rows
				return nil
			})}
		})
		if want := []int{9 + 9 + 9 + 9 + 9 + 9, 8 * 6, 8 * 6}; !slices.Equal(read, want) {
			t.Errorf("the ranks read %d rows of an epoch, not %d", read, want)
		}
		for rank, err := range errs {
			switch {
			case set == good && err != nil:
				t.Error(err)
			case set == bad && (err == nil || !strings.Contains(err.Error(), `label 7 in column "y", row 148: the model has 3 classes`)):
				t.Errorf("rank %d: %v", rank, err)
			case set == bad && rank != 2 && !strings.Contains(err.Error(), "rank 2: "):
				t.Errorf("rank %d: %v", rank, err)
			}
		}
	}
}

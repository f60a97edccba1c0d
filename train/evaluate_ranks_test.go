package train_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"gorgonia.org/tensor"
)

// onRanks calls f on each of n ranks of this process, and returns its errors by rank.
func onRanks(t testing.TB, n int, c parallel.Config, f func(r *parallel.Ranks) error) []error {
	t.Helper()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i, transport := range parallel.Local(n) {
		all.Go(func() {
			defer transport.Close()
			r, err := parallel.Join(t.Context(), transport, c)
			if err == nil {
				err = f(r)
			}
			errs[i] = err
		})
	}
	all.Wait()
	return errs
}

// seen is a metric that depends on the order of batches and on each of their bits.
type seen struct{ sum uint32 }

func (s *seen) Name() string   { return "seen" }
func (s *seen) Reset()         { s.sum = 0 }
func (s *seen) Value() float64 { return float64(s.sum) }
func (s *seen) Add(output *tensor.Dense, b data.Batch) error {
	first, known := b.Row(0)
	s.sum = crc32.Update(s.sum, crc32.IEEETable, fmt.Append(nil, output.Raw, output.Shape(), b.Rows, b.Values["x"].Raw, first, known))
	return nil
}

// measuredTwice returns the scores of two evaluations, and how far the draws have come.
func measuredTwice(ctx context.Context, tr *train.Trainer, source data.Source, metrics ...metric.Metric) (string, error) {
	defer tr.Close()
	var out strings.Builder
	for range 2 {
		scores, err := tr.Evaluate(ctx, source, metrics...)
		if err != nil {
			return "", err
		}
		for _, s := range scores {
			fmt.Fprintf(&out, "%s %x ", s.Name, s.Value)
		}
		fmt.Fprintf(&out, "runs %d ", tr.Store().Runs())
	}
	return out.String(), nil
}

// sometimes draws in batches of even sizes only.
func sometimes(rows int, mode train.Mode) *train.Net {
	if rows%2 == 0 {
		return dropped(rows, mode)
	}
	g := graph.New("sometimes")
	n, d := graph.Ax("n", rows), graph.Ax("d", 5)
	y := ops.Sum(ops.Mul(g.Input("x", graph.F64, n, d), g.Param("w", graph.F64, d).Init(initial.Normal(0, 1))), "d")
	return &train.Net{Output: ops.Cast(y, graph.BF16), Loss: ops.Mean(ops.Square(ops.Shift(y, -1)))}
}

// TestEvaluateOnRanks: any number of ranks measures what one does, bit for bit, for nets that draw
// while they evaluate, too, and where batches differ in size.
func TestEvaluateOnRanks(t *testing.T) {
	_, set := droppedRows(t, 23)
	for name, build := range map[string]train.Build{"draws in each run": dropped, "draws in some runs": sometimes} {
		for _, size := range []int{1, 4, 5, 23} {
			for _, metrics := range []bool{false, true} {
				measure := func(r *parallel.Ranks) (string, error) {
					var list []metric.Metric
					if metrics {
						list = []metric.Metric{&seen{}}
					}
					tr := &train.Trainer{Build: build, Seed: 3, Ranks: r}
					source := data.InOrder(set, size)
					if err := source.Seek(data.Position{Epoch: 2}); err != nil {
						return "", err
					}
					got, err := measuredTwice(t.Context(), tr, source, list...)
					if at := source.Position(); at != (data.Position{Epoch: 2}) {
						t.Errorf("the data are left at %v", at)
					}
					return got, err
				}
				want, err := measure(nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, ranks := range []int{2, 3, 4, 6} {
					for rank, err := range onRanks(t, ranks, parallel.Config{Lanes: 12}, func(r *parallel.Ranks) error {
						got, err := measure(r)
						if err == nil && got != want {
							err = fmt.Errorf("%s, not %s", got, want)
						}
						return err
					}) {
						if err != nil {
							t.Errorf("%s, batches of %d, metrics %v, rank %d of %d: %v", name, size, metrics, rank, ranks, err)
						}
					}
				}
			}
		}
	}
}

// brokenAt is a source that fails at a batch.
type brokenAt struct {
	data.Source
	at  int
	err error
}

func (f brokenAt) Next(ctx context.Context) (data.Batch, error) {
	if f.Source.Position().Batch == f.at {
		return data.Batch{}, f.err
	}
	return f.Source.Next(ctx)
}

func (f brokenAt) String() string { return data.Describe(f.Source) }

// TestEvaluateFailsOnRanks: what fails on one rank ends the evaluation of all, with an error that
// names the rank and its cause, and no rank waits for another in vain. After it the ranks measure
// again.
func TestEvaluateFailsOnRanks(t *testing.T) {
	_, set := droppedRows(t, 23)
	_, fewer := droppedRows(t, 19)
	broken := errors.New("the disk is broken")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name   string
		source data.Source
		ctx    context.Context
		metric metric.Metric
		own    string
		others string
		is     error
	}{
		{"data", brokenAt{data.InOrder(set, 4), 3, broken}, t.Context(), &seen{}, "evaluate: the disk is broken", "rank 1: evaluate: the disk is broken", nil},
		{"the first batch", brokenAt{data.InOrder(set, 4), 0, broken}, t.Context(), nil, "evaluate: the disk is broken", "rank 1: evaluate: the disk is broken", nil},
		{"the last batch", brokenAt{data.InOrder(set, 4), 5, broken}, t.Context(), nil, "evaluate: the disk is broken", "rank 1: evaluate: the disk is broken", nil},
		{"fewer rows", data.InOrder(fewer, 4), t.Context(), &seen{}, "the data are to be the same on all ranks", "the data are to be the same on all ranks", nil},
		{"one batch", data.InOrder(set, 23), t.Context(), nil, "", "", nil},
		{"no context", data.InOrder(set, 4), nil, nil, "evaluate: the context is nil", "rank 1: evaluate: the context is nil", nil},
		{"interrupted", data.InOrder(set, 4), ended, nil, "context canceled", "rank 1 was interrupted: context canceled", context.Canceled},
		{"metric", data.InOrder(set, 4), t.Context(), metric.Accuracy("z"), "", "rank 1: ", nil},
	} {
		for _, ranks := range []int{2, 3} {
			errs := onRanks(t, ranks, parallel.Config{Lanes: 12}, func(r *parallel.Ranks) error {
				tr := &train.Trainer{Build: dropped, Seed: 3, Ranks: r}
				defer tr.Close()
				source, ctx, metrics := data.InOrder(set, 4), t.Context(), []metric.Metric{&seen{}}
				if c.metric == nil {
					metrics = nil
				}
				if r.Rank() == 1 {
					if source, ctx = c.source, c.ctx; c.metric != nil {
						metrics[0] = c.metric
					}
				}
				_, err := tr.Evaluate(ctx, source, metrics...)
				if again, failed := measuredTwice(t.Context(), tr, data.InOrder(set, 4)); failed != nil || !strings.HasSuffix(again, "runs 12 ") {
					t.Errorf("%s: measured again: %s, %v", c.name, again, failed)
				}
				return err
			})
			for rank, err := range errs {
				want := c.others
				if rank == 1 {
					want = c.own
				}
				if err == nil || !strings.Contains(err.Error(), want) || c.is != nil && !errors.Is(err, c.is) {
					t.Errorf("%s: rank %d of %d: %v, want %s", c.name, rank, ranks, err, want)
				}
			}
		}
	}
}

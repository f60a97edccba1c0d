package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/internal/scaling"
	"github.com/tapestry-ml/tapestry/internal/workload"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// worker is a process that is one rank of a measurement: of exchanges, or of a training.
type worker struct {
	rank    string // 1/4; "" if this process is none
	address string
	net     string // "" for exchanges
	lanes   int
	rows    int
	shard   bool
	steps   int
}

// flags adds what the processes are told, which nobody need know.
func (w *worker) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.rank, "worker", "", "")
	f.StringVar(&w.address, "worker-at", "", "")
	f.StringVar(&w.net, "worker-net", "", "")
	f.IntVar(&w.lanes, "worker-lanes", 1, "")
	f.IntVar(&w.rows, "worker-rows", 1, "")
	f.BoolVar(&w.shard, "worker-shard", false, "")
	f.IntVar(&w.steps, "worker-steps", 1, "")
	for _, name := range []string{"worker", "worker-at", "worker-net", "worker-lanes", "worker-rows", "worker-shard", "worker-steps"} {
		_ = f.MarkHidden(name) // it is a flag
	}
}

// together runs the worker as so many processes and decodes what the first prints.
func (w worker) together(ctx context.Context, ranks int, into any) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "tapestry")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, end := context.WithCancel(ctx)
	defer end()
	out, says := make([]bytes.Buffer, ranks), make([]bytes.Buffer, ranks)
	ended := make(chan error)
	for rank := range ranks {
		cmd := exec.CommandContext(ctx, program, "bench", "--scaling", "--worker", fmt.Sprintf("%d/%d", rank, ranks),
			"--worker-at", "unix://"+filepath.Join(dir, "ranks"), "--worker-net", w.net, "--worker-lanes", fmt.Sprint(w.lanes),
			"--worker-rows", fmt.Sprint(w.rows), "--worker-shard="+fmt.Sprint(w.shard), "--worker-steps", fmt.Sprint(w.steps))
		cmd.Stdout, cmd.Stderr = &out[rank], &says[rank]
		go func() {
			err := startOn(rank, cmd)
			if err == nil {
				err = cmd.Wait()
			}
			if err != nil {
				err = fmt.Errorf("rank %d: %w: %s", rank, err, strings.TrimSpace(says[rank].String()))
			}
			ended <- err
		}()
	}
	var errs []error
	for range ranks {
		if err := <-ended; err != nil {
			errs = append(errs, err)
			end()
		}
	}
	if len(errs) > 0 {
		return errs[0]
	}
	return json.Unmarshal(out[0].Bytes(), into)
}

// run is the life of such a process.
func (w *worker) run(ctx context.Context, out io.Writer) error {
	var rank, count int
	if _, err := fmt.Sscanf(w.rank, "%d/%d", &rank, &count); err != nil || rank < 0 || rank >= count {
		return usagef("--worker %q: want a rank and their number", w.rank)
	}
	var t parallel.Transport
	if count > 1 {
		var err error
		if t, err = parallel.Dial(ctx, w.address, rank, count); err != nil {
			return err
		}
		defer t.Close()
	}
	var result any
	var err error
	if w.net == "" {
		result, err = w.exchange(ctx, t)
	} else {
		result, err = w.train(ctx, t)
	}
	if err != nil || rank > 0 {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}

// exchangeBytes are the sizes of messages that are timed.
var exchangeBytes = []int{64, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20}

// exchange times exchanges of pairs of ranks, whose numbers differ by w.lanes, by size: until all ranks, a
// power of two, have had theirs. As in a step of training, the caches are full of other things before, and
// all come at once.
func (w *worker) exchange(ctx context.Context, t parallel.Transport) ([]scaling.Point, error) {
	other := newClutter()
	timed := func(send, recv []byte) (float64, error) {
		var times []float64
		for i := range w.steps + 2 {
			other.fill()
			if err := meet(ctx, t); err != nil {
				return 0, err
			}
			start := time.Now()
			if err := t.Exchange(ctx, t.Rank()^w.lanes, send, recv); err != nil {
				return 0, err
			}
			if t.Ranks() > 2 {
				if err := meet(ctx, t); err != nil {
					return 0, err
				}
			}
			if i >= 2 {
				times = append(times, time.Since(start).Seconds())
			}
		}
		return quiet(times), nil
	}
	var points []scaling.Point
	for _, size := range exchangeBytes {
		p := scaling.Point{Bytes: float64(size)}
		send, recv := make([]byte, size), make([]byte, size)
		var err error
		if p.Seconds, err = timed(send, recv); err != nil {
			return nil, err
		}
		if t.Rank()&w.lanes == 0 { // rank 0 receives, since what is sent may still be on its way
			send = nil
		} else {
			recv = nil
		}
		if p.OneWay, err = timed(send, recv); err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}

// meet returns when all ranks have come.
func meet(ctx context.Context, t parallel.Transport) error {
	var b [1]byte
	for d := 1; d < t.Ranks(); d *= 2 {
		if err := t.Exchange(ctx, t.Rank()^d, b[:], b[:]); err != nil {
			return err
		}
	}
	return nil
}

// train takes steps of a training and returns how long they took, in seconds: averages over a few steps in
// a row, since ranks that share a core take turns.
func (w *worker) train(ctx context.Context, t parallel.Transport) ([]float64, error) {
	n, err := workload.NetOf(w.net)
	if err != nil {
		return nil, err
	}
	ranks, err := parallel.Join(ctx, t, parallel.Config{Lanes: w.lanes, Shard: w.shard})
	if err != nil {
		return nil, err
	}
	tr := trainer(n, ranks)
	defer tr.Close()
	var times []float64
	var last time.Time
	watch := train.ObserverFunc(func(e train.Event) error {
		now := time.Now()
		if e.Kind == train.Stepped {
			times = append(times, now.Sub(last).Seconds())
		}
		last = now
		return nil
	})
	first := min(w.steps, warmUpSteps) // which do not count
	err = tr.Fit(ctx, train.Plan{Data: n.Source(w.rows), Steps: first + w.steps, Observers: []train.Observer{watch}})
	if err != nil {
		return nil, err
	}
	if len(times) <= first {
		return nil, errors.New("no steps were seen")
	}
	const few = 4
	var means []float64
	for block := range slices.Chunk(times[first:], few) {
		sum := 0.0
		for _, t := range block {
			sum += t
		}
		means = append(means, sum/float64(len(block)))
	}
	return means, nil
}

// exchanges times those between so many processes on this machine, in pairs at a distance.
func (s *benchScaling) exchanges(ctx context.Context, w stopwatch, processes, distance int) ([]scaling.Point, error) {
	var points []scaling.Point
	if err := (worker{lanes: distance, steps: 5 * w.least}).together(ctx, processes, &points); err != nil {
		return nil, fmt.Errorf("%d processes on the loopback: %w", processes, err)
	}
	return points, nil
}

// checkedRanks are the ranks and lanes of the trainings that check the model.
var checkedRanks = []struct {
	ranks, lanes int
	shard        bool
}{{1, 8, false}, {2, 8, false}, {4, 8, false}, {1, 12, false}, {2, 12, false}, {3, 12, false}, {4, 12, false},
	{2, 8, true}, {3, 12, true}}

// laneRows is how many rows of a batch a lane has in a check: of all lanes about as many as the net has
// on one machine.
func (s *benchScaling) laneRows(net *scaling.Net) int { return max(1, net.Rows/4) }

// steps is how many steps of a check are timed: for a second or two.
func (s *benchScaling) steps(net *scaling.Net) int {
	long := 12 * net.Lanes[0].Seconds
	if s.quick {
		return max(4, min(60, int(0.3/long)))
	}
	return max(4, min(200, int(2/long)))
}

// checks trains each net, but for the largest, on ranks of this machine, and predicts the same. Trainings of different
// numbers of ranks take turns, so that other load on the machine affects all alike.
func (s *benchScaling) checks(ctx context.Context, m *scaling.Measurement) ([]scaling.Check, error) {
	var list []scaling.Check
	tree, err := scaling.ScheduleOf("tree")
	if err != nil {
		return nil, err
	}
	for _, net := range m.Nets {
		rounds := 3
		switch long := net.Lanes[0].Seconds; {
		case long > 1:
			continue // several ranks of it would not fit the memory of every machine
		case s.quick:
			rounds = 1
		case long > 0.02:
			rounds = 2
		}
		times := make([][]float64, len(checkedRanks))
		for range rounds {
			for i, c := range checkedRanks {
				w := worker{net: net.Name, lanes: c.lanes, rows: c.lanes * s.laneRows(net), shard: c.shard, steps: s.steps(net)}
				var took []float64
				if err := w.together(ctx, c.ranks, &took); err != nil {
					return nil, err
				}
				times[i] = append(times[i], took...)
			}
		}
		for i, c := range checkedRanks {
			j := scaling.Job{Net: net, Network: m.Network(), Schedule: tree, Ranks: c.ranks, Lanes: c.lanes,
				Rows: c.lanes * s.laneRows(net), Shard: c.shard, Cache: m.Cache, Add: m.Add}
			step, err := j.Step()
			if err != nil {
				return nil, err
			}
			sorted := slices.Sorted(slices.Values(times[i]))
			list = append(list, scaling.Check{Net: net.Name, Ranks: c.ranks, Lanes: c.lanes, Rows: j.Rows, Shard: c.shard, Predicted: step.Total,
				Measured: quiet(sorted), Quartiles: [2]float64{sorted[len(sorted)/2], sorted[3*len(sorted)/4]}})
		}
	}
	return list, nil
}

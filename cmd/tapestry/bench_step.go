package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/workload"
	"github.com/tapestry-ml/tapestry/tape"
)

// The steps that every program of the comparison makes.
const (
	warmUpSteps = 5
	lossStep    = 20 // its loss is compared, besides the first

	profiledSteps = 50
)

// stepFigure is one line; the keys are shared with the other programs.
type stepFigure struct {
	Peer      string     `json:"peer"`
	Workload  string     `json:"workload"`
	DType     string     `json:"dtype"`
	Threads   int        `json:"threads"`
	Median    float64    `json:"ms_per_step_median"`
	Min       float64    `json:"ms_min"`
	LossFirst jsonNumber `json:"loss_first"`
	LossLast  jsonNumber `json:"loss_last"`
	Checksum  jsonNumber `json:"checksum"`
	Steps     int        `json:"steps_timed"`
	Bytes     uint64     `json:"alloc_bytes_per_step"`
	Allocs    uint64     `json:"allocs_per_step"`
	Arena     int        `json:"arena_bytes"`

	Profile *profileJSON `json:"profile,omitempty"`
	profile *tape.Profile
}

const stepHeading = "workload        dtype     median ms      min ms   steps     loss 1    loss 20  allocs      arena"

// String returns a row of the table under stepHeading.
func (f stepFigure) String() string {
	return fmt.Sprintf("%-15s %-7s %11.4f %11.4f %7d %10.6g %10.6g %7d %10d",
		f.Workload, f.DType, f.Median, f.Min, f.Steps, float64(f.LossFirst), float64(f.LossLast), f.Allocs, f.Arena)
}

func (b *bench) timeSteps(ctx context.Context) error {
	if err := b.heading(stepHeading); err != nil {
		return err
	}
	for _, name := range b.workloads {
		types := b.types
		if types == nil {
			types = workload.Types(name)
		}
		for _, dt := range types {
			f, err := b.timeStep(ctx, name, dt)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if err := b.row(f); err != nil {
				return err
			}
			if f.profile != nil && !b.json {
				fmt.Fprintln(b.out, f.profile)
			}
		}
	}
	return nil
}

// timeStep times the training of one workload.
func (b *bench) timeStep(ctx context.Context, name string, dt graph.DType) (stepFigure, error) {
	f := stepFigure{Peer: b.peer(), Workload: name, DType: dtypeName(dt), Threads: b.threads}
	w, err := workload.Build(name, dt)
	if err != nil {
		return f, err
	}
	p, err := w.Compile(b.math.options()...)
	if err != nil {
		return f, err
	}
	f.Arena = p.Arena()
	s, err := w.Store()
	if err != nil {
		return f, err
	}
	options := []tape.VMOption{tape.Workers(b.threads)}
	if b.cpu != "" {
		options = append(options, tape.Labels())
	}
	vm, err := p.NewVM(s, options...)
	if err != nil {
		return f, err
	}
	defer vm.Close()
	step := func() (time.Duration, error) {
		start := time.Now()
		err := vm.Run(ctx, w.Feed)
		return time.Since(start), err
	}

	var last time.Duration
	for i := range warmUpSteps {
		if last, err = step(); err != nil {
			return f, err
		}
		if i == 0 {
			loss, err := w.Float(vm)
			if err != nil {
				return f, err
			}
			f.LossFirst = jsonNumber(loss)
		}
	}
	expected := int(b.duration() / max(last, 100*time.Nanosecond))
	times, spent := make([]time.Duration, 0, min(lossStep+2*expected, 1<<22)), time.Duration(0)
	// Neither a growing list nor a garbage collection may happen while measuring, nor reading values.
	timed := func(enough func() bool) error {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for !enough() {
			t, err := step()
			if err != nil {
				return err
			}
			times = append(times, t)
			spent += t
		}
		runtime.ReadMemStats(&after)
		f.Allocs += after.Mallocs - before.Mallocs
		f.Bytes += after.TotalAlloc - before.TotalAlloc
		return nil
	}
	if err := timed(func() bool { return len(times) == lossStep-warmUpSteps }); err != nil {
		return f, err
	}
	if err := f.read(w, vm); err != nil {
		return f, err
	}
	if err := timed(func() bool { return spent >= b.duration() }); err != nil {
		return f, err
	}
	f.Steps = len(times)
	n := uint64(f.Steps)
	f.Allocs, f.Bytes = f.Allocs/n, f.Bytes/n
	f.Median, f.Min = milliseconds(median(times)), milliseconds(slices.Min(times))
	if b.instructions {
		if f.profile, err = vm.Profile(ctx, w.Feed, profiledSteps); err != nil {
			return f, err
		}
		f.Profile = newProfileJSON(p, f.profile)
	}
	return f, nil
}

// read keeps what other programs must have too: the last loss, and the checksum.
func (f *stepFigure) read(w *workload.Workload, vm *tape.VM) error {
	loss, err := w.Float(vm)
	if err != nil {
		return err
	}
	sum, err := w.Checksum(vm)
	f.LossLast, f.Checksum = jsonNumber(loss), jsonNumber(sum)
	return err
}

// median returns the median of durations.
func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// milliseconds returns a duration in milliseconds, to 10 ns.
func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e8) / 1e5 }

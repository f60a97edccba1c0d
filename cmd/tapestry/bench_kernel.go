package main

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/workload"
)

// timedArray is an operand of a timed kernel.
type timedArray struct {
	layout kernel.Layout
	mem    kernel.Mem
}

// filled is a dense array of numbers in [lo, hi).
func filled(dt kernel.DType, lo, hi float64, dims ...int) timedArray {
	l := kernel.Dense(dt, dims...)
	m := kernel.Alloc(l.Len() * dt.Size())
	for i, u := range workload.Uniform(uint64(l.Len()), l.Len()) {
		if dt == kernel.F64 {
			kernel.As[float64](m)[i] = lo + u*(hi-lo)
		} else {
			kernel.As[float32](m)[i] = float32(lo + u*(hi-lo))
		}
	}
	return timedArray{l, m}
}

// transposed returns a view with the last two axes exchanged.
func (a timedArray) transposed() timedArray {
	d, s, r := &a.layout.Dims, &a.layout.Strides, a.layout.Rank
	d[r-2], d[r-1] = d[r-1], d[r-2]
	s[r-2], s[r-1] = s[r-1], s[r-2]
	return a
}

// bound returns a whole run of a kernel on one core, and the number of its operations.
func bound(k kernel.Kernel, out timedArray, in ...timedArray) (run func(), flops int64) {
	c := kernel.NewCtx()
	c.Out = out.mem
	layouts := make([]kernel.Layout, len(in))
	for i, a := range in {
		layouts[i] = a.layout
		c.In = append(c.In, a.mem)
	}
	loop := k.Bind(out.layout, layouts)
	return func() { loop.Run(c, 0, loop.Units) }, k.Flops(out.layout, layouts)
}

// burst is how long a function is repeated between two readings of the clock: long compared with
// the reading, short compared with disturbances of the machine.
const burst = time.Millisecond

// perCall runs functions in turn, a burst of each, until the time is up. For each it returns the
// seconds of a call at the lower quartile over the bursts: disturbances of the machine affect all
// functions alike, and fewer than three quarters of the bursts of each.
func perCall(ctx context.Context, d time.Duration, fs ...func()) ([]float64, error) {
	repeats, times := make([]int, len(fs)), make([][]time.Duration, len(fs))
	for i, f := range fs {
		for n := 1; repeats[i] == 0; n *= 2 {
			start := time.Now()
			for range n {
				f()
			}
			if t := time.Since(start); t >= burst {
				repeats[i] = max(1, int(int64(n)*int64(burst)/int64(t)))
			}
		}
	}
	for start := time.Now(); len(times[0]) < 3 || time.Since(start) < d; {
		for i, f := range fs {
			begin := time.Now()
			for range repeats[i] {
				f()
			}
			times[i] = append(times[i], time.Since(begin))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	out := make([]float64, len(fs))
	for i := range fs {
		slices.Sort(times[i])
		out[i] = times[i][len(times[i])/4].Seconds() / float64(repeats[i])
	}
	return out, nil
}

// to3 rounds to three decimals.
func to3(v float64) float64 { return math.Round(v*1000) / 1000 }

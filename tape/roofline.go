package tape

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Roofline gives the limits of one core, in arithmetic and in moving memory: no instruction
// takes less time than its operations at the one rate, nor than its bytes at the other.
type Roofline struct {
	F32, F64 float64     // operations a second, a multiply-add being two
	Streams  []Bandwidth // by size
}

// Bandwidth tells how fast a core goes over arrays of some size, again and again: small ones stay
// in its nearest cache.
type Bandwidth struct {
	Bytes int     // of the arrays together
	Rate  float64 // bytes read and written a second
}

// MeasureRoofline measures the core that it runs on. It takes some 200 ms, and is done once in a
// process: later calls return the same.
//
// Arithmetic is a loop of independent multiply-adds in registers, on the vectors of the instruction
// set in use. Streams copy one array to another, or add two into a third, whichever is faster, for
// sizes from 16 KiB to 64 MiB; what a cache fetches of its own accord, such as a line before it is
// written, is not counted. Each figure is the best of several bursts of a millisecond, so that
// other programs on the machine do not lower it.
func MeasureRoofline() Roofline { return measured() }

var measured = sync.OnceValue(func() Roofline {
	r := Roofline{F32: arithmetic(32), F64: arithmetic(64)}
	const least, most = 16 << 10, 64 << 20
	all := kernel.Alloc(most)
	all.Clear() // a page that was never written is not memory yet
	for size := least; size <= most; size *= 4 {
		half, third := size/2, size/3/64*64
		to, from := all.Slice(0, half), all.Slice(half, half)
		copies := fastest(func() { to.Copy(from) })
		l := kernel.Dense(kernel.F32, third/4)
		add, c := kernel.Add.Bind(l, []kernel.Layout{l, l}), kernel.NewCtx()
		c.Out, c.In = all.Slice(0, third), []kernel.Mem{all.Slice(third, third), all.Slice(2*third, third)}
		sums := fastest(func() { add.Run(c, 0, add.Units) })
		r.Streams = append(r.Streams, Bandwidth{size, max(float64(2*half)/copies, float64(3*third)/sums)})
	}
	return r
})

// arithmetic returns the rate of multiply-adds of floats of so many bits.
func arithmetic(bits int) float64 {
	const iterations = 10_000 // some 20 µs
	loop := simd.Peak(simd.Active(), bits)
	return float64(loop(iterations)) / fastest(func() { loop(iterations) })
}

// fastest returns the seconds of a call of f in the best of several bursts.
func fastest(f func()) float64 {
	const bursts, burst = 8, time.Millisecond
	calls, best := 1, 0.0
	for i := 0; i < bursts; {
		start := time.Now()
		for range calls {
			f()
		}
		d := time.Since(start)
		if d < burst {
			calls = 2*calls + int(float64(calls)*float64(burst-d)/float64(max(d, 1))/2)
			continue
		}
		if t := d.Seconds() / float64(calls); i == 0 || t < best {
			best = t
		}
		i++
	}
	return best
}

// stream returns the bandwidth for arrays of so many bytes: that of the nearest smaller size that
// was measured.
func (r Roofline) stream(bytes int64) float64 {
	rate := 0.0
	for i, s := range r.Streams {
		if i == 0 || int64(s.Bytes) <= bytes {
			rate = s.Rate
		}
	}
	return rate
}

// least returns the least time in which a core can do so many operations of a type, move so many
// bytes to and from arrays, and go over the scratch it works in.
func (r Roofline) least(dt kernel.DType, flops, bytes, scratch int64, scratchSize int) time.Duration {
	peak := r.F32
	if dt == kernel.F64 {
		peak = r.F64
	}
	seconds := max(float64(flops)/peak, float64(bytes)/r.stream(bytes)+float64(scratch)/r.stream(int64(scratchSize)))
	return time.Duration(seconds * float64(time.Second))
}

// String returns the figures in one line.
func (r Roofline) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s f32, %s f64; streams", rateText(r.F32, "FLOP/s"), rateText(r.F64, "FLOP/s"))
	for i, s := range r.Streams {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %s %s", memory.Text(int64(s.Bytes)), rateText(s.Rate, "B/s"))
	}
	return b.String()
}

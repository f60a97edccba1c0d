package tape

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/ops"
)

// twoSteps is a program of two instructions, and a feed.
func twoSteps(t *testing.T, options ...Option) (*graph.Graph, *Program, Feed) {
	t.Helper()
	g := graph.New("two steps")
	x := g.Input("x", graph.F32, graph.Ax("i", 4))
	p, err := Compile(g, append(options, Fetch(ops.Sin(ops.Tanh(x))), Passes())...)
	if err != nil {
		t.Fatal(err)
	}
	return g, p, Feed{x: Tensor(graph.NewValue(x.Type()))}
}

// TestMeasuringIsTakenOff: with a clock that moves on by 1 with every look at it, and by what a
// loop says it takes, the profile is what the loops say, and what happens between.
func TestMeasuringIsTakenOff(t *testing.T) {
	for _, c := range []struct {
		options []Option
		other   time.Duration
	}{{nil, 2}, {[]Option{Unfused()}, 2}} {
		g, p, feed := twoSteps(t, c.options...)
		clock := time.Duration(0)
		rows := 0
		for i := range p.stages {
			for k := range p.stages[i].calls {
				takes := []time.Duration{100, 30}[rows]
				rows++
				for l := range p.stages[i].calls[k].bound {
					p.stages[i].calls[k].bound[l].Run = func(*kernel.Ctx, int, int) { clock += takes }
				}
			}
		}
		vm := join(t, p, NewStore(g))
		defer vm.Close()
		record, observed := newRecorder(vm, func() time.Duration { clock++; return clock })
		vm.prog, vm.watch = observed, &observer{record: record}
		var samples []sample
		for i := range 4 {
			begin := clock
			if err := vm.Run(t.Context(), feed); err != nil {
				t.Fatal(err)
			}
			clock += c.other
			if i == 3 {
				clock += 1000 // another program's
			}
			samples = append(samples, record.take(clock-begin))
		}
		if n := samples[0].calls[0]; n != 1 {
			t.Errorf("in the first run a loop is called %d times: want 1", n)
		}
		prof := record.profile(p, samples)
		for k, want := range []time.Duration{100, 30} {
			if r := prof.Rows[k]; r.Busy != want || r.Time != want || r.Calls != 1 {
				t.Errorf("row %d: busy %d, time %d in %d calls: want %d in 1", k, r.Busy, r.Time, r.Calls, want)
			}
		}
		if want := 130 + c.other; prof.Wall != want || prof.Other != c.other {
			t.Errorf("a run takes %d, %d of it outside: want %d and %d", prof.Wall, prof.Other, want, c.other)
		}
	}
}

// TestStageOfTwoWorkers: what keeps two workers busy for 100 each takes the stage 100, of which 60
// belong to what took 120.
func TestStageOfTwoWorkers(t *testing.T) {
	r := &recorder{inside: 1, overhead: 2}
	// Each worker calls both loops 5 times: 10 inside, and 20 in all. In one run of three it is
	// interrupted.
	quiet := sample{stages: []time.Duration{100 + 20 + 1}, busy: []time.Duration{130, 90}, calls: []int64{10, 10}}
	held := sample{stages: []time.Duration{1000 + 20 + 1}, busy: []time.Duration{130, 1890}, calls: []int64{10, 10}}
	rows := []Timing{{Busy: 120}, {Busy: 80}}
	r.split(rows, []sample{held, quiet, quiet}, 0, 0)
	if a, b := rows[0].Time, rows[1].Time; a < 58 || a > 62 || b < 38 || b > 42 {
		t.Errorf("the stage's time is split into %d and %d: want about 60 and 40", a, b)
	}
	rows = []Timing{{}, {}}
	r.split(rows, []sample{{stages: []time.Duration{51}, busy: []time.Duration{0, 0}, calls: []int64{0, 0}}}, 0, 0)
	if rows[0].Time != 25 || rows[1].Time != 25 {
		t.Errorf("a stage of idle instructions is split into %v and %v", rows[0].Time, rows[1].Time)
	}
}

// labels gives the labels of all goroutines, as the profile of goroutines prints them.
func labels() string {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		panic(err)
	}
	return b.String()
}

// TestLabels: while a stage runs, each goroutine in it is labelled, besides what the caller's
// context says; then no more.
func TestLabels(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	g, p, feed := twoSteps(t, Unfused())
	var together sync.WaitGroup
	during := ""
	looked := make(chan struct{})
	st := &p.stages[1]
	st.nanos = p.sizes.wake
	st.calls[0].bound[0].Bound = kernel.Bound{Units: 2, Run: func(_ *kernel.Ctx, lo, hi int) {
		if hi-lo == 2 {
			t.Error("one worker does all")
			close(looked)
			return
		}
		together.Done()
		together.Wait()
		if lo == 0 {
			during = labels()
			close(looked)
		}
		<-looked
	}}
	p.sizes.grain = 1
	for _, on := range []bool{false, true} {
		looked = make(chan struct{})
		together.Add(2)
		var options []VMOption
		if on {
			options = []VMOption{Labels()}
		}
		vm := join(t, p, NewStore(g), options...)
		pprof.Do(context.Background(), pprof.Labels("request", "7"), func(ctx context.Context) {
			if err := vm.Run(ctx, feed); err != nil {
				t.Fatal(err)
			}
			if after := labels(); strings.Contains(after, "tapestry_stage") || !strings.Contains(after, `{"request":"7"}`) {
				t.Errorf("after the run:\n%s", after)
			}
		})
		vm.Close()
		const want = `{"request":"7", "tapestry_graph":"two steps", "tapestry_stage":"1 Sin"}`
		if n := strings.Count(during, want); on && n != 2 || !on && n != 0 {
			t.Errorf("with labels %v, %d goroutines are labelled %s:\n%s", on, n, want, during)
		}
	}
}

func TestStageTextOfMany(t *testing.T) {
	p := &Program{sequence: sequence{stages: []stage{{}}}}
	for i := range 9 {
		p.instrs = append(p.instrs, instr{name: string(rune('A' + i))})
		p.stages[0].steps = append(p.stages[0].steps, step{ins: i})
		want := map[int]string{1: "0 A", 6: "0 A B C D E F", 7: "0 A B C … E F G", 9: "0 A B C … G H I"}[i+1]
		if got := p.stageText(0); want != "" && got != want {
			t.Errorf("%d steps are %q: want %q", i+1, got, want)
		}
	}
}

func TestRoofline(t *testing.T) {
	r := MeasureRoofline()
	if r.F32 <= r.F64/2 || r.F64 <= 1e6 || len(r.Streams) < 3 {
		t.Errorf("roofline %v", r)
	}
	for i, s := range r.Streams {
		if s.Rate <= 1e6 || i > 0 && s.Bytes <= r.Streams[i-1].Bytes {
			t.Errorf("stream %+v of %v", s, r)
		}
	}
	if again := MeasureRoofline(); again.String() != r.String() {
		t.Errorf("%v, then %v", r, again)
	}

	r = Roofline{F32: 100e9, F64: 50e9, Streams: []Bandwidth{{1000, 200e9}, {4000, 10e9}}}
	for _, c := range []struct {
		dt                    kernel.DType
		flops, bytes, scratch int64
		size                  int
		want                  time.Duration
	}{
		{kernel.F32, 1e6, 0, 0, 0, 10e3},
		{kernel.F64, 1e6, 0, 0, 0, 20e3},
		{kernel.F32, 1e6, 3999, 0, 0, 10e3},        // arithmetic hides a little traffic
		{kernel.F32, 0, 800, 0, 0, 4},              // smaller than what was measured
		{kernel.F32, 0, 40000, 0, 0, 4000},         // larger
		{kernel.F32, 0, 40000, 20e6, 1000, 104000}, // and 100 µs over a small scratch
		{kernel.F32, 1e6, 40000, 20e6, 4000, 2004000},
	} {
		if got := r.least(c.dt, c.flops, c.bytes, c.scratch, c.size); got != c.want {
			t.Errorf("%+v takes at least %v", c, got)
		}
	}
	if want := "100 GFLOP/s f32, 50 GFLOP/s f64; streams 1000 B 200 GB/s, 3.9 KiB 10 GB/s"; r.String() != want {
		t.Errorf("%v: want %s", r, want)
	}
}

// Workers write to their calls and operands for each of the tiles that they run on.
func TestWorkersLieApart(t *testing.T) {
	const line = 128 // processors fetch cache lines in pairs
	p := &Program{calls: 3, operands: 5}
	of := map[uintptr]int{}
	var all []*worker
	for i := range 20 {
		w := newWorker(p, nil, kernel.NewWorker(), kernel.Mem{})
		all = append(all, w)
		for _, at := range [][2]uintptr{
			{uintptr(unsafe.Pointer(&w.calls[0])), unsafe.Sizeof(w.calls[0]) * uintptr(len(w.calls))},
			{uintptr(unsafe.Pointer(&w.operands[0])), unsafe.Sizeof(w.operands[0]) * uintptr(len(w.operands))},
		} {
			for k := at[0] / line; k <= (at[0]+at[1]-1)/line; k++ {
				if other, taken := of[k]; taken && other != i {
					t.Fatalf("workers %d and %d share a cache line", other, i)
				}
				of[k] = i
			}
		}
	}
	runtime.KeepAlive(all)
}

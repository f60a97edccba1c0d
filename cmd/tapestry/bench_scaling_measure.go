package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/scaling"
	"github.com/tapestry-ml/tapestry/internal/simd"
	"github.com/tapestry-ml/tapestry/internal/workload"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// stopwatch times things: each for so long, and at least least times unless these take 20 times as long;
// then three times.
type stopwatch struct {
	least int
	long  time.Duration
	cold  clutter // before each; nil for none
	ready func()  // called right before each; nil for nothing
}

// clutter is memory that fills the caches with other things than what is timed, as the rest of a step
// does: what is read once a step is not found there.
type clutter []float32

func newClutter() clutter { return make(clutter, 8<<20) }

func (s clutter) fill() {
	for i := range s {
		s[i] = 0.5*s[i] + 1
	}
}

// times returns how long runs of f take, in seconds, after one that does not count.
func (w stopwatch) times(f func() error) ([]float64, error) {
	if err := f(); err != nil {
		return nil, err
	}
	var list []float64
	for spent := time.Duration(0); spent < w.long || len(list) < w.least && (len(list) < 3 || spent < 20*w.long); {
		w.cold.fill()
		if w.ready != nil {
			w.ready()
		}
		start := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		t := time.Since(start)
		spent += t
		list = append(list, t.Seconds())
	}
	return list, nil
}

// time returns the quiet time of times.
func (w stopwatch) time(f func() error) (float64, error) {
	list, err := w.times(f)
	if err != nil {
		return 0, err
	}
	return quiet(list), nil
}

// quiet returns the lower quartile of times: one with little other load on the machine. Parts are
// measured by it, and trainings that are to be predicted from them.
func quiet(times []float64) float64 { return slices.Sorted(slices.Values(times))[len(times)/4] }

// measure measures the machine and the nets on it.
func (s *benchScaling) measure(ctx context.Context, names []string, long time.Duration) (*scaling.Measurement, error) {
	w := stopwatch{least: 10, long: long}
	if s.quick {
		w = stopwatch{least: 3}
	}
	m := &scaling.Measurement{Machine: machine(), Cores: runtime.GOMAXPROCS(0), Cache: cache()}
	var err error
	if m.Add, err = w.add(); err != nil {
		return nil, err
	}
	if m.Noise, err = w.noise(); err != nil {
		return nil, err
	}
	if m.Loopback, err = s.exchanges(ctx, w, 2, 1); err != nil {
		return nil, err
	}
	if n := 2 * m.Cores; m.Cores > 1 && n&(n-1) == 0 { // processes are bound to the cores in turn
		if m.Crowded, err = s.exchanges(ctx, w, n, 1); err != nil {
			return nil, err
		}
		if m.OneCore, err = s.exchanges(ctx, w, n, m.Cores); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		n, err := workload.NetOf(name)
		if err != nil {
			return nil, usagef("--workloads: %w", err)
		}
		net, err := w.net(ctx, n, s.quick)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m.Nets = append(m.Nets, net)
	}
	if s.check {
		m.Checks, err = s.checks(ctx, m)
	}
	return m, err
}

// machine says what was measured on.
func machine() string {
	cpu := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, is := strings.CutPrefix(line, "model name\t: "); is {
				cpu = strings.TrimSpace(name)
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s, %s", cpu, runtime.GOMAXPROCS(0), simd.Active(), runtime.GOOS)
}

// cache returns the size of the cache of the last level, 0 where the system does not say.
func cache() int {
	size := 0
	for level := range 5 {
		text, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/size", level))
		var kib int
		if _, is := fmt.Sscanf(string(text), "%dK", &kib); err == nil && is == nil {
			size = max(size, kib<<10)
		}
	}
	return size
}

// add returns how many bytes a second a core adds to others, in arrays that no cache holds.
func (w stopwatch) add() (float64, error) {
	const values = 4 << 20
	one, err := w.put(values, 1)
	if err != nil {
		return 0, err
	}
	two, err := w.put(values, 2)
	return 4 * values / max(two-one, one/10), err
}

// noise returns the law of the delays of one core that computes the same again and again, a few
// milliseconds each.
func (w stopwatch) noise() (scaling.Noise, error) {
	x := make([]float32, 1<<20)
	times, err := stopwatch{least: 50 * w.least, long: 2 * w.long}.times(func() error {
		for range 4 {
			for i := range x {
				x[i] = 0.5*x[i] + 1
			}
		}
		return nil
	})
	return scaling.NoiseOf(times), err
}

// put returns how long it takes to put so many values into the sum, for each of some lanes.
func (w stopwatch) put(values, lanes int) (float64, error) {
	ctx := context.Background()
	ranks, err := parallel.Alone(parallel.Config{Lanes: lanes})
	if err != nil {
		return 0, err
	}
	defer ranks.Close()
	w.cold = newClutter()
	terms := make([]float32, values)
	b := ranks.NewBucket(values, 0)
	return w.time(func() error {
		for lane := range lanes {
			b.Put(lane, parallel.Part{Scale: 0.5, F32: terms})
		}
		return b.Sum(ctx)
	})
}

// onCores returns the longest of what f measures on so many cores at a time. What they time, they begin
// together.
func (w stopwatch) onCores(cores int, f func(stopwatch) (float64, error)) (float64, error) {
	times, errs := make([]float64, cores), make([]error, cores)
	begin := newLine(cores)
	w.ready = begin.wait
	var all sync.WaitGroup
	for i := range cores {
		all.Go(func() {
			defer begin.leave()
			times[i], errs[i] = f(w)
		})
	}
	all.Wait()
	return slices.Max(times), errors.Join(errs...)
}

// startLine is where goroutines wait for each other, until they leave.
type startLine struct {
	mu      sync.Mutex
	changed sync.Cond
	all     int
	waiting int
	round   int
}

func newLine(all int) *startLine {
	s := &startLine{all: all}
	s.changed.L = &s.mu
	return s
}

func (s *startLine) wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting++
	for round := s.round; s.round == round; s.changed.Wait() {
		if s.waiting >= s.all {
			s.fire()
			return
		}
	}
}

func (s *startLine) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all--; s.waiting >= s.all {
		s.fire()
	}
}

// fire lets all go on who wait.
func (s *startLine) fire() {
	s.waiting = 0
	s.round++
	s.changed.Broadcast()
}

// laneRows are the rows of the lanes that are timed, as parts of the net's own number. Lanes of more rows
// than that are left out where they take long.
var laneRows = []float64{1.0 / 64, 1.0 / 16, 0.25, 1, 4}

// net measures a net.
func (w stopwatch) net(ctx context.Context, n *workload.Net, quick bool) (*scaling.Net, error) {
	out := &scaling.Net{Name: n.Name, What: n.What, Rows: n.Rows, Row: n.RowBytes}
	for _, part := range laneRows {
		rows := int(part * float64(n.Rows))
		if last := len(out.Lanes) - 1; rows < 1 || part > 1 && (quick || out.Lanes[last].Seconds > 1) {
			continue
		}
		l, err := w.lane(ctx, n, rows, 1)
		if err != nil {
			return nil, err
		}
		out.Lanes = append(out.Lanes, l)
	}
	first := out.Lanes[0]
	if first.Seconds < 0.1 { // of others it is a small part
		cold := w
		cold.cold = newClutter()
		l, err := cold.lane(ctx, n, first.Rows, 1)
		if err != nil {
			return nil, err
		}
		out.Cold = max(0, l.Seconds-first.Seconds)
	}
	both, err := w.lane(ctx, n, n.Rows, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(out.Lanes, func(l scaling.Lane) bool { return l.Rows == n.Rows })
	out.Busy = max(1, both.Seconds/out.Lanes[i].Seconds)
	return out, w.update(ctx, n, out)
}

// lane returns how long a lane of so many rows takes on a core, while as many run on so many cores.
func (w stopwatch) lane(ctx context.Context, n *workload.Net, rows, cores int) (scaling.Lane, error) {
	g, p, _, err := laneProgram(n.Build(rows, train.Training))
	if err != nil {
		return scaling.Lane{}, err
	}
	out := scaling.Lane{Rows: rows, Arena: p.Arena()}
	batch, err := n.Source(rows).Next(ctx)
	if err != nil {
		return out, err
	}
	feed := tape.Feed{}
	for _, in := range g.Leaves(graph.RoleInput) {
		feed[in] = batch.Values[in.Path()]
	}
	out.Seconds, err = w.onCores(cores, func(w stopwatch) (float64, error) { return w.program(ctx, p, tape.NewStore(g), feed) })
	return out, err
}

// laneProgram compiles what a lane computes: the loss of a net and its gradients.
func laneProgram(net *train.Net) (*graph.Graph, *tape.Program, []*graph.Node, error) {
	g := graph.Of(net.Loss)
	gradients := grad.Of(net.Loss, g.Leaves(graph.RoleParam)...)
	p, err := tape.Compile(g, tape.Fetch(net.Loss), tape.Fetch(gradients...))
	return g, p, gradients, err
}

// program returns how long a program takes on one core.
func (w stopwatch) program(ctx context.Context, p *tape.Program, s *tape.Store, feed tape.Feed) (float64, error) {
	vm, err := p.NewVM(s, tape.Workers(1))
	if err != nil {
		return 0, err
	}
	defer vm.Close()
	return w.time(func() error { return vm.Run(ctx, feed) })
}

// trainer trains a net on the lanes of some ranks, as it is measured: one core a rank.
func trainer(n *workload.Net, ranks *parallel.Ranks) *train.Trainer {
	return &train.Trainer{Build: n.Build, Optimiser: measuredOptimiser(), Seed: 1, Workers: 1, Ranks: ranks}
}

func measuredOptimiser() train.Optimiser { return train.Adam(1e-4) }

// update measures what follows the lanes, and counts bytes.
func (w stopwatch) update(ctx context.Context, n *workload.Net, out *scaling.Net) error {
	net := n.Build(1, train.Training)
	of := graph.Of(net.Loss)
	g := graph.New(n.Name)
	var sums []*graph.Node
	feed := tape.Feed{}
	for i, p := range of.Leaves(graph.RoleParam) {
		x := g.Param(p.Path(), p.DType(), p.Shape().Axes()...)
		d := g.Input(fmt.Sprint("gradient", i), p.DType(), p.Shape().Axes()...)
		sums = append(sums, ops.Sum(ops.Mul(x, d))) // whose gradient is d
		feed[d] = tape.Tensor(graph.Value{Type: d.Type(), Data: slices.Repeat([]float64{1e-3}, d.Shape().Len())})
		out.Parameters += p.Shape().Len()
		out.Arrays = append(out.Arrays, bytesOf(p.Type()))
		out.Held += bytesOf(p.Type())
	}
	loss := sums[0]
	for _, x := range sums[1:] {
		loss = ops.Add(loss, x)
	}
	p, err := tape.Compile(g, tape.Do(measuredOptimiser().Minimize(loss)))
	if err != nil {
		return err
	}
	s := tape.NewStore(g)
	warm, err := w.program(ctx, p, s, feed)
	if err != nil {
		return err
	}
	cold := w
	cold.cold = newClutter()
	if out.Update, err = cold.program(ctx, p, s, feed); err != nil {
		return err
	}
	out.Warm = max(0, out.Update-warm)
	for _, path := range s.Paths() {
		if t, _ := s.Type(path); g.Lookup(path) == nil || g.Lookup(path).Role() == graph.RoleState {
			out.States += bytesOf(t)
		}
	}
	out.Bucket = out.Held + 4*3 // the loss and two flags
	for _, st := range of.Leaves(graph.RoleState) {
		out.Held += bytesOf(st.Type())
		out.Bucket += bytesOf(st.Type())
	}
	const lanes = 8
	if out.Put, err = w.put(out.Bucket/4, lanes); err != nil {
		return err
	}
	out.Put /= lanes
	both, err := w.onCores(runtime.GOMAXPROCS(0), func(w stopwatch) (float64, error) { return w.put(out.Bucket/4, lanes) })
	if err != nil {
		return err
	}
	out.BusyPut = max(1, both/lanes/out.Put)
	out.Layers, err = layers(net)
	return err
}

// bytesOf returns how many bytes the elements of a type take.
func bytesOf(t graph.Type) int { return t.Shape.Len() * t.DType.Size() }

// layers returns when which gradients are complete, by the operations of the program that computes
// them.
func layers(net *train.Net) ([]scaling.Layer, error) {
	_, p, gradients, err := laneProgram(net)
	if err != nil {
		return nil, err
	}
	at, done := map[*graph.Node]int64{}, int64(0)
	rows := p.Rows()
	for from := 0; from < len(rows); {
		to := from
		for ; to < len(rows) && rows[to].Stage == rows[from].Stage; to++ {
			done += rows[to].FLOPs
		}
		for ; from < to; from++ {
			at[rows[from].Node] = done
		}
	}
	var list []scaling.Layer
	for _, d := range gradients {
		when, ok := at[p.Node(d)]
		if !ok {
			when = done // it is a view of something
		}
		list = append(list, scaling.Layer{Bytes: bytesOf(d.Type()), At: float64(when) / float64(max(1, done))})
	}
	slices.SortStableFunc(list, func(a, b scaling.Layer) int { return cmp.Compare(a.At, b.At) })
	return list, nil
}

package tape_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

type nodes = []*graph.Node

// recurrence is h ← a·h + x over T steps.
func recurrence(steps int) (a, x, h0 *graph.Node, r ops.Scanned) {
	g := graph.New("recurrence")
	a = g.Scalar("a", 0, graph.F64)
	x = g.Input("x", graph.F64, graph.Ax("t", steps))
	h0 = g.Scalar("h0", 0, graph.F64)
	r = ops.Scan(ops.Loop{Carry: nodes{h0}, Over: nodes{x}, With: nodes{a}}, func(c, x, w nodes) (next, out nodes) {
		return nodes{ops.Add(ops.Mul(w[0], c[0]), x[0])}, nil
	})
	return a, x, h0, r
}

// TestLongRecurrence: ten thousand steps are a small graph, and its values and first and second
// derivatives those of a loop in Go.
func TestLongRecurrence(t *testing.T) {
	const steps = 10_000
	a, x, h0, r := recurrence(steps)
	h := r.Trace[0]
	loss := ops.Sum(ops.Square(h))
	d := grad.Of(loss, a, x, h0)
	dd := grad.Of(d[0], a, h0)
	_, _, _, small := recurrence(3)
	grad.Of(grad.Of(ops.Sum(ops.Square(small.Trace[0])), small.Trace[0].Graph().Lookup("a"))[0], small.Trace[0].Graph().Lookup("a"))
	if n := a.Graph().Len(); n > 250 {
		t.Errorf("the graph has %d nodes", n)
	}
	p := compile(t, a.Graph(), tape.Fetch(h, loss, d[0], d[1], d[2], dd[0], dd[1]))
	vm := tapetest.VM(t, p, tape.NewStore(a.Graph()))
	defer vm.Close()
	xs := make([]float64, steps)
	for k := range xs {
		xs[k] = math.Sin(float64(k))
	}
	const av, hv = 0.95, 0.3
	run(t, vm, tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: xs}), a: tape.Scalar(graph.F64, av), h0: tape.Scalar(graph.F64, hv)})

	// h, and its derivatives by a (p, q), by h0 (u) and by both (v).
	var want struct{ l, da, dh, daa, dah float64 }
	hs := make([]float64, steps)
	now, p1, q, u, v := hv, 0.0, 0.0, 1.0, 0.0
	for k := range xs {
		// The conversion forbids fused multiply-add, which arm64 has.
		now, p1, q, u, v = float64(av*now)+xs[k], now+av*p1, 2*p1+av*q, av*u, u+av*v
		hs[k] = now
		want.l += now * now
		want.da += 2 * now * p1
		want.dh += 2 * now * u
		want.daa += 2 * (p1*p1 + now*q)
		want.dah += 2 * (u*p1 + now*v)
	}
	if got := value(t, vm, h); !slices.Equal(got, hs) {
		t.Errorf("the trace differs from the loop's")
	}
	for _, c := range []struct {
		name string
		n    *graph.Node
		want float64
	}{{"loss", loss, want.l}, {"∂a", d[0], want.da}, {"∂h0", d[2], want.dh}, {"∂²a", dd[0], want.daa}, {"∂a∂h0", dd[1], want.dah}} {
		if got := tapetest.Float(t, vm, c.n); !(math.Abs(got-c.want) <= 1e-9*math.Abs(c.want)) {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
	dx, λ := value(t, vm, d[1]), 0.0
	for k := steps - 1; k >= 0; k-- {
		λ = 2*hs[k] + av*λ
		if math.Abs(dx[k]-λ) > 1e-9 {
			t.Fatalf("∂x[%d] is %v, want %v", k, dx[k], λ)
		}
	}
}

// network is an LSTM with sizes whose products are worth two workers, its loss and gradients.
func network(dt graph.DType, steps, batch, hidden, checkpoint int) (leaves nodes, loss *graph.Node, all nodes) {
	g := graph.New("network")
	x := g.Input("x", dt, graph.Ax("n", batch), graph.Ax("t", steps), graph.Ax("f", hidden))
	w := g.Input("w", dt, graph.Ax("f", hidden), graph.Ax("g", 4*hidden))
	u := g.Input("u", dt, graph.Ax("k", hidden), graph.Ax("g", 4*hidden))
	b := g.Input("b", dt, graph.Ax("g", 4*hidden))
	h := g.Input("h", dt, graph.Ax("n", batch), graph.Ax("h", hidden))
	c := g.Input("c", dt, graph.Ax("n", batch), graph.Ax("h", hidden))
	r := ops.Scan(ops.Loop{Carry: nodes{h, c}, Over: nodes{x}, Axis: "t", With: nodes{w, u, b}, Checkpoint: checkpoint},
		func(s, x, w nodes) (next, out nodes) {
			z := ops.Add(ops.Add(ops.MatMul(x[0], w[0]), ops.MatMul(ops.Rename(s[0], "h", "k"), w[1])), w[2])
			gate := func(k int) *graph.Node { return ops.Rename(ops.Slice(z, "g", k*hidden, (k+1)*hidden), "g", "h") }
			c := ops.Add(ops.Mul(ops.Sigmoid(gate(0)), s[1]), ops.Mul(ops.Sigmoid(gate(1)), ops.Tanh(gate(2))))
			return nodes{ops.Mul(ops.Sigmoid(gate(3)), ops.Tanh(c)), c}, nil
		})
	loss = ops.Mean(ops.Square(r.Final[0]))
	leaves = nodes{x, w, u, b, h, c}
	return leaves, loss, append(nodes{loss, r.Final[0]}, grad.Of(loss, leaves...)...)
}

// waves are values for leaves.
func waves(leaves nodes) tape.Feed {
	feed := tape.Feed{}
	for k, n := range leaves {
		v := graph.NewValue(n.Type())
		for i := range v.Data {
			v.Data[i] = n.DType().Round(math.Sin(float64(i*(k+3)+k)) / 2)
		}
		feed[n] = tape.Tensor(v)
	}
	return feed
}

// bitsOf are the bits of nodes after a run.
func bitsOf(t *testing.T, p *tape.Program, feed tape.Feed, all nodes, options ...tape.VMOption) (out [][]float64) {
	t.Helper()
	vm := tapetest.VM(t, p, tape.NewStore(all[0].Graph()), options...)
	defer vm.Close()
	for range 2 {
		run(t, vm, feed)
	}
	for _, n := range all {
		out = append(out, value(t, vm, n))
	}
	return out
}

// TestLoopWorkers: one, two and eight workers give the same bits, and no run allocates. Checkpoints
// change the order of sums, because what is computed for all steps at once in other loops is not in
// theirs.
func TestLoopWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	var plain [][]float64
	for _, checkpoint := range []int{0, 3} {
		leaves, loss, all := network(graph.F32, 8, 32, 64, checkpoint)
		p := compile(t, loss.Graph(), tape.Fetch(all...))
		feed := waves(leaves)
		want := bitsOf(t, p, feed, all, tape.Workers(1))
		if plain == nil {
			plain = want
		}
		for i := range want { // the loss, the last h, and the derivatives by x, w, u, b, h and c
			if err := reftest.Near(want[i], plain[i], 1e-5); err != nil {
				t.Errorf("checkpoint %d: value %d: %v", checkpoint, i, err)
			}
		}
		for _, workers := range []int{2, 8} {
			for i, v := range bitsOf(t, p, feed, all, tape.Workers(workers)) {
				if !slices.Equal(v, want[i]) {
					t.Errorf("checkpoint %d, %d workers: %v differs", checkpoint, workers, all[i])
				}
			}
			vm := tapetest.VM(t, p, tape.NewStore(loss.Graph()), tape.Workers(workers))
			// so many runs that what the runtime makes once, when workers park, does not count
			if n := testing.AllocsPerRun(40, func() { run(t, vm, feed) }); n != 0 {
				t.Errorf("checkpoint %d, %d workers: a run allocates %v times", checkpoint, workers, n)
			}
			vm.Close()
		}
	}
}

// TestLoopUnfused: bodies are fused like programs, within the tolerance of products.
func TestLoopUnfused(t *testing.T) {
	leaves, loss, all := network(graph.F64, 5, 7, 9, 2)
	feed := waves(leaves)
	want := bitsOf(t, compile(t, loss.Graph(), tape.Fetch(all...)), feed, all)
	p := compile(t, loss.Graph(), tape.Fetch(all...), tape.Unfused(), tape.Passes())
	if strings.Contains(p.String(), "at a time") {
		t.Errorf("a body is fused:\n%v", p)
	}
	for i, v := range bitsOf(t, p, feed, all) {
		for e := range v {
			if math.Abs(v[e]-want[i][e]) > 1e-12 {
				t.Fatalf("%v: element %d is %v, fused %v", all[i], e, v[e], want[i][e])
			}
		}
	}
}

// TestCheckpointMemory: with checkpoints the arena grows with the root of the number of steps, and
// is never larger than what holds every carry.
func TestCheckpointMemory(t *testing.T) {
	arena := func(steps, checkpoint int) int {
		g := graph.New("chain")
		h, w := g.Input("h", graph.F32, graph.Ax("i", 1024)), g.Input("w", graph.F32, graph.Ax("i", 1024))
		r := ops.Scan(ops.Loop{Carry: nodes{h}, With: nodes{w}, Steps: steps, Checkpoint: checkpoint}, func(c, _, w nodes) (next, out nodes) {
			return nodes{ops.Tanh(ops.Mul(c[0], w[0]))}, nil
		})
		loss := ops.Sum(r.Final[0])
		return compile(t, g, tape.Fetch(append(grad.Of(loss, h, w), loss)...)).Arena()
	}
	const carry = 1024 * 4
	all, some := arena(1024, 0), arena(1024, 32)
	if all < 1024*carry || some > all/8 || some > 12*32*carry {
		t.Errorf("the arena is %d carries, with checkpoints %d", all/carry, some/carry)
	}
	if more := arena(4096, 64); more > 3*some {
		t.Errorf("with four times the steps it is %d carries, from %d", more/carry, some/carry)
	}
}

// TestLoopViews: sequences and what every step sees are read where they lie, whatever their
// strides; only a dense copy of an initial carry is made.
func TestLoopViews(t *testing.T) {
	g := graph.New("views")
	x := g.Input("x", graph.F64, graph.Ax("d", 3), graph.Ax("t", 6))
	h := g.Input("h", graph.F64, graph.Ax("d", 3))
	w := g.Input("w", graph.F64, graph.Ax("e", 3), graph.Ax("d", 3))
	step := func(c, x, w nodes) (next, out nodes) {
		return nodes{ops.Add(ops.Sum(ops.Mul(w[0], ops.Mul(c[0], x[0])), 1), x[1])}, nil
	}
	build := func(run func(ops.Loop, ops.StepFunc) ops.Scanned) *graph.Node {
		l := ops.Loop{Carry: nodes{ops.Reverse(h, 0)}, Over: nodes{ops.Reverse(x, "t"), ops.SliceStep(ops.Concat("t", x, x), "t", 0, 0, 2)}, Axis: "t",
			With: nodes{ops.Rename(ops.Transpose(w), "e", "")}}
		return run(l, func(c, x, w nodes) (next, out nodes) {
			c, x = nodes{ops.Rename(c[0], 0, "")}, nodes{ops.Rename(x[0], 0, ""), ops.Rename(x[1], 0, "")}
			w = nodes{ops.Rename(w[0], 0, "")}
			return step(c, x, w)
		}).Trace[0]
	}
	a, b := build(ops.Scan), build(ops.Unroll)
	p := compile(t, g, tape.Fetch(a, b), tape.Passes())
	got := bitsOf(t, p, waves(nodes{x, h, w}), nodes{a, b})
	for i := range got[0] {
		if math.Abs(got[0][i]-got[1][i]) > 1e-12 {
			t.Fatalf("element %d is %v, unrolled %v", i, got[0][i], got[1][i])
		}
	}
	only := compile(t, g, tape.Fetch(a), tape.Passes())
	for _, r := range only.Rows() {
		if r.Op == "Copy" && r.Node.Shape().Len() > 3 && !strings.Contains(r.Result, "[t=6") {
			t.Errorf("%s of %s is copied", r.Op, r.Result)
		}
	}
}

// ending is a context that ends after it has been asked some times.
type ending struct {
	context.Context
	left int
}

func (c *ending) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestLoopEnds: a run is left within a loop when its context ends, and commits nothing.
func TestLoopEnds(t *testing.T) {
	const steps = 10_000
	g := graph.New("count")
	h := g.State("h", graph.F64)
	r := ops.Scan(ops.Loop{Carry: nodes{h}, Steps: steps}, func(c, _, _ nodes) (next, out nodes) { return nodes{ops.Shift(c[0], 1)}, nil })
	g.Assign(h, r.Final[0])
	p := compile(t, g, tape.Do(g.Updates()), tape.Watch(r.Trace[0]))
	store := tape.NewStore(g)
	vm := tapetest.VM(t, p, store)
	defer vm.Close()
	count := func() float64 {
		v, err := store.Get("h")
		if err != nil {
			t.Fatal(err)
		}
		return v.Float64s()[0]
	}
	run(t, vm, nil)
	if got := count(); got != steps {
		t.Fatalf("h is %v after a run", got)
	}
	if err := vm.Run(&ending{t.Context(), 20}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the run ends with %v", err)
	}
	if got := count(); got != steps {
		t.Errorf("h is %v after a cancelled run", got)
	}
	asked := &ending{t.Context(), 1 << 30}
	if err := vm.Run(asked, nil); err != nil || 1<<30-asked.left < steps/100 {
		t.Errorf("the context was asked %d times in %d steps: %v", 1<<30-asked.left, steps, err)
	}
}

// TestLoopIsNoCommit: a loop that makes a state's next value runs before the commit, so that it can
// be left.
func TestLoopIsNoCommit(t *testing.T) {
	const steps = 10_000
	g := graph.New("fill")
	h := g.State("h", graph.F64, graph.Ax("t", steps))
	x := g.Input("x", graph.F64, graph.Ax("t", steps))
	zero := g.Constant(graph.F64, []float64{0})
	r := ops.Scan(ops.Loop{Carry: nodes{zero}, Over: nodes{x}}, func(c, x, _ nodes) (next, out nodes) {
		return nodes{ops.Tanh(ops.Add(c[0], x[0]))}, nil
	})
	g.Assign(h, r.Trace[0])
	p := compile(t, g, tape.Do(g.Updates()))
	store := tape.NewStore(g)
	vm := tapetest.VM(t, p, store)
	defer vm.Close()
	if err := vm.Run(&ending{t.Context(), 20}, waves(nodes{x})); !errors.Is(err, context.Canceled) {
		t.Errorf("the run ends with %v", err)
	}
	v, err := store.Get("h")
	if err != nil {
		t.Fatal(err)
	}
	for k, h := range v.Float64s() {
		if h != 0 {
			t.Fatalf("element %d was committed by a cancelled run", k)
		}
	}
}

// TestLoopListing: the listing shows the body below its loop, with what a step needs.
func TestLoopListing(t *testing.T) {
	_, loss, all := network(graph.F32, 16, 4, 8, 0)
	p := compile(t, loss.Graph(), tape.Fetch(all...))
	var loops []tape.Row
	for _, r := range p.Rows() {
		if r.Body != nil {
			loops = append(loops, r)
		}
	}
	if len(loops) != 2 {
		t.Fatalf("%d loops, want 2:\n%v", len(loops), p)
	}
	for _, r := range loops {
		if r.Op != "Scan" || r.FLOPs != 16*r.Body.FLOPs() || r.Traffic != 16*r.Body.Traffic() || r.FLOPs == 0 {
			t.Errorf("%s has %d FLOP and %d bytes, a step %d and %d", r.Op, r.FLOPs, r.Traffic, r.Body.FLOPs(), r.Body.Traffic())
		}
		for line := range strings.Lines(r.Body.String()) {
			if !strings.Contains(p.String(), "┆ "+line) {
				t.Errorf("the listing lacks %s", line)
			}
		}
		if err := r.Body.Check(); err != nil {
			t.Error(err)
		}
	}
	if p.Arena() < loops[1].Bytes+loops[1].Body.Arena() || p.Scratch() < loops[1].Body.Scratch() {
		t.Errorf("the arena has %d bytes, the scratch %d", p.Arena(), p.Scratch())
	}
}

// TestLoopProfile: a profile has a line for the loop.
func TestLoopProfile(t *testing.T) {
	leaves, loss, all := network(graph.F32, 8, 8, 16, 0)
	vm := tapetest.VM(t, compile(t, loss.Graph(), tape.Fetch(all...)), tape.NewStore(loss.Graph()), tape.Workers(1))
	defer vm.Close()
	prof, err := vm.Profile(t.Context(), waves(leaves), 3)
	if err != nil {
		t.Fatal(err)
	}
	if text := prof.String(); !strings.Contains(text, "Scan h[n=8 h=16], c[n=8 h=16]") || strings.Count(text, "Scan ") < 3 {
		t.Errorf("the profile is\n%s", text)
	}
}

// TestLoopBudget: a program with loops fits into less memory, with the same bits.
func TestLoopBudget(t *testing.T) {
	g := graph.New("budget")
	x := g.Input("x", graph.F32, graph.Ax("i", 64), graph.Ax("j", 64))
	h := x
	for range 16 {
		h = ops.Tanh(h)
	}
	r := ops.Scan(ops.Loop{Carry: nodes{h}, Steps: 4}, func(c, _, _ nodes) (next, out nodes) { return nodes{ops.Sin(c[0])}, nil })
	h = r.Final[0]
	for range 16 {
		h = ops.Tanh(h)
	}
	loss := ops.Sum(h)
	all := append(grad.Of(loss, x), loss)
	free := compile(t, g, tape.Fetch(all...), tape.Unfused(), tape.Passes())
	tight := compile(t, g, tape.Fetch(all...), tape.Unfused(), tape.Passes(), tape.Budget(free.Arena()*3/4))
	if tight.Arena() > free.Arena()*3/4 {
		t.Errorf("the arena is %d, of %d", tight.Arena(), free.Arena())
	}
	feed := waves(nodes{x})
	want := bitsOf(t, free, feed, all)
	for i, v := range bitsOf(t, tight, feed, all) {
		if !slices.Equal(v, want[i]) {
			t.Errorf("%v differs", all[i])
		}
	}
}

package tape_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// steady is a net whose weights are functions of parameters, with a value that is made of parameters
// alone and one that is drawn.
type steady struct {
	*graph.Graph
	x, v, u, gain, count, y, norm, noisy *graph.Node
}

func newSteady() steady {
	g := graph.New("steady")
	s := steady{Graph: g}
	s.x = g.Input("x", graph.F32, graph.Ax("i", 8), graph.Ax("j", 24))
	s.v = g.Param("v", graph.F32, graph.Ax("j", 24), graph.Ax("k", 40)).Init(initial.Normal(0, 1))
	s.gain = g.Param("gain", graph.F32, graph.Ax("k", 40)).Init(initial.Fill(1.5))
	s.count = g.State("count", graph.F32).Init(initial.Fill(2))
	s.norm = ops.Sqrt(ops.Sum(ops.Square(s.v), "j"))
	h := ops.Tanh(ops.MatMul(s.x, ops.Tanh(ops.Mul(ops.Div(s.v, s.norm), s.gain))))
	s.u = g.Param("u", graph.F32, graph.Ax("k", 40), graph.Ax("l", 32)).Init(initial.Normal(0, 1))
	s.y = ops.Tanh(ops.MatMul(h, ops.Sin(s.u)))
	s.noisy = ops.Mul(ops.Exp(s.count), ops.Add(s.y, ops.RandomUniform(g, "draw", graph.F32, s.y.Shape().Axes()...)))
	return s
}

var gains = slices.Repeat([]float64{0.25, 3}, 20)

func onces(p *tape.Program) (n int) {
	for _, r := range p.Rows() {
		if r.Once {
			n++
		}
	}
	return n
}

// bits runs two programs on their VMs and fails unless a value has the same bits in both.
func sameBits(t *testing.T, what string, a, b *tape.VM, feed tape.Feed, y *graph.Node) {
	t.Helper()
	var got [2][]float32
	for i, vm := range []*tape.VM{a, b} {
		run(t, vm, feed)
		v, err := vm.Value(y)
		if err != nil {
			t.Fatal(err)
		}
		got[i] = slices.Clone(v.Float32s())
	}
	if !slices.EqualFunc(got[0], got[1], func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) }) {
		t.Errorf("%s: %v…, want %v…", what, got[0][:3], got[1][:3])
	}
}

// TestOnce: what depends on parameters alone is made again after every way in which a value can
// change, and no bit is another than without the option.
func TestOnce(t *testing.T) {
	s := newSteady()
	p, q := compile(t, s.Graph, tape.Fetch(s.y), tape.Once()), compile(t, s.Graph, tape.Fetch(s.y))
	if onces(p) == 0 || onces(q) > 0 {
		t.Fatalf("%d instructions run once, %d without the option\n%v", onces(p), onces(q), p)
	}
	if !strings.Contains(p.String(), "once, and again when a value that they depend on changes") {
		t.Errorf("the listing does not say what is made once:\n%v", p)
	}
	if p.FLOPs() >= q.FLOPs() {
		t.Errorf("a run takes %d operations, and %d without the option", p.FLOPs(), q.FLOPs())
	}
	store := tape.NewStore(s.Graph)
	a, b := tapetest.VM(t, p, store), tapetest.VM(t, q, store)
	defer a.Close()
	defer b.Close()
	feed := tape.Feed{s.x: points(8, 24)}
	step := compile(t, s.Graph, tape.Do(graph.Step{s.Assign(s.v, ops.Scale(s.v, -2))}))
	update := tapetest.VM(t, step, store.Share())
	defer update.Close()
	other := tape.NewStore(s.Graph, tape.Seed(7))
	for _, change := range []struct {
		name string
		do   func() error
	}{
		{"first", func() error { return nil }},
		{"nothing", func() error { return nil }},
		{"Set", func() error { return store.Set("gain", tape.Of(s.gain, gains...)) }},
		{"an update by another program", func() error { return update.Run(context.Background(), nil) }},
		{"CopyFrom", func() error { _, err := store.CopyFrom(other, "v", "v"); return err }},
		{"Load", func() error { return store.Load(tape.NewStore(s.Graph, tape.Seed(9))) }},
	} {
		if err := change.do(); err != nil {
			t.Fatalf("%s: %v", change.name, err)
		}
		sameBits(t, change.name, a, b, feed, s.y)
	}
}

// TestOnceIsSkipped: what is made once is not made again while nothing changes. The one way to see
// that is the forbidden one, to write to what View shows.
func TestOnceIsSkipped(t *testing.T) {
	s := newSteady()
	store := tape.NewStore(s.Graph)
	vm := tapetest.VM(t, compile(t, s.Graph, tape.Fetch(s.y), tape.Once()), store)
	defer vm.Close()
	feed := tape.Feed{s.x: points(8, 24)}
	first := func() float32 {
		run(t, vm, feed)
		v, err := vm.Value(s.y)
		if err != nil {
			t.Fatal(err)
		}
		return v.Float32s()[0]
	}
	before := first()
	view, err := store.View("gain")
	if err != nil {
		t.Fatal(err)
	}
	view.Float32s()[0] *= 2
	if now := first(); now != before {
		t.Errorf("y[0,0] is %v after a change that nothing told of, %v before: the weights are made again in every run", now, before)
	}
	if err := store.Set("v", points(24, 40)); err != nil {
		t.Fatal(err)
	}
	if first() == before {
		t.Error("setting a value does not make the weights again")
	}
}

// TestOnceAfterFailure: a run that ends early has made nothing for good.
func TestOnceAfterFailure(t *testing.T) {
	s := newSteady()
	loss := ops.Mean(s.y)
	options := []tape.Option{tape.Fetch(s.y), tape.CheckFinite(loss)}
	store := tape.NewStore(s.Graph)
	a := tapetest.VM(t, compile(t, s.Graph, append(options, tape.Once())...), store)
	defer a.Close()
	b := tapetest.VM(t, compile(t, s.Graph, options...), store)
	defer b.Close()
	bad := points(8, 24)
	bad.Float32s()[5] = float32(math.NaN())
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, ctx := range []context.Context{context.Background(), ended} {
		if err := a.Run(ctx, tape.Feed{s.x: bad}); err == nil {
			t.Fatal("the run does not fail")
		}
		sameBits(t, "after a failure", a, b, tape.Feed{s.x: points(8, 24)}, s.y)
		if err := store.Set("gain", tape.Of(s.gain, gains...)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNotOnce: results, draws, states that the program writes and what depends on inputs are made in
// every run.
func TestNotOnce(t *testing.T) {
	s := newSteady()
	for _, c := range []struct {
		name    string
		options []tape.Option
	}{
		{"a result", []tape.Option{tape.Fetch(ops.Tanh(s.v))}},
		{"a watched value", []tape.Option{tape.Fetch(ops.Sum(s.x)), tape.Watch(ops.Tanh(s.v))}},
		{"a state that is written", []tape.Option{tape.Fetch(ops.Mul(ops.Exp(s.count), s.x)), tape.Do(graph.Step{s.Assign(s.count, ops.Neg(s.count))})}},
		{"a draw", []tape.Option{tape.Fetch(ops.Mul(s.x, ops.Exp(ops.RandomUniform(s.Graph, "other", graph.F32))))}},
	} {
		if p := compile(t, s.Graph, append(c.options, tape.Once())...); onces(p) > 0 {
			t.Errorf("%s: %d instructions run once\n%v", c.name, onces(p), p)
		}
	}
	store := tape.NewStore(s.Graph)
	options := []tape.Option{tape.Fetch(s.noisy), tape.Do(graph.Step{s.Assign(s.count, ops.Scale(s.count, 0.5))})}
	a := tapetest.VM(t, compile(t, s.Graph, append(options, tape.Once())...), store.Clone())
	defer a.Close()
	b := tapetest.VM(t, compile(t, s.Graph, options...), store)
	defer b.Close()
	for range 3 {
		sameBits(t, "draws and states", a, b, tape.Feed{s.x: points(8, 24)}, s.noisy)
	}
}

// TestOnceWithinBudget: what stays in memory counts, and is given up where a budget has no room for
// it.
func TestOnceWithinBudget(t *testing.T) {
	s := newSteady()
	free, kept := compile(t, s.Graph, tape.Fetch(s.y)), compile(t, s.Graph, tape.Fetch(s.y), tape.Once())
	if p := compile(t, s.Graph, tape.Fetch(s.y), tape.Once(), tape.Budget(kept.Arena())); onces(p) != onces(kept) {
		t.Errorf("with a budget of its own arena the program has %d instructions that run once: want %d", onces(p), onces(kept))
	}
	if kept.Arena() <= free.Arena() {
		t.Fatalf("the arena has %d B, and %d without the option: want more", kept.Arena(), free.Arena())
	}
	if p := compile(t, s.Graph, tape.Fetch(s.y), tape.Once(), tape.Budget(kept.Arena()-1)); onces(p) > 0 {
		t.Errorf("with less than its arena the program has %d instructions that run once", onces(p))
	}
}

// TestOnceRandom: random graphs with their gradients compute the same bits with the option and
// without, in the first run, in the next, and after a parameter has changed.
func TestOnceRandom(t *testing.T) {
	some := 0
	for seed := range uint64(20) {
		m, wanted := randomModel(t, seed, 12, graph.F32)
		options := []tape.Option{tape.Fetch(wanted...)}
		if seed%2 > 0 {
			options = append(options, tape.Fine())
		}
		feed, store := load(t, m, seed)
		p := compile(t, m.Graph, append(options, tape.Once())...)
		some += min(onces(p), 1)
		stores := []*tape.Store{store, store.Clone()}
		vms := []*tape.VM{tapetest.VM(t, p, stores[0], tape.Workers(2)), tapetest.VM(t, compile(t, m.Graph, options...), stores[1])}
		for round := range 3 {
			var bits [2]string
			for i, vm := range vms {
				if round == 2 {
					for _, w := range m.Params {
						v, err := stores[i].Get(w.Path())
						if err != nil {
							t.Fatal(err)
						}
						for k, b := range v.Float32s() {
							v.Float32s()[k] = b / 2
						}
						if err := stores[i].Set(w.Path(), v); err != nil {
							t.Fatal(err)
						}
					}
				}
				run(t, vm, feed)
				for _, n := range wanted {
					v, err := vm.Value(n)
					if err != nil {
						t.Fatal(err)
					}
					bits[i] += string(v.Raw)
				}
			}
			if bits[0] != bits[1] {
				t.Fatalf("seed %d, round %d: not the same bits\n%v", seed, round, p)
			}
		}
		for _, vm := range vms {
			vm.Close()
		}
	}
	if some < 4 {
		t.Errorf("%d graphs have something that runs once", some)
	}
}

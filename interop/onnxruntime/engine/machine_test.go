package engine_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/niltest"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime/engine"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

type node = *graph.Node

func opened(t *testing.T) *onnxruntime.Runtime {
	t.Helper()
	rt, err := onnxruntime.Open("")
	if err != nil {
		t.Skip(err)
	}
	return rt
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// net is a net with dropout, a recurrence that draws in each of its steps, a draw of each other law, and a state
// and a parameter that no step updates.
type net struct {
	g       *graph.Graph
	x, rate node
	loss    node
	step    graph.Step
}

func newNet(dt graph.DType) net {
	g := graph.New("net")
	x := g.Input("x", dt, graph.Ax("n", 4), graph.Ax("d", 3))
	scale := g.Scalar("scale", 2, dt)
	w := g.Param("w", dt, graph.Ax("d", 3), graph.Ax("k", 5)).Init(initial.Normal(0, 0.5))
	fixed := g.Param("fixed", dt, graph.Ax("k", 5)).Init(initial.Normal(0, 0.5))
	count := g.State("count", graph.I64)
	h := ops.Tanh(ops.MatMul(x, w))
	h = nn.Dropout(h, ops.Lit(h, 0.3))
	r := ops.Scan(ops.Loop{Carry: []node{h}, Steps: 3}, func(c, _, _ []node) (next, out []node) {
		return []node{ops.Add(ops.Scale(c[0], 0.5), ops.Scale(ops.RandomNormal(c[0].Graph(), "ε", dt, c[0].Shape().Axes()...), 0.1))}, nil
	})
	y := ops.Mul(r.Final[0], fixed)
	for _, law := range []node{
		ops.RandomGumbel(g, "gumbel", dt, graph.Ax("k", 5)),
		ops.RandomTruncatedNormal(g, "truncated", dt, -1, math.Inf(1), graph.Ax("k", 5)),
		ops.Cast(ops.RandomInt(g, "whole", graph.I64, -3, 9, graph.Ax("k", 5)), dt),
	} {
		y = ops.Add(y, ops.Mul(ops.Scale(law, 0.1), h))
	}
	loss := ops.Mul(ops.Mean(ops.Square(y)), scale).As("loss")
	step := train.Adam(0.05).Minimize(loss, w)
	step = append(step, graph.Update{Target: count, Value: ops.Add(count, ops.Lit(count, 1))})
	return net{g, x, scale, loss, step}
}

// TestTraining: a net with every kind of draw has the losses of the tape, step by step, and leaves the same
// parameters and counts; runs without updates draw what the tape draws, too.
func TestTraining(t *testing.T) {
	rt := opened(t)
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		n := newNet(dt)
		must(t, n.g.Err())
		ours, theirs := tape.NewStore(n.g, tape.Seed(7)), tape.NewStore(n.g, tape.Seed(7))
		p, err := tape.Compile(n.g, tape.Fetch(n.loss), tape.Do(n.step))
		must(t, err)
		vm, err := p.NewVM(ours)
		must(t, err)
		defer vm.Close()
		m, err := engine.Compile(rt, n.g, theirs, []node{n.loss}, n.step, onnxruntime.Options{Threads: 1})
		must(t, err)
		defer m.Close()
		m.CheckFinite(n.loss)
		ctx := context.Background()
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-4*math.Abs(b) }
		for i := range 10 {
			v := graph.NewValue(n.x.Type())
			for j := range v.Data {
				v.Data[j] = dt.Round(math.Sin(float64(i*12 + j)))
			}
			feed := tape.Feed{n.x: tape.Tensor(v)}
			if i == 5 {
				feed[n.rate] = tape.Scalar(dt, 3)
			}
			if i == 7 { // the model is not to have kept what it was written with
				for _, s := range []*tape.Store{ours, theirs} {
					w := graph.NewValue(n.g.Lookup("fixed").Type())
					w.Data[2] = 1
					must(t, s.Set("fixed", tape.Tensor(w)))
				}
			}
			must(t, vm.Run(ctx, feed))
			must(t, m.Run(ctx, feed, theirs))
			theirs.Resume(theirs.Seed(), theirs.Step()+1, 0)
			got, err := m.Float(n.loss)
			must(t, err)
			if want, err := vm.Float(n.loss); err != nil || !near(got, want) {
				t.Fatalf("%v, step %d: loss %v, want %v", dt, i, got, want)
			}
		}
		for _, path := range []string{"w", "count"} {
			typ, _ := ours.Type(path)
			a, err := ours.View(path)
			must(t, err)
			b, err := theirs.View(path)
			must(t, err)
			want, err := onnxruntime.FromTensor(typ, a)
			must(t, err)
			got, err := onnxruntime.FromTensor(typ, b)
			must(t, err)
			wants, _ := want.Floats()
			gots, _ := got.Floats()
			if !slices.EqualFunc(gots, wants, near) {
				t.Errorf("%v: %s is %v, want %v", dt, path, gots, wants)
			}
		}
		sample, err := engine.Compile(rt, n.g, theirs, []node{n.loss}, nil, onnxruntime.Options{Threads: 1})
		must(t, err)
		defer sample.Close()
		p, err = tape.Compile(n.g, tape.Fetch(n.loss))
		must(t, err)
		sampled, err := p.NewVM(ours)
		must(t, err)
		defer sampled.Close()
		feed := tape.Feed{n.x: tape.Tensor(graph.NewValue(n.x.Type()))}
		for range 3 {
			theirs.Resume(ours.Seed(), ours.Step(), ours.Runs())
			must(t, sampled.Run(ctx, feed))
			must(t, sample.Run(ctx, feed, theirs))
			got, err := sample.Float(n.loss)
			must(t, err)
			if want, err := sampled.Float(n.loss); err != nil || !near(got, want) {
				t.Errorf("%v, run %d: loss %v, want %v", dt, ours.Runs(), got, want)
			}
		}
	}
}

// TestNotFinite: a run whose loss is not finite is an error that changes nothing.
func TestNotFinite(t *testing.T) {
	rt := opened(t)
	n := newNet(graph.F32)
	store := tape.NewStore(n.g)
	m, err := engine.Compile(rt, n.g, store, []node{n.loss}, n.step, onnxruntime.Options{Threads: 1})
	must(t, err)
	defer m.Close()
	m.CheckFinite(n.loss)
	feed := tape.Feed{n.x: tape.Tensor(graph.NewValue(n.x.Type())), n.rate: tape.Scalar(graph.F32, math.Inf(1))}
	must(t, store.Complete(n.g))
	before := store.Clone()
	err = m.Run(context.Background(), feed, store)
	if wild := new(tape.NotFinite); !errors.As(err, &wild) || wild.Name != "loss[]" || !math.IsInf(wild.Value, 1) {
		t.Errorf("error %v", err)
	}
	for _, path := range store.Paths() {
		a, _ := before.View(path)
		b, _ := store.View(path)
		if !a.Eq(b) {
			t.Errorf("%s changed", path)
		}
	}
	if _, err := m.Value(n.loss); err == nil || err.Error() != "loss[] has no value: no run has ended well" {
		t.Errorf("error %v", err)
	}
}

// TestMistakes: each is a line that says what is wrong.
func TestMistakes(t *testing.T) {
	rt := opened(t)
	n := newNet(graph.F32)
	other := newNet(graph.F32)
	store := tape.NewStore(n.g)
	m, err := engine.Compile(rt, n.g, store, []node{n.loss}, nil, onnxruntime.Options{Threads: 1})
	must(t, err)
	defer m.Close()
	closed, err := engine.Compile(rt, n.g, store, []node{n.loss}, nil, onnxruntime.Options{Threads: 1})
	must(t, err)
	must(t, closed.Close())
	ctx := context.Background()
	x := tape.Feed{n.x: tape.Tensor(graph.NewValue(n.x.Type()))}
	must(t, m.Run(ctx, x, store))
	ended, end := context.WithCancel(ctx)
	end()
	compile := func(fetch []node, step graph.Step) func() error {
		return func() error {
			_, err := engine.Compile(rt, n.g, store, fetch, step, onnxruntime.Options{})
			return err
		}
	}
	for _, c := range []struct {
		do   func() error
		want string
	}{
		{compile([]node{other.loss}, nil), `loss[] is no node of graph "net"`},
		{compile(nil, append(n.step[len(n.step)-1:], n.step...)), "count is updated twice: compile a machine for each step"},
		{func() error { _, err := engine.Compile(nil, n.g, store, nil, nil, onnxruntime.Options{}); return err }, "the runtime is nil: onnxruntime.Open makes one"},
		{func() error { return closed.Run(ctx, x, store) }, "the machine is closed"},
		{func() error { return m.Run(ctx, x, nil) }, "want a store, got nil"},
		{func() error { return m.Run(ended, x, store) }, "context canceled"},
		{func() error { return m.Run(ctx, nil, store) }, "input x of type f32[n=4 d=3] is not fed"},
		{func() error { return m.Run(ctx, tape.Feed{n.loss: nil}, store) }, `feed: loss[] is no input of graph "net"`},
		{func() error { return m.Run(ctx, tape.Feed{n.x: tape.Scalar(graph.F32, 1)}, store) }, "input x: want shape [n=4 d=3], got (): the number of values is 1, want 12"},
		{func() error { _, err := m.Value(n.x); return err }, "x[n=4 d=3] has no value: no run has ended well"},
	} {
		if err := c.do(); err == nil || strings.TrimSpace(err.Error()) != c.want {
			t.Errorf("error %v\nwant  %s", err, c.want)
		}
	}
	must(t, m.Run(ctx, x, store))
	if _, err := m.Value(n.x); err == nil || err.Error() != "x[n=4 d=3] is not kept: name it to engine.Compile" {
		t.Errorf("error %v", err)
	}
}

// TestNil: nothing that the package exports panics on nil, zero values or closed machines.
func TestNil(t *testing.T) {
	niltest.Check(t, niltest.Table{
		Functions: map[string]any{"Compile": engine.Compile},
		Types:     []any{engine.Machine{}},
		Samples: func() []any {
			g := graph.New("sample")
			x := g.Input("x", graph.F32, graph.Ax("i", 3))
			samples := []any{g, tape.NewStore(g), []node{ops.Sum(x)}, x, tape.Feed{x: tape.Tensor(graph.NewValue(x.Type()))}}
			if rt, err := onnxruntime.Open(""); err == nil {
				samples = append(samples, rt)
			}
			return samples
		},
	})
}

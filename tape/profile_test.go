package tape_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestProfileAddsUp: whatever the instructions take, the parts are the whole.
func TestProfileAddsUp(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	c := newClusters(2000, 16, 32, true)
	p := compile(t, c.g, tape.Fetch(c.loss), tape.Do(c.step))
	for _, workers := range []int{1, 2} {
		vm := tapetest.VM(t, p, tape.NewStore(c.g), tape.Workers(workers))
		defer vm.Close()
		prof, err := vm.Profile(t.Context(), tape.Feed{c.x: points(2000, 32)}, 4)
		if err != nil {
			t.Fatal(err)
		}
		if prof.Workers != workers || prof.Runs != 4 || prof.Graph != "soft k-means" {
			t.Errorf("profile of %s in %d runs on %d workers", prof.Graph, prof.Runs, prof.Workers)
		}
		if prof.Unseen <= 0 || prof.Other < 0 {
			t.Errorf("%v unseen, %v outside of all instructions", prof.Unseen, prof.Other)
		}
		rows := p.Rows()
		if len(prof.Rows) != len(rows) {
			t.Fatalf("%d rows: the listing has %d", len(prof.Rows), len(rows))
		}
		sum, derivatives := prof.Other, time.Duration(0)
		for i, r := range prof.Rows {
			if r.Result != rows[i].Result || r.Op != rows[i].Op || r.Stage != rows[i].Stage {
				t.Errorf("row %d is %s %s, in the listing %s %s", i, r.Op, r.Result, rows[i].Op, rows[i].Result)
			}
			sum += r.Time
			if r.Node.IsBackward() {
				derivatives += r.Time
			}
			s := p.Stages()[r.Stage]
			if least := max(1, s.Rows/max(1, s.Block)); r.Calls < int64(least) {
				t.Errorf("row %d has %d calls: want at least %d", i, r.Calls, least)
			}
			if r.Least <= 0 && r.FLOPs > 1000 {
				t.Errorf("row %d: %d FLOP in no time", i, r.FLOPs)
			}
			if r.Busy > 0 && (r.FLOPs > 0) != (r.FLOPRate() > 0) || r.Busy > 0 && r.ByteRate()+r.ScratchRate() <= 0 {
				t.Errorf("row %d: rates %v %v %v", i, r.FLOPRate(), r.ByteRate(), r.ScratchRate())
			}
		}
		if sum != prof.Wall {
			t.Errorf("the parts take %v, the run %v", sum, prof.Wall)
		}
		for what, parts := range map[string][]tape.Part{"lines": prof.Lines(), "scopes": prof.Scopes(), "nodes": prof.Nodes()} {
			time, gradient := prof.Other, time.Duration(0)
			var flops, traffic int64
			for i, q := range parts {
				time, gradient, flops, traffic = time+q.Time, gradient+q.Gradient, flops+q.FLOPs, traffic+q.Traffic
				if q.Gradient > q.Time || i > 0 && parts[i-1].Time < q.Time {
					t.Errorf("%s: %+v after %+v", what, q, parts[max(0, i-1)])
				}
			}
			if time != prof.Wall || flops != p.FLOPs() || traffic != p.Traffic() || gradient != derivatives || gradient <= 0 {
				t.Errorf("%s: %v, of gradients %v, %d FLOP, %d bytes: want %v, %v, %d, %d",
					what, time, gradient, flops, traffic, prof.Wall, derivatives, p.FLOPs(), p.Traffic())
			}
		}
		text := prof.String()
		for _, r := range rows {
			if !strings.Contains(text, r.Op+" "+strings.Join(r.In, ", ")) {
				t.Errorf("%s %s is missing in\n%s", r.Op, r.Result, text)
			}
		}
		for _, q := range prof.Nodes() {
			if strings.HasPrefix(q.Label, "∂") {
				t.Errorf("%s is no quantity of the user's", q.Label)
			}
		}
		for _, q := range prof.Lines() {
			if !strings.Contains(q.Label, "tape/model_test.go:") {
				t.Errorf("line %q is not the user's", q.Label)
			}
		}
	}
}

// nap takes its time.
type nap struct{}

func (nap) Name() string                               { return "Nap" }
func (nap) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }
func (nap) Grad(_, dy *graph.Node, _ int) *graph.Node  { return graph.Apply(nap{}, dy) }
func (nap) Run(_ *graph.Node, out tape.Array, in []tape.Array) {
	copy(out.F64, in[0].F64)
	time.Sleep(napTime)
}

const napTime = 2 * time.Millisecond

// TestProfileFindsWhatIsSlow: and calls it by the user's names.
func TestProfileFindsWhatIsSlow(t *testing.T) {
	g := graph.New("naps")
	x := g.Input("x", graph.F64, graph.Ax("i", 8))
	y := ops.Tanh(x)
	end := g.Scope("bed")
	slow := graph.Apply(nap{}, y).As("slow")
	end()
	p := compile(t, g, tape.Fetch(ops.Sum(ops.Square(slow))))
	vm := tapetest.VM(t, p, tape.NewStore(g))
	defer vm.Close()
	feed := tape.Feed{x: tape.Tensor(graph.NewValue(x.Type()))}
	prof, err := vm.Profile(t.Context(), feed, 3)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(prof.Rows, func(r tape.Timing) bool { return r.Op == "Nap" })
	if r := prof.Rows[i]; r.Time < napTime || r.Busy < napTime || r.Calls != 1 || prof.Wall < napTime || prof.Unseen < napTime {
		t.Errorf("the nap takes %v, busy %v, in %d calls; a run %v, unseen %v", r.Time, r.Busy, r.Calls, prof.Wall, prof.Unseen)
	}
	for what, got := range map[string]struct {
		part tape.Part
		want string
	}{
		"line":  {prof.Lines()[0], slow.First().Pos.String()},
		"scope": {prof.Scopes()[0], "bed"},
		"node":  {prof.Nodes()[0], "slow"},
	} {
		if got.part.Label != got.want || got.part.Time < napTime {
			t.Errorf("%s: %+v: want %s", what, got.part, got.want)
		}
	}
}

// TestProfileChangesNothing: the store, the results, the steps after it and what they allocate are
// as if it had not been.
func TestProfileChangesNothing(t *testing.T) {
	var want []float64
	for _, profiled := range []bool{false, true} {
		c := newClusters(60, 3, 4, false)
		store := tape.NewStore(c.g, tape.Seed(3))
		vm := tapetest.VM(t, compile(t, c.g, tape.Fetch(c.loss), tape.Do(c.step)), store)
		defer vm.Close()
		feed := tape.Feed{c.x: points(60, 4)}
		run(t, vm, feed)
		if profiled {
			if _, err := vm.Profile(t.Context(), feed, 2); err != nil {
				t.Fatal(err)
			}
			if err := vm.Trace(t.Context(), feed, 2, new(strings.Builder)); err != nil {
				t.Fatal(err)
			}
		}
		got := append(value(t, vm, c.loss), stored(t, store, "r")...)
		run(t, vm, feed)
		got = append(append(got, value(t, vm, c.loss)...), stored(t, store, "r")...)
		got = append(got, float64(store.Step()), testing.AllocsPerRun(10, func() { run(t, vm, feed) }))
		if profiled && !slices.Equal(got, want) {
			t.Errorf("after a profile %v, without %v", got, want)
		}
		want = got
	}
}

func TestProfileMistakes(t *testing.T) {
	c := newClusters(6, 2, 2, false)
	vm := tapetest.VM(t, compile(t, c.g, tape.Fetch(c.loss)), tape.NewStore(c.g))
	feed := tape.Feed{c.x: points(6, 2)}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	both := func(ctx context.Context, feed tape.Feed, runs int) [2]error {
		_, err := vm.Profile(ctx, feed, runs)
		return [2]error{err, vm.Trace(ctx, feed, runs, new(strings.Builder))}
	}
	for i, what := range []string{"profile", "trace"} {
		wantError(t, both(t.Context(), feed, 0)[i], what+": 0 runs: want at least 1")
		wantError(t, both(t.Context(), nil, 1)[i], what+": run 1: input x of type f32[i=6 d=2] is not fed")
		wantError(t, both(nil, feed, 1)[i], "the context is nil") //nolint:staticcheck // that is the mistake
		if err := both(cancelled, feed, 1)[i]; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v: want %v", what, err, context.Canceled)
		}
	}
	broken := errors.New("no space")
	if err := vm.Trace(t.Context(), feed, 1, writerTo(func([]byte) (int, error) { return 0, broken })); !errors.Is(err, broken) {
		t.Errorf("error %v: want %v", err, broken)
	}
	vm.Close()
	for _, err := range both(t.Context(), feed, 1) {
		wantError(t, err, "the VM is closed")
	}
}

type writerTo func([]byte) (int, error)

func (w writerTo) Write(p []byte) (int, error) { return w(p) }

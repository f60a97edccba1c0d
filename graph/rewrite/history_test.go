package rewrite

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// wantSameLog: the firings of a history are the lines of the log, one by one.
func wantSameLog(t *testing.T, h *History, res *Result) {
	t.Helper()
	var log []Entry
	for _, f := range h.Firings {
		log = append(log, f.Entry)
	}
	if !slices.Equal(log, res.Log) || h.LogText() != res.LogText() || h.Graph.String() != res.Graph.String() {
		t.Errorf("%s: the history differs from the run", res.Graph.Name())
	}
}

// TestHistoryOfModels: in every model's training graph, both sides of every firing
// compute the same, and the history is that of the run.
func TestHistoryOfModels(t *testing.T) {
	fired := 0
	for i, b := range builders.All() {
		if testing.Short() && i%4 != 0 {
			continue
		}
		m, err := b.Build(nil, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		wanted := append([]*graph.Node{m.Loss}, grad.OrZero(m.Loss, m.Params()...)...)
		h, err := Trace(m.Graph, wanted, Passes()...)
		if err != nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		res, err := Run(m.Graph, wanted, Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		wantSameLog(t, h, res)
		checks, err := h.Check(t.Context(), m.Examples(rand.New(rand.NewPCG(1, 2))))
		if err != nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		for k, c := range checks {
			fired++
			if !(c.Difference < 1e-8) {
				t.Errorf("%s, firing %d: off by %v: %v", b.Name, k+1, c.Difference, h.Firings[k])
			}
			before, after := h.Firings[k].Small()
			if before.Type() != h.Firings[k].Old.Type() || after.Type() != h.Firings[k].New.Type() {
				t.Errorf("%s, firing %d: the small graphs have types %v and %v", b.Name, k+1, before.Type(), after.Type())
			}
		}
	}
	if fired < 300 {
		t.Errorf("only %d rules fired", fired)
	}
}

// TestHistoryAt: the graph after any number of firings computes what the first did, and
// the last is that of the run.
func TestHistoryAt(t *testing.T) {
	for seed := range uint64(60) {
		m, wanted := random(t, seed)
		h, err := Trace(m.Graph, wanted, Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(m.Graph, wanted, Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		wantSameLog(t, h, res)
		want := evaluate(t, m.Graph, m, wanted)
		for k := 0; k <= len(h.Firings); k += 1 + len(h.Firings)/5 {
			at, err := h.At(k)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(at.Log); n < k {
				t.Errorf("seed %d: %d rules fired, want %d", seed, n, k)
			}
			for i, e := range at.Log {
				if e != res.Log[i] {
					t.Fatalf("seed %d, at %d: firing %d is\n%v\nwant\n%v", seed, k, i+1, e, res.Log[i])
				}
			}
			for i, v := range evaluate(t, at.Graph, m, mapped(at, wanted)) {
				if d := distance(want[i].Data, v.Data); !(d < 1e-10) {
					t.Errorf("seed %d, at %d: %v is off by %v", seed, k, wanted[i], d)
				}
			}
		}
		whole, err := h.At(len(h.Firings))
		if err != nil {
			t.Fatal(err)
		}
		if whole.Graph.String() != res.Graph.String() {
			t.Errorf("seed %d: the graph after all firings is not that of the run", seed)
		}
		if _, err := h.At(len(h.Firings) + 1); err == nil {
			t.Error("the graph after more firings than there are")
		}
	}
}

// TestHistoryOfStabilising: where the naive formula overflows in float32, the check
// shows that the rule removes it.
func TestHistoryOfStabilising(t *testing.T) {
	g := graph.New("naive")
	x := g.Input("x", graph.F32, graph.Ax("i", 4), graph.Ax("j", 3))
	e := ops.Exp(x)
	p := ops.Div(e, ops.Sum(e, "j", ops.Keep))
	h, err := Trace(g, []*graph.Node{p}, Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	v := graph.NewValue(x.Type())
	for i := range v.Data {
		v.Data[i] = float64(i)
	}
	checks, err := h.Check(t.Context(), graph.Values{x: v})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Firings) == 0 || h.Firings[0].Rule != "naive softmax" {
		t.Fatalf("fired: %v", h.Firings)
	}
	c := checks[0]
	if c.Bad32 != [2]int{} || c.Large == nil || c.Large[0] == 0 || c.Large[1] != 0 {
		t.Errorf("of %d elements %v are bad, of large values %v: want bad ones before only, and of large values only", c.Elements, c.Bad32, c.Large)
	}
	v.Data[5] = 500
	if checks, err = h.Check(t.Context(), graph.Values{x: v}); err != nil || checks[0].Bad32[0] == 0 || checks[0].Bad32[1] != 0 {
		t.Errorf("with a value of 500, %v are bad (%v): want some before, none after", checks[0].Bad32, err)
	}
	if before, after := h.Firings[0].Small(); before.Graph().Len() != 5 || after.Graph().Len() != 2 || before.Graph().Lookup("x") == nil || after.Graph().Lookup("x") == nil {
		t.Errorf("the small graphs are\n%v%v", before.Graph(), after.Graph())
	}
}

// TestCheckFindsAWrongRule: a rule that changes values is seen.
func TestCheckFindsAWrongRule(t *testing.T) {
	g := graph.New("wrong")
	x := g.Input("x", graph.F64, graph.Ax("i", 4))
	y := ops.Tanh(x)
	wrong := Pass{Name: "wrong", rules: []Rule{{"tanh is x", "near 0 only", func(n *graph.Node) *graph.Node {
		if match.Is(n, match.Tanh) {
			return n.In(0)
		}
		return nil
	}}}}
	h, err := Trace(g, []*graph.Node{y}, wrong)
	if err != nil {
		t.Fatal(err)
	}
	v := graph.NewValue(x.Type())
	v.Data[2] = 1
	checks, err := h.Check(t.Context(), graph.Values{x: v})
	if err != nil || len(checks) != 1 || checks[0].Difference < 0.2 {
		t.Errorf("%v, %v: want a difference of 1 − tanh 1", checks, err)
	}
}

package rewrite

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

const graphs = 300

// random is a random float64 graph with the gradients of its loss; some have
// the gradients of a function of the gradients too.
func random(t testing.TB, seed uint64) (m *randgraph.Model, wanted []*graph.Node) {
	t.Helper()
	m = randgraph.New(seed, 3+int(seed%11), graph.F64)
	first := grad.Of(m.Loss, m.Params...)
	wanted = append(append([]*graph.Node{m.Loss}, m.Outputs...), first...)
	if seed%5 == 0 {
		norm := ops.Sum(ops.Sin(first[0])).As("norm")
		wanted = append(wanted, grad.OrZero(norm, m.Params...)...)
	}
	for _, u := range m.Step {
		wanted = append(wanted, u.Target, u.Value)
	}
	if err := m.Graph.Err(); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return m, wanted
}

func evaluate(t testing.TB, g *graph.Graph, m *randgraph.Model, nodes []*graph.Node) []graph.Value {
	t.Helper()
	feed := ref.Feed{}
	for n, v := range m.Values {
		if l := g.Lookup(n.Path()); l != nil {
			feed[l] = v
		}
	}
	out, err := ref.Eval(graph.Env{Seed: 5}, feed, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mapped(res *Result, nodes []*graph.Node) []*graph.Node {
	out := make([]*graph.Node, len(nodes))
	for i, n := range nodes {
		out[i] = res.Node(n)
	}
	return out
}

// singles are the passes of the list one by one, each rule alone, and the list.
func singles() map[string][]Pass {
	lists := map[string][]Pass{"all": Passes()}
	for _, p := range Passes() {
		if lists["pass "+p.Name] != nil {
			continue // simplify stands in the list twice
		}
		lists["pass "+p.Name] = []Pass{p}
		for i, r := range p.Rules() {
			lists[fmt.Sprintf("rule %s %d", r.Name, i)] = []Pass{{Name: p.Name, rules: []Rule{r}}}
		}
	}
	return lists
}

// TestRewritingKeepsValues: whatever is run, every wanted node computes what it
// computed, has its type, and the graph is sound.
func TestRewritingKeepsValues(t *testing.T) {
	fired := map[string]int{}
	lists := singles()
	for seed := range uint64(graphs) {
		m, wanted := random(t, seed)
		before := m.Graph.String()
		want, text := evaluate(t, m.Graph, m, wanted), canonical(wanted)
		for name, list := range lists {
			res, err := Run(m.Graph, wanted, list...)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			if err := graph.Verify(res.Graph); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			if len(res.Log) == 0 {
				if now := canonical(mapped(res, wanted)); now != text {
					t.Fatalf("seed %d, %s: no rule fired, but\n%sis now\n%s", seed, name, text, now)
				}
				continue
			}
			for _, e := range res.Log {
				fired[e.Rule]++
			}
			got := evaluate(t, res.Graph, m, mapped(res, wanted))
			for i, n := range wanted {
				if got[i].Type != n.Type() {
					t.Errorf("seed %d, %s: %v of type %v has become %v", seed, name, n, n.Type(), got[i].Type)
				}
				if d := distance(want[i].Data, got[i].Data); !(d < 1e-10) {
					t.Fatalf("seed %d, %s: %v is off by %v\n%s%s", seed, name, n, d, res.LogText(), canonical([]*graph.Node{n}))
				}
			}
		}
		if m.Graph.String() != before {
			t.Fatalf("seed %d: the graph itself was changed", seed)
		}
	}
	for _, p := range Passes() {
		for _, r := range p.Rules() {
			if fired[r.Name] == 0 && r.Name != "empty layout" {
				t.Errorf("rule %q never fired: the test says nothing of it", r.Name)
			}
		}
	}
}

func distance(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	d := 0.0
	for i := range a {
		e := math.Abs(a[i]-b[i]) / max(1, math.Abs(a[i]))
		if math.IsNaN(e) {
			return e
		}
		d = max(d, e)
	}
	return d
}

// canonical is the text of the nodes and all they depend on, numbered in the
// order of a walk from the roots: equal for graphs that differ in numbering only.
func canonical(roots []*graph.Node) string {
	var b strings.Builder
	number := map[*graph.Node]int{}
	var visit func(n *graph.Node) int
	visit = func(n *graph.Node) int {
		if k, ok := number[n]; ok {
			return k
		}
		var in []string
		for _, x := range n.Inputs() {
			in = append(in, fmt.Sprintf("%%%d", visit(x)))
		}
		number[n] = len(number)
		op := graph.OpText(n.Op())
		if v, ok := n.Constant(); ok {
			op = v.String()
		}
		fmt.Fprintf(&b, "%%%d = %s %s : %v\n", number[n], op, strings.Join(in, " "), n.Type())
		return number[n]
	}
	for _, r := range roots {
		fmt.Fprintf(&b, "root %%%d\n", visit(r))
	}
	return b.String()
}

// fingerprints are hashes of what the nodes compute, equal for equal graphs
// whatever their numbering. Derivatives add contributions up in the order of
// their numbers, so the terms of sums count in any order.
func fingerprints(roots []*graph.Node) []uint64 {
	known := map[*graph.Node]uint64{}
	var of func(n *graph.Node) uint64
	var terms func(n *graph.Node) []uint64
	terms = func(n *graph.Node) (out []uint64) {
		for _, x := range n.Inputs() {
			if ops.Is(n, "Add") && ops.Is(x, "Add") {
				out = append(out, terms(x)...)
			} else {
				out = append(out, of(x))
			}
		}
		return out
	}
	of = func(n *graph.Node) uint64 {
		if h, ok := known[n]; ok {
			return h
		}
		in := terms(n)
		if ops.Is(n, "Add") {
			slices.Sort(in)
		}
		text := graph.OpText(n.Op())
		if v, ok := n.Constant(); ok {
			text = v.String()
		}
		h := fnv.New64a()
		fmt.Fprintln(h, text, n.Type(), in)
		known[n] = h.Sum64()
		return known[n]
	}
	var out []uint64
	for _, r := range roots {
		out = append(out, of(r))
	}
	return out
}

// TestTheListAsAWhole: every pass leaves a sound graph; the list leaves nothing
// for itself to do; and nothing that the text form does not carry has a say in
// what it does and logs.
func TestTheListAsAWhole(t *testing.T) {
	for seed := range uint64(graphs) {
		m, wanted := random(t, seed)
		g, now := m.Graph, wanted
		for _, p := range Passes() {
			res, err := Run(g, now, p)
			if err != nil {
				t.Fatal(err)
			}
			if err := graph.Verify(res.Graph); err != nil {
				t.Errorf("seed %d, after %s: %v", seed, p.Name, err)
			}
			g, now = res.Graph, mapped(res, now)
		}

		once, err := Run(m.Graph, wanted, Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		first := mapped(once, wanted)
		if canonical(first) != canonical(now) {
			t.Errorf("seed %d: pass by pass the list gives another graph", seed)
		}
		twice, err := Run(once.Graph, first, Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(fingerprints(first), fingerprints(mapped(twice, first))) {
			t.Errorf("seed %d: a second run gives\n%s\nafter\n%s\n%s", seed, canonical(mapped(twice, first)), canonical(first), twice.LogText())
		}

		parsed, err := graph.Parse(strings.NewReader(m.Graph.String()), ops.Vocabulary()...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again := make([]*graph.Node, len(wanted))
		for i, n := range wanted {
			again[i] = parsed.Nodes()[n.ID()]
		}
		other, err := Run(parsed, again, Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		if s, p := once.Graph.String(), other.Graph.String(); s != p {
			t.Errorf("seed %d: the parsed graph becomes\n%s\nthe original\n%s", seed, p, s)
		}
		if once.LogText() != other.LogText() {
			t.Errorf("seed %d: the parsed graph's log is\n%s\nthe original's\n%s", seed, other.LogText(), once.LogText())
		}
	}
}

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
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// allGraphs are so many random graphs that every rule fires on some.
const allGraphs = 600

// graphs is how many of them suffice where the race detector slows the tests.
func graphs() uint64 {
	if testing.Short() {
		return allGraphs / 4
	}
	return allGraphs
}

// random is a random float64 graph with the gradients of its loss; some have
// the gradients of a function of the gradients too.
func random(t testing.TB, seed uint64) (m *randgraph.Model, wanted []*graph.Node) {
	t.Helper()
	return randomOf(t, seed, 3+int(seed%11))
}

func randomOf(t testing.TB, seed uint64, size int) (m *randgraph.Model, wanted []*graph.Node) {
	t.Helper()
	m = randgraph.New(seed, size, graph.F64)
	first := grad.Of(m.Loss, m.Params...)
	wanted = append(append([]*graph.Node{m.Loss}, m.Outputs...), first...)
	if x := m.Outputs[0]; x.Rank() > 0 && seed%3 == 0 {
		wanted = append(wanted, stepwise(x))
	}
	if x := m.Outputs[2]; x.Rank() > 0 && seed%3 == 1 { // a leaf, whose elements differ
		y := ops.Sum(ops.Max(ops.ReLU(x), 0))
		wanted = append(append(wanted, y), grad.OrZero(y, m.Params...)...)
	}
	if seed%7 == 2 {
		wanted = append(wanted, tableStep(m)...)
	}
	if seed%7 == 4 {
		wanted = append(wanted, sumsOfProducts(m.Loss)...)
	}
	if seed%7 == 1 {
		wanted = append(wanted, normed(m)...)
	}
	if seed%5 == 0 {
		norm := ops.Sum(ops.Sin(first[0])).As("norm")
		wanted = append(wanted, grad.OrZero(norm, m.Params...)...)
	}
	if seed%7 == 6 {
		x := m.Params[0]
		wanted = append(wanted, grad.Jacobian(ops.Mul(ops.Sin(x), ops.BroadcastTo(ops.Sum(ops.Square(x)), x.Shape())), x))
	}
	for _, u := range m.Step {
		wanted = append(wanted, u.Target, u.Value)
	}
	if err := m.Graph.Err(); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return m, wanted
}

// stepwise takes an array apart along its first axis and joins it again, as it is
// and step by step, as unrolled recurrences do; and it multiplies what lies along
// that axis by one matrix.
func stepwise(x *graph.Node) *graph.Node {
	var slices, steps []*graph.Node
	for t := range x.Dim(0) {
		s := ops.Slice(x, 0, t, t+1)
		slices = append(slices, s)
		step := ops.Sin(ops.Squeeze(s, 0))
		if step.Rank() > 0 {
			steps = append(steps, ops.Expand(step, 0, "t"))
		}
	}
	y := ops.Sum(ops.Concat(0, slices...))
	if len(steps) > 0 {
		y = ops.Add(y, ops.Sum(ops.Concat(0, steps...)))
	}
	n, k := x.Dim(0), x.Shape().Len()/x.Dim(0)
	w := reshape(slices[0], graph.Dims(k, 1))
	return ops.Add(y, ops.Sum(ops.MatMul(reshape(x, graph.Dims(n, 1, k)), w)))
}

// sumsOfProducts are sums of products of arrays that are made of a scalar.
func sumsOfProducts(s *graph.Node) []*graph.Node {
	s = ops.Sin(ops.Reshape(s, 1))
	list := ops.Concat(0, s, ops.Sin(s), ops.Cos(s), ops.OneMinus(s))
	a := ops.Reshape(list, 2, 1, 2)
	y := ops.Concat(1, a, ops.Sin(a), ops.Cos(a), ops.Exp(a)) // [2 4 2]
	across := ops.Transpose(y, 0, 2, 1)
	wide := ops.Reshape(ops.MatMul(ops.Reshape(y, 8, 2), ops.Reshape(list, 2, 2)), 4, 2, 2)
	all := mustShape(graph.Dims(4, 4)...)
	rows := ops.Reshape(y, 16, 1)
	weighted := ops.Mul(ops.Cos(rows), ops.MatMul(rows, ops.Reshape(a, 1, 4)))
	return []*graph.Node{
		ops.Sum(weighted, 0), ops.MatMul(ops.Transpose(weighted), ops.Sin(rows)), ops.MatMul(ops.Reshape(y, 1, 16), weighted),
		ops.MatMul(across, ops.Transpose(ops.Sin(across), 0, 2, 1)), ops.Pow(list, ops.Lit(list, 5)), ops.Pow(ops.Exp(list), ops.Lit(list, -1)),
		ops.MatMul(a, across), ops.Sum(ops.MatMul(y, across), 2), ops.Sum(ops.Mul(y, ops.BroadcastTo(a, y.Shape())), 1),
		ops.Sum(ops.Mul(wide, ops.BroadcastTo(ops.Reshape(list, 1, 2, 2), wide.Shape())), 1),
		ops.Transpose(ops.Sub(ops.BroadcastTo(s, all), ops.BroadcastTo(list, all))),
	}
}

// normed is a batch norm with its derivatives and its variance, and the same written as steps.
func normed(m *randgraph.Model) []*graph.Node {
	g := m.Graph
	param := func(name string, axes ...graph.Axis) *graph.Node {
		p := g.Param(name, graph.F64, axes...)
		v := graph.NewValue(p.Type())
		for i := range v.Data {
			v.Data[i] = math.Sin(float64(3*i + len(name)))
		}
		m.Values[p] = v
		return p
	}
	x, gain, w := param("rows", graph.Dims(3, 4, 2)...), param("gain", graph.Dims(2)...), param("weights", graph.Dims(3, 4, 2)...)
	square := ops.Mean(ops.Square(ops.Sub(x, ops.BroadcastTo(ops.Mean(x, 0, 1), x.Shape()))), 0, 1)
	y := ops.Mul(ops.Standardise(x, 0.1, 0, 1), ops.BroadcastTo(gain, x.Shape()))
	d := ops.Sub(x, ops.BroadcastTo(ops.Mean(x, 0, 1), x.Shape()))
	scale := ops.Div(ops.Lit(square, 1), ops.Sqrt(ops.Shift(square, 0.1)))
	written := ops.Mul(d, ops.BroadcastTo(ops.Mul(scale, gain), x.Shape()))
	half := ops.Mul(d, ops.BroadcastTo(ops.Rstd(x, 0.1, 0, 1), x.Shape()))
	nodes := []*graph.Node{y, written, half, square}
	for _, of := range []*graph.Node{y, written} {
		nodes = append(nodes, grad.Of(ops.Add(m.Loss, ops.Sum(ops.Mul(w, ops.Sin(of)))), x, gain)...)
	}
	return nodes
}

// tableStep is a step of descent on a table from which rows were gathered, one of them twice, and the
// square of the length of its derivative; then the derivative by a tied table, whose rows are gathered
// and multiplied by the table itself.
func tableStep(m *randgraph.Model) []*graph.Node {
	g := m.Graph
	positions := g.Constant(graph.I64, []float64{3, 14, 3}, graph.Dims(3)...)
	table := func(name string) *graph.Node {
		p := g.Param(name, graph.F64, graph.Dims(15, 2)...)
		v := graph.NewValue(p.Type())
		for i := range v.Data {
			v.Data[i] = math.Sin(float64(i))
		}
		m.Values[p] = v
		return p
	}
	plain, tied := table("table"), table("tied")
	rows := ops.Gather(plain, positions, 0)
	slope := grad.Of(ops.Mul(m.Loss, ops.Sum(ops.Sin(rows))), plain)[0]
	scores := ops.MatMul(ops.Gather(tied, positions, 0), ops.Transpose(tied, 1, 0))
	return []*graph.Node{
		ops.Sub(plain, ops.Mul(ops.Sin(m.Loss), slope)), ops.Sum(ops.Square(slope)),
		grad.Of(ops.Sum(ops.Sin(scores)), tied)[0],
	}
}

func evaluate(t testing.TB, g *graph.Graph, m *randgraph.Model, nodes []*graph.Node) []graph.Value {
	t.Helper()
	feed := graph.Values{}
	for n, v := range m.Values {
		if l := g.Lookup(n.Path()); l != nil {
			feed[l] = v
		}
	}
	out, err := ref.Eval(trait.Env{Seed: 5}, feed, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// singles are the passes of the list one by one, each rule alone, and the list.
func singles() map[string][]Pass {
	lists := map[string][]Pass{"all": Passes(), "fast math": eager()}
	seen := map[string]bool{}
	for k, p := range append(Passes(), Pass{Name: "fast math", rules: gram(0)}) {
		again := lists["pass "+p.Name] != nil // simplify stands in the list twice, with more rules later
		if !again {
			lists["pass "+p.Name] = []Pass{p}
		}
		for i, r := range p.Rules() {
			if again && seen[r.Name] {
				continue
			}
			seen[r.Name] = true
			lists[fmt.Sprintf("rule %s %d %d", r.Name, k, i)] = []Pass{{Name: p.Name, rules: []Rule{r}}}
		}
	}
	return lists
}

// TestRewritingKeepsValues: whatever is run, every wanted node computes what it
// computed, has its type, and the graph is sound.
func TestRewritingKeepsValues(t *testing.T) {
	fired := map[string]int{}
	lists := singles()
	for seed := range graphs() {
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
	if graphs() < allGraphs {
		return // too few for the rare rules
	}
	for _, p := range FastMath() {
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
		op := opText(n)
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

// opText is the operation's text with what its body computes in place of the body's
// number.
func opText(n *graph.Node) string {
	if body := n.Body(); body != nil {
		return graph.OpText(n.Op().(graph.BodyOp).WithBody(0)) + "{\n" + body.Form() + "}"
	}
	return graph.OpText(n.Op())
}

// fingerprints are hashes of what the nodes compute, equal for equal graphs
// whatever their numbering. What depends on it does not count: derivatives add
// contributions up in the order of their numbers, so the terms of sums count in any
// order, as the operands of commutative operations do; and of a reduction with its
// axes kept and without, the one that came first is computed.
func fingerprints(roots []*graph.Node) []uint64 {
	known := map[*graph.Node]uint64{}
	var of func(n *graph.Node) uint64
	hash := func(v ...any) uint64 {
		h := fnv.New64a()
		fmt.Fprintln(h, v...)
		return h.Sum64()
	}
	const minus = 1 << 40
	var terms func(n *graph.Node, sign uint64) []uint64
	terms = func(n *graph.Node, sign uint64) []uint64 {
		switch match.KindOf(n) {
		case match.Add:
			return append(terms(n.In(0), sign), terms(n.In(1), sign)...)
		case match.Sub:
			return append(terms(n.In(0), sign), terms(n.In(1), sign^minus)...)
		case match.Neg:
			return terms(n.In(0), sign^minus)
		}
		return []uint64{of(n) ^ sign}
	}
	of = func(n *graph.Node) uint64 {
		if h, ok := known[n]; ok {
			return h
		}
		r := n
		if _, ok := match.Along(r); !ok && match.Is(n, match.Reshape) {
			r = n.In(0)
		}
		var h uint64
		if axes, ok := match.Along(r); ok && r.NumIn() == 1 && r.Shape() != r.In(0).Shape() {
			h = hash(r.Op().Name(), axes, n.Type(), of(r.In(0)))
		} else if match.Is(n, match.Add) || match.Is(n, match.Sub) || match.Is(n, match.Neg) {
			in := terms(n, 0)
			slices.Sort(in)
			h = hash("Add", n.Type(), in)
		} else {
			var in []uint64
			for _, x := range n.Inputs() {
				in = append(in, of(x))
			}
			switch match.KindOf(n) {
			case match.Mul, match.Maximum, match.Minimum, match.Equal, match.NotEqual, match.And, match.Or:
				slices.Sort(in)
			}
			text := opText(n)
			if v, ok := n.Constant(); ok {
				text = v.String()
			}
			h = hash(text, n.Type(), in)
		}
		known[n] = h
		return h
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
	for seed := range graphs() {
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
		wantNothingLeft(t, once, first)

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

// wantNothingLeft runs the list once more on what it gave.
func wantNothingLeft(t *testing.T, once *Result, wanted []*graph.Node) {
	t.Helper()
	twice, err := Run(once.Graph, wanted, Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	if now := mapped(twice, wanted); !slices.Equal(fingerprints(wanted), fingerprints(now)) {
		t.Errorf("%s: a second run gives\n%s\nafter\n%s\n%s", once.Graph.Name(), canonical(now), canonical(wanted), twice.LogText())
	}
}

// TestNothingIsLeft: in larger graphs there are chains of rules: what one rule
// builds is another's pattern, also between its first node and its last, and a
// pairwise distance may show only after its layouts are joined.
func TestNothingIsLeft(t *testing.T) {
	seeds := []uint64{1345, 1615, 2355, 2692, 2753}
	for seed := range graphs() {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		m, wanted := randomOf(t, seed, 10+int(seed%30))
		once, err := Run(m.Graph, wanted, Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		wantNothingLeft(t, once, mapped(once, wanted))
	}
}

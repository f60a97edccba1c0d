package ops_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// cellOf is a step of a recurrent network of three hidden values, over the input's
// share of the gates.
func cellOf(kind string) ops.StepFunc {
	return func(c, x, w []node) (next, out []node) {
		z := ops.Add(x[0], ops.MatMul(c[0], w[0]))
		if kind == "rnn" {
			h := ops.Tanh(z).As("h")
			return []node{h}, []node{ops.Square(h)}
		}
		gate := func(k int) node { return ops.Rename(ops.Slice(z, "g", 3*k, 3*k+3), "g", "h") }
		m := ops.Add(ops.Mul(ops.Sigmoid(gate(0)), c[1]), ops.Mul(ops.Sigmoid(gate(1)), ops.Tanh(gate(2))))
		h := ops.Mul(ops.Sigmoid(gate(3)), ops.Tanh(m))
		return []node{h, m}, []node{ops.Square(h)}
	}
}

// recurrent is a loss over all results of a recurrent network, time in the middle.
func recurrent(kind string, steps int, run func(ops.Loop, ops.StepFunc) ops.Scanned, change func(*ops.Loop)) (loss node, wrt, results []node) {
	g := graph.New(kind)
	gates := map[string]int{"rnn": 1, "lstm": 4}[kind]
	z := graph.Ax("h", 3)
	if gates > 1 {
		z = graph.Ax("g", 3*gates)
	}
	x := g.Input("x", graph.F64, graph.Ax("n", 2), graph.Ax("t", steps), z)
	u := g.Input("u", graph.F64, graph.Ax("k", 3), z)
	wrt = []node{x, u}
	l := ops.Loop{Over: []node{x}, Axis: "t", With: []node{u}}
	for k := range 1 + gates/4 {
		c := g.Input(fmt.Sprint("c", k), graph.F64, graph.Ax("n", 2), graph.Ax("h", 3))
		l.Carry, wrt = append(l.Carry, c), append(wrt, c)
	}
	if change != nil {
		change(&l)
	}
	step := cellOf(kind)
	r := run(l, func(c, x, w []node) (next, out []node) {
		c = slices.Clone(c)
		c[0] = ops.Rename(c[0], "h", "k")
		return step(c, x, w)
	})
	results = slices.Concat(r.Final, r.Out, r.Trace)
	loss = ops.Lit(x, 0)
	for k, y := range results {
		loss = ops.Add(loss, ops.Sum(ops.Mul(y, weights(y, source(fmt.Sprint(kind, k%(len(r.Final)+len(r.Out)), y.Rank()))))))
	}
	return loss, wrt, results
}

// fill draws values for nodes, the same for the same paths.
func fill(nodes []node) graph.Values {
	feed := graph.Values{}
	for _, x := range nodes {
		r, v := source(x.Path()), graph.NewValue(x.Type())
		for i := range v.Data {
			v.Data[i] = r.Float64()*2 - 1
		}
		feed[x] = v
	}
	return feed
}

// everything is the values of the results and of the first and second derivatives.
func everything(t *testing.T, loss node, wrt, results []node) [][]float64 {
	t.Helper()
	d := grad.Of(loss, wrt...)
	norm := ops.Lit(loss, 0)
	for _, n := range d {
		norm = ops.Add(norm, ops.Sum(ops.Square(n)))
	}
	all := slices.Concat(results, []node{loss}, d, grad.Of(norm, wrt...))
	if err := loss.Graph().Err(); err != nil {
		t.Fatal(err)
	}
	v, err := ref.Eval(trait.Env{}, fill(wrt), all...)
	if err != nil {
		t.Fatal(err)
	}
	onTape, err := reftest.Tape(0, fill(wrt), all)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]float64
	for i := range v {
		out = append(out, v[i].Data)
		if err := reftest.Near(onTape[i].Data, v[i].Data, 1e-10*max(1, reftest.Largest(v[i].Data))); err != nil {
			t.Errorf("%v on the tape: %v", all[i], err)
		}
	}
	return out
}

// TestScanIsUnroll: a loop has the values and the first and second derivatives of
// the graph that is written out, either way through time.
func TestScanIsUnroll(t *testing.T) {
	for _, kind := range []string{"rnn", "lstm"} {
		for _, back := range []bool{false, true} {
			change := func(l *ops.Loop) { l.Reverse = back }
			loss, wrt, results := recurrent(kind, 4, ops.Unroll, change)
			want := everything(t, loss, wrt, results)
			loss, wrt, results = recurrent(kind, 4, ops.Scan, change)
			got := everything(t, loss, wrt, results)
			for i := range want {
				if err := reftest.Near(got[i], want[i], 1e-11*max(1, reftest.Largest(want[i]))); err != nil {
					t.Errorf("%s, reverse %v, value %d: %v", kind, back, i, err)
				}
			}
		}
	}
}

// TestCheckpoint: chunks change no bit of the values and no digit of the
// derivatives, whether they divide the number of steps or not.
func TestCheckpoint(t *testing.T) {
	untraced := func(l ops.Loop, f ops.StepFunc) ops.Scanned {
		r := ops.Scan(l, f)
		r.Trace = nil // under checkpoints to use it is a mistake
		return r
	}
	for _, back := range []bool{false, true} {
		loss, wrt, results := recurrent("lstm", 7, untraced, func(l *ops.Loop) { l.Reverse = back })
		want := everything(t, loss, wrt, results)
		for _, k := range []int{1, 3, 6, 50} {
			loss, wrt, results := recurrent("lstm", 7, untraced, func(l *ops.Loop) { l.Reverse, l.Checkpoint = back, k })
			got := everything(t, loss, wrt, results)
			if len(got) != len(want) {
				t.Fatalf("%d values, want %d", len(got), len(want))
			}
			for i := range want {
				tol := 1e-11 * max(1, reftest.Largest(want[i]))
				if by := i - len(results) - 1; by < 0 || by < len(wrt) && wrt[by].Path() != "u" {
					tol = 0 // bit for bit, but for the loss's derivative by what every step sees
				}
				if err := reftest.Near(got[i], want[i], tol); err != nil {
					t.Errorf("every %d, reverse %v, value %d: %v", k, back, i, err)
				}
			}
		}
	}
}

// TestStepsMakeNoNodes: a loop and its first and second derivatives are as many
// nodes for a thousand steps as for ten.
func TestStepsMakeNoNodes(t *testing.T) {
	count := func(steps int) int {
		loss, wrt, _ := recurrent("lstm", steps, ops.Scan, nil)
		d := grad.Of(loss, wrt...)
		grad.Of(ops.Sum(ops.Square(d[1])), wrt...)
		if err := loss.Graph().Err(); err != nil {
			t.Fatal(err)
		}
		return loss.Graph().Len()
	}
	if a, b := count(10), count(1000); a != b {
		t.Errorf("%d nodes for 10 steps, %d for 1000", a, b)
	}
}

// TestDerivativesShareALoop: however many operands are differentiated, there is one
// loop forward and one back.
func TestDerivativesShareALoop(t *testing.T) {
	loss, wrt, _ := recurrent("lstm", 5, ops.Scan, nil)
	grad.Of(loss, wrt...)
	loops := 0
	for _, n := range loss.Graph().Nodes() {
		if n.Body() != nil {
			loops++
		}
	}
	if loops != 2 {
		t.Errorf("%d loops, want 2", loops)
	}
}

// TestDerivativesCostWhatIsWanted: the loop back computes nothing for operands whose
// derivative nobody wants, and reads what the loop forward has kept: tanh's derivative
// needs no tanh.
func TestDerivativesCostWhatIsWanted(t *testing.T) {
	size := func(some func(wrt []node) []node) (results int, body string) {
		loss, wrt, _ := recurrent("rnn", 5, ops.Scan, nil)
		first := loss.Graph().Len()
		grad.Of(loss, some(wrt)...)
		if err := loss.Graph().Err(); err != nil {
			t.Fatal(err)
		}
		for _, n := range loss.Graph().Nodes()[first:] {
			if b := n.Body(); b != nil {
				return len(b.Out()), b.Form()
			}
		}
		t.Fatal("there is no loop back")
		return 0, ""
	}
	all, _ := size(func(wrt []node) []node { return wrt })
	weight, body := size(func(wrt []node) []node { return wrt[1:2] })
	initial, _ := size(func(wrt []node) []node { return wrt[2:] })
	if all != 3 || weight != 2 || initial != 1 {
		t.Errorf("the loops have %d, %d and %d results, want 3, 2 and 1", all, weight, initial)
	}
	if strings.Contains(body, "Tanh") || strings.Contains(body, "Square") || !strings.Contains(body, "MatMul") {
		t.Errorf("the body computes the step again:\n%s", body)
	}
}

// TestIterations: fixed numbers of steps without sequences, two carries, and a
// filter whose coefficients vary, against loops in Go.
func TestIterations(t *testing.T) {
	g := graph.New("iterations")
	a := g.Input("a", graph.F64, graph.Ax("i", 3))
	newton := ops.Scan(ops.Loop{Carry: []node{a}, With: []node{a}, Steps: 6, Axis: "k"}, func(c, _, w []node) (next, out []node) {
		return []node{ops.Scale(ops.Add(c[0], ops.Div(w[0], c[0])), 0.5)}, nil
	})
	fibonacci := ops.Scan(ops.Loop{Carry: []node{ops.Lit(a, 0), ops.Lit(a, 1)}, Steps: 30}, func(c, _, _ []node) (next, out []node) {
		return []node{c[1], ops.Add(c[0], c[1])}, nil
	})
	x, b := g.Input("x", graph.F64, graph.Ax("t", 20)), g.Input("b", graph.F64, graph.Ax("t", 20), graph.Dims(2)[0])
	filter := ops.Scan(ops.Loop{Carry: []node{ops.Lit(a, 0), ops.Lit(a, 0)}, Over: []node{x, b}}, func(c, x, _ []node) (next, out []node) {
		b := func(k int) node { return ops.Squeeze(ops.Slice(x[1], 0, k, k+1), 0) }
		y := ops.Add(x[0], ops.Add(ops.Mul(b(0), c[0]), ops.Mul(b(1), c[1])))
		return []node{y, c[0]}, []node{y}
	})
	total := ops.Scan(ops.Loop{Over: []node{b}}, func(_, x, _ []node) (next, out []node) { return nil, []node{ops.Sum(x[0])} })
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if s := newton.Trace[0].Shape().String() + filter.Out[0].Shape().String() + total.Out[0].Shape().String(); s != "[k=6 i=3][t=20][t=20]" {
		t.Errorf("the shapes are %s", s)
	}
	feed := fill([]node{x, b})
	feed[a] = graph.Value{Type: a.Type(), Data: []float64{2, 9, 0.25}}
	got, err := ref.Eval(trait.Env{}, feed, newton.Final[0], fibonacci.Final[0], filter.Out[0], total.Out[0])
	if err != nil {
		t.Fatal(err)
	}
	agree(t, feed, newton.Final[0], fibonacci.Final[0], filter.Out[0], total.Out[0])
	roundTrip(t, g)
	y := make([]float64, 22)
	sums := make([]float64, 20)
	for k, v := range feed[x].Data {
		c := feed[b].Data[2*k:]
		y[k+2] = v + (c[0]*y[k+1] + c[1]*y[k])
		sums[k] = c[0] + c[1]
	}
	for i, want := range [][]float64{{math.Sqrt2, 3, 0.5}, {832040}, y[2:], sums} {
		if err := reftest.Near(got[i].Data, want, 1e-12); err != nil {
			t.Errorf("result %d: %v", i, err)
		}
	}
}

// TestMixedTypes: sequences and weights may have any types, masks and floats of
// another type among them, and are differentiated where they have a derivative.
func TestMixedTypes(t *testing.T) {
	g := graph.New("mixed")
	h := g.Input("h", graph.F64, graph.Ax("i", 3))
	x, m := g.Input("x", graph.F32, graph.Ax("t", 4), graph.Ax("i", 3)), g.Input("m", graph.Bool, graph.Ax("t", 4))
	w := g.Input("w", graph.F32)
	run := func(run func(ops.Loop, ops.StepFunc) ops.Scanned) []node {
		r := run(ops.Loop{Carry: []node{h}, Over: []node{x, m}, With: []node{w}}, func(c, x, w []node) (next, out []node) {
			y := ops.Tanh(ops.Add(c[0], ops.Cast(ops.Mul(x[0], w[0]), graph.F64)))
			return []node{ops.Select(x[1], y, c[0])}, nil
		})
		loss := ops.Sum(ops.Square(r.Trace[0]))
		d := grad.Of(loss, h, x, w)
		return append(append(d, loss), grad.Of(ops.Add(ops.Sum(ops.Cast(d[1], graph.F64)), ops.Cast(d[2], graph.F64)), h, x, w)...)
	}
	loop, flat := run(ops.Scan), run(ops.Unroll)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	feed := fill([]node{h, x, w})
	for _, n := range []node{x, w} {
		for i, v := range feed[n].Data {
			feed[n].Data[i] = graph.F32.Round(v)
		}
	}
	feed[m] = graph.Value{Type: m.Type(), Data: []float64{1, 0, 1, 1}}
	want, err := ref.Eval(trait.Env{}, feed, flat...)
	if err != nil {
		t.Fatal(err)
	}
	byDefinition, err := ref.Eval(trait.Env{}, feed, loop...)
	if err != nil {
		t.Fatal(err)
	}
	onTape, err := reftest.Tape(0, feed, loop)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want {
		if loop[i].Type() != flat[i].Type() {
			t.Errorf("value %d has type %v, unrolled %v", i, loop[i].Type(), flat[i].Type())
		}
		for _, got := range []graph.Value{byDefinition[i], onTape[i]} {
			if err := reftest.Near(got.Data, v.Data, 1e-5*max(1, reftest.Largest(v.Data))); err != nil {
				t.Errorf("value %d: %v", i, err)
			}
		}
	}
}

// TestNamesInAStep: a step's carries are called after what it gives, its sequences
// after what they are slices of, also where time is not their first axis.
func TestNamesInAStep(t *testing.T) {
	g := graph.New("names")
	h0, x := g.Input("start", graph.F64, graph.Ax("i", 2)), g.Input("x", graph.F64, graph.Ax("i", 2), graph.Ax("t", 3))
	r := ops.Scan(ops.Loop{Carry: []node{h0, h0}, Over: []node{x}, Axis: "t"}, func(c, x, _ []node) (next, out []node) {
		return []node{ops.Add(ops.Tanh(c[0]), x[0]).As("h"), c[1]}, nil
	})
	var names []string
	for _, n := range graph.Reachable(r.Final[0]) {
		if b := n.Body(); b != nil {
			for _, in := range b.In() {
				names = append(names, in.Name())
			}
		}
	}
	if want := []string{"h₋₁", "start", "x"}; !slices.Equal(names, want) {
		t.Errorf("a step sees %q, want %q: %v", names, want, g.Err())
	}
}

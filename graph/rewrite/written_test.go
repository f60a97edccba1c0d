package rewrite_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// compareWithWritten compiles a float64 graph as written and rewritten, feeds
// both the same random numbers, compares the wanted values, and gives the
// rewritten program.
func compareWithWritten(t *testing.T, g *graph.Graph, wanted []*graph.Node) *tape.Program {
	t.Helper()
	feed := tape.Feed{}
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, n := range g.Leaves(graph.RoleInput) {
		v := make([]float64, n.Shape().Len())
		for i := range v {
			v[i] = 0.5 + rnd.Float64()
		}
		feed[n] = tape.Tensor(graph.Value{Type: n.Type(), Data: v})
	}
	run := func(options ...tape.Option) (*tape.Program, [][]float64) {
		p, err := tape.Compile(g, append(options, tape.Fetch(wanted...))...)
		if err != nil {
			t.Fatalf("%s: %v", g.Name(), err)
		}
		vm := tapetest.VM(t, p, tape.NewStore(g))
		if err := vm.Run(context.Background(), feed); err != nil {
			t.Fatal(err)
		}
		var out [][]float64
		for _, n := range wanted {
			v, err := vm.Value(n)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, v.Clone().(*tensor.Dense).Float64s())
		}
		return p, out
	}
	_, want := run(tape.Passes())
	p, got := run()
	for i, n := range wanted {
		for k := range want[i] {
			if math.Abs(got[i][k]-want[i][k]) > 1e-12*max(1, math.Abs(want[i][k])) {
				t.Errorf("%s: element %d of %v is %v: want %v", g.Name(), k, n, got[i][k], want[i][k])
			}
		}
	}
	return p
}

// TestWatchedIntermediates: what is watched inside a pattern comes out as
// written, and nothing else changes by a bit.
func TestWatchedIntermediates(t *testing.T) {
	g := graph.New("watched")
	x := g.Input("x", graph.F64, graph.Ax("i", 4), graph.Ax("d", 3))
	r := g.Input("r", graph.F64, graph.Ax("j", 2), graph.Ax("d", 3))
	diff := ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d")).As("diff")
	D := ops.Sum(ops.Square(diff), "d").As("D")
	e := ops.Exp(ops.Neg(D)).As("e")
	α := ops.Div(e, ops.Sum(e, "j", ops.Keep)).As("α")
	loss := ops.Sum(ops.Mul(α, D)).As("loss")
	d := grad.Of(loss, r)[0]
	results := []*graph.Node{D, α, loss, d}
	inside := []*graph.Node{diff, e, diff.In(0), ops.Square(diff)}

	feed := tape.Feed{}
	for _, n := range []*graph.Node{x, r} {
		v := graph.NewValue(n.Type())
		for i := range v.Data {
			v.Data[i] = math.Sin(float64(3*i + n.ID()))
		}
		feed[n] = tape.Tensor(v)
	}
	values := func(options ...tape.Option) map[*graph.Node][]float64 {
		p, err := tape.Compile(g, append(options, tape.Fetch(results...))...)
		if err != nil {
			t.Fatal(err)
		}
		vm := tapetest.VM(t, p, tape.NewStore(g))
		if err := vm.Run(context.Background(), feed); err != nil {
			t.Fatal(err)
		}
		out := map[*graph.Node][]float64{}
		for _, n := range append(slices.Clone(results), inside...) {
			if v, err := vm.Value(n); err == nil {
				out[n] = v.Float64s()
			}
		}
		return out
	}
	written, plain := values(tape.Passes(), tape.Watch(inside...)), values()
	watched := values(tape.Watch(inside...))
	for _, n := range inside {
		// e is computed of D, which is summed in another order than it is written in.
		near := func(a, b float64) bool { return a == b || n == e && math.Abs(a-b) <= 1e-14*a }
		if !slices.EqualFunc(watched[n], written[n], near) || len(watched[n]) == 0 {
			t.Errorf("%v is %v: as written it is %v", n, watched[n], written[n])
		}
	}
	for _, n := range results {
		if !slices.Equal(watched[n], plain[n]) {
			t.Errorf("%v is %v, watched %v", n, plain[n], watched[n])
		}
	}
}

// TestGradientsFollow: the derivative is that of the rewritten loss, to the
// second order, and the graph says of which loss it is by which node.
func TestGradientsFollow(t *testing.T) {
	g := graph.New("follow")
	x := g.Input("x", graph.F64, graph.Ax("i", 4), graph.Ax("d", 3))
	r := g.Input("r", graph.F64, graph.Ax("j", 2), graph.Ax("d", 3))
	D := ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d").As("D")
	e := ops.Exp(ops.Neg(D))
	loss := ops.Sum(ops.Mul(ops.Div(e, ops.Sum(e, "j", ops.Keep)), D)).As("loss")
	first := grad.Of(loss, r, x)
	norm := ops.Sum(ops.Square(first[0])).As("norm")
	second := grad.Of(norm, r, x)
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	wanted := slices.Concat([]*graph.Node{loss, norm}, first, second)
	p := compareWithWritten(t, g, wanted)
	wantNoBuffer(t, p, 8*4*2*3)
	wantRule(t, p, "naive softmax", true)

	res, err := rewrite.Run(g, append(wanted, x, r), rewrite.Passes()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []graph.Derivation{
		{Loss: loss, Wrt: r, Grad: first[0]}, {Loss: loss, Wrt: x, Grad: first[1]},
		{Loss: norm, Wrt: r, Grad: second[0]}, {Loss: norm, Wrt: x, Grad: second[1]},
	} {
		found := slices.ContainsFunc(res.Graph.Derivations(), func(d graph.Derivation) bool {
			return d.Loss == res.Node(want.Loss) && d.Wrt == res.Node(want.Wrt) && d.Grad == res.Node(want.Grad)
		})
		if !found {
			t.Errorf("∂%v/∂%v is not remembered as a derivation", want.Loss, want.Wrt)
		}
		if of, from := res.Node(want.Grad).AdjointOf(); of != res.Node(want.Wrt) || from != res.Node(want.Loss) {
			t.Errorf("∂%v/∂%v says it is ∂%v/∂%v", want.Loss, want.Wrt, from, of)
		}
	}
}

func TestRunMistakes(t *testing.T) {
	g, h := graph.New("one"), graph.New("other")
	x := g.Input("x", graph.F32, graph.Ax("i", 2))
	for _, c := range []struct {
		nodes []*graph.Node
		want  string
	}{
		{[]*graph.Node{nil}, `nil is no node of graph "one"`},
		{[]*graph.Node{x, h.Input("y", graph.F32)}, `y[] is no node of graph "one"`},
	} {
		if _, err := rewrite.Run(g, c.nodes); err == nil || err.Error() != c.want {
			t.Errorf("error %v: want %s", err, c.want)
		}
	}
	y := ops.Add(x, g.Input("z", graph.F32, graph.Ax("i", 3)))
	if _, err := rewrite.Run(g, []*graph.Node{x}); err == nil || err.Error() != g.Err().Error() {
		t.Errorf("error %v: want the graph's, %v", err, g.Err())
	}
	if y.IsValid() {
		t.Error("the mistake was none")
	}
}

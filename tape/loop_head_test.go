package tape_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// loops is a graph with loops of all kinds: a scan in chunks, a loop that ends when 3·2^k ≥ 10,
// after two steps, a branch, and a function that stays closed.
func loops(t *testing.T) (p *tape.Program, g *graph.Graph, feed tape.Feed) {
	t.Helper()
	g = graph.New("loops")
	x := g.Input("x", graph.F64, graph.Ax("t", 6), graph.Ax("d", 3))
	h := g.Input("h", graph.F64, graph.Ax("d", 3))
	cell := func(c, x, _ nodes) (next, out nodes) {
		n := ops.Tanh(ops.Add(ops.Mul(c[0], c[0]), x[0])).As("next")
		return nodes{n}, nodes{ops.Sin(n).As("seen")}
	}
	scan := ops.Scan(ops.Loop{Carry: nodes{h}, Over: nodes{x}, Checkpoint: 3}, cell)
	while := ops.While(ops.Loop{Carry: nodes{h}, Steps: 9}, func(c, _ nodes) *graph.Node {
		return ops.Less(ops.Sum(c[0]), ops.Lit(c[0], 10))
	}, func(c, _, _ nodes) (next, out nodes) { return nodes{ops.Scale(c[0], 2).As("twice")}, nil })
	cond := ops.Cond(ops.Less(ops.Sum(h), ops.Lit(h, 0)), func(x nodes) nodes { return nodes{ops.Exp(x[0])} },
		func(x nodes) nodes { return nodes{ops.Square(x[0])} }, h)
	closed := grad.Checkpoint(func(x nodes) nodes { return nodes{ops.Erf(x[0])} })(h)
	loss := ops.Sum(ops.Add(ops.Add(scan.Final[0], ops.Sum(scan.Out[0], "t")), ops.Add(while.Final[0], ops.Add(cond[0], closed[0]))))
	p = compile(t, g, tape.Fetch(loss, grad.Of(loss, h)[0]))
	return p, g, tape.Feed{x: tape.Tensor(graph.NewValue(x.Type())), h: tape.Tensor(graph.Value{Type: h.Type(), Data: []float64{1, 1, 1}})}
}

// TestLoopsAreListed: a loop is called after the function that made it, also where it is a
// derivative's, and says what its steps are.
func TestLoopsAreListed(t *testing.T) {
	p, _, _ := loops(t)
	kinds := map[string]bool{}
	for _, r := range p.Rows() {
		if r.Body != nil {
			kinds[r.Op] = true
		}
	}
	if want := "map[Closed:true Cond:true Scan:true While:true]"; fmt.Sprint(kinds) != want {
		t.Errorf("loops are called %v: want %s", kinds, want)
	}
	text := p.String()
	for _, want := range []string{
		"┆ at most 9 steps, as long as going₋₁ is not 0\n", "steps₋₁[] from 0", "┆ 3 steps, from the last\n", "┆ 2 steps\n", "┆ 1 step, none if ",
		"reads in each step", "reads whole", "stacks", "carries",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the listing does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestProfileOpensLoops: the rows of bodies have the times and calls of all steps that were run;
// they take no more than their loop, and rows, loops and bodies add up to the run.
func TestProfileOpensLoops(t *testing.T) {
	p, g, feed := loops(t)
	for _, workers := range []int{1, 2} {
		vm := tapetest.VM(t, p, tape.NewStore(g), tape.Workers(workers))
		defer vm.Close()
		prof, err := vm.Profile(t.Context(), feed, 3)
		if err != nil {
			t.Fatal(err)
		}
		wall, nested := prof.Other, 0
		var check func(rows []tape.Timing, depth int)
		check = func(rows []tape.Timing, depth int) {
			for _, r := range rows {
				if depth == 0 {
					wall += r.Time
				}
				if r.Body == nil {
					continue
				}
				nested = max(nested, depth+1)
				if len(r.Within) != len(r.Body.Rows()) {
					t.Fatalf("a loop has %d rows in the profile: want %d", len(r.Within), len(r.Body.Rows()))
				}
				sum, calls, flops := r.Own(), int64(0), int64(0)
				for _, x := range r.Within {
					sum, calls, flops = sum+x.Time, max(calls, x.Calls), flops+x.FLOPs
				}
				if sum != r.Time || flops != r.FLOPs {
					t.Errorf("a loop takes %v and %d FLOP, what is in it %v and %d", r.Time, r.FLOPs, sum, flops)
				}
				if steps := r.Steps; r.Op == "While" && steps != 2 || r.Op == "Scan" && steps%6 != 0 && depth > 0 || calls < steps {
					t.Errorf("%s runs %d steps in %d calls", r.Op, r.Steps, calls)
				}
				check(r.Within, depth+1)
			}
		}
		check(prof.Rows, 0)
		if wall != prof.Wall || nested < 2 {
			t.Errorf("rows take %v of %v, and loops are nested %d deep: want all, and 2", wall, prof.Wall, nested)
		}
		for _, parts := range [][]tape.Part{prof.Lines(), prof.Nodes()} {
			var sum = prof.Other
			for _, x := range parts {
				sum += x.Time
			}
			if sum != prof.Wall {
				t.Errorf("parts add up to %v: want %v", sum, prof.Wall)
			}
		}
		for _, want := range []string{"┆ 2 steps run\n", "of the loop itself", "┆      ┆ "} {
			if !strings.Contains(prof.String(), want) {
				t.Errorf("the profile does not say %q:\n%v", want, prof)
			}
		}
	}
}

package ops_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestLoopMistakes: what is wrong with a loop is said at the user's line, once, and
// nothing panics.
func TestLoopMistakes(t *testing.T) {
	type all struct {
		g          *graph.Graph
		h, x, w, k node
	}
	same := func(c, x, w []node) (next, out []node) { return c, nil }
	for want, call := range map[string]func(v all) ops.Scanned{
		"Scan: operand 0 is nil":                              func(v all) ops.Scanned { return ops.Scan(ops.Loop{Carry: []node{nil}, Over: []node{v.x}}, same) },
		"Scan: the step is nil":                               func(v all) ops.Scanned { return ops.Scan(ops.Loop{Carry: []node{v.h}, Steps: 3}, nil) },
		"Scan: 0 steps: want sequences, or a number of steps": func(v all) ops.Scanned { return ops.Scan(ops.Loop{Carry: []node{v.h}}, same) },
		"Scan: sequence 0 has 5 steps: want 4": func(v all) ops.Scanned {
			return ops.Scan(ops.Loop{Carry: []node{v.h}, Over: []node{v.x}, Steps: 4}, same)
		},
		`Scan: sequence 0: no axis "q" in [t=5 h=3]`: func(v all) ops.Scanned {
			return ops.Scan(ops.Loop{Carry: []node{v.h}, Over: []node{v.x}, Axis: "q"}, same)
		},
		"Unroll: the step gives 2 carries: want 1": func(v all) ops.Scanned {
			return ops.Unroll(ops.Loop{Carry: []node{v.h}, Over: []node{v.x}}, func(c, x, _ []node) (next, out []node) { return []node{c[0], x[0]}, nil })
		},
		"Unroll: a step gives 0 outs, another 1": func(v all) ops.Scanned {
			n := 0
			return ops.Unroll(ops.Loop{Carry: []node{v.h}, Steps: 3}, func(c, _, _ []node) (next, out []node) {
				n++
				return c, c[:n%2]
			})
		},
		"Scan: the step gives 0 carries: want 1": func(v all) ops.Scanned {
			return ops.Scan(ops.Loop{Carry: []node{v.h}, Over: []node{v.x}}, func(c, x, _ []node) (next, out []node) { return nil, x })
		},
		"Scan: a checkpoint every -1 steps: want 0 for none, or more": func(v all) ops.Scanned {
			return ops.Scan(ops.Loop{Carry: []node{v.h}, Over: []node{v.x}, Checkpoint: -1}, same)
		},
		"Scan: carry 0 starts as f64[h=3] and goes on as f64[]: want the same: h[h=3], x[t=5 h=3]": func(v all) ops.Scanned {
			return ops.Scan(ops.Loop{Carry: []node{v.h}, Over: []node{v.x}}, func(c, _, _ []node) (next, out []node) { return []node{ops.Sum(c[0])}, c })
		},
		"Scan: result 0 of the body is nil": func(v all) ops.Scanned {
			return ops.Scan(ops.Loop{Carry: []node{v.h}, Steps: 2}, func(c, _, _ []node) (next, out []node) { return []node{nil}, c })
		},
		`param: param "p" is made inside the body of a loop (make layers, parameters and inputs before the loop; its step may use them)`: func(v all) ops.Scanned {
			return ops.Scan(ops.Loop{Carry: []node{v.h}, Steps: 2}, func(c, _, _ []node) (next, out []node) {
				return []node{ops.Mul(c[0], c[0].Graph().Param("p", graph.F64))}, c
			})
		},
		"Tanh: an operand of type i64: want f32, f64, f16 or bf16: k[h=3], in layer (convert with ops.Cast)": func(v all) ops.Scanned {
			defer v.g.Scope("layer")()
			return ops.Scan(ops.Loop{Carry: []node{v.h}, With: []node{v.k}, Steps: 2}, func(c, _, w []node) (next, out []node) { return []node{ops.Tanh(w[0])}, c })
		},
	} {
		g := graph.New("mistakes")
		h := graph.Ax("h", 3)
		r := call(all{g, g.Input("h", graph.F64, h), g.Input("x", graph.F64, graph.Ax("t", 5), h), g.Input("w", graph.F64, h), g.Input("k", graph.I64, h)})
		var after node // what follows from a mistake is silent
		for _, n := range slices.Concat(r.Final, r.Trace, r.Out) {
			if n == nil || n.IsValid() {
				t.Errorf("%s: gives %v", want, n)
			}
			after = ops.Tanh(n)
		}
		_ = after
		errs, _ := g.Err().(graph.Errors)
		if len(errs) != 1 {
			t.Errorf("%s: the mistakes are %v", want, g.Err())
			continue
		}
		if got := errs[0].Error(); errs[0].Pos.File != "ops/loop_mistake_test.go" || got[len(errs[0].Pos.String())+2:] != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestNoTrace: the trace that checkpoints do not keep is a mistake where it is used,
// at the loop's line, and none where it is not.
func TestNoTrace(t *testing.T) {
	for _, every := range []int{2, 9} {
		for _, use := range []bool{false, true} {
			g := graph.New("loop")
			x, h := g.Input("x", graph.F64, graph.Ax("t", 5)), g.Input("h", graph.F64)
			n := line() + 1
			r := ops.Scan(ops.Loop{Carry: []node{h}, Over: []node{x}, Checkpoint: every}, func(c, x, _ []node) (next, out []node) { return []node{ops.Add(c[0], x[0])}, nil })
			want := "<nil>"
			if use {
				ops.Add(r.Final[0], ops.Sum(r.Trace[0]))
				want = fmt.Sprintf("ops/loop_mistake_test.go:%d: Scan: a loop with a checkpoint keeps no trace (let the step give what is wanted of each time as an out)", n)
			}
			if got := fmt.Sprint(g.Err()); got != want {
				t.Errorf("every %d: got %s, want %s", every, got, want)
			}
		}
	}
}

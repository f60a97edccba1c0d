package rewrite

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// inLanes evaluates a graph on lanes that have values of their own, node by node, with sums over all
// of them.
func inLanes(t *testing.T, lanes []graph.Values, nodes []*graph.Node) [][]graph.Value {
	t.Helper()
	values := make([]graph.Values, len(lanes))
	for k := range values {
		values[k] = graph.Values{}
	}
	for _, n := range graph.Reachable(nodes...) {
		for k := range lanes {
			var v graph.Value
			var err error
			env := trait.Env{Seed: uint64(k)}
			if n.NumIn() == 0 && !match.Is(n, match.Random) {
				feed := graph.Values{}
				for leaf, v := range lanes[k] {
					if leaf.Path() == n.Path() && n.Path() != "" {
						feed[n] = v
					}
				}
				var all []graph.Value
				if all, err = ref.Eval(env, feed, n); err == nil {
					v = all[0]
				}
			} else {
				in := make([]graph.Value, n.NumIn())
				for i := range in {
					in[i] = values[k][n.In(i)]
				}
				v, err = ref.Apply(env, n, in)
			}
			if err != nil {
				t.Fatalf("%v: %v", n, err)
			}
			values[k][n] = v
		}
		if match.Is(n, match.SumRanks) {
			sum := graph.NewValue(n.Type())
			for k := range lanes {
				for i, v := range values[k][n].Data {
					sum.Data[i] += v
				}
			}
			for k := range lanes {
				values[k][n] = sum
			}
		}
	}
	out := make([][]graph.Value, len(lanes))
	for k := range out {
		for _, n := range nodes {
			out[k] = append(out[k], values[k][n])
		}
	}
	return out
}

// exchanging copies a graph into one that sums over lanes, or copies to them, before some operations.
func exchanging(rng *rand.Rand, m *randgraph.Model) (g *graph.Graph, copies map[*graph.Node]*graph.Node) {
	g, copies = graph.New("lanes"), map[*graph.Node]*graph.Node{}
	for _, n := range graph.Reachable(append(m.Outputs, m.Loss)...) {
		in := n.Inputs()
		for i, x := range in {
			in[i] = copies[x]
			if !x.DType().IsFloat() || trait.LoopBody(n) != nil {
				continue
			}
			switch rng.IntN(8) {
			case 0: // a mean, so that values stay small
				in[i] = ops.Scale(ops.SumRanks(in[i]), 0.25)
			case 1:
				in[i] = ops.CopyRanks(in[i])
			case 2:
				in[i] = ops.Scale(ops.SumRanks(ops.CopyRanks(in[i])), 0.25)
			}
		}
		copies[n] = g.Copy(n, in)
	}
	return g, copies
}

// TestRewritingKeepsLanes: on several lanes with values of their own every wanted node computes on each
// what it computed, and derivatives too.
func TestRewritingKeepsLanes(t *testing.T) {
	fired, held := 0, 0
	for seed := range graphs() / 3 {
		m := randgraph.New(seed, 3+int(seed%11), graph.F64)
		rng := rand.New(rand.NewPCG(seed, 9))
		g, copies := exchanging(rng, m)
		var wanted, params []*graph.Node
		for _, n := range append(m.Outputs, m.Loss) {
			wanted = append(wanted, copies[n])
		}
		for _, n := range m.Params {
			if c := copies[n]; c != nil {
				params = append(params, c)
			}
		}
		wanted = append(wanted, grad.OrZero(copies[m.Loss], params...)...)
		if err := g.Err(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		lanes := make([]graph.Values, 3)
		for k := range lanes {
			lanes[k] = graph.Values{}
			for n, v := range m.Values {
				own := graph.Value{Type: v.Type, Data: append([]float64(nil), v.Data...)}
				if n.DType().IsFloat() {
					for i := range own.Data {
						own.Data[i] += 0.1 * float64(k) * rng.Float64()
					}
				}
				lanes[k][n] = own
			}
		}
		want := inLanes(t, lanes, wanted)
		res, err := Run(g, wanted, Passes()...)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		fired += len(res.Log)
		got := inLanes(t, lanes, mapped(res, wanted))
		for k := range lanes {
			for i, n := range wanted {
				if slices.ContainsFunc(want[k][i].Data, func(v float64) bool { return !(math.Abs(v) < 1e6) }) {
					continue // outside of what random graphs are tame for
				}
				held++
				if d := distance(want[k][i].Data, got[k][i].Data); !(d < 1e-9) {
					t.Fatalf("seed %d: on lane %d %v is off by %v\n%s%s", seed, k, n, d, res.LogText(), canonical([]*graph.Node{n}))
				}
			}
		}
	}
	if least := 3 * int(graphs()); fired < least || held < least {
		t.Errorf("%d rules fired, %d values were held: the test says too little", fired, held)
	}
}

// TestSumsOverLanesStay: a sum over lanes is of as many terms as there are lanes, so no rule may take it for
// its term, nor move a factor that may be a lane's own across it.
func TestSumsOverLanesStay(t *testing.T) {
	g := graph.New("stay")
	x, s := g.Input("x", graph.F64, graph.Ax("i", 3), graph.Ax("d", 2)), g.Input("s", graph.F64)
	for _, c := range []struct {
		what string
		y    *graph.Node
		sums int
	}{
		{"a constant", ops.SumRanks(g.Constant(graph.F64, []float64{2})), 1},
		{"a copy", ops.SumRanks(ops.CopyRanks(x)), 1},
		{"a sum", ops.SumRanks(ops.SumRanks(x)), 2},
		{"a number times x", ops.SumRanks(ops.Scale(x, 3)), 1},
		{"a scalar times x", ops.SumRanks(ops.Mul(s, x)), 1},
		{"-x", ops.SumRanks(ops.Neg(x)), 1},
		{"two terms", ops.Add(ops.SumRanks(x), ops.SumRanks(ops.Square(x))), 2},
		{"xᵀ", ops.Transpose(ops.SumRanks(ops.Transpose(x))), 1},
		{"a repetition", ops.Sum(ops.SumRanks(ops.BroadcastTo(s, x.Shape()))), 1},
		{"0·x", ops.SumRanks(ops.Scale(x, 0)), 1},
	} {
		res, err := Run(g, []*graph.Node{c.y}, Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		sums := 0
		for _, n := range graph.Reachable(res.Node(c.y)) {
			if match.Is(n, match.SumRanks) {
				sums++
			}
		}
		if sums != c.sums {
			t.Errorf("the sum over lanes of %s: %d sums are left, want %d:\n%s", c.what, sums, c.sums, canonical([]*graph.Node{res.Node(c.y)}))
		}
		lanes := make([]graph.Values, 3)
		for k := range lanes {
			v := graph.NewValue(x.Type())
			for i := range v.Data {
				v.Data[i] = float64(k*k + i)
			}
			lanes[k] = graph.Values{x: v, s: {Type: s.Type(), Data: []float64{float64(k) + 0.5}}}
		}
		want, got := inLanes(t, lanes, []*graph.Node{c.y}), inLanes(t, lanes, []*graph.Node{res.Node(c.y)})
		for k := range lanes {
			if d := distance(want[k][0].Data, got[k][0].Data); !(d < 1e-12) {
				t.Errorf("the sum over lanes of %s is off by %v on lane %d", c.what, d, k)
			}
		}
	}
}

package inspect_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// recorded takes the values of nodes of a graph whose inputs are fed 1, 2, 3, … over 4.
func recorded(t *testing.T, nodes ...*graph.Node) *inspect.Record {
	t.Helper()
	feed := tape.Feed{}
	for _, n := range graph.Reachable(nodes...) {
		if n.Role() == graph.RoleInput {
			v := graph.NewValue(n.Type())
			for i := range v.Data {
				v.Data[i] = float64(i+1) / 4
				if !n.DType().IsFloat() {
					v.Data[i] = float64(i % 2)
				}
			}
			feed[n] = tape.Tensor(v)
		}
	}
	r, err := inspect.Take(ctx, feed, tape.NewStore(nodes[0].Graph()), nodes...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(shares []inspect.Share) string {
	var lines []string
	for _, s := range shares {
		line := fmt.Sprintf("%s exact=%v total=%.4g count=%d", s.Node.Label(), s.Exact, s.Total, s.Count)
		if s.None != "" {
			line = s.Node.Label() + ": " + s.None
		}
		for _, p := range s.Parts {
			line += fmt.Sprintf(" · %v → %.4g", p.Entry, p.Contribution)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestWhySumsAndProducts: what an element is made of is as one would write it by hand.
func TestWhySumsAndProducts(t *testing.T) {
	g := graph.New("m", graph.F64)
	x := g.Input("x", graph.F64, graph.Dims(2, 3)...)
	w := g.Input("w", graph.F64, graph.Dims(3, 2)...)
	k := g.Input("k", graph.I64, graph.Dims(2)...)
	y := ops.MatMul(x, w)
	rows := ops.Gather(x, k, 0)
	e := ops.Exp(ops.Scale(x, 0.1))
	r := recorded(t, y, ops.Sub(x, rows), e)
	for _, c := range []struct {
		n    *graph.Node
		at   int
		want string
	}{
		{y, 3, `x exact=true total=8 count=3 · x[1 2] = 1.5 → 2.25 · x[1 1] = 1.25 → 1.25 · x[1 0] = 1 → 0.5
w exact=true total=4 count=3 · w[2 1] = 1.5 → 2.25 · w[1 1] = 1 → 1.25 · w[0 1] = 0.5 → 0.5`},
		{rows, 4, `x exact=true total=1.25 count=1 · x[1 1] = 1.25 → 1.25
k: its values are chosen among or counted, not added or multiplied`},
		{ops.Sub(x, rows), 4, "x exact=true total=1.25 count=1 · x[1 1] = 1.25 → 1.25\n%3 exact=true total=-1.25 count=1 · %3[1 1] = 1.25 → -1.25"},
	} {
		why, err := r.Why(ctx, c.n, c.at, 3)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ReplaceAll(strings.Replace(c.want, "total=8", "total=4", 1), "%3", rows.Label())
		if got := text(why.Operands); got != want {
			t.Errorf("%v is made of\n%s\nwant\n%s", why.Entry, got, want)
		}
	}
	why, err := r.Why(ctx, e, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := why.Operands[0]; s.Exact || math.Abs(s.Total-why.Value*0.075) > 1e-12 {
		t.Errorf("to first order, exp(0.075) changes by 0.075 of itself: %v", text(why.Operands))
	}
	for n, at := range map[*graph.Node]int{y: 4, k: 0, ops.Neg(y): 0} {
		if _, err := r.Why(ctx, n, at, 1); err == nil {
			t.Errorf("%v[%d] has a reason", n, at)
		}
		if _, err := r.Sources(ctx, n, at, 1); err == nil {
			t.Errorf("%v[%d] has sources", n, at)
		}
		if _, err := r.Effects(ctx, n, at, 1); err == nil {
			t.Errorf("%v[%d] has effects", n, at)
		}
	}
}

// TestWhyByOthers: an element is explained by the nodes that are asked for, each held fixed, and by
// the leaves beside them.
func TestWhyByOthers(t *testing.T) {
	g := graph.New("m", graph.F64)
	x := g.Input("x", graph.F64, graph.Dims(3)...)
	s := g.Input("s", graph.F64)
	a := ops.Sin(x).As("a")
	b := ops.Mul(a, a).As("b") // depends on a, which is held fixed beside it
	y := ops.Add(ops.Mul(ops.BroadcastTo(s, b.Shape()), b), a)
	r := recorded(t, y)
	why, err := r.Why(ctx, y, 1, 1, a, b, y)
	if err != nil {
		t.Fatal(err)
	}
	sin := math.Sin(0.5)
	want := fmt.Sprintf("s exact=true total=%.4[2]g count=1 · s = 0.25 → %.4[2]g\na exact=true total=%.4[1]g count=1 · a[1] = %[3]v → %.4[1]g\nb exact=true total=%.4[2]g count=1 · b[1] = %[4]v → %.4[2]g",
		sin, sin*sin/4, trait.Number(sin), trait.Number(sin*sin))
	lines := strings.Split(text(why.Operands), "\n")
	slices.Sort(lines)
	wanted := strings.Split(want, "\n")
	slices.Sort(wanted)
	if !slices.Equal(lines, wanted) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(wanted, "\n"))
	}
	why, err = r.Why(ctx, b, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := why.Operands; len(s) != 1 || s[0].Exact || math.Abs(s[0].Total-2*sin*sin) > 1e-12 {
		t.Errorf("a square is not linear in its root, which stands once: %v", text(s))
	}
}

// TestWhyInModels: in models of every kind each value has a reason; operands of a sum add up to it;
// and what an element contributes to the loss is the same seen from either end.
func TestWhyInModels(t *testing.T) {
	models := []string{"kmeans-softmax", "kmeans-goofy", "rnn-lstm", "transformer-encoder", "conv-2d", "regression-relu"}
	if testing.Short() {
		models = models[:3]
	}
	for _, model := range models {
		sub := subject(t, model)
		feed, err := sub.Feed(0)
		if err != nil {
			t.Fatal(err)
		}
		loss := sub.Wanted[0]
		before := len(loss.Graph().Nodes())
		r, err := inspect.Take(ctx, feed, sub.Store, loss)
		if err != nil {
			t.Fatal(err)
		}
		sources, err := r.Sources(ctx, loss, 0, 1)
		if err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		if len(sources) < 3 {
			t.Errorf("%s: the loss has %d sources", model, len(sources))
		}
		for i, s := range sources {
			if i%max(1, len(sources)/8) == 0 {
				at := position(s.Parts[0].Entry)
				effects, err := r.Effects(ctx, s.Node, at, 1)
				if err != nil {
					t.Fatalf("%s: %v: %v", model, s.Node, err)
				}
				k := slices.IndexFunc(effects, func(e inspect.Share) bool { return e.Node == loss })
				if k < 0 {
					t.Fatalf("%s: %v has no effect on the loss", model, s.Parts[0].Entry)
				}
				if got, want := effects[k].Total, s.Parts[0].Contribution; math.Abs(got-want) > 1e-4*math.Abs(want)+1e-9 {
					t.Errorf("%s: %v contributes %v to the loss, and its effect on it is %v", model, s.Parts[0].Entry, want, got)
				}
			}
		}
		for _, n := range r.Nodes() {
			if !n.DType().IsFloat() || n.NumIn() == 0 || n.Shape().Len() == 0 {
				continue
			}
			why, err := r.Why(ctx, n, n.Shape().Len()/2, 2)
			if err != nil {
				t.Errorf("%s: %v: %v", model, n, err)
				continue
			}
			if slices.Contains([]string{"Add", "Sub", "Sum", "Concat"}, n.Op().Name()) {
				total := 0.0
				for _, s := range why.Operands {
					total += s.Total
					if !s.Exact {
						t.Errorf("%s: %v is not exact in %v", model, n, s.Node)
					}
				}
				if math.Abs(total-why.Value) > 1e-4*math.Abs(why.Value)+1e-5 {
					t.Errorf("%s: %v is %v, and its operands give %v", model, n, why.Value, total)
				}
			}
		}
		if after := len(loss.Graph().Nodes()); after != before {
			t.Errorf("%s: its graph had %d nodes, and after the questions it has %d", model, before, after)
		}
	}
}

func position(e inspect.Entry) int {
	at := 0
	for a, i := range e.Index {
		at = at*e.Node.Shape().Dim(a) + i
	}
	return at
}

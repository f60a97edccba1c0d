package viz

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// heads is attention with two heads, up to the scores, and back.
func heads(t *testing.T) (q, s, merged, loss *graph.Node, wrt []*graph.Node, feed graph.Values) {
	t.Helper()
	g := graph.New("heads")
	x := g.Param("x", graph.F64, graph.Ax("t", 3), graph.Ax("m", 2))
	w := g.Param("w", graph.F64, graph.Ax("m", 2), graph.Ax("he", 6))
	u := g.Param("u", graph.F64, graph.Ax("he", 6), graph.Ax("m", 2))
	q = ops.Transpose(ops.Split(ops.MatMul(x, w), "he", graph.Ax("h", 2), graph.Ax("e", 3)), "h", "t", "e").As("q")
	k := ops.Rename(q, "t", "t′")
	s = ops.MatMul(q, ops.Transpose(k, "h", "e", "t′")).As("s")
	merged = ops.Merge(ops.Transpose(q, "t", "h", "e"), "he", "h", "e").As("c")
	loss = ops.Add(ops.Sum(ops.Square(ops.MatMul(merged, u))), ops.Sum(ops.Square(s))).As("loss")
	wrt = []*graph.Node{x, w, u}
	feed = random(t, g)
	return
}

func random(t *testing.T, g *graph.Graph) graph.Values {
	t.Helper()
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewSource(1))
	feed := graph.Values{}
	for _, n := range g.Leaves(graph.RoleParam) {
		feed[n] = fill(rnd, n)
	}
	return feed
}

// Splitting and merging axes gives elements other indices and is no operation.
func TestSplitAndMerged(t *testing.T) {
	q, s, c, loss, wrt, feed := heads(t)
	for _, w := range []struct {
		n    *graph.Node
		want string
	}{
		{q, "qₕₜₑ = Σₘ xₜₘ·w_{m,he}"},
		{s, "s_{h,t,t′} = Σₑ qₕₜₑ·q_{h,t′,e}"},
		{c, "c_{t,he} = concatₕ(qₕₜₑ)"},
	} {
		if got := Formula(w.n); got != w.want {
			t.Errorf("got %s, want %s", got, w.want)
		}
	}
	d := grad.Of(loss, wrt...)
	if got, want := lines(Equations(d[1])), "∂loss/∂w_{m,he} = Σₜ xₜₘ·∂loss/∂qₕₜₑ"; got[len(got)-len(want):] != want {
		t.Errorf("got\n%s\nwant it to end with %s", got, want)
	}
	for _, n := range append([]*graph.Node{q, s, c, loss}, d...) {
		checkTrue(t, n, feed)
	}
}

// relaidCase builds a node and says how it is to be written.
type relaidCase struct {
	name string
	make func(x, w *graph.Node) *graph.Node
	want string
}

// x is [t=4 m=3], w [m=3 3]: its second axis has no name.
var relaidCases = []relaidCase{
	{"contraction over an axis without a name", func(x, w *graph.Node) *graph.Node {
		return ops.MatMul(x, ops.Transpose(w))
	}, ""},
	{"a kernel from m to m", func(x, w *graph.Node) *graph.Node {
		return ops.Rename(ops.MatMul(x, w), 1, "m")
	}, "yₜₘ = Σₗ xₜₗ·wₗₘ"},
	{"a sum over an axis without a name", func(_, w *graph.Node) *graph.Node { return ops.Sum(w, 1) }, "yₘ = Σₗ wₘₗ"},
	{"a mean over all", func(_, w *graph.Node) *graph.Node { return ops.Mean(ops.Square(w)) }, "y = meanₘₗ wₘₗ²"},
	{"softmax along an axis without a name", func(x, w *graph.Node) *graph.Node {
		return ops.Rename(ops.Softmax(w, 1), 1, "c")
	}, "y_{mc} = softmax_c(w_{mc})"},
	{"flattened", func(x, _ *graph.Node) *graph.Node { return ops.Merge(ops.Tanh(x), "f", "t", "m") }, "y_{tm} = tanh(xₜₘ)"},
	{"flattened and summed", func(x, _ *graph.Node) *graph.Node {
		f := ops.Merge(x, "f", "t", "m")
		return ops.Sum(ops.Square(f), "f")
	}, "y = Σₜₘ xₜₘ²"},
	{"two ways at once", func(x, _ *graph.Node) *graph.Node {
		f := ops.Merge(x, "f", "t", "m")
		return ops.Add(f, ops.Merge(ops.Transpose(x), "f", "m", "t"))
	}, "y_{tm} = xₜₘ + reshape(x)"},
	{"shifted", func(x, _ *graph.Node) *graph.Node { return ops.Slice(x, "t", 1, 4) }, "yₜₘ = x_{t+1,m}"},
	{"differences", func(x, _ *graph.Node) *graph.Node {
		return ops.Sub(ops.Slice(x, "t", 1, 4), ops.Slice(x, "t", 0, 3))
	}, "yₜₘ = x_{t+1,m} − xₜₘ"},
	{"a shift of a shift", func(x, _ *graph.Node) *graph.Node {
		return ops.Sum(ops.Slice(ops.Tanh(ops.Slice(x, "t", 1, 4)), "t", 1, 3), "m")
	}, ""},
	{"cases", func(x, _ *graph.Node) *graph.Node {
		return ops.Select(ops.Less(x, ops.Lit(x, 0)), ops.Neg(x), ops.Square(x))
	}, "yₜₘ = −xₜₘ if xₜₘ < 0, else xₜₘ²"},
	{"under a mask", func(x, _ *graph.Node) *graph.Node {
		return ops.Select(ops.Less(ops.Lit(x, 0), x), ops.Tanh(x), ops.Lit(x, 0))
	}, "yₜₘ = [0 < xₜₘ]·tanh(xₜₘ)"},
	{"guarded twice", func(x, _ *graph.Node) *graph.Node {
		m := ops.LessEqual(x, ops.Lit(x, 0))
		return ops.Select(m, ops.Lit(x, 0), ops.Div(ops.Lit(x, 1), ops.Sqrt(ops.Select(m, ops.Lit(x, 1), x))))
	}, "yₜₘ = 1/√(xₜₘ) if 0 < xₜₘ, else 0"},
	{"a chain of cases", func(x, _ *graph.Node) *graph.Node {
		half := ops.Lit(x, 0.5)
		return ops.Select(ops.Less(half, x), half, ops.Select(ops.Less(x, ops.Neg(half)), ops.Neg(half), x))
	}, "yₜₘ = 0.5 if 0.5 < xₜₘ, −0.5 if xₜₘ < −0.5, else xₜₘ"},
	{"leaky relu", func(x, _ *graph.Node) *graph.Node {
		return ops.Select(ops.Less(ops.Lit(x, 0), x), x, ops.Scale(x, 0.2))
	}, "yₜₘ = leaky relu(xₜₘ, 0.2)"},
	{"a length", func(x, _ *graph.Node) *graph.Node {
		s := ops.Sum(ops.Square(x), "m")
		zero := ops.Equal(s, ops.Lit(s, 0))
		return ops.Select(zero, ops.Lit(s, 0), ops.Sqrt(ops.Select(zero, ops.Lit(s, 1), s)))
	}, "yₜ = ‖xₜ‖"},
	{"softmax sees where the mask does not hold", func(x, _ *graph.Node) *graph.Node {
		m := ops.Less(ops.Lit(x, 0), x)
		inner := ops.Select(m, x, ops.Lit(x, -9))
		return ops.Select(m, ops.Softmax(inner, "m"), ops.Lit(x, 0))
	}, "yₜₘ = [0 < xₜₘ]·softmaxₘ(xₜₘ if 0 < xₜₘ, else −9)"},
}

func TestRelaidFormulas(t *testing.T) {
	for _, c := range relaidCases {
		g := graph.New(c.name)
		x := g.Param("x", graph.F64, graph.Ax("t", 4), graph.Ax("m", 3))
		w := g.Param("w", graph.F64, graph.Ax("m", 3), graph.Axis{Size: 3})
		y := c.make(x, w).As("y")
		feed := random(t, g)
		if got := Formula(y); c.want != "" && got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		} else if !strings.Contains(got, "reshape(") {
			checkTrue(t, y, feed)
		}
		for _, n := range []*graph.Node{x, w} {
			if !y.DependsOn(n) {
				continue
			}
			if got := Formula(grad.Of(ops.Sum(ops.Square(y)), n)[0]); strings.ContainsAny(got, "#\x00\x1e\x1f") {
				t.Errorf("%s: the derivative is %q", c.name, got)
			}
		}
		if err := g.Err(); err != nil {
			t.Error(c.name, err)
		}
	}
}

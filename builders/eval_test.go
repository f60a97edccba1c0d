package builders_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// build makes a model in float64.
func build(t *testing.T, name string, s builders.Settings) *builders.Model {
	t.Helper()
	m, err := builders.Build(name, s, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// choice is the number of a setting's choice.
func choice(t *testing.T, m, setting, name string) float64 {
	t.Helper()
	b, err := builders.Lookup(m)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(b.Sizes, func(z builders.Size) bool { return z.Name == setting })
	v, err := b.Sizes[i].Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// valueOf is a value for a node.
func valueOf(n *graph.Node, data ...float64) graph.Value {
	return graph.Value{Type: n.Type(), Data: data}
}

// computedValue is an array whose elements are a function of their place in it.
func computedValue(typ graph.Type, f func(i int) float64) graph.Value {
	v := graph.NewValue(typ)
	for i := range v.Data {
		v.Data[i] = typ.DType.Round(f(i))
	}
	return v
}

// randomValue is an array of normal numbers of the given spread.
func randomValue(rng *rand.Rand, typ graph.Type, scale float64) graph.Value {
	return computedValue(typ, func(int) float64 { return scale * rng.NormFloat64() })
}

// filled gives every leaf of a graph without a default random values.
func filled(g *graph.Graph, rng *rand.Rand) ref.Feed {
	feed := ref.Feed{}
	for _, n := range g.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
		if _, has := n.Default(); !has {
			feed[n] = randomValue(rng, n.Type(), 1)
		}
	}
	return feed
}

// image is an input x[n h w c].
func image(g *graph.Graph, n, h, w, c int) *graph.Node {
	return g.Input("x", graph.F64, graph.Ax("n", n), graph.Ax("h", h), graph.Ax("w", w), graph.Ax("c", c))
}

// wavy is a scalar that depends on each element of x in a way of its own.
func wavy(x *graph.Node) *graph.Node {
	w := computedValue(x.Type(), func(i int) float64 { return math.Cos(float64(i)) })
	return ops.Sum(ops.Mul(x, x.Graph().ConstantValue(w)))
}

// values computes nodes by the definitions.
func values(t *testing.T, feed ref.Feed, nodes ...*graph.Node) []graph.Value {
	t.Helper()
	return at(t, 0, feed, nodes...)
}

// at computes nodes by the definitions, with the draws of a step.
func at(t *testing.T, step uint64, feed ref.Feed, nodes ...*graph.Node) []graph.Value {
	t.Helper()
	if err := graph.Of(nodes...).Err(); err != nil {
		t.Fatal(err)
	}
	out, err := ref.Eval(graph.Env{Seed: seed, Step: step}, feed, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// seed is that of the draws, by the definitions and on the tape.
const seed = 5

// both computes nodes by the definitions, and checks that the tape gives the same.
func both(t *testing.T, feed ref.Feed, tol float64, nodes ...*graph.Node) []graph.Value {
	t.Helper()
	want := values(t, feed, nodes...)
	got, err := reftest.Tape(seed, feed, nodes)
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		if err := reftest.Near(got[i].Data, want[i].Data, tol*max(1, reftest.Largest(want[i].Data))); err != nil {
			t.Errorf("the tape: %v: %v", nodes[i], err)
		}
	}
	return want
}

// bothWays is [both] where leaves that are not fed get normal numbers, and inputs
// with a default that.
func bothWays(t *testing.T, feed ref.Feed, nodes ...*graph.Node) []graph.Value {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	full := ref.Feed{}
	for _, n := range graph.Of(nodes...).Leaves(graph.RoleInput, graph.RoleParam) {
		v := randomValue(rng, n.Type(), 1) // drawn in any case: a feed changes nothing else
		if given, ok := feed[n]; ok {
			full[n] = given
		} else if _, has := n.Default(); !has {
			full[n] = v
		}
	}
	return both(t, full, 1e-11, nodes...)
}

// same compares values with what they should be.
func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if err := reftest.Near(got, want, 1e-12*max(1, reftest.Largest(want))); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

package check_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/ops"
)

// askew is x³ with rules of its own for tangents and batches.
type askew struct {
	bent
	Tangent, Batches bool // are wrong
}

func (askew) Name() string { return "Askew" }
func (a askew) JVP(y node, dx []node) node {
	d := ops.Mul(dx[0], ops.Scale(ops.Square(y.In(0)), 3))
	if a.Tangent {
		d = ops.Scale(d, 1.0001)
	}
	return d
}
func (a askew) Grad(y, dy node, _ int) node {
	return ops.Mul(dy, ops.Scale(ops.Square(y.In(0)), 3))
}
func (a askew) Batch(_ node, in []node, _ []bool, _ graph.Axis) node {
	if a.Batches {
		in = []node{ops.Reverse(in[0], 0)}
	}
	return ops.Elementwise(a, in...)
}

// bare has only a derivative, and is defined on whole arrays.
type bare struct{ floats }

func (bare) Name() string                { return "Bare" }
func (bare) Grad(_, dy node, _ int) node { return dy }
func (bare) Eval(_ trait.Env, _ node, in []graph.Value) graph.Value {
	return in[0]
}

// TestForwardRules: a wrong rule for tangents or for batches is found by its check,
// and a missing one for batches is no failure.
func TestForwardRules(t *testing.T) {
	for _, c := range []struct {
		op                  graph.Op
		jvp, vmap, contains string
	}{
		{askew{}, "ok", "ok", ""},
		{askew{Tangent: true}, "FAILED", "ok", "the tangent of the loss is"},
		{askew{Batches: true}, "ok", "FAILED", "by its definition, for 2 examples"},
		{bare{}, "ok", "n/a", "Bare has no rule for batches"},
	} {
		g := graph.New("askew")
		x := g.Param("x", graph.F64, graph.Ax("i", 3)).Init(initial.Normal(1, 1))
		seen := map[string]string{}
		text := ""
		for _, v := range check.Graph(context.Background(), graph.Apply(c.op, x), check.Vocabulary(c.op)) {
			seen[v.Check] = v.Status()
			text += v.String() + "\n"
		}
		if seen["jvp"] != c.jvp || seen["vmap"] != c.vmap || !strings.Contains(text, c.contains) {
			t.Errorf("%+v:\n%s", c, text)
		}
	}
}

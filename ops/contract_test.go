package ops_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestSpec: every operation is complete, comparable, and used by its own cases.
func TestSpec(t *testing.T) {
	seen := map[string]bool{}
	nine := slices.Repeat([]*graph.Node{graph.New("").Scalar("x", 0)}, 9)
	for _, op := range ops.List() {
		name := op.Name()
		if seen[name] {
			t.Errorf("%s: two operations have this name", name)
		}
		seen[name] = true
		if doc := op.Doc(); doc == "" || strings.ContainsAny(doc, "\n") || strings.HasSuffix(doc, ".") {
			t.Errorf("%s: doc %q: want one line without a full stop", name, doc)
		}
		if !reflect.TypeOf(op).Comparable() {
			t.Errorf("%s is not comparable", name)
		}
		if len(op.Cases()) == 0 {
			t.Errorf("%s has no cases", name)
		}
		if _, err := op.Infer(nine); err == nil {
			t.Errorf("%s takes nine operands", name)
		}
	}
	eachCase(t, func(t *testing.T, op ops.Op, b built) {
		n := nodeOf(t, op, b.y)
		var in []expr.Expr
		for i := range n.NumIn() {
			in = append(in, expr.Sym(fmt.Sprintf("x%d", i), n.In(i).Shape().Axis(0).Name))
		}
		if e := op.Notation(n, in); e.Text == "" && len(e.Args) == 0 && n.NumIn() > 0 {
			t.Errorf("empty notation")
		}
		_, scalar := n.Op().(interface{ Scalar(...float64) float64 })
		_, eval := n.Op().(interface {
			Eval(trait.Env, *graph.Node, []graph.Value) graph.Value
		})
		_, looped := n.Op().(trait.Looped)
		if one := scalar != eval; one == looped {
			t.Errorf("want one definition, Scalar or Eval, or a body")
		}
		_, runs := n.Op().(tape.Runnable)
		_, views := n.Op().(tape.Viewed)
		if own := runs || views; runs && views || own && looped || !own && !looped && !scalar {
			t.Errorf("want one of Kernel and View, or a body, or a Scalar that is run as it is")
		}
	})
}

// nodeOf is the operation's own node below y.
func nodeOf(t *testing.T, op ops.Op, y *graph.Node) *graph.Node {
	t.Helper()
	for _, n := range graph.Reachable(y) {
		if n.Op().Name() == op.Name() {
			return n
		}
	}
	t.Fatalf("the case does not use %s:\n%v", op.Name(), y.Graph())
	return nil
}

// TestDefinition: the kernel computes what the definition says, and the graph
// survives its text form.
func TestDefinition(t *testing.T) {
	eachCase(t, func(t *testing.T, op ops.Op, b built) {
		agree(t, b.feed, b.y)
		roundTrip(t, b.g)
	})
}

// agree compares tape and reference on the nodes.
func agree(t *testing.T, feed graph.Values, nodes ...*graph.Node) {
	t.Helper()
	agreeAfter(t, 1, feed, nodes...)
}

// agreeAfter compares tape and reference on nodes whose errors may be so many times those of a
// handful of operations.
func agreeAfter(t *testing.T, times float64, feed graph.Values, nodes ...*graph.Node) {
	t.Helper()
	const seed = 7
	want, err := ref.Eval(trait.Env{Seed: seed}, feed, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := reftest.Tape(seed, feed, nodes, tape.Passes())
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range nodes {
		tol := times * reftest.Tolerance(n.DType()) * max(1, reftest.Largest(want[i].Data))
		if err := reftest.Near(got[i].Data, want[i].Data, tol); err != nil {
			t.Errorf("%v: %v\n%v", n, err, n.Graph())
		}
	}
}

func roundTrip(t *testing.T, g *graph.Graph) {
	t.Helper()
	if err := graph.Verify(g); err != nil {
		t.Errorf("verify: %v", err)
	}
	text := g.String()
	h, err := graph.Parse(strings.NewReader(text), ops.Vocabulary()...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again := h.String(); again != text {
		t.Errorf("parsed and printed:\n%s\nwant:\n%s", again, text)
	}
}

// TestDerivative: first and second derivatives agree with difference quotients
// of the definition, and the derivative's kernels with its definition.
func TestDerivative(t *testing.T) {
	eachCase(t, func(t *testing.T, op ops.Op, b built) {
		if !flows(b, nodeOf(t, op, b.y)) {
			return
		}
		r := source("direction")
		loss := ops.Sum(ops.Mul(b.y, weights(b.y, r)))
		for order := 1; order <= 2; order++ {
			grads := grad.OrZero(loss, b.floats()...)
			agree(t, b.feed, grads...)
			roundTrip(t, b.g)
			slope := b.g.Constant(graph.F64, []float64{0})
			direction := map[*graph.Node][]float64{}
			for i, x := range b.floats() {
				v := weights(x, r)
				c, _ := v.Constant()
				direction[x] = c.Data
				slope = ops.Add(slope, ops.Cast(ops.Sum(ops.Mul(grads[i], v)), graph.F64))
			}
			if err := b.g.Err(); err != nil {
				t.Fatal(err)
			}
			got := value(t, b.feed, slope)
			want, size := quotient(t, b.feed, loss, direction)
			if tol := 1e-6*math.Abs(want) + 1e-9*size + 1e-8; !(math.Abs(got-want) <= tol) {
				t.Fatalf("derivative %d is %v, the difference quotient %v (tolerance %.2g)\n%v", order, got, want, tol, b.g)
			}
			loss = slope
		}
	})
}

// flows reports whether the operation passes a derivative to any input.
func flows(b built, n *graph.Node) bool {
	if !n.DType().IsFloat() {
		return false
	}
	one := ops.BroadcastTo(ops.Lit(n, 1), n.Shape())
	for i := range n.NumIn() {
		if n.Op().(ops.Op).Grad(n, one, i) != nil {
			return true
		}
	}
	return false
}

func value(t *testing.T, feed graph.Values, n *graph.Node) float64 {
	t.Helper()
	v, err := ref.Eval(trait.Env{}, feed, n)
	if err != nil {
		t.Fatal(err)
	}
	return v[0].Data[0]
}

// quotient is the fourth-order central difference of the loss in a direction,
// with the size of the loss.
func quotient(t *testing.T, feed graph.Values, loss *graph.Node, direction map[*graph.Node][]float64) (slope, size float64) {
	const h = 1e-3
	at := func(h float64) float64 {
		moved := graph.Values{}
		for x, v := range feed {
			moved[x] = graph.Value{Type: v.Type, Data: append([]float64(nil), v.Data...)}
			for i, d := range direction[x] {
				moved[x].Data[i] += h * d
			}
		}
		return value(t, moved, loss)
	}
	return (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h), math.Abs(at(0))
}

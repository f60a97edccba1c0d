package grad_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestProvenance: every node that a derivative adds knows the forward node and
// the loss, stands at the forward node's line and scope, and is backward.
func TestProvenance(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("i", 4), graph.Ax("d", 2))
	r := g.Param("r", graph.F32, graph.Ax("j", 3), graph.Ax("d", 2))
	end := g.Scope("assign")
	D := ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d").As("D")
	end()
	α := ops.Softmax(ops.Neg(D), "j").As("α")
	loss := ops.Mean(ops.Sum(ops.Mul(α, D), "j")).As("loss")
	forward := g.Len()
	d := grad.Of(loss, r)[0]
	for _, n := range g.Nodes() {
		if n.IsBackward() != (n.ID() >= forward) {
			t.Errorf("%v is backward: %v", n, n.IsBackward())
		}
		for _, o := range n.Occurrences() {
			if o.Origin.Kind == graph.FromUser {
				continue
			}
			if o.Origin.Loss != loss || o.Origin.Of.ID() >= forward {
				t.Errorf("%v comes from %v of %v", n, o.Origin.Of, o.Origin.Loss)
			}
			if at := o.Origin.Of.First(); o.Pos != at.Pos || o.Scope != at.Scope {
				t.Errorf("%v stands at %v in %q, its forward node at %v in %q", n, o.Pos, o.Scope, at.Pos, at.Scope)
			}
		}
	}
	for name, of := range map[string]node{"∂loss/∂D": D, "∂loss/∂α": α, "∂loss/∂r": r, "∂loss/∂loss": loss} {
		n := g.Lookup(name)
		if n == nil {
			t.Errorf("nothing is called %s", name)
			continue
		}
		if f, l := n.AdjointOf(); l != loss || n.Type() != of.Type() || name != "∂loss/∂"+f.Name() {
			t.Errorf("%s is the derivative of %v by %v", name, l, f)
		}
	}
	if g.Lookup("∂loss/∂r") != d || d.Type() != r.Type() {
		t.Errorf("the derivative by r is %v", d)
	}
}

// TestReusedForwardNode: a forward node that happens to be a derivative stays
// forward, and keeps its name.
func TestReusedForwardNode(t *testing.T) {
	g := graph.New("g")
	x, y := g.Input("x", graph.F32), g.Input("y", graph.F32)
	one := ops.Lit(x, 1).As("one")
	twice := ops.Mul(one, y).As("twice")
	loss := ops.Mul(x, y).As("loss") // ∂loss/∂x = 1·y, which is there
	d := grad.Of(loss, x)[0]
	if d != twice || d.IsBackward() || one.IsBackward() || d.Name() != "twice" || g.Lookup("∂loss/∂x") != d {
		t.Errorf("got %v, backward: %v", d, d.IsBackward())
	}
	if of, l := d.AdjointOf(); of != x || l != loss {
		t.Errorf("it is the derivative of %v by %v", l, of)
	}
}

// TestSeveralLosses: the adjoints of one loss do not flow into another's.
func TestSeveralLosses(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F64)
	y := ops.Square(x)
	first := ops.Scale(y, 3)
	second := ops.Add(ops.Exp(y), first)
	var d []node
	for range 2 { // and again: the same nodes
		d = append(d, grad.Of(first, x)[0], grad.Of(second, x)[0], grad.Of(y, x)[0])
	}
	if d[0] != d[3] || d[1] != d[4] || d[2] != d[5] {
		t.Error("the same derivative is built twice")
	}
	for i, want := range []float64{12, 4*54.598150033144236 + 12, 4} {
		if got := scalar(t, x, 2, d[i]); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("derivative %d is %v, want %v", i, got, want)
		}
	}
	if n := len(g.Derivations()); n != 6 {
		t.Errorf("%d derivations are recorded", n)
	}
}

// TestSeveralNodes: one call for many nodes gives what many calls give, in
// order, also for nodes that depend on each other or come twice.
func TestSeveralNodes(t *testing.T) {
	g := graph.New("g")
	x, w := g.Input("x", graph.F64), g.Param("w", graph.F64)
	y := ops.Mul(x, w)
	loss := ops.Square(y)
	all := grad.Of(loss, w, y, x, loss, w)
	for i, n := range []node{w, y, x, loss, w} {
		if one := grad.Of(loss, n)[0]; one != all[i] {
			t.Errorf("by %v: %v and %v", n, all[i], one)
		}
	}
	if len(grad.Of(loss)) != 0 || g.Err() != nil {
		t.Errorf("no derivatives: %v", g.Err())
	}
}

// line is the caller's.
func line() int {
	_, _, n, _ := runtime.Caller(1)
	return n
}

// TestMistakes: the exact text of what cannot be differentiated, with the place
// where a path was cut.
func TestMistakes(t *testing.T) {
	g, other := graph.New("g"), graph.New("other")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	w := g.Param("w", graph.F32, graph.Ax("i", 3))
	n := g.Input("n", graph.I64)
	z := other.Input("z", graph.F32)
	stopped := ops.Sum(ops.Mul(x, ops.StopGradient(ops.Exp(w)))).As("stopped")
	cut := line() - 1
	chosen := ops.Sum(ops.Cast(ops.ArgMin(w, "i"), graph.F32)).As("chosen")
	picked := line() - 1
	free := ops.Sum(x).As("free")
	const zeros = " (use grad.OrZero if zeros are meant)"
	here := func(l int) string { return fmt.Sprintf("graph/grad/origin_test.go:%d", l) }
	for _, c := range []struct {
		loss, wrt node
		want      string
	}{
		{stopped, w, `no derivative reaches w: the path from the loss ends in StopGradient (%4[i=3] at ` + here(cut) + `): stopped[], w[i=3]` + zeros},
		{chosen, w, `no derivative reaches w: the path from the loss ends in Cast (chosen[] at ` + here(picked) + `): chosen[], w[i=3]` + zeros},
		{free, w, `the loss does not depend on w: free[], w[i=3]` + zeros},
		{x, w, `a loss of type f32[i=3]: want a float scalar: x[i=3], w[i=3] (reduce it with ops.Sum or ops.Mean)`},
		{n, w, `a loss of type i64[]: want a float scalar: n[], w[i=3] (reduce it with ops.Sum or ops.Mean)`},
		{free, n, `a node of type i64[] has no derivative: free[], n[]`},
		{free, z, `the loss and the node belong to different graphs: free[], z[] (build both in one graph)`},
		{free, nil, `want a loss and a node, got nil: free[], nil`},
		{nil, x, `want a loss and a node, got nil: nil, x[i=3]`},
	} {
		before := 0
		if errs, ok := g.Err().(graph.Errors); ok {
			before = len(errs)
		}
		d := grad.Of(c.loss, c.wrt)
		at := line() - 1
		errs, _ := g.Err().(graph.Errors)
		want := here(at) + ": grad: " + c.want
		if len(d) != 1 || d[0] == nil || d[0].IsValid() || len(errs) != before+1 || errs[before].Error() != want {
			t.Errorf("got  %v\nwant %s", errs[min(before, len(errs)):], want)
		}
	}
	if err := other.Err(); err != nil {
		t.Error(err)
	}
	before := len(g.Err().(graph.Errors))
	bad := g.Fail("earlier", errors.New("mistake"))
	if d := grad.Of(bad, w); d[0].IsValid() || len(g.Err().(graph.Errors)) != before+1 {
		t.Errorf("a loss that follows from a mistake is not silent: %v", g.Err())
	}
	if d := grad.Of(free, w, x); d[0].IsValid() || !d[1].IsValid() {
		t.Error("one mistake spoils the other derivative")
	}
	if d := grad.Of(nil, nil); len(d) != 1 || d[0] == nil || d[0].IsValid() {
		t.Errorf("of nothing: %v", d)
	}
}

// TestOrZero: zeros of the node's type where nothing flows, and no mistake.
func TestOrZero(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F64)
	w := g.Param("w", graph.F64, graph.Ax("i", 3))
	loss := ops.Square(x)
	d := grad.OrZero(loss, w, x)
	if d[0].Type() != w.Type() || d[1] != grad.Of(loss, x)[0] {
		t.Errorf("got %v", d)
	}
	if v, ok := match.Literal(d[0]); v != 0 || !ok {
		t.Errorf("%v is not zero", d[0])
	}
	if got := scalar(t, x, 3, ops.Sum(d[0])); got != 0 {
		t.Errorf("got %v", got)
	}
	for _, n := range graph.Reachable(d[0]) {
		if !n.IsBackward() {
			t.Errorf("%v is no derivative: %+v", n, n.First())
		}
	}
	if of, _ := d[0].AdjointOf(); of != nil {
		t.Errorf("zeros where nothing flows are the derivative by %v", of)
	}
	if len(g.Derivations()) != 3 || graph.Verify(g) != nil {
		t.Errorf("%v, %v", g.Derivations(), graph.Verify(g))
	}
}

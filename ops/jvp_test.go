package ops_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// subsets are all operands together, and each alone.
func subsets(n int) [][]bool {
	all := make([]bool, n)
	out := [][]bool{all}
	for i := range n {
		all[i] = true
		if n > 1 {
			one := make([]bool, n)
			one[i] = true
			out = append(out, one)
		}
	}
	return out
}

// TestTangent: whichever operands move, ⟨u, JVP·v⟩ = ⟨VJP·u, v⟩ to rounding, JVP
// agrees with the difference quotient, and its kernels with its definition.
func TestTangent(t *testing.T) {
	eachCase(t, func(t *testing.T, op ops.Op, b built) {
		x := b.floats()
		if len(x) == 0 || !b.y.DType().IsFloat() {
			return
		}
		for _, moves := range subsets(len(x)) {
			r := source("tangent")
			var along, v []*graph.Node
			direction := map[*graph.Node][]float64{}
			for i := range x {
				if moves[i] {
					d := weights(x[i], r)
					c, _ := d.Constant()
					along, v, direction[x[i]] = append(along, x[i]), append(v, d), c.Data
				}
			}
			u := weights(b.y, r)
			loss := ops.Sum(ops.Mul(b.y, u))
			dy := grad.JVP([]*graph.Node{b.y}, along, v)[0]
			forward := ops.Sum(ops.Mul(dy, u))
			back := b.g.Constant(graph.F64, []float64{0})
			for i, d := range grad.OrZero(loss, along...) {
				back = ops.Add(back, ops.Cast(ops.Sum(ops.Mul(d, v[i])), graph.F64))
			}
			if err := b.g.Err(); err != nil {
				t.Fatal(err)
			}
			if dy.Type() != b.y.Type() {
				t.Fatalf("the tangent of %v has type %v", b.y.Type(), dy.Type())
			}
			agree(t, b.feed, dy)
			roundTrip(t, b.g)
			got, want := value(t, b.feed, forward), value(t, b.feed, back)
			slope, size := quotient(t, b.feed, loss, direction)
			tol := 1e-12 * (math.Abs(want) + size + 1)
			if b.y.DType() == graph.F32 || x[0].DType() == graph.F32 {
				tol *= 1e5 // constants of the rules are rounded
			}
			if !(math.Abs(got-want) <= tol) {
				t.Errorf("moving %v: ⟨u, JVP·v⟩ = %v, ⟨VJP·u, v⟩ = %v\n%v", moves, got, want, b.g)
			}
			if tol := 1e-6*math.Abs(slope) + 1e-9*size + 1e-8; flows(b, nodeOf(t, op, b.y)) && !(math.Abs(got-slope) <= tol) {
				t.Errorf("moving %v: ⟨u, JVP·v⟩ = %v, the difference quotient %v\n%v", moves, got, slope, b.g)
			}
		}
	})
}

// TestTangentRuleIsUsed: the operation's own rule answers for its own node, and says
// that nothing moves where its derivative says that nothing flows.
func TestTangentRuleIsUsed(t *testing.T) {
	eachCase(t, func(t *testing.T, op ops.Op, b built) {
		n := nodeOf(t, op, b.y)
		for _, moves := range subsets(n.NumIn()) {
			dx, flow := make([]*graph.Node, n.NumIn()), false
			for i := range dx {
				if x := n.In(i); moves[i] && x.DType().IsFloat() {
					dx[i] = ops.BroadcastTo(ops.Lit(x, 1), x.Shape())
					if n.DType().IsFloat() {
						flow = flow || n.Op().(ops.Op).Grad(n, ops.BroadcastTo(ops.Lit(n, 1), n.Shape()), i) != nil
					}
				}
			}
			if d := n.Op().(ops.Op).JVP(n, dx); (d != nil) != flow && anyMoves(dx) {
				t.Errorf("moving %v gives %v; a derivative flows: %v", moves, d, flow)
			}
		}
	})
}

func anyMoves(dx []*graph.Node) bool {
	for _, d := range dx {
		if d != nil {
			return true
		}
	}
	return false
}

// TestTangentOfScatterOutside: where indices are trusted, what is not added does not move.
func TestTangentOfScatterOutside(t *testing.T) {
	g := graph.New("outside")
	index := g.Input("k", graph.I64, graph.Ax("i", 3))
	values := g.Input("v", graph.F64, graph.Ax("i", 3))
	y := ops.ScatterAdd(index, values, 0, graph.Ax("j", 2))
	d := grad.JVP([]*graph.Node{y}, []*graph.Node{values}, []*graph.Node{g.Constant(graph.F64, []float64{1, 2, 4}, graph.Ax("i", 3))})[0]
	feed := graph.Values{index: {Data: []float64{1, 2, 1}}, values: {Data: make([]float64, 3)}}
	got, err := reftest.Tape(0, feed, []*graph.Node{d}, tape.TrustIndices())
	if err != nil || got[0].Data[0] != 0 || got[0].Data[1] != 5 {
		t.Errorf("got %v %v, want [0 5]", got, err)
	}
}

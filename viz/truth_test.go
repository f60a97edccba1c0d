package viz

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// checkTrue compares the expression of n with its value, before and after
// simplification, with and without stops at derivatives.
func checkTrue(t *testing.T, n *graph.Node, feed graph.Values) {
	t.Helper()
	if len(axisNames(n)) < len(longAxes(n)) {
		return // matrix notation: not read element by element
	}
	for _, adjoints := range []bool{false, true} {
		for _, raw := range []bool{true, false} {
			u := newUnfolder([]*graph.Node{n}, adjoints)
			u.raw = raw
			e := u.expr(n)
			if raw {
				e = u.tagged(n)
			}
			r := &reader{quantity: map[string]quantity{}, size: map[string]int{}, index: map[string]int{}}
			if raw {
				r.size = u.size
			}
			left := slices.Clone(u.left)
			values, err := ref.Eval(trait.Env{}, feed, append([]*graph.Node{n}, u.met...)...)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range u.met {
				s := u.symbol(x, nil).Text
				if q, ok := r.quantity[s]; ok && q.node != x {
					t.Fatalf("two quantities are called %s", s)
				}
				r.quantity[s] = quantity{node: x, value: values[i+1]}
			}
			if !readTrue(t, r, n, e, values[0], left, u.size) {
				return
			}
		}
	}
}

// maxRead is about how many elements of a large array are read.
const maxRead = 60

func readTrue(t *testing.T, r *reader, n *graph.Node, e expr.Expr, want graph.Value, left []string, size map[string]int) bool {
	t.Helper()
	p := 0
	shape := n.Shape()
	var walk func(k int) bool
	walk = func(k int) bool {
		if k < shape.Rank() {
			a := shape.Axis(k)
			long := 0
			for _, b := range shape.Axes()[:k] {
				if b.Size > 1 {
					long++
				}
			}
			for v := range a.Size {
				if a.Size > 1 {
					r.set(left[long], v, size)
				}
				if !walk(k + 1) {
					return false
				}
			}
			return true
		}
		if p++; (p-1)%(1+len(want.Data)/maxRead) != 0 {
			return true
		}
		got, w := r.eval(e), want.Data[p-1]
		if got != w && !(math.Abs(got-w) <= 1e-6*(1+math.Abs(w))) {
			t.Errorf("%v = %s\nat %v is %g, want %g", n, Unicode(e), r.index, got, w)
			return false
		}
		return true
	}
	return walk(0)
}

func fill(r *rand.Rand, n *graph.Node) graph.Value {
	v := graph.NewValue(n.Type())
	for i := range v.Data {
		v.Data[i] = r.Float64()*2 - 1
	}
	return v
}

func TestObjectivesAreTrue(t *testing.T) {
	for _, o := range []*objective{soft(t), goofy(t)} {
		rnd := rand.New(rand.NewSource(1))
		feed := graph.Values{o.x: fill(rnd, o.x), o.r: fill(rnd, o.r)}
		for _, n := range []*graph.Node{o.Δ, o.D, o.α, o.loss, o.dr} {
			if n.Rank() < 3 {
				checkTrue(t, n, feed)
			}
			for _, e := range Equations(n) {
				if e.Node != n && e.Node.Rank() < 3 {
					checkTrue(t, e.Node, feed)
				}
			}
		}
	}
}

func TestRandomFormulasAreTrue(t *testing.T) {
	for seed := range 150 {
		rnd := rand.New(rand.NewSource(int64(seed)))
		g, pool := randomGraph(rnd)
		loss := ops.Sum(over(pool[len(pool)-1], []string{"i", "j", "d"}))
		leaves := g.Leaves(graph.RoleParam)
		var wrt []*graph.Node
		for _, l := range leaves {
			if loss.DependsOn(l) {
				wrt = append(wrt, l)
			}
		}
		derivatives := grad.OrZero(loss, wrt...)
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		feed := graph.Values{}
		for _, l := range leaves {
			feed[l] = fill(rnd, l)
		}
		for _, n := range append(append(pool[len(leaves):], loss), derivatives...) {
			checkTrue(t, n, feed)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// randomGraph combines three arrays and a scalar at random, over named axes.
func randomGraph(rnd *rand.Rand) (*graph.Graph, []*graph.Node) {
	g := graph.New("random")
	pool := []*graph.Node{
		g.Param("x", graph.F64, graph.Ax("i", 3), graph.Ax("d", 4)),
		g.Param("r", graph.F64, graph.Ax("j", 2), graph.Ax("d", 4)),
		g.Param("a", graph.F64, graph.Ax("i", 3), graph.Ax("j", 2)),
		g.Param("γ", graph.F64),
		g.Param("b", graph.F64, graph.Dims(4)...),
	}
	pick := func(ok func(n *graph.Node) bool) *graph.Node {
		for {
			if n := pool[rnd.Intn(len(pool))]; ok(n) {
				return n
			}
		}
	}
	some := func() *graph.Node { return pick(func(*graph.Node) bool { return true }) }
	named := func() *graph.Node {
		return pick(func(n *graph.Node) bool {
			return n.Rank() > 0 && !slices.ContainsFunc(n.Shape().Axes(), func(a graph.Axis) bool { return a.Name == "" })
		})
	}
	for k := range 9 {
		var y *graph.Node
		switch x := named(); rnd.Intn(11) {
		case 0, 1, 2:
			p, q := some(), some()
			if p.Rank()+q.Rank() > 0 && p.Shape() != q.Shape() {
				order := []string{"i", "j", "d"}
				p, q = over(p, order), over(q, order)
			}
			y = []func(a, b *graph.Node) *graph.Node{func(a, b *graph.Node) *graph.Node { return ops.Add(a, b) }, ops.Sub, func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }}[rnd.Intn(3)](p, q)
		case 3:
			y = ops.Neg(ops.Scale(some(), 0.25))
		case 4:
			y = ops.Square(some())
		case 5:
			y = ops.Tanh(some())
		case 6:
			y = ops.Sum(x, x.Shape().Axis(rnd.Intn(x.Rank())).Name)
		case 7:
			a := x.Shape().Axis(rnd.Intn(x.Rank())).Name
			y = ops.Mul(x, ops.Mean(x, a, ops.Keep))
		case 8:
			y = ops.Softmax(x, rnd.Intn(x.Rank()))
		case 10:
			y = []func(*graph.Node) *graph.Node{ops.SumRanks, ops.CopyRanks}[rnd.Intn(2)](some())
		case 9:
			y = ops.Div(x, ops.Shift(ops.Square(pool[3]), 2))
			if x.Shape() == pool[2].Shape() {
				y = ops.MatMul(x, pool[1])
			}
		}
		if rnd.Intn(3) == 0 {
			y.As(fmt.Sprint("q", k))
		}
		pool = append(pool, y)
	}
	return g, pool
}

// over lays x out over the axes called order; one without a name counts as d.
func over(x *graph.Node, order []string) *graph.Node {
	if x.Rank() == 1 && x.Shape().Axis(0).Name == "" {
		if x.Dim(0) != 4 {
			return ops.Sum(x)
		}
		x = ops.Rename(x, 0, "d")
	}
	return ops.Over(x, order...)
}

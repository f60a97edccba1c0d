package viz

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// reader evaluates an expression as someone reads it: quantities by name, their
// elements by subscript in the order of their axes.
type reader struct {
	quantity map[string]quantity
	size     map[string]int // of indices
	index    map[string]int
}

type quantity struct {
	node  *graph.Node
	value graph.Value
}

func (r *reader) with(index string, v int, f func()) {
	old, had := r.index[index]
	r.index[index] = v
	f()
	if delete(r.index, index); had {
		r.index[index] = old
	}
}

// sizeOf is the range of an index, told by the first quantity that has it.
func (r *reader) sizeOf(index string, e graph.Expr) int {
	if n, ok := r.size[index]; ok {
		return n
	}
	if q, ok := r.quantity[e.Text]; ok && e.Kind == graph.ExprSymbol {
		if k := slices.Index(e.Subs, index); k >= 0 {
			return longAxes(q.node)[k].Size
		}
	}
	for _, a := range e.Args {
		if n := r.sizeOf(index, a); n > 0 {
			return n
		}
	}
	return 0
}

func longAxes(n *graph.Node) (out []graph.Axis) {
	for _, a := range n.Shape().Axes() {
		if a.Size > 1 {
			out = append(out, a)
		}
	}
	return out
}

func (r *reader) eval(e graph.Expr) float64 {
	if v, ok := valueOf(e); ok {
		return v
	}
	var a []float64
	if e.Kind != graph.ExprBig && e.Kind != graph.ExprNorm && e.Text != "softmax" {
		for _, x := range e.Args {
			a = append(a, r.eval(x))
		}
	}
	switch e.Kind {
	case graph.ExprSymbol:
		return r.symbol(e)
	case graph.ExprAdd:
		s := 0.0
		for _, v := range a {
			s += v
		}
		return s
	case graph.ExprMul:
		s := 1.0
		for _, v := range a {
			s *= v
		}
		return s
	case graph.ExprDiv:
		return a[0] / a[1]
	case graph.ExprNeg:
		return -a[0]
	case graph.ExprPower:
		return math.Pow(a[0], a[1])
	case graph.ExprNorm:
		v := r.lastIndex(e.Args[0])
		return r.eval(graph.Big("Σ", []string{"last"}, graph.Expr{Kind: graph.ExprMul, Args: []graph.Expr{v, v}}))
	case graph.ExprCall:
		switch e.Text {
		case "tanh":
			return math.Tanh(a[0])
		case "softmax":
			if len(e.Subs) == 0 {
				return 1 // along an axis of size 1
			}
			j := e.Subs[0]
			total, here := 0.0, math.Exp(r.eval(e.Args[0]))
			for v := range r.sizeOf(j, e.Args[0]) {
				r.with(j, v, func() { total += math.Exp(r.eval(e.Args[0])) })
			}
			return here / total
		}
	case graph.ExprBig:
		return r.big(e, e.Subs)
	}
	panic(fmt.Sprintf("cannot read %s (%d %q)", Unicode(e), e.Kind, e.Text))
}

// lastIndex gives the vectors of a norm the index that they do not show.
func (r *reader) lastIndex(e graph.Expr) graph.Expr {
	if q, ok := r.quantity[e.Text]; ok && e.Kind == graph.ExprSymbol && len(longAxes(q.node)) == len(e.Subs)+1 {
		e.Subs = append(slices.Clip(e.Subs), "last")
	}
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = r.lastIndex(e.Args[i])
	}
	return e
}

func (r *reader) big(e graph.Expr, subs []string) float64 {
	if len(subs) == 0 {
		return r.eval(e.Args[0])
	}
	n := r.sizeOf(subs[0], e.Args[0])
	if n == 0 {
		panic("index without a range in " + Unicode(e))
	}
	s, most := 0.0, math.Inf(-1)
	for v := range n {
		r.with(subs[0], v, func() {
			x := r.big(e, subs[1:])
			s, most = s+x, max(most, x)
		})
	}
	switch e.Text {
	case "mean":
		return s / float64(n)
	case "max":
		return most
	}
	return s
}

func (r *reader) symbol(e graph.Expr) float64 {
	if e.Text == "e" {
		return math.E
	}
	q, ok := r.quantity[e.Text]
	if !ok {
		panic("unknown symbol " + Unicode(e))
	}
	axes := longAxes(q.node)
	if len(axes) != len(e.Subs) {
		panic(fmt.Sprintf("%s stands for %v", Unicode(e), q.node))
	}
	p := 0
	for k, a := range axes {
		v, ok := r.index[e.Subs[k]]
		if !ok {
			panic("free index in " + Unicode(e))
		}
		p = p*a.Size + v
	}
	return q.value.Data[p]
}

// checkTrue compares the expression of n with its value, before and after
// simplification, with and without stops at derivatives.
func checkTrue(t *testing.T, n *graph.Node, feed ref.Feed) {
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
			values, err := ref.Eval(graph.Env{}, feed, append([]*graph.Node{n}, u.met...)...)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range u.met {
				s := u.symbol(x, nil).Text
				if q, ok := r.quantity[s]; ok && q.node != x {
					t.Fatalf("two quantities are called %s", s)
				}
				r.quantity[s] = quantity{x, values[i+1]}
			}
			if !readTrue(t, r, n, e, values[0]) {
				return
			}
		}
	}
}

func readTrue(t *testing.T, r *reader, n *graph.Node, e graph.Expr, want graph.Value) bool {
	t.Helper()
	p := 0
	shape := n.Shape()
	var walk func(k int) bool
	walk = func(k int) bool {
		if k < shape.Rank() {
			a := shape.Axis(k)
			for v := range a.Size {
				r.index[a.Name] = v
				if !walk(k + 1) {
					return false
				}
			}
			return true
		}
		got, w := r.eval(e), want.Data[p]
		p++
		if math.Abs(got-w) > 1e-6*(1+math.Abs(w)) {
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
		feed := ref.Feed{o.x: fill(rnd, o.x), o.r: fill(rnd, o.r)}
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
		feed := ref.Feed{}
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
		switch x := named(); rnd.Intn(10) {
		case 0, 1, 2:
			p, q := some(), some()
			if p.Rank()+q.Rank() > 0 && p.Shape() != q.Shape() {
				order := []string{"i", "j", "d"}
				p, q = over(p, order), over(q, order)
			}
			y = []func(a, b *graph.Node) *graph.Node{ops.Add, ops.Sub, ops.Mul}[rnd.Intn(3)](p, q)
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

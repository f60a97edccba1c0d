package ops_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestNames: whatever names the axes of the operands have, or lack, an operation
// refuses them or can be mapped, and differentiated forward and twice back.
func TestNames(t *testing.T) {
	pool := []string{"", "", "i", "j", "d", "b"}
	for _, op := range ops.List() {
		for k, c := range op.Cases() {
			r := source(fmt.Sprint("names ", op.Name(), k))
			for range 60 {
				g := graph.New("names")
				in := renamed(t, g, c, pool, r)
				y := c.Make(in)
				if len(in) == 0 || g.Err() != nil {
					continue
				}
				forward(t, g, in, y)
				if y.DType().IsFloat() {
					twice(t, g, in, y)
				}
			}
		}
	}
}

// renamed makes the operands of a case with names of the pool in place of theirs.
func renamed(t *testing.T, g *graph.Graph, c ops.Case, pool []string, r *rand.Rand) []*graph.Node {
	var in []*graph.Node
	for i, o := range c.Operands {
		typ := operandType(t, o.Type, graph.F64, nil)
		axes := typ.Shape.Axes()
		for a := range axes {
			if r.IntN(2) == 0 {
				axes[a].Name = pool[r.IntN(len(pool))]
			}
		}
		if _, err := graph.NewShape(axes...); err != nil {
			axes = graph.Dims(typ.Shape.Sizes()...)
		}
		in = append(in, g.Input(fmt.Sprint("x", i), typ.DType, axes...))
	}
	return in
}

// forward moves and maps all operands; both must leave y's type as it is.
func forward(t *testing.T, g *graph.Graph, in []*graph.Node, y *graph.Node) {
	t.Helper()
	var x, v []*graph.Node
	var over []vmap.Over
	for _, n := range in {
		if n.DType().IsFloat() {
			x, v = append(x, n), append(v, ops.Scale(n, 2))
		}
		s, _ := graph.NewShape(append([]graph.Axis{graph.Ax("ex", 2)}, n.Shape().Axes()...)...)
		over = append(over, vmap.Over{X: n, Batch: ops.BroadcastTo(n, s)})
	}
	if y.DType().IsFloat() {
		if d := grad.JVP([]*graph.Node{y}, x, v)[0]; d.Type() != y.Type() && g.Err() == nil {
			t.Errorf("the tangent of %v has type %v", y, d.Type())
		}
	}
	want, _ := graph.NewShape(append([]graph.Axis{graph.Ax("ex", 2)}, y.Shape().Axes()...)...)
	if ys := vmap.Map([]*graph.Node{y}, over...)[0]; ys.Shape() != want && g.Err() == nil {
		t.Errorf("mapped, %v has type %v", y, ys.Type())
	}
	if err := g.Err(); err != nil {
		t.Errorf("%v\n%v", err, g)
	}
}

func twice(t *testing.T, g *graph.Graph, in []*graph.Node, y *graph.Node) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%v", r)
		}
	}()
	var wrt []*graph.Node
	for _, x := range in {
		if x.DType().IsFloat() {
			wrt = append(wrt, x)
		}
	}
	loss := ops.Cast(ops.Sum(ops.Mul(y, y)), graph.F64)
	for range 2 {
		for i, d := range grad.OrZero(loss, wrt...) {
			if d.Type() != wrt[i].Type() && g.Err() == nil {
				t.Errorf("the derivative of %v by %v has type %v", y, wrt[i], d.Type())
			}
			loss = ops.Add(loss, ops.Cast(ops.Sum(ops.Mul(d, d)), graph.F64))
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}

// TestPairNames: rows, weights and differences meet by name too.
func TestPairNames(t *testing.T) {
	for want, call := range map[string]func(x, r, w *graph.Node){
		`SqDist: two axes are called "i"`:                               func(x, r, _ *graph.Node) { ops.SqDist(ops.Rename(x, "d", ""), ops.Rename(r, "d", "i")) },
		`WeightedDiff: weights of type f32[a=3 b=5]: want f32[i=3 j=5]`: func(x, r, w *graph.Node) { ops.WeightedDiff(w, x, r) },
		`DiffDot: rows of type f32[i=3 e=4]: want f32[i=3 d=4]`:         func(x, r, _ *graph.Node) { ops.DiffDot(ops.Rename(x, "d", "e"), x, r) },
	} {
		g := graph.New("pairs")
		call(g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("d", 4)), g.Input("r", graph.F32, graph.Ax("j", 5), graph.Ax("d", 4)),
			g.Input("w", graph.F32, graph.Ax("a", 3), graph.Ax("b", 5)))
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestScatterAddByName: the axis may be named, as everywhere.
func TestScatterAddByName(t *testing.T) {
	g := graph.New("scatter")
	index, values := g.Input("k", graph.I64, graph.Ax("i", 3)), g.Input("v", graph.F32, graph.Ax("i", 3), graph.Ax("d", 2))
	axes := []graph.Axis{graph.Ax("j", 4), graph.Ax("d", 2)}
	if a, b := ops.ScatterAdd(index, values, "j", axes...), ops.ScatterAdd(index, values, 0, axes...); a != b || !a.IsValid() {
		t.Errorf("got %v and %v: %v", a, b, g.Err())
	}
}

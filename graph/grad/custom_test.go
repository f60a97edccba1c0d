package grad_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// bothWays evaluates nodes by the definition and on the tape, compiled as usual and as written, and
// holds them to each other.
func bothWays(t *testing.T, feed graph.Values, nodes ...*graph.Node) [][]float64 {
	t.Helper()
	if err := nodes[0].Graph().Err(); err != nil {
		t.Fatal(err)
	}
	want, err := ref.Eval(trait.Env{}, feed, nodes...)
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(nodes))
	for _, passes := range []tape.Option{tape.FastMath(), tape.Passes()} {
		got, err := reftest.Tape(0, feed, nodes, passes)
		if err != nil {
			t.Fatal(err)
		}
		for i := range nodes {
			if err := reftest.Near(got[i].Data, want[i].Data, 1e-12); err != nil {
				t.Errorf("%v: %v", nodes[i], err)
			}
			out[i] = got[i].Data
		}
	}
	return out
}

// estimators are functions with derivatives of one's own.
var estimators = map[string]struct {
	f   func(x ...*graph.Node) []*graph.Node
	at  float64 // the derivative of Σ 3·f(x) at 0.3
	lin bool    // the vjp is linear
}{
	"gradient reversal": {grad.Custom(
		func(x []*graph.Node) []*graph.Node { return x },
		func(_, _, dy []*graph.Node) []*graph.Node { return []*graph.Node{ops.Scale(dy[0], -2)} }), -6, true},
	"straight through": {grad.Custom(
		func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sign(x[0])} },
		func(_, _, dy []*graph.Node) []*graph.Node { return dy }), 3, true},
	"clipping": {grad.Custom(
		func(x []*graph.Node) []*graph.Node { return x },
		func(_, _, dy []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Clip(dy[0], ops.Lit(dy[0], -1), ops.Lit(dy[0], 1))}
		}), 1, false},
}

func TestCustom(t *testing.T) {
	for name, c := range estimators {
		g := graph.New("g")
		x := g.Input("x", graph.F64, graph.Ax("n", 2))
		y := c.f(x)[0]
		dx := grad.Of(ops.Sum(ops.Scale(y, 3)), x)[0]
		feed := graph.Values{x: {Type: x.Type(), Data: []float64{0.3, 0.3}}}
		got := bothWays(t, feed, y, dx)
		if want := []float64{c.at, c.at}; !slices.Equal(got[1], want) {
			t.Errorf("%s: a derivative of %v: want %v", name, got[1], want)
		}
		// Mapped over the elements.
		each := vmap.Each(func(x []*graph.Node) []*graph.Node {
			return grad.Of(ops.Scale(c.f(x[0])[0], 3), x[0])
		}, x)
		if got := bothWays(t, feed, each[0])[0]; !slices.Equal(got, []float64{c.at, c.at}) {
			t.Errorf("%s: a mapped derivative of %v: want %v", name, got, c.at)
		}
		v := ops.BroadcastTo(ops.Lit(x, 1), x.Shape())
		tangent := grad.JVP([]*graph.Node{ops.Scale(y, 3)}, []*graph.Node{x}, []*graph.Node{v})
		if !c.lin {
			continue
		}
		if got := bothWays(t, feed, tangent[0])[0]; !slices.Equal(got, []float64{c.at, c.at}) {
			t.Errorf("%s: a tangent of %v: want %v", name, got, c.at)
		}
	}
}

// TestCustomMistakes: what a derivative of one's own cannot do is said where it is asked for.
func TestCustomMistakes(t *testing.T) {
	x := func() *graph.Node { return graph.New("g").Input("x", graph.F64, graph.Ax("n", 2)) }
	for want, f := range map[string]func(x *graph.Node){
		"the derivative given is not linear in the derivatives by the outputs, so no tangent follows from it (use reverse mode)": func(x *graph.Node) {
			y := estimators["clipping"].f(x)
			grad.JVP(y, []*graph.Node{x}, []*graph.Node{ops.BroadcastTo(ops.Lit(x, 1), x.Shape())})
		},
		"the vjp gives 2 derivatives: want one for each of 1 inputs": func(x *graph.Node) {
			grad.Custom(func(x []*graph.Node) []*graph.Node { return x }, func(x, y, dy []*graph.Node) []*graph.Node { return append(x, dy...) })(x)
		},
		"the vjp gives a derivative of type f64[] for input 0 of type f64[n=2]": func(x *graph.Node) {
			grad.Custom(func(x []*graph.Node) []*graph.Node { return x }, func(x, y, dy []*graph.Node) []*graph.Node { return []*graph.Node{ops.Sum(dy[0])} })(x)
		},
		"the vjp is nil":      func(x *graph.Node) { grad.Custom(func(x []*graph.Node) []*graph.Node { return x }, nil)(x) },
		"the function is nil": func(x *graph.Node) { grad.Custom(nil, nil)(x) },
		"no derivative reaches x: the path from the loss ends in Custom": func(x *graph.Node) {
			w := x.Graph().Input("w", graph.F64, graph.Ax("n", 2))
			f := grad.Custom(func(in []*graph.Node) []*graph.Node { return []*graph.Node{ops.Mul(in[0], x)} },
				func(_, _, dy []*graph.Node) []*graph.Node { return dy })
			grad.Of(ops.Sum(f(w)[0]), x) // used besides the inputs
		},
	} {
		x := x()
		f(x)
		if err := x.Graph().Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestCustomTwice: second derivatives differentiate what was given, and the outputs as functions of
// the inputs.
func TestCustomTwice(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F64)
	exp := grad.Custom(func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.Exp(x[0])} },
		func(_, y, dy []*graph.Node) []*graph.Node { return []*graph.Node{ops.Mul(dy[0], y[0])} })
	d := grad.Of(exp(x)[0], x)[0]
	d2 := grad.Of(d, x)[0]
	d3 := grad.Of(d2, x)[0]
	got := bothWays(t, graph.Values{x: {Type: x.Type(), Data: []float64{0.5}}}, d, d2, d3)
	for order, v := range got {
		if math.Abs(v[0]-math.Exp(0.5)) > 1e-14 {
			t.Errorf("derivative %d is %v, want %v", order+1, v, math.Exp(0.5))
		}
	}
}

package rewrite_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// normed is a graph in which numbers of the channels follow a convolution or a product.
type normed struct {
	*graph.Graph
	x, w, y                    *graph.Node
	mean, variance, gain, bias *graph.Node
}

func newNormed(places int) normed {
	g := graph.New("normed")
	c := graph.Ax("o", 6)
	n := normed{Graph: g}
	n.x = g.Input("x", graph.F64, graph.Ax("n", 2), graph.Ax("h", places), graph.Ax("w", places), graph.Ax("c", 3))
	n.w = g.Param("w", graph.F64, graph.Ax("kh", 3), graph.Ax("kw", 3), graph.Ax("c", 3), c)
	n.mean, n.variance = g.State("mean", graph.F64, c), g.State("var", graph.F64, c)
	n.gain, n.bias = g.Param("gain", graph.F64, c), g.Param("bias", graph.F64, c)
	n.y = ops.Conv2D(n.x, n.w, ops.Padding(1))
	return n
}

// written is a batch norm in evaluation as ONNX models have it, in the other order of operations.
func (n normed) written() *graph.Node {
	rstd := ops.Div(ops.Lit(n.variance, 1), ops.Sqrt(ops.Shift(n.variance, 1e-3)))
	over := func(v *graph.Node) *graph.Node { return ops.BroadcastTo(v, n.y.Shape()) }
	return ops.Add(ops.Mul(ops.Sub(n.y, over(n.mean)), ops.Mul(over(rstd), over(n.gain))), over(n.bias))
}

// TestChannelsFold: a batch norm in evaluation, however it is written, leaves a convolution with a
// bias, and no other operation on all places; where the weights are larger than the result, a
// product and a sum. Values agree to 1e-13 of the largest.
func TestChannelsFold(t *testing.T) {
	layer := func(n normed) *graph.Node {
		l := nn.BatchNorm{Mean: n.mean, Var: n.variance, Gain: n.gain, Bias: n.bias}
		return l.Of(n.y)
	}
	for _, c := range []struct {
		name     string
		places   int
		of       func(n normed) *graph.Node
		muls     int // products of all places that are left
		addition int
	}{
		{"nn.BatchNorm", 9, layer, 0, 1},
		{"as ONNX has it", 9, normed.written, 0, 1},
		{"few places", 2, layer, 1, 1},
		{"the channels first", 9, func(n normed) *graph.Node {
			y := ops.Transpose(n.y, 0, 3, 1, 2)
			over := func(v *graph.Node) *graph.Node { return ops.BroadcastTo(ops.Over(v, "o", "h", "w"), y.Shape()) }
			return ops.Mul(ops.Sub(y, over(n.mean)), over(n.gain))
		}, 0, 1},
		{"a bias before", 9, func(n normed) *graph.Node {
			return layer(normed{Graph: n.Graph, y: ops.Add(n.y, ops.BroadcastTo(n.bias, n.y.Shape())), mean: n.mean, variance: n.variance, gain: n.gain, bias: n.bias})
		}, 0, 1},
		{"a product", 9, func(n normed) *graph.Node {
			m := n.Param("m", graph.F64, graph.Ax("c", 3), graph.Ax("o", 6))
			return layer(normed{Graph: n.Graph, y: ops.MatMul(n.x, m), mean: n.mean, variance: n.variance, gain: n.gain, bias: n.bias})
		}, 0, 1},
	} {
		n := newNormed(c.places)
		y := c.of(n)
		if err := n.Err(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		r, err := rewrite.Run(n.Graph, []*graph.Node{y}, rewrite.Passes()...)
		if err != nil {
			t.Fatal(err)
		}
		muls, adds := 0, 0
		for _, m := range r.Graph.Nodes() {
			if m.Shape().Len() == y.Shape().Len() {
				switch match.KindOf(m) {
				case match.Mul, match.Div:
					muls++
				case match.Add, match.Sub:
					adds++
				}
			}
		}
		if muls != c.muls || adds != c.addition {
			t.Errorf("%s: %d products and %d sums are left, want %d and %d\n%v", c.name, muls, adds, c.muls, c.addition, r.Graph)
		}
		sameNumbers(t, c.name, n.Graph, y, r)
	}
}

// sameNumbers fails unless a node and what it has become have the same values, to rounding.
func sameNumbers(t *testing.T, name string, g *graph.Graph, y *graph.Node, r *rewrite.Result) {
	t.Helper()
	was, now := graph.Values{}, graph.Values{}
	for k, leaf := range g.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
		v := graph.NewValue(leaf.Type())
		for i := range v.Data {
			v.Data[i] = 0.5 + math.Abs(math.Sin(float64(3*i+7*k)))
		}
		was[leaf] = v
		if there := r.Graph.Lookup(leaf.Path()); there != nil {
			now[there] = v
		}
	}
	want, err := ref.Eval(trait.Env{}, was, y)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ref.Eval(trait.Env{}, now, r.Node(y))
	if err != nil {
		t.Fatal(err)
	}
	largest := 0.0
	for _, x := range want[0].Data {
		largest = max(largest, math.Abs(x))
	}
	for i, x := range want[0].Data {
		if d := math.Abs(x - got[0].Data[i]); !(d <= 1e-13*largest) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, got[0].Data[i], x)
		}
	}
}

// TestChannelsStay: where others read what would be folded, where gradients are wanted, and where the
// numbers are fed or are those of the batch, the graph stays as it is.
func TestChannelsStay(t *testing.T) {
	for name, of := range map[string]func(n normed) []*graph.Node{
		"a second reader": func(n normed) []*graph.Node { return []*graph.Node{n.written(), ops.Sum(n.y)} },
		"a result":        func(n normed) []*graph.Node { return []*graph.Node{n.written(), n.y} },
		"two norms": func(n normed) []*graph.Node {
			return []*graph.Node{n.written(), ops.Mul(n.y, ops.BroadcastTo(n.gain, n.y.Shape()))}
		},
		"a gradient": func(n normed) []*graph.Node { return grad.Of(ops.Sum(n.written()), n.gain) },
		"a gain that is fed": func(n normed) []*graph.Node {
			gain := n.Input("fed", graph.F64, graph.Ax("o", 6))
			return []*graph.Node{ops.Mul(n.y, ops.BroadcastTo(gain, n.y.Shape()))}
		},
		"weights that are fed": func(n normed) []*graph.Node {
			w := n.Input("fed", graph.F64, n.w.Shape().Axes()...)
			return []*graph.Node{ops.Mul(ops.Conv2D(n.x, w), ops.BroadcastTo(n.gain, ops.Conv2D(n.x, w).Shape()))}
		},
		"a norm of the batch": func(n normed) []*graph.Node { return []*graph.Node{ops.Standardise(n.y, 1e-3, 0, 1, 2)} },
		"numbers of places": func(n normed) []*graph.Node {
			at := n.Param("at", graph.F64, graph.Ax("w", 9), graph.Ax("o", 6))
			return []*graph.Node{ops.Mul(n.y, ops.BroadcastTo(at, n.y.Shape()))}
		},
	} {
		n := newNormed(9)
		wanted := of(n)
		r, err := rewrite.Run(n.Graph, wanted, rewrite.Passes()...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, e := range r.Log {
			if e.Rule == "fold channels" {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
}

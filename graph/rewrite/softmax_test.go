package rewrite_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// large is where exp overflows in float32 and float64 alike.
var large = []float64{1000, 999, 0}

// weights of a loss Σ w·y that tells the elements apart.
var weights = []float64{0.3, -1, 2}

// alongAxis lays a vector out along one axis of a shape, the same everywhere else.
func alongAxis(s graph.Shape, axis int, v []float64) []float64 {
	inner := 1
	for a := axis + 1; a < s.Rank(); a++ {
		inner *= s.Dim(a)
	}
	out := make([]float64, s.Len())
	for p := range out {
		out[p] = v[p/inner%s.Dim(axis)]
	}
	return out
}

// closed gives log-sum-exp, softmax and log softmax of large in float64.
func closed() (lse float64, soft, logSoft []float64) {
	total := 0.0
	for _, v := range large {
		total += math.Exp(v - 1000)
	}
	lse = 1000 + math.Log(total)
	for _, v := range large {
		soft = append(soft, math.Exp(v-lse))
		logSoft = append(logSoft, v-lse)
	}
	return
}

// laidSums are ways to lay the sums of e along an axis out beside e.
var laidSums = map[string]func(e *graph.Node, axis int) *graph.Node{
	"kept":     func(e *graph.Node, axis int) *graph.Node { return ops.Sum(e, axis, ops.Keep) },
	"expanded": func(e *graph.Node, axis int) *graph.Node { return ops.Expand(ops.Sum(e, axis), axis, "") },
	"repeated": func(e *graph.Node, axis int) *graph.Node {
		return ops.BroadcastTo(ops.Sum(e, axis, ops.Keep), e.Shape())
	},
	"over": func(e *graph.Node, axis int) *graph.Node {
		var names []string
		for _, a := range e.Shape().Axes() {
			if a.Name == "" {
				return ops.Sum(e, axis, ops.Keep)
			}
			names = append(names, a.Name)
		}
		return ops.Over(ops.Sum(e, axis), names...)
	},
}

// TestNaiveSoftmax: exp over sum of exp is right where it overflows as written,
// with its gradient, along any axis.
func TestNaiveSoftmax(t *testing.T) {
	_, soft, logSoft := closed()
	for _, axes := range [][]graph.Axis{
		{graph.Ax("j", 3)},
		{graph.Ax("j", 3), graph.Ax("i", 2)},
		{graph.Ax("i", 2), graph.Ax("j", 3)},
		{graph.Ax("i", 3), graph.Ax("j", 3)},
		{graph.Ax("b", 2), graph.Ax("j", 3), graph.Ax("d", 2)},
		{graph.Ax("b", 2), graph.Ax("d", 1), graph.Ax("j", 3)},
		graph.Dims(3, 3),
		graph.Dims(2, 3, 1),
	} {
		for name, laid := range laidSums {
			for _, logarithm := range []bool{false, true} {
				g := graph.New(name)
				x := g.Input("x", graph.F32, axes...)
				axis := max(0, x.Shape().Index("j"))
				if axes[0].Name == "" {
					axis = 1
				}
				e := ops.Exp(x)
				y := ops.Div(e, laid(e, axis))
				want, rule := soft, "stabilise: naive softmax: "
				if logarithm {
					y, want, rule = ops.Log(y), logSoft, "stabilise: log of softmax: "
				}
				w := g.Constant(graph.F32, alongAxis(x.Shape(), axis, weights), axes...)
				dx := grad.Of(ops.Sum(ops.Mul(w, y)), x)[0]

				// Σ w·softmax: s_k (w_k − Σ w s). Σ w·log softmax: w_k − s_k Σ w.
				mean, total := 0.0, 0.0
				for k, s := range soft {
					mean += weights[k] * s
					total += weights[k]
				}
				var slope []float64
				for k, s := range soft {
					if logarithm {
						slope = append(slope, weights[k]-s*total)
					} else {
						slope = append(slope, s*(weights[k]-mean))
					}
				}
				p := check(t, name, g, x, axis, y, want, dx, slope)
				if !logged(p, rule) {
					t.Errorf("%s over %v: the log lacks %q: %v", name, x, rule, p.Log())
				}
			}
		}
	}
}

func TestNaiveLogSumExp(t *testing.T) {
	lse, soft, _ := closed()
	for _, axes := range [][]graph.Axis{{graph.Ax("j", 3)}, {graph.Ax("j", 3), graph.Ax("i", 2)}, {graph.Ax("b", 2), graph.Ax("j", 3), graph.Ax("d", 2)}} {
		for name, args := range map[string][]any{"removed": {"j"}, "kept": {"j", ops.Keep}} {
			g := graph.New(name)
			x := g.Input("x", graph.F32, axes...)
			y := ops.Log(ops.Sum(ops.Exp(x), args...))
			dx := grad.Of(ops.Sum(y), x)[0]
			axis := x.Shape().Index("j")
			kept := ops.ReshapeTo(y, ops.Sum(x, axis, ops.Keep).Shape())
			p := check(t, name, g, x, axis, ops.BroadcastTo(kept, x.Shape()), []float64{lse, lse, lse}, dx, soft)
			if !logged(p, "stabilise: naive log-sum-exp: ") {
				t.Errorf("%s: the log lacks the rule: %v", name, p.Log())
			}
		}
	}
}

// TestLogOfOnePlus: 1 + 1e-10 is 1 in float32.
func TestLogOfOnePlus(t *testing.T) {
	g := graph.New("log1p")
	x := g.Input("x", graph.F32)
	y := ops.Log(ops.Shift(x, 1))
	p, err := tape.Compile(g, tape.Fetch(y))
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, p, tape.NewStore(g))
	if err := vm.Run(context.Background(), tape.Feed{x: tape.Scalar(graph.F32, 1e-10)}); err != nil {
		t.Fatal(err)
	}
	if got := tapetest.Float(t, vm, y); math.Abs(got-1e-10) > 1e-16 {
		t.Errorf("log(1 + 1e-10) is %v", got)
	}
}

// TestLogOfExponentialsAndConstant: the logarithm of exponentials and a positive constant, with its
// derivative, where exp overflows, where it underflows, and between.
func TestLogOfExponentialsAndConstant(t *testing.T) {
	inf := math.Inf(1)
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		for _, c := range []float64{1, 2, 1e-8, 1e8} {
			for _, row := range [][]float64{{1000, 999, 0}, {-1000, -1, 0.5}, {-1e-3, -1e-3, -1e-3}, {-inf, 3, -inf}, {-inf, -inf, -inf}, {-1000, -1000, -1000}} {
				for _, summed := range []bool{false, true} {
					g := graph.New("log of a sum")
					x := g.Input("x", dt, graph.Ax("j", 3))
					e := ops.Exp(x)
					if summed {
						e = ops.Sum(e)
					}
					y := ops.Log(ops.Shift(e, c))
					dx := grad.Of(ops.Sum(y), x)[0]
					got, err := reftest.Tape(0, graph.Values{x: {Type: x.Type(), Data: row}}, []*graph.Node{y, dx})
					if err != nil {
						t.Fatal(err)
					}
					// logs[k] is log(c + the exponentials that meet element k), the greatest taken
					// out.
					var logs, slopes []float64
					for k := range row {
						with := append([]float64{math.Log(dt.Round(c))}, row...)
						if !summed {
							with = []float64{with[0], row[k]}
						}
						total := 0.0
						for _, v := range with {
							total += math.Exp(v - slices.Max(with))
						}
						logs = append(logs, slices.Max(with)+math.Log(total))
						slopes = append(slopes, math.Exp(row[k]-slices.Max(with))/total)
					}
					tol := map[graph.DType]float64{graph.F32: 4e-7, graph.F64: 1e-15}[dt]
					for i, want := range [][]float64{logs, slopes} {
						for k, v := range got[i].Data {
							if !(math.Abs(v-want[k]) <= tol*max(1, math.Abs(want[k]))) {
								t.Errorf("log(%v + exp %v), summed %v, %v: element %d of derivative %d is %v: want %v", c, row, summed, dt, k, i, v, want[k])
							}
						}
					}
				}
			}
		}
	}
}

func logged(p *tape.Program, prefix string) bool {
	for _, e := range p.Log() {
		if strings.HasPrefix(e.String(), prefix) {
			return true
		}
	}
	return false
}

// check feeds large along an axis and compares y and dx, both of x's shape,
// with what is wanted along that axis.
func check(t *testing.T, name string, g *graph.Graph, x *graph.Node, axis int, y *graph.Node, want []float64, dx *graph.Node, slope []float64) *tape.Program {
	t.Helper()
	p, err := tape.Compile(g, tape.Fetch(y, dx))
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, p, tape.NewStore(g))
	fed := tape.Tensor(graph.Value{Type: x.Type(), Data: alongAxis(x.Shape(), axis, large)})
	if err := vm.Run(context.Background(), tape.Feed{x: fed}); err != nil {
		t.Fatal(err)
	}
	for n, v := range map[*graph.Node][]float64{y: want, dx: slope} {
		got, err := vm.Value(n)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range alongAxis(x.Shape(), axis, v) {
			if g := float64(got.Float32s()[i]); !(math.Abs(g-w) <= 1e-5*max(1, math.Abs(w))) {
				t.Errorf("%s over %v: element %d of %v is %v: want %v", name, x, i, n, g, w)
			}
		}
	}
	return p
}

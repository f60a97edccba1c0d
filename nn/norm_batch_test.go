package nn_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestBatchNormSettings compares with PyTorch 1.13's BatchNorm1d(2, eps=0.5, momentum=0.25).
func TestBatchNormSettings(t *testing.T) {
	g := graph.New("norm")
	x := g.Input("x", graph.F64, graph.Ax("n", 3), graph.Ax("c", 2))
	l := nn.NewBatchNorm(g, "norm", graph.F64, graph.Ax("c", 2))
	l.Epsilon, l.Momentum = 0.5, 0.25
	y, step := l.OfTrain(x)
	values := func(n *graph.Node, v ...float64) graph.Value { return graph.Value{Type: n.Type(), Data: v} }
	feed := graph.Values{x: values(x, 1, 2, 3, 5, -1, 4),
		l.Gain: values(l.Gain, 1, 1), l.Bias: values(l.Bias, 0, 0), l.Mean: values(l.Mean, 0, 0), l.Var: values(l.Var, 1, 1)}
	out := layertest.At(t, 0, feed, y, step[0].Value, step[1].Value)
	layertest.Same(t, "in training", out[0].Data, []float64{0, -1.1624763874381927, 1.1239029738980328, 0.9299811099505545, -1.1239029738980328, 0.23249527748763876})
	layertest.Same(t, "running mean", out[1].Data, []float64{0.25, 11.0 / 12})
	layertest.Same(t, "running variance", out[2].Data, []float64{1.75, 4.0 / 3})
	feed[l.Mean], feed[l.Var] = values(l.Mean, 0.25, 11.0/12), values(l.Var, 1.75, 4.0/3)
	layertest.Same(t, "in evaluation", layertest.At(t, 0, feed, l.Of(x))[0].Data, []float64{0.5, 0.8000946913656627, 1.8333333333333333, 3.0157415289936518, -0.8333333333333333, 2.2771925831176554})
}

// TestBatchNormStatisticsOnce: a step of training takes two means and two sums over the rows of a
// batch norm, mean and variance on the way there and the derivatives by bias and gain on the way
// back, of which everything else is made. Of a type for storage, to which each step would be
// rounded, the norm stays whole.
func TestBatchNormStatisticsOnce(t *testing.T) {
	for dt, want := range map[graph.DType]map[string]int{
		graph.F32:  {"Mean": 2, "Sum": 2, "Standardise": 0, "Rstd": 0},
		graph.F64:  {"Mean": 2, "Sum": 2, "Standardise": 0, "Rstd": 0},
		graph.BF16: {"Mean": 4, "Sum": 2, "Standardise": 1, "Rstd": 1},
	} {
		g := graph.New("norm")
		x := g.Param("x", dt, graph.Ax("n", 4), graph.Ax("h", 6), graph.Ax("w", 6), graph.Ax("c", 16))
		l := nn.NewBatchNorm(g, "norm", dt, graph.Ax("c", 16))
		y, step := l.OfTrain(x)
		loss := ops.Sum(ops.Cast(ops.Mul(y, g.Input("r", dt, x.Shape().Axes()...)), graph.F64))
		d := grad.Of(loss, x, l.Gain, l.Bias)
		p, err := tape.Compile(g, tape.Do(step), tape.Fetch(loss, d[0], d[1], d[2]))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, r := range p.Rows() {
			if loss := r.Node.Rank() == 0; !loss {
				got[r.Op]++
			}
		}
		for op, n := range want {
			if got[op] != n {
				t.Errorf("%v: %d of %s, want %d:\n%v", dt, got[op], op, n, p)
			}
		}
	}
}

// TestBatchNormSettingsMistakes: values out of range are recorded, in training and in evaluation.
func TestBatchNormSettingsMistakes(t *testing.T) {
	for want, l := range map[string]nn.BatchNorm{
		"BatchNorm: ε = -1: want a finite number above 0":                    {Epsilon: -1},
		"BatchNorm: a momentum of 1.5: want a number above 0, and at most 1": {Momentum: 1.5},
	} {
		for _, training := range []bool{false, true} {
			g := graph.New("mistake")
			x := g.Input("x", graph.F64, graph.Ax("n", 3), graph.Ax("c", 2))
			l.Mean, l.Var = g.State("mean", graph.F64, graph.Ax("c", 2)), g.State("var", graph.F64, graph.Ax("c", 2))
			if training {
				l.OfTrain(x)
			} else {
				l.Of(x)
			}
			if err := g.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
	}
}

// TestL1Norm: the sum of absolute values, whose derivative is the sign, 0 at 0.
func TestL1Norm(t *testing.T) {
	g := graph.New("norm")
	a, b := g.Param("a", graph.F64, graph.Ax("i", 3)), g.Param("b", graph.F64)
	y := nn.L1Norm(a, b)
	d := grad.Of(ops.Scale(y, 2), a, b)
	feed := graph.Values{a: {Type: a.Type(), Data: []float64{-1.5, 0, 2}}, b: {Type: b.Type(), Data: []float64{-3}}}
	out := layertest.At(t, 0, feed, y, d[0], d[1])
	layertest.Same(t, "norm", out[0].Data, []float64{6.5})
	layertest.Same(t, "derivative", append(out[1].Data, out[2].Data...), []float64{-2, 0, 2, -2})
}

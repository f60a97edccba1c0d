package nn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestDropout: an element is 0, or itself over 1 − p; the derivative has the same
// mask; as many are dropped as p says; and rates of 0 and 1 are what they should be.
func TestDropout(t *testing.T) {
	g := graph.New("dropout")
	x, p := g.Input("x", graph.F64, graph.Ax("n", 40), graph.Ax("d", 50)), g.Scalar("p", 0.3, graph.F64)
	y := nn.Dropout(x, p)
	dx := grad.Of(ops.Sum(ops.Mul(y, ops.Shift(ops.Scale(x, 0), 1))), x)[0]
	feed := graph.Values{x: layertest.Random(rand.New(rand.NewPCG(1, 1)), x.Type(), 1)}
	dropped := 0
	var before []float64
	for step := range uint64(3) {
		out := layertest.At(t, step, feed, y, dx)
		changed := 0
		for i, v := range feed[x].Data {
			got, slope := out[0].Data[i], out[1].Data[i]
			switch {
			case got == 0 && slope == 0:
				dropped++
			case math.Abs(got-v/0.7) > 1e-14 || math.Abs(slope-1/0.7) > 1e-14:
				t.Fatalf("%v became %v with derivative %v", v, got, slope)
			}
			if before != nil && (before[i] == 0) != (got == 0) {
				changed++
			}
		}
		if before != nil && changed < 500 {
			t.Errorf("step %d dropped the same but for %d of 2000", step, changed)
		}
		before = out[0].Data
	}
	if rate := float64(dropped) / 6000; math.Abs(rate-0.3) > 4*math.Sqrt(0.21/6000) {
		t.Errorf("%v of all dropped, want 0.3", rate)
	}
	feed[p] = layertest.Scalar(0)
	layertest.Same(t, "rate 0", layertest.At(t, 1, feed, y)[0].Data, feed[x].Data)
	feed[p] = layertest.Scalar(1)
	out := layertest.At(t, 1, feed, y, dx)
	layertest.Same(t, "rate 1", append(out[0].Data, out[1].Data...), make([]float64, 4000))
}

// TestDropConnect: the weights are dropped out and the bias stays.
func TestDropConnect(t *testing.T) {
	g := graph.New("drop-connect")
	x, p := g.Input("x", graph.F64, graph.Ax("n", 3), graph.Ax("d", 20)), g.Scalar("p", 0.5, graph.F64)
	l := nn.NewLinear(g, "fc", graph.F64, graph.Ax("d", 20), graph.Ax("e", 30))
	c := nn.DropConnect(l, p)
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	out := layertest.At(t, 0, feed, c.W, c.Of(x))
	zeros := 0
	for i, w := range out[0].Data {
		if w == 0 {
			zeros++
		} else if math.Abs(w-2*feed[l.W].Data[i]) > 1e-14 {
			t.Fatalf("weight %v became %v", feed[l.W].Data[i], w)
		}
	}
	if zeros < 240 || zeros > 360 || c.B != l.B {
		t.Errorf("%d of 600 weights dropped, bias %v", zeros, c.B)
	}
	want := make([]float64, 90)
	for i := range want {
		want[i] = feed[l.B].Data[i%30]
		for d := range 20 {
			want[i] += feed[x].Data[i/30*20+d] * out[0].Data[d*30+i%30]
		}
	}
	layertest.Same(t, "drop-connect", out[1].Data, want)
}

// TestMultiplicativeNoise: the factors have mean 1 and the spread that was asked for.
func TestMultiplicativeNoise(t *testing.T) {
	const n, σ = 20000, 0.5
	for name, c := range map[string]struct {
		noise    func(x, σ *graph.Node) *graph.Node
		variance float64
		within   float64
	}{
		"gaussian": {nn.GaussianNoise, σ * σ, math.Inf(1)},
		"uniform":  {nn.UniformNoise, σ * σ / 3, σ},
	} {
		g := graph.New(name)
		x, s := g.Input("x", graph.F64, graph.Ax("n", n)), g.Scalar("σ", σ, graph.F64)
		feed := graph.Values{x: graph.NewValue(x.Type())}
		for i := range feed[x].Data {
			feed[x].Data[i] = 2
		}
		y := c.noise(x, s)
		mean, variance := 0.0, 0.0
		for _, v := range layertest.At(t, 0, feed, y)[0].Data {
			mean += v / 2 / n
			variance += (v/2 - 1) * (v/2 - 1) / n
			if math.Abs(v/2-1) > c.within {
				t.Fatalf("%s: a factor of %v", name, v/2)
			}
		}
		if math.Abs(mean-1) > 4*σ/math.Sqrt(n) || math.Abs(variance/c.variance-1) > 0.06 {
			t.Errorf("%s: mean %v, variance %v, want 1 and %v", name, mean, variance, c.variance)
		}
		feed[s] = layertest.Scalar(0)
		layertest.Same(t, name+" without strength", layertest.At(t, 0, feed, y)[0].Data, feed[x].Data)
	}
}

// TestStochasticDepth: a whole example's branch is there or not, less often the
// deeper it stands.
func TestStochasticDepth(t *testing.T) {
	g := graph.New("depth")
	f, p := g.Input("f", graph.F64, graph.Ax("n", 5000), graph.Ax("h", 2), graph.Ax("w", 2)), g.Scalar("p", 0.6, graph.F64)
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	for i, rate := range []float64{0.2, 0.4, 0.6} {
		dropped := 0
		out := layertest.At(t, 0, feed, nn.StochasticDepth(f, nn.DropAt(i, 3, p)))[0].Data
		for n := range 5000 {
			kept := out[4*n] != 0
			for k := 4 * n; k < 4*n+4; k++ {
				want := 0.0
				if kept {
					want = feed[f].Data[k] / (1 - rate)
				}
				if math.Abs(out[k]-want) > 1e-12 {
					t.Fatalf("branch %d, example %d: %v became %v", i, n, feed[f].Data[k], out[k])
				}
			}
			if !kept {
				dropped++
			}
		}
		if got := float64(dropped) / 5000; math.Abs(got-rate) > 0.03 {
			t.Errorf("branch %d is dropped in %v of all examples, want %v", i, got, rate)
		}
	}
}

// TestSquaredNorm: the sum of squares, whose derivative is twice the weights.
func TestSquaredNorm(t *testing.T) {
	g := graph.New("norm")
	a, b := g.Param("a", graph.F64, graph.Ax("i", 3)), g.Param("b", graph.F64, graph.Ax("i", 2), graph.Ax("j", 2))
	feed := layertest.Filled(g, rand.New(rand.NewPCG(1, 1)))
	y := nn.SquaredNorm(a, b)
	d := grad.Of(y, a, b)
	sum := 0.0
	var twice []float64
	for _, v := range append(append([]float64{}, feed[a].Data...), feed[b].Data...) {
		sum += v * v
		twice = append(twice, 2*v)
	}
	out := layertest.At(t, 0, feed, y, d[0], d[1])
	layertest.Same(t, "squared norm", out[0].Data, []float64{sum})
	layertest.Same(t, "derivative", append(out[1].Data, out[2].Data...), twice)
}

// TestEnsemble: members have parameters of their own; the error of the average is
// the average error less the ambiguity, which the loss of the model is.
func TestEnsemble(t *testing.T) {
	m := layertest.Build(t, "ensemble", builders.Settings{"members": 4})
	together := layertest.Build(t, "ensemble", builders.Settings{"members": 4, "train": 1})
	if n := len(m.Params()); n != 16 {
		t.Errorf("%d parameters of 4 members, want 16", n)
	}
	feed := layertest.Filled(m.Graph, rand.New(rand.NewPCG(1, 1)))
	y := m.Graph.Lookup("y")
	nodes := []*graph.Node{m.Output, m.Loss, m.Graph.Lookup("ambiguity")}
	for i := range 4 {
		nodes = append(nodes, m.Graph.Lookup(fmt.Sprintf("f%c", '₁'+i)))
	}
	out := layertest.At(t, 0, feed, nodes...)
	n := float64(len(feed[y].Data))
	var average, members, spread float64
	for i, want := range feed[y].Data {
		mean := 0.0
		for _, f := range out[3:] {
			mean += f.Data[i] / 4
			members += (f.Data[i] - want) * (f.Data[i] - want) / 4 / n
		}
		if math.Abs(mean-out[0].Data[i]) > 1e-12 {
			t.Errorf("prediction %v, the members' mean is %v", out[0].Data[i], mean)
		}
		for _, f := range out[3:] {
			spread += (f.Data[i] - mean) * (f.Data[i] - mean) / 4 / n
		}
		average += (mean - want) * (mean - want) / n
	}
	layertest.Same(t, "members' error and ambiguity", []float64{out[1].Data[0], out[2].Data[0]}, []float64{members, spread})
	if !(spread > 0 && average < members) {
		t.Errorf("the ensemble's error is %v, its members' %v", average, members)
	}
	other := graph.Values{}
	for in, v := range feed {
		other[together.Graph.Lookup(in.Path())] = v
	}
	layertest.Same(t, "error of the average", layertest.At(t, 0, other, together.Loss)[0].Data, []float64{members - spread})
}

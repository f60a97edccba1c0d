package attention_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/train"
)

// TestAttendKernelIsTheSum over the keys that a mask lets through.
func TestAttendKernelIsTheSum(t *testing.T) {
	const n, m, d, f, γ = 3, 4, 2, 2, 0.7
	g := graph.New("kernel")
	q, k := g.Input("q", graph.F64, graph.Ax("t", n), graph.Ax("d", d)), g.Input("k", graph.F64, graph.Ax("u", m), graph.Ax("d", d))
	v, mask := g.Input("v", graph.F64, graph.Ax("u", m), graph.Ax("f", f)), g.Input("mask", graph.Bool, graph.Ax("t", n), graph.Ax("u", m))
	y, α := attention.AttendKernel(q, k, v, g.Constant(graph.F64, []float64{γ}), mask)
	seen := []float64{1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1}
	out := layertest.BothWays(t, graph.Values{mask: layertest.ValueOf(mask, seen...)}, q, k, v, y, α)
	Q, K, V := out[0].Data, out[1].Data, out[2].Data
	for i := range n {
		var w [m]float64
		total := 0.0
		for j := range m {
			D := 0.0
			for c := range d {
				D += (Q[i*d+c] - K[j*d+c]) * (Q[i*d+c] - K[j*d+c])
			}
			w[j] = seen[i*m+j] * math.Exp(-γ*D)
			total += w[j]
		}
		for c := range f {
			want := 0.0
			for j := range m {
				want += w[j] / total * V[j*f+c]
			}
			if got := out[3].Data[i*f+c]; math.Abs(got-want) > 1e-12 {
				t.Errorf("y[%d %d] = %v, want %v", i, c, got, want)
			}
		}
		for j := range m {
			if got := out[4].Data[i*m+j]; math.Abs(got-w[j]/total) > 1e-12 {
				t.Errorf("α[%d %d] = %v, want %v", i, j, got, w[j]/total)
			}
		}
	}
}

// TestGoofyIsAttention: points that ask a table of the centres, as keys and as values, get
// the expected centre of the goofy alternative.
func TestGoofyIsAttention(t *testing.T) {
	m := layertest.Build(t, "kmeans-goofy", builders.Settings{"n": 6, "gamma": 0.8})
	r, γ := m.Centres(), m.Gamma()
	y, α := attention.AttendKernel(m.Points(), r, r, γ, nil)
	feed := graph.Values{γ: {Type: γ.Type(), Data: []float64{0.8}}}
	out := layertest.BothWays(t, feed, y, m.Graph.Lookup("r̂"), α, m.Graph.Lookup("α"))
	layertest.Same(t, "r̂", out[0].Data, out[1].Data)
	layertest.Same(t, "α", out[2].Data, out[3].Data)
}

// TestKernelAttentionLearns how near a key must be: the values change their sign where
// the first feature does, so γ grows.
func TestKernelAttentionLearns(t *testing.T) {
	m, err := builders.Build("attention-kernel", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	losses := layertest.NewTrainer(t, m, train.Adam(0.01), 1).Learn(200)
	if first, last := layertest.Average(losses[:20]), layertest.Average(losses[len(losses)-20:]); !(last < 0.75*first) {
		t.Errorf("the loss goes from %v to %v", first, last)
	}
	if v := m.Examples(rand.New(rand.NewPCG(1, 1)))[m.Graph.Lookup("v")]; len(v.Data) == 0 || v.Data[0] != 1 && v.Data[0] != -1 {
		t.Errorf("values %v", v.Data)
	}
}

func TestAttendKernelMistakes(t *testing.T) {
	g := graph.New("nil")
	x := g.Input("x", graph.F32, graph.Ax("t", 3), graph.Ax("d", 2))
	if attention.AttendKernel(x, nil, x, nil, nil); g.Err() == nil {
		t.Error("no mistake")
	}
	if attention.AttendKernel(nil, nil, nil, nil, nil); g.Err() == nil {
		t.Error("no mistake")
	}
}

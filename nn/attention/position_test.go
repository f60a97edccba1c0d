package attention_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestHandsAdvance: a rotation that does not know the time brings the clock from any
// time to k steps later, as a matrix and feature by feature.
func TestHandsAdvance(t *testing.T) {
	for _, k := range []float64{0, 1, 3, -2, 0.5, 700} {
		g := graph.New("clock")
		times := g.Input("t", graph.F64, graph.Ax("i", 5))
		m := graph.Ax("m", 8)
		now, then := attention.SinusoidalAt(times, m), attention.SinusoidalAt(ops.Shift(times, k), m)
		turned := ops.MatMul(now, attention.Rotation(g, graph.F64, m, graph.Ax("m′", 8), k))
		advanced := attention.Rotary(now, ops.Lit(times, k))
		r := attention.Rotation(g, graph.F64, graph.Axis{Size: 8}, graph.Axis{Size: 8}, k)
		back := ops.MatMul(r, ops.Transpose(r)) // a rotation times its transpose is 1
		out := layertest.BothWays(t, graph.Values{times: {Type: times.Type(), Data: []float64{0, 1, 17, 250, -3}}}, then, turned, advanced, back)
		layertest.Same(t, "R(k)", out[1].Data, out[0].Data)
		layertest.Same(t, "advance", out[2].Data, out[0].Data)
		for p, v := range out[3].Data {
			want := 0.0
			if p/8 == p%8 {
				want = 1
			}
			if math.Abs(v-want) > 1e-12 {
				t.Errorf("R·Rᵀ at %d %d is %v", p/8, p%8, v)
			}
		}
	}
}

// TestRotationModel: what the model shows is the clock k steps later.
func TestRotationModel(t *testing.T) {
	m := layertest.Build(t, "position-rotation", builders.Settings{"i": 4, "k": 3})
	times := m.Graph.Lookup("t")
	later := attention.SinusoidalAt(ops.Shift(times, 3), graph.Ax("m′", 6))
	out := layertest.BothWays(t, graph.Values{times: {Type: times.Type(), Data: []float64{0, 5, 8, 13}}}, m.Output, later)
	layertest.Same(t, "the output", out[0].Data, out[1].Data)
}

// TestRotaryIsRelative: products of turned queries and keys depend on the distance of
// their places alone, and they do depend on it.
func TestRotaryIsRelative(t *testing.T) {
	g := graph.New("rotary")
	q, k := g.Input("q", graph.F64, graph.Ax("d", 6)), g.Input("k", graph.F64, graph.Ax("d", 6))
	scores := func(from float64) *graph.Node {
		place := func(axis string) *graph.Node {
			return g.Constant(graph.F64, []float64{from, from + 1, from + 2, from + 3}, graph.Ax(axis, 4))
		}
		return attention.Scores(attention.Rotary(q, place("t")), attention.Rotary(k, place("u")))
	}
	out := layertest.BothWays(t, nil, scores(0), scores(40))
	layertest.Same(t, "40 places on", out[1].Data, out[0].Data)
	e := out[0].Data
	for p := range 12 { // along a diagonal
		if p%4 < 3 && math.Abs(e[p]-e[p+5]) > 1e-12 {
			t.Errorf("scores of equal distance: %v and %v", e[p], e[p+5])
		}
	}
	if math.Abs(e[0]-e[1]) < 1e-3 {
		t.Errorf("scores of different distance: %v and %v", e[0], e[1])
	}
}

// TestRotaryHeads: attention whose heads rotate knows the order of places, and what it finds at a
// place depends on the distances to those that it sees, not on how many come before.
func TestRotaryHeads(t *testing.T) {
	const b, n, m = 2, 5, 8
	for _, c := range []struct {
		name           string
		rotary, scaled bool
	}{{"plain", false, false}, {"rotary", true, false}, {"rotary with scaled queries", true, true}} {
		x, a := multiHeadOf(2)
		if a.Rotary = c.rotary; c.scaled {
			a = a.WithQueryNorm()
		}
		g := x.Graph()
		swapped := ops.Concat(1, ops.Slice(x, 1, 1, 2), ops.Slice(x, 1, 0, 1), ops.Slice(x, 1, 2, n))
		unseen := make([]float64, n) // the first place
		for i := 1; i < n; i++ {
			unseen[i] = 1
		}
		mask := ops.Greater(g.Constant(graph.F64, unseen, graph.Axis{Size: 1}, graph.Ax("t′", n)), ops.Lit(x, 0.5))
		mask = ops.BroadcastTo(mask, mustShape(t, graph.Ax("t", n), graph.Ax("t′", n)))
		feed := graph.Values{}
		if a.Norm != nil { // a gain for each feature would not turn with the hands
			feed[a.Norm.Gain] = layertest.ValueOf(a.Norm.Gain, 1, 2, -0.5, 3)
		}
		out := layertest.BothWays(t, feed, a.Of(x, x, nil), a.Of(swapped, swapped, nil), a.Of(x, x, mask), a.Of(ops.Slice(x, 1, 1, n), ops.Slice(x, 1, 1, n), nil))
		order, distance := 0.0, 0.0
		for i := range b {
			for k := range m {
				order = max(order, math.Abs(out[0].Data[(i*n+n-1)*m+k]-out[1].Data[(i*n+n-1)*m+k]))
				distance = max(distance, math.Abs(out[2].Data[(i*n+n-1)*m+k]-out[3].Data[(i*(n-1)+n-2)*m+k]))
			}
		}
		if knows := order > 1e-3; knows != c.rotary || !c.rotary && order > 1e-12 {
			t.Errorf("%s: two places swapped move what the last one finds by %v", c.name, order)
		}
		if distance > 1e-12 {
			t.Errorf("%s: a place that nobody sees, before the others, moves what the last one finds by %v", c.name, distance)
		}
	}
}

func mustShape(t *testing.T, axes ...graph.Axis) graph.Shape {
	t.Helper()
	s, err := graph.NewShape(axes...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOddFeatures: a clock with an odd number of features shows the sine alone of its
// last hand.
func TestOddFeatures(t *testing.T) {
	g := graph.New("odd")
	out := layertest.BothWays(t, nil, attention.Sinusoidal(g, graph.F64, graph.Ax("t", 4), graph.Ax("m", 5)))[0]
	for p, v := range out.Data {
		place, i := float64(p/5), float64(p%5/2)
		want := math.Sin(place * math.Pow(10000, -2*i/5))
		if p%5%2 == 1 {
			want = math.Cos(place * math.Pow(10000, -2*i/5))
		}
		if math.Abs(v-want) > 1e-12 {
			t.Errorf("PE[%d %d] = %v, want %v", p/5, p%5, v, want)
		}
	}
}

// TestConcatPositions: the features come first, then the places, the same in each sequence.
func TestConcatPositions(t *testing.T) {
	g := graph.New("concat")
	x := g.Input("x", graph.F64, graph.Ax("b", 2), graph.Ax("t", 3), graph.Ax("m", 2))
	p := g.Input("p", graph.F64, graph.Ax("t", 3), graph.Ax("n", 4))
	out := layertest.BothWays(t, nil, x, p, attention.ConcatPositions(x, p, "xp"))
	for q, v := range out[2].Data {
		row, k := q/6, q%6
		want := 0.0
		if k < 2 {
			want = out[0].Data[row*2+k]
		} else {
			want = out[1].Data[row%3*4+k-2]
		}
		if v != want {
			t.Errorf("[x; p] at %d %d is %v, want %v", row, k, v, want)
		}
	}
}

func TestPositionMistakes(t *testing.T) {
	m := graph.Ax("m", 5)
	layertest.Mistaken(t, layertest.ArrayOf(graph.F32, graph.Ax("t", 3), m), map[string]func(g *graph.Graph, x *graph.Node){
		"odd rotation": func(g *graph.Graph, _ *graph.Node) { attention.Rotation(g, graph.F32, m, graph.Ax("n", 5), 1) },
		"uneven rotation": func(g *graph.Graph, _ *graph.Node) {
			attention.Rotation(g, graph.F32, graph.Ax("m", 4), graph.Ax("n", 6), 1)
		},
		"odd features": func(_ *graph.Graph, x *graph.Node) { attention.Rotary(x, ops.Sum(x, 0)) },
		"a scalar":     func(_ *graph.Graph, x *graph.Node) { attention.Rotary(ops.Sum(x), ops.Sum(x)) },
		"no time":      func(_ *graph.Graph, x *graph.Node) { attention.Rotary(ops.Slice(x, -1, 0, 4), nil) },
		"nothing":      func(_ *graph.Graph, x *graph.Node) { ops.Add(x, attention.SinusoidalAt(nil, m)) },
		"added":        func(_ *graph.Graph, x *graph.Node) { attention.AddPositions(x, nil) },
		"concatenated": func(_ *graph.Graph, x *graph.Node) { attention.ConcatPositions(x, nil, "xp") },
		"other places": func(_ *graph.Graph, x *graph.Node) { attention.ConcatPositions(x, ops.Slice(x, 0, 0, 2), "xp") },
	})
	for name, s := range map[string]builders.Settings{
		"position-rotation": {"m": 3}, "position-rotary": {"m": 3},
		"transformer-gpt": {"positions": 3, "m": 6}, "transformer-bert": {"positions": 2, "m": 1, "heads": 1},
	} {
		if _, err := builders.Build(name, s, graph.F32); err == nil {
			t.Errorf("%s with %v: no mistake", name, s)
		}
	}
}

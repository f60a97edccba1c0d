package builders_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// TestLoopsAreUnrolledModels: as a loop and written out, a model has the same values
// and derivatives; the loop does not grow with the number of steps.
func TestLoopsAreUnrolledModels(t *testing.T) {
	for _, c := range everyModel() {
		loops := slices.ContainsFunc(c.builder.Sizes, func(z builders.Size) bool { return z.Name == "run" })
		if _, ok := c.s["run"]; ok || !loops {
			continue
		}
		results := [2][]graph.Value{}
		for run := range 2 {
			s := builders.Settings{"run": float64(run)}
			for k, v := range c.s {
				s[k] = v
			}
			m := build(t, c.name, s)
			nodes := append([]*graph.Node{m.Loss, m.Output}, grad.Of(m.Loss, m.Params()...)...)
			feed := ref.Feed{}
			rng := rand.New(rand.NewPCG(5, 6))
			for _, p := range m.Params() {
				feed[p] = randomValue(rng, p.Type(), 0.5)
			}
			for in, v := range m.Examples(rand.New(rand.NewPCG(1, 2))) {
				feed[in] = v
			}
			results[run] = bothWays(t, feed, nodes...)
		}
		for i := range results[0] {
			same(t, c.name, results[1][i].Data, results[0][i].Data)
		}
	}
	for _, name := range []string{"rnn-elman", "rnn-lstm", "rnn-gru"} {
		few, many := build(t, name, builders.Settings{"t": 3}), build(t, name, builders.Settings{"t": 1000})
		if a, b := len(few.Graph.Nodes()), len(many.Graph.Nodes()); a != b {
			t.Errorf("%s has %d nodes for 3 steps and %d for 1000", name, a, b)
		}
	}
}

// TestFiltersAreTheirSums: the filters give what loops over the signals give.
func TestFiltersAreTheirSums(t *testing.T) {
	const b, n, k, states = 2, 300, 4, 3
	g := graph.New("filters")
	x := g.Input("x", graph.F64, graph.Ax("b", b), graph.Ax("t", n))
	fir, iir := builders.NewFIR(g, graph.F64, graph.Ax("k", k)), builders.NewIIR(g, graph.F64, graph.Ax("n", states))
	a := graph.Value{Type: iir.A.Type(), Data: []float64{0.9, -0.5, 0.1}}
	out := bothWays(t, ref.Feed{iir.A: a}, x, fir.Taps, iir.B, iir.C, iir.D, fir.Of(x), iir.Of(x))
	X, taps, B, C, d := out[0].Data, out[1].Data, out[2].Data, out[3].Data, out[4].Data[0]
	for i := range b {
		var h [states]float64
		for at := range n {
			now := X[i*n+at]
			average, y := 0.0, d*now
			for j := range min(k, at+1) {
				average += taps[j] * X[i*n+at-j]
			}
			for j := range h {
				h[j] = a.Data[j]*h[j] + B[j]*now
				y += C[j] * h[j]
			}
			if got := out[5].Data[i*n+at]; math.Abs(got-average) > 1e-12 {
				t.Fatalf("FIR: y_%d is %v, want %v", at, got, average)
			}
			if got := out[6].Data[i*n+at]; math.Abs(got-y) > 1e-11 {
				t.Fatalf("IIR: y_%d is %v, want %v", at, got, y)
			}
		}
	}
}

// TestFiltersAreRecovered: from inputs and outputs alone, the taps of an unknown
// moving average and the numbers of an unknown linear system.
func TestFiltersAreRecovered(t *testing.T) {
	m := build(t, "filter-fir", builders.Settings{"beta": 0.7})
	r := newTrainer(t, m, train.Adam(0.01), 3)
	r.learn(400)
	for k, w := range r.read("taps") {
		if want := 0.3 * math.Pow(0.7, float64(k)); math.Abs(w-want) > 1e-3 {
			t.Errorf("tap %d is %v, want %v", k, w, want)
		}
	}
	m = build(t, "filter-iir", builders.Settings{"a": 0.6, "gain": -1.5, "d": 0.3})
	r = newTrainer(t, m, train.Adam(0.01), 3)
	r.learn(1000)
	a, gain, d := r.read("a")[0], r.read("b")[0]*r.read("c")[0], r.read("d")[0]
	if math.Abs(a-0.6) > 0.01 || math.Abs(gain+1.5) > 0.01 || math.Abs(d-0.3) > 0.01 {
		t.Errorf("the system has a = %v, b·c = %v, d = %v; want 0.6, -1.5, 0.3", a, gain, d)
	}
}

// TestMemoryIsKept: with its forget gate at 1 and its input gate at 0, a cell carries
// its memory through all steps unchanged, and the derivative along it is exactly 1.
func TestMemoryIsKept(t *testing.T) {
	const h, steps = 3, 50
	g := graph.New("memory")
	bt, d := []graph.Axis{graph.Ax("b", 2), graph.Ax("t", steps)}, graph.Ax("d", 2)
	x := g.Input("x", graph.F64, bt[0], bt[1], d)
	cell := builders.NewLSTM(g, "lstm", graph.F64, d, graph.Ax("h", h))
	h0, c0 := g.Input("h0", graph.F64, bt[0], graph.Ax("h", h)), g.Input("c0", graph.F64, bt[0], graph.Ax("h", h))
	_, final := builders.Recur{Cell: cell}.From(x, []*graph.Node{h0, c0})
	bias := graph.NewValue(cell.In.B.Type())
	for i := range h {
		bias.Data[i], bias.Data[h+i] = -1000, 1000 // i, f
	}
	out := bothWays(t, ref.Feed{cell.In.B: bias}, c0, final[1], grad.Of(ops.Sum(final[1]), c0)[0])
	if !slices.Equal(out[0].Data, out[1].Data) {
		t.Errorf("memory went in as %v and came out as %v", out[0].Data, out[1].Data)
	}
	for _, v := range out[2].Data {
		if v != 1 {
			t.Errorf("the derivative along the memory is %v", v)
		}
	}
}

// TestVerticalSkip: past a layer that gives nothing, the derivative by what the layer
// below gives is that of the stack's output; without the skip nothing comes through.
func TestVerticalSkip(t *testing.T) {
	for _, skip := range []bool{true, false} {
		g := graph.New("stack")
		h := graph.Ax("h", 3)
		x := g.Input("x", graph.F64, graph.Ax("b", 2), graph.Ax("t", 4), graph.Ax("d", 2))
		first := builders.Recur{Cell: builders.NewGRU(g, "first", graph.F64, graph.Ax("d", 2), h)}.Of(x)
		cell := builders.NewRNN(g, "second", graph.F64, h, h)
		y := builders.Stack{Layers: []builders.Layer{given{first}, builders.Recur{Cell: cell}}, Skip: skip}.Of(x)
		feed := ref.Feed{}
		for _, p := range []*graph.Node{cell.In.W, cell.In.B, cell.Hidden.W} {
			feed[p] = graph.NewValue(p.Type())
		}
		out := bothWays(t, feed, first, y, grad.Of(wavy(y), first)[0])
		for i, d := range out[2].Data {
			want, value := math.Cos(float64(i)), out[0].Data[i]
			if !skip {
				want, value = 0, 0
			}
			if d != want || out[1].Data[i] != value {
				t.Fatalf("skip %v: value %v with derivative %v, want %v and %v", skip, out[1].Data[i], d, value, want)
			}
		}
	}
}

// given is a layer that gives the same whatever it gets.
type given struct{ y *graph.Node }

func (l given) Of(*graph.Node) *graph.Node { return l.y }

// TestNormsOfCells: behind a norm of x, the size and the mean of an input make no
// difference, behind one of h those of the hidden values.
func TestNormsOfCells(t *testing.T) {
	for _, of := range []string{"x", "h", ""} {
		g := graph.New("norms")
		d, h := graph.Ax("d", 4), graph.Ax("h", 5)
		x, s := g.Input("x", graph.F64, graph.Ax("b", 3), d), g.Input("s", graph.F64, graph.Ax("b", 3), h)
		cell := builders.NewRNN(g, "cell", graph.F64, d, h)
		cell.Gates = cell.Normed("cell", of == "x", of == "h")
		larger := func(n *graph.Node) *graph.Node { return ops.Shift(ops.Scale(n, 3), 2) }
		step := func(x, s *graph.Node) *graph.Node { return cell.Step(x, []*graph.Node{s})[0] }
		out := bothWays(t, nil, step(x, s), step(larger(x), s), step(x, larger(s)))
		for i, what := range []string{"x", "h"} {
			if same := reftest.Near(out[i+1].Data, out[0].Data, 1e-3) == nil; same != (of == what) {
				t.Errorf("norm of %q: a larger %s makes no difference: %v", of, what, same)
			}
		}
	}
}

func TestRecurrentMistakes(t *testing.T) {
	d, h := graph.Ax("d", 4), graph.Ax("h", 3)
	seq := func(g *graph.Graph) builders.Seq2Seq {
		w := graph.Ax("w", 5)
		return builders.Seq2Seq{
			Source: builders.NewEmbedding(g, "in", graph.F32, w, d), Target: builders.NewEmbedding(g, "out", graph.F32, graph.Ax("w", 6), d),
			Encoder: builders.Recur{Cell: builders.NewGRU(g, "encoder", graph.F32, d, h)}, Cell: builders.NewGRU(g, "decoder", graph.F32, d, h),
			Output: builders.NewLinear(g, "output", graph.F32, h, w),
		}
	}
	tokens := func(g *graph.Graph) *graph.Node {
		return g.Input("tokens", graph.I64, graph.Ax("b", 2), graph.Ax("t", 3))
	}
	mistaken(t, arrayOf(graph.F32, graph.Ax("b", 2), graph.Ax("t", 3), d), map[string]func(g *graph.Graph, x *graph.Node){
		"no cell": func(_ *graph.Graph, x *graph.Node) { builders.Recur{}.Of(x) },
		"no sequence": func(g *graph.Graph, _ *graph.Node) {
			builders.Recur{Cell: builders.NewRNN(g, "c", graph.F32, d, h)}.Of(nil)
		},
		"empty cell": func(_ *graph.Graph, x *graph.Node) { builders.Recur{Cell: builders.RNN{}}.Of(x) },
		"empty LSTM": func(_ *graph.Graph, x *graph.Node) { builders.LSTM{}.Step(x, []*graph.Node{x, nil}) },
		"empty norm": func(_ *graph.Graph, x *graph.Node) {
			builders.GRU{Gates: builders.Gates{}.Normed("n", true, true)}.Step(x, []*graph.Node{x})
		},
		"no state": func(g *graph.Graph, x *graph.Node) { builders.NewGRU(g, "c", graph.F32, d, h).Step(x, nil) },
		"other state": func(g *graph.Graph, x *graph.Node) {
			builders.Recur{Cell: builders.NewLSTM(g, "c", graph.F32, d, h)}.From(x, []*graph.Node{x})
		},
		"vector": func(g *graph.Graph, x *graph.Node) {
			builders.Recur{Cell: builders.NewRNN(g, "c", graph.F32, d, h)}.Of(ops.Sum(x, 0, 1))
		},
		"other width": func(g *graph.Graph, x *graph.Node) {
			builders.Recur{Cell: builders.NewRNN(g, "c", graph.F32, h, d)}.Of(x)
		},
		"bidirectional": func(_ *graph.Graph, x *graph.Node) { builders.Bidirectional{}.Of(x) },
		"two kinds": func(g *graph.Graph, x *graph.Node) {
			builders.Bidirectional{Forward: builders.Recur{Cell: builders.NewRNN(g, "f", graph.F32, d, h)}, Backward: builders.Recur{Cell: builders.NewLSTM(g, "b", graph.F32, d, h)}}.Of(x)
		},
		"stack": func(_ *graph.Graph, x *graph.Node) { builders.Stack{Layers: []builders.Layer{nil}}.Of(x) },
		"narrow": func(g *graph.Graph, x *graph.Node) {
			builders.Stack{Skip: true, Layers: []builders.Layer{given{x}, builders.Recur{Cell: builders.NewRNN(g, "c", graph.F32, d, h)}}}.Of(x)
		},
		"fir":    func(_ *graph.Graph, x *graph.Node) { builders.FIR{}.Of(x) },
		"iir":    func(g *graph.Graph, _ *graph.Node) { builders.NewIIR(g, graph.F32, h).Of(nil) },
		"reader": func(_ *graph.Graph, x *graph.Node) { builders.ConvReader{}.Read(x) },
		"narrowest": func(g *graph.Graph, x *graph.Node) {
			builders.NewConvReader(g, "r", graph.F32, graph.Ax("t", 3), d, h, 1).Read(x)
		},
		"longer": func(g *graph.Graph, x *graph.Node) {
			builders.NewConvReader(g, "r", graph.F32, graph.Ax("t", 2), d, h, 2).Read(x)
		},
		"empty":     func(g *graph.Graph, _ *graph.Node) { builders.Seq2Seq{}.Forced(tokens(g), tokens(g)) },
		"no source": func(g *graph.Graph, _ *graph.Node) { seq(g).Free(nil, graph.Ax("t", 3), builders.Likeliest) },
		"no target": func(g *graph.Graph, _ *graph.Node) { seq(g).Forced(tokens(g), nil) },
		"no steps":  func(g *graph.Graph, _ *graph.Node) { seq(g).Free(tokens(g), graph.Ax("t", 0), builders.Expected) },
		"no start": func(g *graph.Graph, _ *graph.Node) {
			s := seq(g)
			s.Target = s.Source
			s.Free(tokens(g), graph.Ax("t", 3), builders.Expected)
		},
		"other sizes": func(g *graph.Graph, _ *graph.Node) {
			s := seq(g)
			s.Cell = builders.NewGRU(g, "wide", graph.F32, d, graph.Ax("h", 7))
			s.Free(tokens(g), graph.Ax("t", 3), builders.Likeliest)
		},
		"score": func(g *graph.Graph, _ *graph.Node) {
			s := seq(g)
			s.Score = builders.MultiplicativeScore{}
			s.Forced(tokens(g), ops.Shift(tokens(g), 0))
		},
	})
	refuse(t, []refusal{
		{"rnn-elman", builders.Settings{"run": 1, "t": 65}, "t unrolled = 65: want at most 64"},
		{"rnn-stacked", builders.Settings{"layers": 17}, "layers = 17: want at most 16"},
		{"seq2seq-cnn", builders.Settings{"window": 1}, "windows of 1 never leave a single place: want at least 2"},
	})
}

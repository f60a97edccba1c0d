package rnn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// TestFiltersAreTheirSums: the filters give what loops over the signals give.
func TestFiltersAreTheirSums(t *testing.T) {
	const b, n, k, states = 2, 300, 4, 3
	g := graph.New("filters")
	x := g.Input("x", graph.F64, graph.Ax("b", b), graph.Ax("t", n))
	fir, iir := rnn.NewFIR(g, graph.F64, graph.Ax("k", k)), rnn.NewIIR(g, graph.F64, graph.Ax("n", states))
	a := graph.Value{Type: iir.A.Type(), Data: []float64{0.9, -0.5, 0.1}}
	out := layertest.BothWays(t, graph.Values{iir.A: a}, x, fir.Taps, iir.B, iir.C, iir.D, fir.Of(x), iir.Of(x))
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
	m := layertest.Build(t, "filter-fir", builders.Settings{"beta": 0.7})
	r := layertest.NewTrainer(t, m, train.Adam(0.01), 3)
	r.Learn(400)
	for k, w := range r.Read("taps") {
		if want := 0.3 * math.Pow(0.7, float64(k)); math.Abs(w-want) > 1e-3 {
			t.Errorf("tap %d is %v, want %v", k, w, want)
		}
	}
	m = layertest.Build(t, "filter-iir", builders.Settings{"a": 0.6, "gain": -1.5, "d": 0.3})
	r = layertest.NewTrainer(t, m, train.Adam(0.01), 3)
	r.Learn(1000)
	a, gain, d := r.Read("a")[0], r.Read("b")[0]*r.Read("c")[0], r.Read("d")[0]
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
	cell := rnn.NewLSTM(g, "lstm", graph.F64, d, graph.Ax("h", h))
	h0, c0 := g.Input("h0", graph.F64, bt[0], graph.Ax("h", h)), g.Input("c0", graph.F64, bt[0], graph.Ax("h", h))
	_, final := rnn.Recur{Cell: cell}.From(x, []*graph.Node{h0, c0})
	bias := graph.NewValue(cell.In.B.Type())
	for i := range h {
		bias.Data[i], bias.Data[h+i] = -1000, 1000 // i, f
	}
	out := layertest.BothWays(t, graph.Values{cell.In.B: bias}, c0, final[1], grad.Of(ops.Sum(final[1]), c0)[0])
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
		first := rnn.Recur{Cell: rnn.NewGRU(g, "first", graph.F64, graph.Ax("d", 2), h)}.Of(x)
		cell := rnn.NewRNN(g, "second", graph.F64, h, h)
		y := rnn.Stack{Layers: []nn.Layer{given{first}, rnn.Recur{Cell: cell}}, Skip: skip}.Of(x)
		feed := graph.Values{}
		for _, p := range []*graph.Node{cell.In.W, cell.In.B, cell.Hidden.W} {
			feed[p] = graph.NewValue(p.Type())
		}
		out := layertest.BothWays(t, feed, first, y, grad.Of(layertest.Wavy(y), first)[0])
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
		cell := rnn.NewRNN(g, "cell", graph.F64, d, h)
		cell.Gates = cell.Normed("cell", of == "x", of == "h")
		larger := func(n *graph.Node) *graph.Node { return ops.Shift(ops.Scale(n, 3), 2) }
		step := func(x, s *graph.Node) *graph.Node { return cell.Step(x, []*graph.Node{s})[0] }
		out := layertest.BothWays(t, nil, step(x, s), step(larger(x), s), step(x, larger(s)))
		for i, what := range []string{"x", "h"} {
			if same := reftest.Near(out[i+1].Data, out[0].Data, 1e-3) == nil; same != (of == what) {
				t.Errorf("norm of %q: a larger %s makes no difference: %v", of, what, same)
			}
		}
	}
}

// TestNormsInside: behind norms inside, the size of the weights makes no difference, and the values
// are those of their definition.
func TestNormsInside(t *testing.T) {
	const b, d, h = 3, 4, 5
	standardised := func(v []float64) []float64 {
		mean, square := 0.0, 0.0
		for _, a := range v {
			mean += a / float64(len(v))
		}
		for _, a := range v {
			square += (a - mean) * (a - mean) / float64(len(v))
		}
		out := make([]float64, len(v))
		for i, a := range v {
			out[i] = (a - mean) / math.Sqrt(square+1e-5)
		}
		return out
	}
	for name, of := range map[string]func(g *graph.Graph, d, h graph.Axis, inside bool) (rnn.Cell, rnn.Gates){
		"Elman": func(g *graph.Graph, d, h graph.Axis, inside bool) (rnn.Cell, rnn.Gates) {
			c := rnn.NewRNN(g, "c", graph.F64, d, h)
			if inside {
				c.Gates = c.NormedInside("c")
			}
			return c, c.Gates
		},
		"LSTM": func(g *graph.Graph, d, h graph.Axis, inside bool) (rnn.Cell, rnn.Gates) {
			c := rnn.NewLSTM(g, "c", graph.F64, d, h)
			if inside {
				c.Gates = c.NormedInside("c")
			}
			return c, c.Gates
		},
		"GRU": func(g *graph.Graph, d, h graph.Axis, inside bool) (rnn.Cell, rnn.Gates) {
			c := rnn.NewGRU(g, "c", graph.F64, d, h)
			if inside {
				c.Gates = c.NormedInside("c")
			}
			return c, c.Gates
		},
	} {
		for _, inside := range []bool{true, false} {
			g := graph.New("inside")
			x, s := g.Input("x", graph.F64, graph.Ax("b", b), graph.Ax("t", 3), graph.Ax("d", d)), g.Input("s", graph.F64, graph.Ax("b", b), graph.Ax("h", h))
			cell, w := of(g, graph.Ax("d", d), graph.Ax("h", h), inside)
			start := cell.Start(graph.Ax("b", b))
			start[0] = s
			y, _ := rnn.Recur{Cell: cell}.From(x, start)
			written, _ := rnn.Recur{Cell: cell, Unroll: true}.From(x, start)
			rng := rand.New(rand.NewPCG(1, 2))
			feed := graph.Values{x: layertest.Random(rng, x.Type(), 1), s: layertest.Random(rng, s.Type(), 1)}
			for _, p := range g.Leaves(graph.RoleParam) { // biases and gains too
				feed[p] = layertest.Random(rng, p.Type(), 1)
			}
			out := layertest.BothWays(t, feed, y, written)
			layertest.Same(t, name, out[0].Data, out[1].Data)
			if name == "Elman" && inside {
				in, hidden := feed[w.In.W].Data, feed[w.Hidden.W].Data
				for i := range b {
					wx, uh := make([]float64, h), make([]float64, h)
					for k := range h {
						for j := range d {
							wx[k] += feed[x].Data[i*3*d+j] * in[j*h+k]
						}
						for j := range h {
							uh[k] += feed[s].Data[i*h+j] * hidden[j*h+k]
						}
					}
					wx, uh = standardised(wx), standardised(uh)
					for k := range h {
						want := math.Tanh(wx[k]*feed[w.InsideX].Data[k] + uh[k]*feed[w.InsideH].Data[k] + feed[w.In.B].Data[k])
						if got := out[0].Data[i*3*h+k]; math.Abs(got-want) > 1e-12 {
							t.Errorf("h[%d %d] is %v, want %v", i, k, got, want)
						}
					}
				}
			}
			for _, m := range []*graph.Node{w.In.W, w.Hidden.W} {
				for i := range feed[m].Data {
					feed[m].Data[i] *= 20
				}
			}
			larger := layertest.BothWays(t, feed, y)[0].Data
			if same := reftest.Near(larger, out[0].Data, 1e-3) == nil; same != inside {
				t.Errorf("%s, norms inside %v: larger weights make no difference: %v", name, inside, same)
			}
		}
	}
}

// TestHorizontalSkips: from step to step, what a cell makes is added to its hidden values, and to
// no other state. An LSTM whose weights are 0 adds nothing, and what was known at the start stays.
func TestHorizontalSkips(t *testing.T) {
	const b, n, h = 2, 4, 3
	for _, lstm := range []bool{false, true} {
		g := graph.New("horizontal")
		x, s := g.Input("x", graph.F64, graph.Ax("b", b), graph.Ax("t", n), graph.Ax("d", 4)), g.Input("s", graph.F64, graph.Ax("b", b), graph.Ax("h", h))
		var own rnn.Cell
		if lstm {
			own = rnn.NewLSTM(g, "c", graph.F64, graph.Ax("d", 4), graph.Ax("h", h))
		} else {
			own = rnn.NewGRU(g, "c", graph.F64, graph.Ax("d", 4), graph.Ax("h", h))
		}
		cell := rnn.HorizontalSkip{Cell: own}
		start := cell.Start(graph.Ax("b", b))
		start[0] = s
		y, final := rnn.Recur{Cell: cell}.From(x, start)
		written, _ := rnn.Recur{Cell: cell, Unroll: true}.From(x, start)
		state := slices.Clone(start)
		for i := range n {
			next := own.Step(ops.Squeeze(ops.Slice(x, 1, i, i+1), 1), state)
			next[0] = ops.Add(state[0], next[0])
			state = next
		}
		back := grad.Of(ops.Sum(final[0]), s)[0]
		nodes := append([]*graph.Node{y, written, back}, final...)
		out := layertest.BothWays(t, nil, append(nodes, state...)...)
		layertest.Same(t, "loop", out[0].Data, out[1].Data)
		for i := range final {
			layertest.Same(t, "state", out[3+i].Data, out[3+len(final)+i].Data)
		}
		if !lstm { // with weights of 0 it still keeps half of its hidden values
			continue
		}
		feed := graph.Values{}
		for _, p := range g.Leaves(graph.RoleParam) {
			feed[p] = graph.NewValue(p.Type())
		}
		still := layertest.BothWays(t, feed, s, final[0], back)
		layertest.Same(t, "without weights", still[1].Data, still[0].Data)
		for _, v := range still[2].Data {
			if v != 1 {
				t.Errorf("the derivative by the start is %v, want 1", v)
			}
		}
	}
}

func TestRecurrentMistakes(t *testing.T) {
	d, h := graph.Ax("d", 4), graph.Ax("h", 3)
	seq := func(g *graph.Graph) rnn.Seq2Seq {
		w := graph.Ax("w", 5)
		return rnn.Seq2Seq{
			Source: nn.NewEmbedding(g, "in", graph.F32, w, d), Target: nn.NewEmbedding(g, "out", graph.F32, graph.Ax("w", 6), d),
			Encoder: rnn.Recur{Cell: rnn.NewGRU(g, "encoder", graph.F32, d, h)}, Cell: rnn.NewGRU(g, "decoder", graph.F32, d, h),
			Output: nn.NewLinear(g, "output", graph.F32, h, w),
		}
	}
	tokens := func(g *graph.Graph) *graph.Node {
		return g.Input("tokens", graph.I64, graph.Ax("b", 2), graph.Ax("t", 3))
	}
	layertest.Mistaken(t, layertest.ArrayOf(graph.F32, graph.Ax("b", 2), graph.Ax("t", 3), d), map[string]func(g *graph.Graph, x *graph.Node){
		"no cell": func(_ *graph.Graph, x *graph.Node) { rnn.Recur{}.Of(x) },
		"no sequence": func(g *graph.Graph, _ *graph.Node) {
			rnn.Recur{Cell: rnn.NewRNN(g, "c", graph.F32, d, h)}.Of(nil)
		},
		"empty cell": func(_ *graph.Graph, x *graph.Node) { rnn.Recur{Cell: rnn.RNN{}}.Of(x) },
		"empty LSTM": func(_ *graph.Graph, x *graph.Node) { rnn.LSTM{}.Step(x, []*graph.Node{x, nil}) },
		"empty norm": func(_ *graph.Graph, x *graph.Node) {
			rnn.GRU{Gates: rnn.Gates{}.Normed("n", true, true)}.Step(x, []*graph.Node{x})
		},
		"empty norm inside": func(_ *graph.Graph, x *graph.Node) {
			rnn.GRU{Gates: rnn.Gates{}.NormedInside("n")}.Step(x, []*graph.Node{x})
		},
		"skip of no cell": func(_ *graph.Graph, x *graph.Node) { rnn.Recur{Cell: rnn.HorizontalSkip{}}.Of(x) },
		"no state":        func(g *graph.Graph, x *graph.Node) { rnn.NewGRU(g, "c", graph.F32, d, h).Step(x, nil) },
		"other state": func(g *graph.Graph, x *graph.Node) {
			rnn.Recur{Cell: rnn.NewLSTM(g, "c", graph.F32, d, h)}.From(x, []*graph.Node{x})
		},
		"vector": func(g *graph.Graph, x *graph.Node) {
			rnn.Recur{Cell: rnn.NewRNN(g, "c", graph.F32, d, h)}.Of(ops.Sum(x, 0, 1))
		},
		"other width": func(g *graph.Graph, x *graph.Node) {
			rnn.Recur{Cell: rnn.NewRNN(g, "c", graph.F32, h, d)}.Of(x)
		},
		"bidirectional": func(_ *graph.Graph, x *graph.Node) { rnn.Bidirectional{}.Of(x) },
		"two kinds": func(g *graph.Graph, x *graph.Node) {
			rnn.Bidirectional{Forward: rnn.Recur{Cell: rnn.NewRNN(g, "f", graph.F32, d, h)}, Backward: rnn.Recur{Cell: rnn.NewLSTM(g, "b", graph.F32, d, h)}}.Of(x)
		},
		"stack": func(_ *graph.Graph, x *graph.Node) { rnn.Stack{Layers: []nn.Layer{nil}}.Of(x) },
		"narrow": func(g *graph.Graph, x *graph.Node) {
			rnn.Stack{Skip: true, Layers: []nn.Layer{given{x}, rnn.Recur{Cell: rnn.NewRNN(g, "c", graph.F32, d, h)}}}.Of(x)
		},
		"fir":    func(_ *graph.Graph, x *graph.Node) { rnn.FIR{}.Of(x) },
		"iir":    func(g *graph.Graph, _ *graph.Node) { rnn.NewIIR(g, graph.F32, h).Of(nil) },
		"reader": func(_ *graph.Graph, x *graph.Node) { rnn.ConvReader{}.Read(x) },
		"narrowest": func(g *graph.Graph, x *graph.Node) {
			rnn.NewConvReader(g, "r", graph.F32, graph.Ax("t", 3), d, h, 1).Read(x)
		},
		"longer": func(g *graph.Graph, x *graph.Node) {
			rnn.NewConvReader(g, "r", graph.F32, graph.Ax("t", 2), d, h, 2).Read(x)
		},
		"empty":     func(g *graph.Graph, _ *graph.Node) { rnn.Seq2Seq{}.Forced(tokens(g), tokens(g)) },
		"no source": func(g *graph.Graph, _ *graph.Node) { seq(g).Free(nil, graph.Ax("t", 3), rnn.Likeliest) },
		"no target": func(g *graph.Graph, _ *graph.Node) { seq(g).Forced(tokens(g), nil) },
		"no steps":  func(g *graph.Graph, _ *graph.Node) { seq(g).Free(tokens(g), graph.Ax("t", 0), rnn.Expected) },
		"no start": func(g *graph.Graph, _ *graph.Node) {
			s := seq(g)
			s.Target = s.Source
			s.Free(tokens(g), graph.Ax("t", 3), rnn.Expected)
		},
		"other sizes": func(g *graph.Graph, _ *graph.Node) {
			s := seq(g)
			s.Cell = rnn.NewGRU(g, "wide", graph.F32, d, graph.Ax("h", 7))
			s.Free(tokens(g), graph.Ax("t", 3), rnn.Likeliest)
		},
		"score": func(g *graph.Graph, _ *graph.Node) {
			s := seq(g)
			s.Score = attention.MultiplicativeScore{}
			s.Forced(tokens(g), ops.Shift(tokens(g), 0))
		},
	})
	layertest.Refuse(t, []layertest.Refusal{
		{Model: "rnn-elman", Settings: builders.Settings{"run": 1, "t": 65}, Want: "t unrolled = 65: want at most 64"},
		{Model: "rnn-stacked", Settings: builders.Settings{"layers": 17}, Want: "layers = 17: want at most 16"},
		{Model: "seq2seq-cnn", Settings: builders.Settings{"window": 1}, Want: "windows of 1 never leave a single place: want at least 2"},
	})
}

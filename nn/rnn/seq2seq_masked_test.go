package rnn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Where the tokens of a padded batch of sources[4 5] stand, and the batch itself; what is
// between them and behind is padding.
var (
	tokensAt = [][]int{{0, 1, 2, 3, 4}, {0, 1}, {0}, {1, 2, 4}}
	padded   = []float64{0, 1, 2, 3, 4 /**/, 3, 2, 4, 4, 0 /**/, 4, 1, 2, 3, 0 /**/, 2, 1, 4, 3, 0}
)

// translator5 is a model of 5 tokens whose encoder is of a kind.
func translator5(g *graph.Graph, encoder, score string, unroll bool) rnn.Seq2Seq {
	const width = 4
	m, h, c, v := graph.Ax("m", 3), graph.Ax("h", width), graph.Ax("c", width), graph.Ax("w", 5)
	var cell func(name string, d, h graph.Axis) rnn.Cell
	switch strings.TrimPrefix(encoder, "both ways ") {
	case "RNN":
		cell = func(name string, d, h graph.Axis) rnn.Cell { return rnn.NewRNN(g, name, graph.F64, d, h) }
	case "GRU":
		cell = func(name string, d, h graph.Axis) rnn.Cell { return rnn.NewGRU(g, name, graph.F64, d, h) }
	case "LSTM":
		cell = func(name string, d, h graph.Axis) rnn.Cell { return rnn.NewLSTM(g, name, graph.F64, d, h) }
	}
	net := rnn.Seq2Seq{
		Source: nn.NewEmbedding(g, "in", graph.F64, v, m), Target: nn.NewEmbedding(g, "out", graph.F64, graph.Ax("w′", 6), m),
		Unroll: unroll,
	}
	if strings.HasPrefix(encoder, "both ways") {
		way := func(name string) rnn.Recur {
			return rnn.Recur{Cell: cell(name, m, graph.Ax("h", width/2)), Unroll: unroll}
		}
		net.Encoder = rnn.Bidirectional{Forward: way("forward"), Backward: way("backward")}
	} else {
		net.Encoder = rnn.Recur{Cell: cell("encoder", m, h), Unroll: unroll}
	}
	seen := graph.Ax("as", 2*width)
	switch score {
	case "none":
		seen = c
	case "dot":
		c.Name = h.Name
		net.Score = attention.DotScore{}
	case "multiplicative":
		net.Score = attention.NewMultiplicativeScore(g, graph.F64, c, h)
	case "additive":
		net.Score = attention.NewAdditiveScore(g, graph.F64, c, h, graph.Ax("a", 3))
	}
	net.Cell = cell("decoder", m, c)
	net.Output = nn.NewLinear(g, "output", graph.F64, seen, v)
	return net
}

// TestPaddedSourcesAreEachAlone: what a model says of a padded batch of sources, how likely
// the right tokens are, where it looks, and the derivatives by its parameters, are those of
// the sources one by one and without padding; the weight of padding is exactly 0.
func TestPaddedSourcesAreEachAlone(t *testing.T) {
	const n, steps = 5, 3
	targets := []float64{0, 1, 2 /**/, 4, 0, 3 /**/, 2, 2, 1 /**/, 3, 4, 0}
	for _, c := range []struct {
		encoder, score string
		unroll         bool
	}{
		{"both ways GRU", "none", false}, {"both ways GRU", "dot", false}, {"both ways GRU", "multiplicative", false}, {"both ways GRU", "additive", false},
		{"both ways LSTM", "dot", true}, {"LSTM", "additive", false}, {"RNN", "none", false},
	} {
		what := fmt.Sprintf("%+v", c)
		g := graph.New("padding")
		net := translator5(g, c.encoder, c.score, c.unroll)
		params := g.Leaves(graph.RoleParam)
		feed := graph.Values{}
		// says lists the logits of a model told the right tokens and of one on its own
		// with either feedback, then the weights of each, then the derivatives of a loss.
		says := func(name string, net rnn.Seq2Seq, source, target []float64) []*graph.Node {
			b := len(target) / steps
			x := g.Input(name, graph.I64, graph.Ax("b", b), graph.Ax("s", len(source)/b))
			y := g.Input(name+" said", graph.I64, graph.Ax("b", b), graph.Ax("t", steps))
			feed[x], feed[y] = layertest.ValueOf(x, source...), layertest.ValueOf(y, target...)
			var logits, weights []*graph.Node
			if name == "batch" {
				mask := g.Input("mask", graph.Bool, x.Shape().Axes()...)
				feed[mask] = layertest.Computed(mask.Type(), func(i int) float64 {
					if slices.Contains(tokensAt[i/n], i%n) {
						return 1
					}
					return 0
				})
				net = net.Masked(mask)
			}
			for _, s := range []rnn.Said{net.Forced(x, y), net.Free(x, graph.Ax("t", steps), rnn.Likeliest), net.Free(x, graph.Ax("t", steps), rnn.Expected)} {
				logits = append(logits, s.Logits)
				if s.Attention != nil {
					weights = append(weights, s.Attention)
				}
			}
			// Of the means over a target, times b for their sum. What is likeliest has no
			// derivative.
			loss := ops.Scale(ops.Add(nn.CrossEntropy(logits[0], y), nn.CrossEntropy(logits[2], y)), float64(b))
			return slices.Concat(logits, weights, grad.Of(loss, params...))
		}
		batch := says("batch", net, padded, targets)
		nodes := slices.Clone(batch)
		for row, places := range tokensAt {
			var source []float64
			for _, at := range places {
				source = append(source, padded[row*n+at])
			}
			nodes = append(nodes, says(fmt.Sprint("row ", row), net, source, targets[row*steps:][:steps])...)
		}
		out := layertest.BothWays(t, feed, nodes...)
		looks := len(batch) - 3 - len(params) // how many have weights
		if looks != 3 && (c.score != "none" || looks != 0) {
			t.Fatalf("%s: %d weights", what, looks)
		}
		for i := range batch {
			got := out[i].Data
			var want []float64
			if i >= 3+looks {
				want = make([]float64, len(got))
			}
			for row, places := range tokensAt {
				alone := out[(row+1)*len(batch)+i].Data
				switch {
				case i < 3:
					want = append(want, alone...)
				case i < 3+looks:
					for s := range steps {
						α := make([]float64, n)
						for k, at := range places {
							α[at] = alone[s*len(places)+k]
						}
						for at, w := range got[(row*steps+s)*n:][:n] {
							if !slices.Contains(places, at) && w != 0 {
								t.Errorf("%s: padding has weight %v", what, w)
							}
						}
						want = append(want, α...)
					}
				default:
					for k, d := range alone {
						want[k] += d
					}
				}
			}
			layertest.Same(t, fmt.Sprintf("%s: result %d, %v", what, i, batch[i]), got, want)
		}
	}
}

// TestPaddingIsNotRead: with a mask, other tokens in the place of padding change no bit;
// without one they do, so the test above is one.
func TestPaddingIsNotRead(t *testing.T) {
	other := slices.Clone(padded)
	for i := range other {
		if !slices.Contains(tokensAt[i/5], i%5) {
			other[i] = float64((int(other[i]) + 1) % 5)
		}
	}
	for _, masked := range []bool{true, false} {
		g := graph.New("padding")
		net := translator5(g, "both ways GRU", "additive", false)
		source := g.Input("source", graph.I64, graph.Ax("b", 4), graph.Ax("s", 5))
		if masked {
			sees := make([]float64, len(padded))
			for row, places := range tokensAt {
				for _, at := range places {
					sees[row*5+at] = 1
				}
			}
			net = net.Masked(g.Constant(graph.Bool, sees, source.Shape().Axes()...))
		}
		logits := net.Free(source, graph.Ax("t", 3), rnn.Likeliest).Logits
		a := layertest.BothWays(t, graph.Values{source: layertest.ValueOf(source, padded...)}, logits)[0].Data
		b := layertest.BothWays(t, graph.Values{source: layertest.ValueOf(source, other...)}, logits)[0].Data
		if slices.Equal(a, b) != masked {
			t.Errorf("masked %v: other padding makes no difference: %v", masked, !masked)
		}
	}
}

// TestMaskedReading: at padding a state stays as it was, with checkpoints too, and the
// state of a sequence of nothing but padding is the one before the first step.
func TestMaskedReading(t *testing.T) {
	const b, n, h = 3, 4, 2
	lengths := []int{4, 2, 0}
	for _, reverse := range []bool{false, true} {
		for _, checkpoint := range []int{0, 3} {
			g := graph.New("reading")
			x := g.Input("x", graph.F64, graph.Ax("b", b), graph.Ax("s", n), graph.Ax("d", 3))
			mask := nn.Present(g.Constant(graph.I64, []float64{4, 2, 0}, graph.Ax("b", b)), graph.Ax("s", n))
			r := rnn.Recur{Cell: rnn.NewLSTM(g, "cell", graph.F64, graph.Ax("d", 3), graph.Ax("h", h)), Reverse: reverse, Checkpoint: checkpoint}
			states, final := r.ReadMasked(x, mask)
			_, short := r.Read(ops.Slice(x, "s", 0, 2))
			out := layertest.BothWays(t, nil, states, final[0], final[1], short[0], short[1])
			for i := range 2 {
				layertest.Same(t, "the shorter sequence", out[1+i].Data[h:2*h], out[3+i].Data[h:2*h])
				layertest.Same(t, "nothing but padding", out[1+i].Data[2*h:], make([]float64, h))
			}
			for row, length := range lengths {
				at := func(s int) []float64 { return out[0].Data[(row*n+s)*h:][:h] }
				for s := length; s < n; s++ {
					stays := make([]float64, h)
					if !reverse && length > 0 {
						stays = at(length - 1)
					}
					if !slices.Equal(at(s), stays) {
						t.Errorf("reverse %v, checkpoint %d: row %d at padding %d is %v, want %v", reverse, checkpoint, row, s, at(s), stays)
					}
				}
			}
		}
	}
}

// TestSourceMaskMistakes: a mask of other places or elements, and an encoder that would read
// padding, are refused in one line.
func TestSourceMaskMistakes(t *testing.T) {
	for _, c := range []struct {
		encoder string
		dt      graph.DType
		axes    []graph.Axis
		want    string
	}{
		{"GRU", graph.Bool, []graph.Axis{graph.Ax("b", 4), graph.Ax("s", 3)}, "a mask bool[b=4 s=3]: want bool[b=4 s=5]"},
		{"GRU", graph.Bool, []graph.Axis{graph.Ax("s", 5)}, "a mask bool[s=5]: want bool[b=4 s=5]"},
		{"both ways GRU", graph.I64, []graph.Axis{graph.Ax("b", 4), graph.Ax("s", 5)}, "a mask i64[b=4 s=5]: want bool[b=4 s=5]"},
		{"known", graph.Bool, []graph.Axis{graph.Ax("b", 4), graph.Ax("s", 5)}, "rnn_test.known reads padding as it reads tokens: want a MaskedReader for sources with a mask"},
	} {
		for _, whole := range []bool{true, false} {
			g := graph.New("mistakes")
			net := translator5(g, strings.Replace(c.encoder, "known", "GRU", 1), "dot", false)
			if c.encoder == "known" {
				net.Encoder = known{}
			}
			mask := g.Input("mask", c.dt, c.axes...)
			if whole {
				net.Masked(mask).Free(g.Input("source", graph.I64, graph.Ax("b", 4), graph.Ax("s", 5)), graph.Ax("t", 2), rnn.Likeliest)
			} else if r, ok := net.Encoder.(rnn.MaskedReader); ok {
				r.ReadMasked(g.Input("x", graph.F64, graph.Ax("b", 4), graph.Ax("s", 5), graph.Ax("m", 3)), mask)
			} else {
				continue
			}
			if err := g.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
	}
}

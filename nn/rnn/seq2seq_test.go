package rnn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz"
)

// TestFreeRunningRepeatsTraining: what a model has learnt with the right tokens before
// it, it says on its own: the same store serves both.
func TestFreeRunningRepeatsTraining(t *testing.T) {
	for _, name := range []string{"seq2seq-bottleneck", "seq2seq-attention", "seq2seq-cnn"} {
		s := builders.Settings{"b": 32, "w": 4}
		forced := layertest.Build(t, name, s)
		taught := layertest.NewTrainer(t, forced, train.Adam(0.01), 3)
		taught.Learn(400)
		for feedback := 1.0; feedback <= 2; feedback++ {
			free := layertest.Build(t, name, builders.Settings{"b": 200, "w": 4, "feedback": feedback})
			says := ops.ArgMax(free.Output, -1)
			feed := free.Examples(rand.New(rand.NewPCG(8, 8)))
			target, right := feed[free.Graph.Lookup("target")].Data, 0
			for i, w := range layertest.Outcome(t, taught.Store, says, feed) {
				if w == target[i] {
					right++
				}
			}
			t.Logf("%s, feedback %v: %d of %d right", name, feedback, right, len(target))
			if float64(right) < 0.95*float64(len(target)) {
				t.Errorf("%s, feedback %v: %d of %d tokens are right", name, feedback, right, len(target))
			}
		}
	}
}

// TestForcedIsFreeOnItsOwnWords: given what it says on its own as the right tokens, a
// model says the same. The expected vector of certain tokens is the likeliest's.
func TestForcedIsFreeOnItsOwnWords(t *testing.T) {
	for _, kind := range []string{"none", "dot", "multiplicative", "additive"} {
		for _, unroll := range []bool{false, true} {
			const w = 5
			g := graph.New("decoder")
			m, c, h := graph.Ax("m", 3), graph.Ax("c", 4), graph.Ax("h", 4)
			net := rnn.Seq2Seq{
				Source: nn.NewEmbedding(g, "in", graph.F64, graph.Ax("w", w), m), Target: nn.NewEmbedding(g, "out", graph.F64, graph.Ax("w′", w+1), m),
				Encoder: rnn.Recur{Cell: rnn.NewLSTM(g, "encoder", graph.F64, m, h), Unroll: unroll}, Unroll: unroll,
			}
			seen := graph.Ax("as", 8)
			switch kind {
			case "none":
				seen = c
			case "dot":
				c = h
				net.Score = attention.DotScore{}
			case "multiplicative":
				net.Score = attention.NewMultiplicativeScore(g, graph.F64, c, h)
			case "additive":
				net.Score = attention.NewAdditiveScore(g, graph.F64, c, h, graph.Ax("a", 3))
			}
			net.Cell = rnn.NewLSTM(g, "decoder", graph.F64, m, c)
			net.Output = nn.NewLinear(g, "output", graph.F64, seen, graph.Ax("w", w))
			source := g.Input("source", graph.I64, graph.Ax("b", 3), graph.Ax("s", 4))
			feed := graph.Values{source: layertest.ValueOf(source, 0, 1, 2, 3, 4, 3, 2, 1, 0, 0, 4, 1)}
			free := net.Free(source, graph.Ax("t", 6), rnn.Likeliest)
			forced := net.Forced(source, ops.ArgMax(free.Logits, -1))
			certain := net
			certain.Output = nn.Linear{W: ops.Scale(net.Output.W, 1e4), B: ops.Scale(net.Output.B, 1e4)}
			sharp := certain.Free(source, graph.Ax("t", 6), rnn.Expected)
			soft := net.Free(source, graph.Ax("t", 6), rnn.Expected)
			nodes := []*graph.Node{free.Logits, forced.Logits, sharp.Logits, soft.Logits}
			if kind == "none" != (free.Attention == nil) {
				t.Errorf("%s: attention %v", kind, free.Attention)
			}
			if kind != "none" {
				nodes = append(nodes, free.Attention, forced.Attention)
			}
			out := layertest.BothWays(t, feed, nodes...)
			layertest.Same(t, kind+": forced", out[1].Data, out[0].Data)
			if err := reftest.Near(scaled(out[2].Data, 1e-4), out[0].Data, 1e-9); err != nil {
				t.Errorf("%s: the expected vector of certain tokens: %v", kind, err)
			}
			if reftest.Near(out[3].Data, out[0].Data, 1e-6) == nil {
				t.Errorf("%s: the kind of feedback makes no difference", kind)
			}
			for _, α := range out[4:] {
				for p := 0; p < len(α.Data); p += 4 {
					if sum := α.Data[p] + α.Data[p+1] + α.Data[p+2] + α.Data[p+3]; math.Abs(sum-1) > 1e-14 {
						t.Errorf("%s: weights sum to %v", kind, sum)
					}
				}
			}
		}
	}
}

// TestAttendStatesAtOnce: states at many places look where each would alone, also past a
// mask and where both times have one name.
func TestAttendStatesAtOnce(t *testing.T) {
	for _, kind := range []string{"dot", "multiplicative", "additive"} {
		for _, time := range []string{"u", "t"} {
			g := graph.New("attention")
			c, d := graph.Ax("c", 2), graph.Ax("d", 3)
			var score attention.Score = attention.DotScore{}
			switch kind {
			case "dot":
				c = d
			case "multiplicative":
				score = attention.NewMultiplicativeScore(g, graph.F64, c, d)
			case "additive":
				score = attention.NewAdditiveScore(g, graph.F64, c, d, graph.Ax("a", 2))
			}
			b := graph.Ax("b", 2)
			s, h := g.Input("s", graph.F64, b, graph.Ax(time, 5), c), g.Input("h", graph.F64, b, graph.Ax("t", 4), d)
			for _, mask := range []*graph.Node{nil, g.Constant(graph.Bool, []float64{1, 1, 0, 1, 0, 1, 1, 0}, b, graph.Ax("t", 4))} {
				a, α := attention.AttendStates(score, s, h, mask)
				nodes := []*graph.Node{a, α}
				for u := range 5 {
					one, β := attention.AttendStates(score, ops.Squeeze(ops.Slice(s, 1, u, u+1), 1), h, mask)
					nodes = append(nodes, one, β)
				}
				out := layertest.BothWays(t, nil, nodes...)
				for u := range 5 {
					for row := range 2 {
						layertest.Same(t, kind+": a", out[0].Data[(row*5+u)*3:][:3], out[2+2*u].Data[row*3:][:3])
						layertest.Same(t, kind+": α", out[1].Data[(row*5+u)*4:][:4], out[3+2*u].Data[row*4:][:4])
					}
				}
			}
		}
	}
}

// TestSeq2SeqReadsLikeTheNotes: the formulas of a model that is told the right tokens are
// those of the notes, with a state s that has a name; a mask adds what it lets through.
func TestSeq2SeqReadsLikeTheNotes(t *testing.T) {
	for _, masked := range []bool{false, true} {
		g := graph.New("translator")
		net := translator5(g, "GRU", "dot", false)
		source, target := g.Input("source", graph.I64, graph.Ax("b", 2), graph.Ax("s", 5)), g.Input("target", graph.I64, graph.Ax("b", 2), graph.Ax("t", 3))
		want := []string{
			"r_{tbh} = σ(encoder.Wx_{bth} + Σ_{h′} encoder.h_{t−1,b,h′}·encoder.hidden.w_{h′,h} + encoder.hidden.bₕ)",
			"decoder.h_{tbh} = (1 − decoder.z_{tbh})·decoder.n_{tbh} + decoder.z_{tbh}·decoder.h_{t−1,b,h}",
			"s_{bth} = decoder.h_{tbh}",
			"e_{bts} = Σₕ s_{bth}·h_{bsh}",
			"α_{bts} = softmaxₛ(e_{bts})",
			"a_{bth} = Σₛ α_{bts}·h_{bsh}",
			"[a; s]_{b,t,as} = concat_{as}(a_{bt}, s_{bt})",
		}
		if masked {
			net = net.Masked(nn.Present(g.Input("length", graph.I64, graph.Ax("b", 2)), graph.Ax("s", 5)))
			want[0] = "present_{bs} = [placeₛ < length_b]"
			want[4] = "softmax_{bts} = softmaxₛ(ẽ_{bts})"
			want = append(want, "encoder.h_{tbh} = encoder.h′_{tbh} if present_{bt}, else encoder.h_{t−1,b,h}", "ẽ_{bts} = e_{bts} if present_{bs}, else −∞", "α_{bts} = present_{bs}·softmax_{bts}")
		}
		said, free := net.Forced(source, target), net.Free(source, graph.Ax("t", 3), rnn.Likeliest)
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range viz.Equations(said.Logits) {
			got = append(got, e.String())
		}
		for _, α := range []*graph.Node{said.Attention, free.Attention} {
			if !slices.ContainsFunc(α.Occurrences(), func(o graph.Occurrence) bool { return o.Scope+"/"+o.Name == "decoder/α" }) {
				t.Errorf("masked %v: the weights %v are not called decoder/α", masked, α)
			}
		}
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("masked %v: no %s in\n%s", masked, line, strings.Join(got, "\n"))
			}
		}
	}
}

func scaled(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = by * x
	}
	return out
}

// TestBottleneck: without looking back, the decoder knows of the source what the last
// state holds, and nothing else; with attention it knows the states too.
func TestBottleneck(t *testing.T) {
	for _, looks := range []bool{false, true} {
		g := graph.New("bottleneck")
		m, h, w := graph.Ax("m", 3), graph.Ax("h", 4), graph.Ax("w", 5)
		h1, h2, s := g.Input("h1", graph.F64, graph.Ax("b", 2), graph.Ax("s", 3), h), g.Input("h2", graph.F64, graph.Ax("b", 2), graph.Ax("s", 3), h), g.Input("s₀", graph.F64, graph.Ax("b", 2), h)
		net := rnn.Seq2Seq{
			Source: nn.NewEmbedding(g, "in", graph.F64, w, m), Target: nn.NewEmbedding(g, "out", graph.F64, graph.Ax("w′", 6), m),
			Cell: rnn.NewGRU(g, "decoder", graph.F64, m, h), Output: nn.NewLinear(g, "output", graph.F64, h, w),
		}
		if looks {
			net.Score = attention.DotScore{}
			net.Output = nn.NewLinear(g, "wide", graph.F64, graph.Ax("as", 8), w)
		}
		source := g.Input("source", graph.I64, graph.Ax("b", 2), graph.Ax("s", 3))
		say := func(states *graph.Node) *graph.Node {
			net.Encoder = known{states, s}
			return net.Free(source, graph.Ax("t", 3), rnn.Likeliest).Logits
		}
		out := layertest.BothWays(t, graph.Values{source: graph.NewValue(source.Type())}, say(h1), say(h2))
		if same := reftest.Near(out[0].Data, out[1].Data, 1e-12) == nil; same == looks {
			t.Errorf("looking back %v: other states of the encoder make no difference: %v", looks, same)
		}
	}
}

// known is an encoder that has read already.
type known struct{ states, final *graph.Node }

func (k known) Read(*graph.Node) (*graph.Node, []*graph.Node) {
	return k.states, []*graph.Node{k.final}
}

package builders_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/layertest"
)

// TestAttentionOverABidirectionalRNN: the scores are those of loops: two recurrent nets that read
// the words from either end, attention whose queries are the backward states and whose keys and
// values the forward ones, and a layer on the input and what was found; where the forward states
// ask, there is no other net.
func TestAttentionOverABidirectionalRNN(t *testing.T) {
	for asks := range 2 {
		statesAsk(t, asks)
	}
}

// statesAsk checks the model whose backward (0) or forward (1) states ask.
func statesAsk(t *testing.T, asks int) {
	t.Helper()
	const texts, words, m, h, vocabulary = 2, 4, 3, 2, 5
	model := layertest.Build(t, "attention-bidirectional", builders.Settings{"b": texts, "t": words, "m": m, "h": h, "w": vocabulary, "asks": float64(asks)})
	feed := layertest.Filled(model.Graph, rand.New(rand.NewPCG(7, 1)))
	for in, v := range model.Examples(rand.New(rand.NewPCG(7, 2))) {
		feed[in] = v
	}
	data := func(path string) []float64 { return feed[model.Graph.Lookup(path)].Data }
	affine := func(x []float64, w, b string) []float64 {
		W := data(w)
		out := make([]float64, len(W)/len(x))
		if b != "" {
			copy(out, data(b))
		}
		for i, v := range x {
			for k := range out {
				out[k] += v * W[i*len(out)+k]
			}
		}
		return out
	}
	var want []float64
	for text := range texts {
		x, forward, backward := make([][]float64, words), make([][]float64, words), make([][]float64, words)
		for i := range x {
			x[i] = data("embedding/table")[int(data("tokens")[text*words+i])*m:][:m]
		}
		read := func(states [][]float64, way string, at func(step int) int) {
			state := make([]float64, h)
			for step := range words {
				next, u := affine(x[at(step)], way+"/in/w", way+"/in/b"), affine(state, way+"/hidden/w", "")
				for k := range next {
					next[k] = math.Tanh(next[k] + u[k])
				}
				state, states[at(step)] = next, next
			}
		}
		read(forward, "forward", func(step int) int { return step })
		if asks == 0 {
			read(backward, "backward", func(step int) int { return words - 1 - step })
		} else {
			backward = forward
		}
		for i := range words {
			weights, total := make([]float64, words), 0.0
			for j := range weights {
				a := 0.0
				for k := range h {
					a += backward[i][k] * forward[j][k]
				}
				weights[j] = math.Exp(a)
				total += weights[j]
			}
			both := append(append([]float64(nil), x[i]...), make([]float64, h)...)
			for j, w := range weights {
				for k := range h {
					both[m+k] += w / total * forward[j][k]
				}
			}
			H := affine(both, "join/w", "join/b")
			for k := range H {
				H[k] = math.Tanh(H[k])
			}
			want = append(want, affine(H, "output/w", "output/b")...)
		}
	}
	layertest.Same(t, "scores", layertest.Values(t, feed, model.Graph.Lookup("logits"))[0].Data, want)
}

// TestUnscaledAttention: without the scale the scores are q·k as they are, that is, attention with
// the scale at queries that are √d times as long.
func TestUnscaledAttention(t *testing.T) {
	var out [2][]float64
	for scale := range 2 {
		m := layertest.Build(t, "attention-self", builders.Settings{"scale": float64(scale), "m": 4})
		feed := layertest.Filled(m.Graph, rand.New(rand.NewPCG(2, 1)))
		if query := m.Graph.Lookup("query/w"); scale == 1 {
			short := feed[query].Data
			feed[query] = layertest.Computed(query.Type(), func(i int) float64 { return 2 * short[i] }) // √4
		}
		out[scale] = layertest.Values(t, feed, m.Output)[0].Data
	}
	layertest.Same(t, "unscaled", out[0], out[1])
}

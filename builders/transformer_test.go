package builders_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// small are blocks of 4 features.
func small(layers int) attention.Blocks {
	return attention.Blocks{Layers: layers, Heads: 2, Width: graph.Ax("m", 4), Hidden: graph.Ax("f", 6)}
}

// TestCausalDecoder: what a decoder makes of place t has exactly no derivative by what
// stands after t, and has one by all that stands before.
func TestCausalDecoder(t *testing.T) {
	const n = 4
	for _, post := range []bool{false, true} {
		g := graph.New("decoder")
		b := small(2)
		b.Post = post
		axes := []graph.Axis{graph.Ax("b", 2), graph.Ax("t", n), b.Width}
		x := g.Input("x", graph.F64, axes...)
		memory := g.Input("memory", graph.F64, graph.Ax("b", 2), graph.Ax("s", 3), graph.Ax("n", 5))
		causal := attention.Causal(g, axes[1], graph.Ax("t′", n))
		for name, y := range map[string]*graph.Node{
			"encoder blocks": attention.NewEncoder(g, "gpt", graph.F64, b).Of(x, causal),
			"decoder blocks": attention.NewDecoder(g, "decoder", graph.F64, b, graph.Ax("n", 5)).Of(x, []*graph.Node{memory}, causal, nil),
		} {
			for place := range n {
				d := grad.Of(layertest.Wavy(ops.Slice(y, "t", place, place+1)), x)[0]
				for p, v := range layertest.BothWays(t, nil, d)[0].Data {
					if later := p/4%n > place; later != (v == 0) {
						t.Errorf("%s, post %v: the derivative of place %d by place %d is %v", name, post, place, p/4%n, v)
					}
				}
			}
		}
	}
}

// TestTeacherForcing: the logits of a token know the source and the tokens before it,
// not the token itself nor what follows.
func TestTeacherForcing(t *testing.T) {
	m := layertest.Build(t, "transformer-seq2seq", builders.Settings{"b": 1, "s": 4})
	source, target := m.Graph.Lookup("source"), m.Graph.Lookup("target")
	one := func(from, to []float64) []float64 {
		return layertest.BothWays(t, graph.Values{source: layertest.ValueOf(source, from...), target: layertest.ValueOf(target, to...)}, m.Output)[0].Data
	}
	base := one([]float64{0, 1, 2, 3}, []float64{3, 2, 1, 0})
	for place := range 4 {
		to := []float64{3, 2, 1, 0}
		to[place] = 4
		for p, v := range one([]float64{0, 1, 2, 3}, to) {
			if knows := p/5 > place; knows != (v != base[p]) {
				t.Errorf("token %d changes the prediction at %d from %v to %v", place, p/5, base[p], v)
			}
		}
	}
	for p, v := range one([]float64{0, 1, 4, 3}, []float64{3, 2, 1, 0}) {
		if v == base[p] {
			t.Errorf("the source does not change the prediction at %d", p/5)
		}
	}
}

// TestGPTPredicts: the tokens up to a place decide its prediction.
func TestGPTPredicts(t *testing.T) {
	m := layertest.Build(t, "transformer-gpt", builders.Settings{"b": 1, "t": 3, "positions": 1})
	text := m.Graph.Lookup("text")
	one := func(tokens ...float64) []float64 {
		return layertest.BothWays(t, graph.Values{text: layertest.ValueOf(text, tokens...)}, m.Output)[0].Data
	}
	base, other := one(0, 1, 2, 3), one(0, 4, 2, 3)
	for p := range base {
		if knows := p/5 >= 1; knows != (base[p] != other[p]) {
			t.Errorf("token 1 changes the prediction at %d from %v to %v", p/5, base[p], other[p])
		}
	}
	for p, v := range one(0, 1, 2, 4) {
		if v != base[p] {
			t.Error("the last token, which is only to be predicted, changes a prediction")
		}
	}
}

// TestPlacesBesideTokens: places of fewer features than the blocks stand behind those of a token,
// which has the rest of them.
func TestPlacesBesideTokens(t *testing.T) {
	const words, width, own = 5, 4, 3 // of the 4 features 3 are the token's
	g := graph.New("beside")
	b := small(0) // what reads the tokens is the output alone
	b.Post = true
	tokens := g.Input("tokens", graph.I64, graph.Ax("b", 1), graph.Ax("t", 2))
	l := builders.NewLanguageModel(g, graph.F64, b, graph.Ax("w", words), attention.NewPositions(g, "p", graph.F64, graph.Ax("t", 2), graph.Ax("m", width-own)))
	out := layertest.BothWays(t, graph.Values{tokens: layertest.ValueOf(tokens, 4, 1)}, l.Of(tokens), l.Tokens.Table, l.Places, l.Output.W, l.Output.B)
	got, table, p, w, bias := out[0].Data, out[1].Data, out[2].Data, out[3].Data, out[4].Data
	if len(table) != words*own {
		t.Fatalf("the table of tokens is %v", l.Tokens.Table)
	}
	for place, token := range []int{4, 1} {
		for k := range words {
			want := bias[k] + p[place]*w[own*words+k]
			for i := range own {
				want += table[token*own+i] * w[i*words+k]
			}
			if v := got[place*words+k]; math.Abs(v-want) > 1e-12 {
				t.Errorf("logit %d at place %d is %v, want %v", k, place, v, want)
			}
		}
	}
}

// TestHiddenTokens: a hidden token does not show, and the loss counts hidden ones alone.
func TestHiddenTokens(t *testing.T) {
	m := layertest.Build(t, "transformer-bert", builders.Settings{"b": 1, "t": 3})
	tokens, hidden := m.Graph.Lookup("tokens"), m.Graph.Lookup("hidden")
	logits := m.Graph.Lookup("logits")
	each := ops.LogSoftmax(logits, -1)
	one := func(mask []float64, what ...float64) []graph.Value {
		return layertest.BothWays(t, graph.Values{tokens: layertest.ValueOf(tokens, what...), hidden: layertest.ValueOf(hidden, mask...)}, m.Output, m.Loss, each)
	}
	a, b := one([]float64{0, 1, 0}, 2, 3, 4), one([]float64{0, 1, 0}, 2, 0, 4)
	layertest.Same(t, "another hidden token", a[0].Data, b[0].Data)
	if got, want := a[1].Data[0], -a[2].Data[5+3]; got != want {
		t.Errorf("the loss is %v, want %v", got, want)
	}
	if got := one([]float64{0, 0, 0}, 2, 3, 4)[1].Data[0]; got != 0 {
		t.Errorf("the loss with nothing hidden is %v", got)
	}
}

// TestDecoderReadsLevels: block i reads memory i, and blocks beyond the last memory
// read that.
func TestDecoderReadsLevels(t *testing.T) {
	g := graph.New("levels")
	b := small(3)
	x := g.Input("x", graph.F64, graph.Ax("b", 2), graph.Ax("t", 3), b.Width)
	var memory []*graph.Node
	for i := range 2 {
		memory = append(memory, g.Input(fmt.Sprint("memory", i), graph.F64, graph.Ax("b", 2), graph.Ax("s", 3), b.Width))
	}
	d := attention.NewDecoder(g, "decoder", graph.F64, b, b.Width)
	y := d.Blocks[0].Of(x, memory[0], nil, nil)
	y = d.Blocks[1].Of(y, memory[1], nil, nil)
	y = d.Norm.Of(d.Blocks[2].Of(y, memory[1], nil, nil))
	out := layertest.BothWays(t, nil, d.Of(x, memory, nil, nil), y, d.Of(x, memory[1:], nil, nil))
	layertest.Same(t, "levels", out[0].Data, out[1].Data)
	if out[0].Data[0] == out[2].Data[0] {
		t.Error("the first level makes no difference")
	}
	e := attention.NewEncoder(g, "encoder", graph.F64, b)
	levels := e.Levels(x, nil)
	first := e.Norm.Of(e.Blocks[0].Of(x, nil))
	out = layertest.BothWays(t, nil, levels[0], first, levels[2], e.Of(x, nil))
	layertest.Same(t, "the first level", out[0].Data, out[1].Data)
	layertest.Same(t, "the last level", out[2].Data, out[3].Data)
}

// TestSharedWeights: with shared weights the number of parameters does not depend on the
// number of layers, without it does; the layers still are different nodes.
func TestSharedWeights(t *testing.T) {
	for _, name := range []string{"transformer-encoder", "transformer-decoder", "transformer-seq2seq", "transformer-gpt", "transformer-bert"} {
		count := func(layers, shared float64) (params, nodes int) {
			m := layertest.Build(t, name, builders.Settings{"layers": layers, "shared": shared})
			return len(m.Params()), m.Graph.Len()
		}
		one, nodes := count(1, 1)
		three, more := count(3, 1)
		if own, _ := count(3, 0); three != one || own <= three || more <= nodes {
			t.Errorf("%s: %d parameters with one layer, %d with three that share, %d with three of their own", name, one, three, own)
		}
	}
}

// TestChoicesOfTransformers: every choice and every size of 1 builds, and the
// tape agrees on its loss.
func TestChoicesOfTransformers(t *testing.T) {
	for _, family := range builders.Families() {
		if family.Name != "attention" && family.Name != "position" && family.Name != "transformer" {
			continue
		}
		for _, b := range family.Builders {
			for _, z := range b.Hyperparameters {
				for c := range z.Choices {
					m := layertest.Build(t, b.Name, builders.Settings{z.Name: float64(c)})
					feed := graph.Values(m.Examples(rand.New(rand.NewPCG(3, 4))))
					if v := layertest.BothWays(t, feed, m.Loss)[0].Data[0]; !(v > 0 && v < 1000) {
						t.Errorf("%s with %s = %s: loss %v", b.Name, z.Name, z.Choices[c], v)
					}
				}
				if z.Kind == builders.Count && z.Name != "heads" && !strings.HasSuffix(z.Doc, "two a hand") {
					settings := builders.Settings{z.Name: 1}
					if slices.ContainsFunc(b.Hyperparameters, func(z builders.Hyperparameter) bool { return z.Name == "heads" }) {
						settings["heads"] = 1
					}
					m := layertest.Build(t, b.Name, settings)
					layertest.BothWays(t, graph.Values(m.Examples(rand.New(rand.NewPCG(3, 4)))), m.Loss)
				}
			}
		}
	}
}

func TestTransformerMistakes(t *testing.T) {
	layertest.Mistaken(t, layertest.ArrayOf(graph.F32, graph.Ax("b", 2), graph.Ax("t", 3), graph.Ax("m", 4)), map[string]func(g *graph.Graph, x *graph.Node){
		"feed-forward":  func(_ *graph.Graph, x *graph.Node) { nn.FeedForward{}.Of(x) },
		"encoder block": func(_ *graph.Graph, x *graph.Node) { attention.EncoderBlock{}.Of(x, nil) },
		"decoder block": func(_ *graph.Graph, x *graph.Node) { attention.DecoderBlock{}.Of(x, nil, nil, nil) },
		"no memory":     func(_ *graph.Graph, x *graph.Node) { attention.Decoder{}.Of(x, nil, nil, nil) },
		"nil memory": func(g *graph.Graph, x *graph.Node) {
			attention.NewDecoder(g, "d", graph.F32, small(1), graph.Ax("m", 4)).Of(x, []*graph.Node{nil}, nil, nil)
		},
		"nil input": func(g *graph.Graph, x *graph.Node) {
			ops.Add(x, attention.NewEncoder(g, "e", graph.F32, small(1)).Of(nil, nil))
		},
		"no layer": func(g *graph.Graph, x *graph.Node) {
			nn.Residual(x, nn.NewLayerNorm(g, "n", graph.F32, graph.Ax("m", 4)), true, nil)
		},
		"no activation": func(g *graph.Graph, x *graph.Node) {
			builders.Perceptron(x, []nn.Linear{nn.NewLinear(g, "l", graph.F32, graph.Ax("m", 4), graph.Ax("m", 4))}, nil)
		},
		"embedding":   func(_ *graph.Graph, x *graph.Node) { nn.Embedding{}.Of(x) },
		"language":    func(_ *graph.Graph, x *graph.Node) { builders.LanguageModel{}.Of(x) },
		"masked":      func(_ *graph.Graph, x *graph.Node) { builders.MaskedModel{}.Of(x, nil) },
		"transformer": func(_ *graph.Graph, x *graph.Node) { builders.Transformer{}.Of(x, nil) },
		"hidden":      func(_ *graph.Graph, x *graph.Node) { nn.HiddenCrossEntropy(x, nil, nil) },
		"no heads": func(g *graph.Graph, x *graph.Node) {
			b := small(1)
			b.Heads = 0
			attention.NewEncoder(g, "e", graph.F32, b).Of(x, nil)
		},
	})
	for _, name := range []string{"transformer-encoder", "transformer-decoder", "transformer-seq2seq", "transformer-gpt", "transformer-bert"} {
		if _, err := builders.Build(name, builders.Settings{"heads": 3}, graph.F32); err == nil || !strings.Contains(err.Error(), "3 heads cannot share 8 features evenly") {
			t.Errorf("%s with 3 heads: %v", name, err)
		}
	}
}

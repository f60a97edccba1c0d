package builders

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Bag returns the scores s[… w] of all words w to stand between the words o[… k] around them: the
// opposite of a skip-gram, the continuous bag of words (Mikolov et al., 2013; the notes on word
// embeddings name it). It averages the vectors of o, so their order does not count:
//
//	s_w = ⟨v_w, mean_k u_{o_k}⟩,  p(w | o) = softmax_w(s)
//
// with v and u as in a [SkipGram], whose vectors v are kept in the end.
func (l SkipGram) Bag(o *graph.Node) *graph.Node {
	defer graph.Of(l.V, l.U, o).Scope("bag")()
	u := build.Rows("SkipGram", l.U, o).As("u_o")
	return ops.MatMul(ops.Mean(u, -2).As("ū"), ops.Transpose(l.V)).As("s")
}

var bagOfWords = Builder{
	Name:            "word2vec-bag",
	Title:           "word2vec: a word from the words around it",
	Notes:           "word embeddings: the opposite question, predict a word from its neighbours",
	Formula:         "p(c | o₁ … o_K) = softmax_w(⟨v_w, meanₖ u_{oₖ}⟩);  loss = −mean log p(c | o₁ … o_K)",
	Hyperparameters: []Hyperparameter{sizePairs, sizeWords, sizeVector, {Name: "k", Default: 3, Doc: "words around the one that is asked for", Kind: Count}},
	make: func(s Settings, dt graph.DType, m *Model) {
		g := m.Graph
		c, o := g.Input("c", graph.I64, s.ax("i")), g.Input("o", graph.I64, s.ax("i"), s.ax("k"))
		scores := NewSkipGram(g, dt, s.ax("w"), s.ax("m")).Bag(o)
		m.Output = ops.Softmax(scores, -1).As("p")
		m.Loss = nn.CrossEntropy(scores, c).As("loss")
		m.Examples = func(rng *rand.Rand) graph.Values {
			centre := build.Drawn(c.Type(), func() float64 { return float64(rng.IntN(s.Int("w"))) })
			return graph.Values{c: centre, o: company(rng, centre, o.Type(), s.Int("w"))}
		}
	},
}

// company draws for each centre word c[i] words o[i k] of its group, see [pairs]: others
// where there are any.
func company(rng *rand.Rand, centre graph.Value, t graph.Type, words int) graph.Value {
	k := t.Shape.Dim(1)
	return build.Computed(t, func(p int) float64 {
		c := int(centre.Data[p/k])
		others := (words-c%2+1)/2 - 1
		if others == 0 {
			return float64(c)
		}
		o := rng.IntN(others)
		if o >= c/2 {
			o++
		}
		return float64(c%2 + 2*o)
	})
}

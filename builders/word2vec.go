package builders

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// SkipGram learns vectors of words from their neighbours: the vector of a centre word predicts the
// words around it (Mikolov et al., 2013; the notes on word embeddings). Each word has two vectors,
// one as centre and one as context, so that no word must be like itself.
type SkipGram struct {
	V *graph.Node // v[w m]: of words as centre, the vectors that are kept
	U *graph.Node // u[w m]: of words as context
}

// skipGramStd is small: words start near each other, where the softmax is flat.
const skipGramStd = 0.1

// NewSkipGram adds the parameters v[w m] and u[w m].
func NewSkipGram(g *graph.Graph, dt graph.DType, vocabulary, m graph.Axis) SkipGram {
	table := func(name string) *graph.Node {
		return g.Param(name, dt, vocabulary, m).Init(initial.Normal(0, skipGramStd))
	}
	return SkipGram{table("v"), table("u")}
}

// Scores returns the scores s[… w] of all words w as neighbours of the centre words c[…], i32 or
// i64: the inner products of their vectors,
//
//	s_w = u_w·v_c,  p(w | c) = softmax_w(s)
func (l SkipGram) Scores(c *graph.Node) *graph.Node {
	v := build.Rows("SkipGram", l.V, c).As("v_c")
	return ops.MatMul(v, ops.Transpose(l.U)).As("s")
}

// NegativeSampling returns a loss, a scalar, that asks for each centre word c[i] whether its
// context is the word o[i] of the text, or one of the random words n[i k]:
//
//	loss = −mean_i (log σ(u_o·v_c) + Σ_k log σ(−u_n·v_c))
//
// A pair needs the context vectors of k + 1 words instead of all (Mikolov et al., 2013).
// [Negatives] draws n[i k]. c and o may have any axes, n the same and one more.
func (l SkipGram) NegativeSampling(c, o, n *graph.Node) *graph.Node {
	defer graph.Of(l.V, l.U, c, o, n).Scope("negative sampling")()
	v, u, others := build.Rows("SkipGram", l.V, c).As("v_c"), build.Rows("SkipGram", l.U, o).As("u_o"), build.Rows("SkipGram", l.U, n).As("u_n")
	right := ops.Sum(ops.Mul(u, v), -1).As("s_o")
	wrong := ops.Sum(ops.Mul(others, ops.Expand(v, -2, "")), -1).As("s_n")
	// The compiler gives log σ the form that is finite for any score.
	likely := ops.Add(ops.Log(ops.Sigmoid(right)), ops.Sum(ops.Log(ops.Sigmoid(ops.Neg(wrong))), -1))
	return ops.Neg(ops.Mean(likely))
}

// negativePower flattens the frequencies of words for the lottery, as word2vec does.
const negativePower = 0.75

// Negatives draws words[axes…], i64, anew in every run: word w of the vocabulary has a probability
// proportional to counts_w^¾ (Mikolov et al., 2013). A draw may hit a right word, as in the
// original. A word is drawn as the number of words whose cumulative probability is below a uniform
// number ξ. Counts that are negative or not finite, another number of counts than words, and no
// count above 0 are mistakes.
func Negatives(g *graph.Graph, dt graph.DType, vocabulary graph.Axis, counts []float64, axes ...graph.Axis) *graph.Node {
	occurs := false
	for w, c := range counts {
		if !(c >= 0) || math.IsInf(c, 1) {
			return g.Fail("Negatives", fmt.Errorf("word %d occurs %v times: want a finite number of at least 0", w, c))
		}
		occurs = occurs || c > 0
	}
	switch {
	case len(counts) != vocabulary.Size:
		return g.Fail("Negatives", fmt.Errorf("%d counts of the words of %v", len(counts), vocabulary))
	case !occurs:
		return g.Fail("Negatives", fmt.Errorf("no word of %d occurs", len(counts)))
	}
	return negatives(g, dt, vocabulary, func(w int) float64 { return counts[w] }, axes)
}

// negatives is like [Negatives] of counts that need not be held.
func negatives(g *graph.Graph, dt graph.DType, vocabulary graph.Axis, count func(w int) float64, axes []graph.Axis) *graph.Node {
	defer g.Scope("negatives")()
	P := g.ConstantFunc(dt, func(cumulative []float64) {
		total := 0.0
		for w := range cumulative {
			total += math.Pow(count(w), negativePower)
			cumulative[w] = total
		}
		for w := range cumulative {
			// total/total is 1 and ξ below it: a word behind the last that occurs is never drawn.
			cumulative[w] /= total
		}
	}, vocabulary).As("P")
	ξ := ops.RandomUniform(g, "ξ", dt, axes...).As("ξ")
	passed := ops.GreaterEqual(build.EveryPair(ξ, P))
	return ops.Cast(ops.Sum(ops.Cast(passed, dt), -1), graph.I64).As("n")
}

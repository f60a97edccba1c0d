package main

import (
	"math"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

const (
	dimensions = 64 // of a vector
	negatives  = 5  // words from the lottery to each pair
)

// build is the skip-gram with negative sampling over the words of a corpus. Evaluating, its
// output is log p(o | c) of every word o, but for a constant, and its loss the
// cross-entropy of the right one.
func (c *corpus) build(rows int, mode train.Mode) *train.Net {
	g := graph.New("word2vec")
	i, w := graph.Ax("i", rows), graph.Ax("w", c.words.Len())
	centre, other := g.Input("c", graph.I32, i), g.Input("o", graph.I32, i)
	model := builders.NewSkipGram(g, graph.F32, w, graph.Ax("m", dimensions))
	if mode == train.Training {
		counts := make([]float64, w.Size)
		for k, n := range c.words.Counts() {
			counts[k] = float64(n)
		}
		n := builders.Negatives(g, graph.F32, w, counts, i, graph.Ax("k", negatives))
		return &train.Net{Loss: model.NegativeSampling(centre, other, n).As("loss")}
	}
	scores := ops.Add(model.Scores(centre), g.Constant(graph.F32, c.prior(), w).As("prior")).As("scores")
	return &train.Net{Loss: nn.CrossEntropy(scores, other), Output: scores}
}

// prior returns the part of log p that a score lacks: negative sampling makes u_o·v_c the logarithm
// of how much more often o occurs with c, after subsampling, than in the random words (Levy &
// Goldberg, 2014),
//
//	u_o·v_c = log p(o | c) + log keep_o − ¾ log count_o + const
func (c *corpus) prior() []float64 {
	p := make([]float64, c.words.Len())
	for w, n := range c.words.Counts() {
		p[w] = 0.75*math.Log(float64(n)) - math.Log(c.keep[w])
	}
	return p
}

package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// Next reads one token of each text per run. For token[b] it returns the logits[b w] that
// [LanguageModel.Of] returns at the place of that token, if earlier runs have read the tokens
// before it. A token costs one place of every block instead of all, because the keys and values of
// earlier tokens are kept (the key/value cache; Pope et al., 2022):
//
//	k[:, place] ← x·Wk,  v[:, place] ← x·Wv,  y = softmax(q·kᵀ/√d over u ≤ place)·v
//
// The step writes them to the states decoder/blockᵢ/self-attention/cache/k[b t he] and …/cache/v,
// and counts the tokens in cache/place. The parameters are those of Of, at the same paths. A scalar
// fresh other than 0 begins new texts: the token is their first, and nothing of the old texts has
// any influence, not even as NaN.
//
// There is room for [LanguageModel.Window] tokens, as many as there are positions; one more is a
// [trait.IndexError]. To go on, begin afresh and read the last tokens again, for example half of
// the window. Their cached values are of no use, since each token then has another position.
func (l LanguageModel) Next(token, fresh *graph.Node) (logits *graph.Node, step graph.Step) {
	g := graph.Of(token, fresh, l.Places)
	if !l.Places.IsValid() || l.Places.Rank() != 1 && l.Places.Rank() != 2 {
		return g.Fail("LanguageModel", errNoPlaces, l.Places), nil
	}
	room := l.Places.Shape().Axis(0)
	c := attention.NewCache(g, room.Size, fresh)
	x, p := ops.Expand(l.Tokens.Of(token), -2, room.Name), l.Places
	if p.Rank() == 2 {
		p = ops.Expand(build.Rows("LanguageModel", p, c.Place), 0, room.Name).As("p")
	}
	y := l.Stack.Next(withPlaces(x, p, l.Output), c)
	return ops.Squeeze(l.Output.Of(y), -2).As("logits"), c.Step
}

// Window returns how many tokens the model can look back on, including its own.
func (l LanguageModel) Window() int {
	if !l.Places.IsValid() {
		return 0
	}
	return l.Places.Dim(0)
}

var errNoPlaces = &graph.Mistake{Problem: "want vectors of places p[t m], or their times", Fix: "give what NewPositions or Sinusoidal makes"}

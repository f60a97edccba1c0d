package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
)

// Next reads one token of each text a run: for token[b] it gives the logits[b w] that
// [LanguageModel.Of] gives at the place of that token, if the runs before have read
// those before it. A token costs one place of every block instead of all, because the
// keys and values of the earlier tokens stay as they are and are kept (the key/value
// cache; Pope et al., 2022):
//
//	k[:, place] ← x·Wk,  v[:, place] ← x·Wv,  y = softmax(q·kᵀ/√d over u ≤ place)·v
//
// The step writes them to the states decoder/blockᵢ/self-attention/cache/k[b t he] and
// …/cache/v, and counts the tokens in cache/place. Parameters are those of Of, at the same
// paths. A scalar fresh that is not 0 begins new texts: the token is the first of them,
// and nothing of the old ones has influence, not even as NaN.
//
// There is room for [LanguageModel.Window] tokens, as many as there are vectors of
// places; one more is a [graph.IndexError]. To go on, begin afresh and read the last of the
// tokens again, for example half of them: each is at another place then, so what was kept
// of it is of no use.
func (l LanguageModel) Next(token, fresh *graph.Node) (logits *graph.Node, step graph.Step) {
	g := graph.Of(token, fresh, l.Places)
	if !l.Places.IsValid() || l.Places.Rank() != 2 {
		return g.Fail("LanguageModel", errNoPlaces, l.Places), nil
	}
	room := l.Places.Shape().Axis(0)
	c := attention.NewCache(g, room.Size, fresh)
	x := attention.AddPositions(l.Tokens.Of(token), build.Rows("LanguageModel", l.Places, c.Place).As("p")).As("x")
	y := l.Stack.Next(ops.Expand(x, -2, room.Name), c)
	return ops.Squeeze(l.Output.Of(y), -2).As("logits"), c.Step
}

// Window returns how many tokens the model can look back on, its own among them.
func (l LanguageModel) Window() int {
	if !l.Places.IsValid() {
		return 0
	}
	return l.Places.Dim(0)
}

var errNoPlaces = &graph.Mistake{Problem: "want vectors of places p[t m]", Fix: "give what NewPositions or Sinusoidal makes"}

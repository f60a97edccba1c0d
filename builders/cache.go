package builders

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
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
	c := newCache(g, room.Size, fresh)
	x := AddPositions(l.Tokens.Of(token), rows("LanguageModel", l.Places, c.place).As("p")).As("x")
	y := l.Stack.next(ops.Expand(x, -2, room.Name), c)
	return ops.Squeeze(l.Output.Of(y), -2).As("logits"), c.step
}

// Window is how many tokens the model can look back on, its own among them.
func (l LanguageModel) Window() int {
	if !l.Places.IsValid() {
		return 0
	}
	return l.Places.Dim(0)
}

var errNoPlaces = &graph.Mistake{Problem: "want vectors of places p[t m]", Fix: "give what NewPositions or Sinusoidal makes"}

// next is the stack's output for x[b 1 m], the token at the cache's place.
func (e Encoder) next(x *graph.Node, c *cache) *graph.Node {
	levels := e.levels(x, func(block EncoderBlock, x *graph.Node) *graph.Node {
		return block.with(x, func(x *graph.Node) *graph.Node { return block.Attention.next(x, c) })
	})
	return levels[len(levels)-1]
}

// next is attention of x[b 1 m] to itself and to what the cache holds.
func (a MultiHead) next(x *graph.Node, c *cache) *graph.Node {
	defer within(a.Name, x)()
	q, k, v := a.QKV.Of(x, x)
	return a.look(q, c.keep("k", k), c.keep("v", v), c.seen)
}

// cache is the states of an attention whose tokens come one a run.
type cache struct {
	place      *graph.Node // of the token at hand: how many came before it
	room       int
	here, past *graph.Node // masks [t 1] of its place and of those before
	seen       *graph.Node // mask [1 t] of both
	step       graph.Step
}

func newCache(g *graph.Graph, room int, fresh *graph.Node) *cache {
	defer g.Scope("cache")()
	count := g.State("place", graph.I64)
	place := ops.Select(begins(fresh), ops.Lit(count, 0), count)
	at := counting(g, graph.I64, graph.Axis{Size: room})
	return &cache{
		place: place, room: room,
		here: ops.Expand(ops.Equal(at, place), -1, ""), past: ops.Expand(ops.Less(at, place), -1, ""),
		seen: ops.Expand(ops.LessEqual(at, place), 0, "").As("seen"),
		step: graph.Step{g.Assign(count, ops.Shift(place, 1))},
	}
}

// begins is the mask of a scalar that is not 0 where a text begins.
func begins(fresh *graph.Node) *graph.Node {
	if fresh.IsValid() && fresh.Rank() > 0 {
		return fresh.Graph().Fail("fresh", &graph.Mistake{Problem: fmt.Sprintf("it has shape %v", fresh.Shape()), Fix: "want a scalar, of which 1 begins new texts"}, fresh)
	}
	return ops.NotEqual(fresh, ops.Lit(fresh, 0))
}

// keep writes y[b 1 he] to its place in the state NAME and gives all that is there:
// zeros where nothing was written yet, whatever is left of an earlier text.
func (c *cache) keep(name string, y *graph.Node) *graph.Node {
	if !y.IsValid() {
		return y
	}
	g := y.Graph()
	defer g.Scope("cache")()
	axes := y.Shape().Axes()
	axes[len(axes)-2].Size = c.room
	old := g.State(name, y.DType(), axes...)
	now := ops.Select(c.here, ops.Rename(y, -2, ""), ops.Select(c.past, old, ops.Lit(old, 0)))
	c.step = append(c.step, g.Assign(old, now))
	return now
}

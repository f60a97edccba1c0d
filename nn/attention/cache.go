package attention

import (
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Next returns what [Encoder.Of] with a causal mask returns for a token x[b 1 m] at its place, y[b
// 1 m], if earlier runs have put the tokens before it into the cache. A nil cache is a mistake.
func (e Encoder) Next(x *graph.Node, c *Cache) *graph.Node {
	levels := e.levels(x, func(block EncoderBlock, x *graph.Node) *graph.Node {
		return block.with(x, func(x *graph.Node) *graph.Node { return block.Attention.next(x, c) })
	})
	return levels[len(levels)-1]
}

// next returns attention of x[b 1 m] to itself and to the tokens in the cache.
func (a MultiHead) next(x *graph.Node, c *Cache) *graph.Node {
	if c == nil {
		return graph.Of(x).Fail("MultiHead", errNoCache, x)
	}
	defer build.Within(a.Name, x)()
	q, k, v := a.QKV.Of(x, x)
	var at *graph.Node
	if a.Rotary {
		at = ops.Expand(ops.Cast(c.Place, build.DType(q)), 0, "")
	}
	return a.look(q, c.keep("k", k), c.keep("v", v), c.seen, at)
}

var errNoCache = errors.New("the cache is nil (NewCache makes one)")

// Cache holds the keys and values of attention layers that read one token a run. Once all layers
// have been applied, its Step writes them.
type Cache struct {
	Place      *graph.Node // of the token at hand: how many came before it
	room       int
	here, past *graph.Node // masks [t 1] of its place and of those before
	seen       *graph.Node // mask [1 t] of both
	Step       graph.Step
}

// NewCache adds the state cache/place, and, with the layers that use the cache, states for their
// keys and values, for texts of up to room tokens. A scalar fresh other than 0 begins new texts.
func NewCache(g *graph.Graph, room int, fresh *graph.Node) *Cache {
	if g == nil {
		g = graph.Of(fresh)
	}
	defer g.Scope("cache")()
	count := g.State("place", graph.I64)
	place := ops.Select(build.Begins(fresh), ops.Lit(count, 0), count)
	at := build.Counting(g, graph.I64, graph.Axis{Size: room})
	return &Cache{
		Place: place, room: room,
		here: ops.Expand(ops.Equal(at, place), -1, ""), past: ops.Expand(ops.Less(at, place), -1, ""),
		seen: ops.Expand(ops.LessEqual(at, place), 0, "").As("seen"),
		Step: graph.Step{g.Assign(count, ops.Shift(place, 1))},
	}
}

// keep writes y[b 1 he] to its place in the state NAME and gives all that is there:
// zeros where nothing was written yet, whatever is left of an earlier text.
func (c *Cache) keep(name string, y *graph.Node) *graph.Node {
	if !y.IsValid() {
		return y
	}
	g := y.Graph()
	defer g.Scope("cache")()
	axes := y.Shape().Axes()
	axes[len(axes)-2].Size = c.room
	old := g.State(name, y.DType(), axes...)
	now := ops.Select(c.here, ops.Rename(y, -2, ""), ops.Select(c.past, old, ops.Lit(old, 0)))
	c.Step = append(c.Step, g.Assign(old, now))
	return now
}

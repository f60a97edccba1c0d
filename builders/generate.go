package builders

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Training sees all places of a target at once, because the right tokens are known
// (teacher forcing). Generation does not: each token is made before the next can be. The
// functions here write the steps out, each a pass of the net over all that is said so
// far, and take the likeliest token at each.

// Generate continues the tokens prompt[b t], i64, by the n likeliest tokens, one after the other,
// and returns all: [b t+n]. The model's positions must reach t + n − 1.
func (l LanguageModel) Generate(prompt *graph.Node, n int) *graph.Node {
	g := graph.Of(prompt, l.Tokens.Table, l.Places)
	defer g.Scope("generate")()
	if !prompt.IsValid() || n < 0 || prompt.Rank() == 0 || !reaches(l.Places, build.Last(prompt).Size+n-1) {
		return unspoken(g, n, prompt, l.Places)
	}
	said := prompt
	for range n {
		net := l
		net.Places = firstPlaces(l.Places, build.Last(said).Size)
		said = ops.Concat(-1, said, likeliest(net.Of(said)))
	}
	return said.As("said")
}

// Generate writes a target of n tokens, [b n], for a source[b s], by the likeliest token at every
// place. The source is read once. The positions of the target must reach n.
func (m Transformer) Generate(source *graph.Node, n int) *graph.Node {
	g := graph.Of(source, m.Read, m.Written)
	defer g.Scope("generate")()
	if !source.IsValid() || n < 1 || source.Rank() == 0 || !reaches(m.Written, n) {
		return unspoken(g, n, source, m.Written)
	}
	memory := m.memory(source)
	first := ops.Slice(source, -1, 0, 1)
	heard := ops.Rename(ops.BroadcastTo(ops.Lit(source, float64(build.Last(m.Output.W).Size)), first.Shape()), -1, m.Written.Shape().Axis(0).Name)
	for range n {
		x := embedded(m.Target, firstPlaces(m.Written, build.Last(heard).Size), heard, m.Output)
		y := m.Decoder.Of(x, memory, causalFor(heard), nil)
		heard = ops.Concat(-1, heard, likeliest(m.Output.Of(y).As("logits")))
	}
	return ops.Slice(heard, -1, 1, n+1).As("said") // without the start token
}

// likeliest returns the best token of the last place of logits[b t w]: [b 1].
func likeliest(logits *graph.Node) *graph.Node {
	if !logits.IsValid() {
		return logits
	}
	t := logits.Shape().Axis(-2 + logits.Rank())
	return ops.ArgMax(ops.Slice(logits, -2, t.Size-1, t.Size), -1)
}

// firstPlaces returns the first n places of p[t m], or of the times t[t].
func firstPlaces(p *graph.Node, n int) *graph.Node { return ops.Slice(p, 0, 0, n) }

// reaches reports whether p[t m], or the times t[t], have n places.
func reaches(p *graph.Node, n int) bool {
	return p.IsValid() && (p.Rank() == 1 || p.Rank() == 2) && p.Dim(0) >= n
}

// unspoken records why n tokens cannot be generated.
func unspoken(g *graph.Graph, n int, in, places *graph.Node) *graph.Node {
	return g.Fail("Generate", fmt.Errorf("%d tokens more: want tokens [b t] to begin with and places p[t m] for all", n), in, places)
}

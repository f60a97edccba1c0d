package main

import (
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// scores are how the decoder looks back at what was read; with none it does not, and has
// to do with the encoder's last state.
var scores = []string{"none", "dot", "multiplicative", "additive"}

// translator adds the parameters of a translator to a graph. Two GRUs read the text, one
// forward and one backward; a third says the date, one character after the other.
func translator(g *graph.Graph, score string) builders.Seq2Seq {
	const width = 64
	m, h, c := graph.Ax("m", 32), graph.Ax("h", 2*width), graph.Ax("c", 2*width)
	seen := graph.Ax("as", h.Size+c.Size) // [a; s]
	var net builders.Seq2Seq

	end := g.Scope("encoder")
	way := func(name string) builders.Recur {
		return builders.Recur{Name: name, Cell: builders.NewGRU(g, name, graph.F32, m, graph.Ax("h", width))}
	}
	net.Source = builders.NewEmbedding(g, "character", graph.F32, graph.Ax("v", textCharacters.Len()), m)
	net.Encoder = builders.Bidirectional{Forward: way("forward"), Backward: way("backward")}
	end()

	defer g.Scope("decoder")()
	switch score {
	case "none":
		seen = c
	case "dot":
		c.Name = h.Name // the features of both states are compared as they are
		net.Score = builders.DotScore{}
	case "multiplicative":
		net.Score = builders.NewMultiplicativeScore(g, graph.F32, c, h)
	case "additive":
		net.Score = builders.NewAdditiveScore(g, graph.F32, c, h, graph.Ax("a", width))
	}
	net.Target = builders.NewEmbedding(g, "character", graph.F32, graph.Ax("w′", isoCharacters.Len()+1), m) // one more: the start
	net.Cell = builders.NewGRU(g, "cell", graph.F32, m, c)
	net.Output = builders.NewLinear(g, "output", graph.F32, seen, graph.Ax("w", isoCharacters.Len()))
	return net
}

// build makes the translator for training, with the right characters before each one, or
// for evaluating: then it has what it said itself.
func build(score string) train.Build {
	return func(rows int, mode train.Mode) *train.Net {
		g := graph.New("dates: " + score)
		b, s := graph.Ax("b", rows), graph.Ax("s", textLength)
		text, length := g.Input("text", graph.I32, b, s), g.Input("length", graph.I32, b)
		net := translator(g, score).Masked(builders.Present(length, s))
		if mode == train.Evaluating {
			said := net.Free(text, graph.Ax("t", isoLength), builders.Likeliest)
			return &train.Net{Output: ops.Cast(ops.ArgMax(said.Logits, -1), graph.I32).As("said")}
		}
		iso := g.Input("iso", graph.I32, b, graph.Ax("t", isoLength))
		return &train.Net{Loss: builders.CrossEntropy(net.Forced(text, iso).Logits, iso).As("loss")}
	}
}

package main

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/nn/rnn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// scores are the ways in which the decoder looks back at the text; with none it does not, and has
// only the encoder's last state.
var scores = []string{"none", "dot", "multiplicative", "additive"}

// translator adds the parameters of a translator to a graph. Two GRUs read the text, one forward
// and one backward; a third writes the date, one character after the other.
func translator(g *graph.Graph, score string) rnn.Seq2Seq {
	const width = 64
	m, h, c := graph.Ax("m", 32), graph.Ax("h", 2*width), graph.Ax("c", 2*width)
	seen := graph.Ax("as", h.Size+c.Size) // [a; s]
	var net rnn.Seq2Seq

	end := g.Scope("encoder")
	way := func(name string) rnn.Recur {
		return rnn.Recur{Name: name, Cell: rnn.NewGRU(g, name, graph.F32, m, graph.Ax("h", width))}
	}
	net.Source = nn.NewEmbedding(g, "character", graph.F32, graph.Ax("v", textCharacters.Len()), m)
	net.Encoder = rnn.Bidirectional{Forward: way("forward"), Backward: way("backward")}
	end()

	defer g.Scope("decoder")()
	switch score {
	case "none":
		seen = c
	case "dot":
		c.Name = h.Name // the features of both states are compared as they are
		net.Score = attention.DotScore{}
	case "multiplicative":
		net.Score = attention.NewMultiplicativeScore(g, graph.F32, c, h)
	case "additive":
		net.Score = attention.NewAdditiveScore(g, graph.F32, c, h, graph.Ax("a", width))
	}
	net.Target = nn.NewEmbedding(g, "character", graph.F32, graph.Ax("w′", isoCharacters.Len()+1), m) // one more: the start
	net.Cell = rnn.NewGRU(g, "cell", graph.F32, m, c)
	net.Output = nn.NewLinear(g, "output", graph.F32, seen, graph.Ax("w", isoCharacters.Len()))
	return net
}

// build makes the translator for training, with the right characters before each one, or for
// evaluation, with its own characters.
func build(score string) train.Build {
	return func(rows int, mode train.Mode) *train.Net {
		g := graph.New("dates: " + score)
		b, s := graph.Ax("b", rows), graph.Ax("s", textLength)
		text, length := g.Input("text", graph.I32, b, s), g.Input("length", graph.I32, b)
		net := translator(g, score).Masked(nn.Present(length, s))
		if mode == train.Evaluating {
			said := net.Free(text, graph.Ax("t", isoLength), rnn.Likeliest)
			return &train.Net{Output: ops.Cast(ops.ArgMax(said.Logits, -1), graph.I32).As("said")}
		}
		iso := g.Input("iso", graph.I32, b, graph.Ax("t", isoLength))
		return &train.Net{Loss: nn.CrossEntropy(net.Forced(text, iso).Logits, iso).As("loss")}
	}
}

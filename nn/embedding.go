package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
)

// Embedding turns tokens into vectors that are learnt: row w of a table for token w.
type Embedding struct {
	Name  string      // of the scope that its operation stands in; "" for none
	Table *graph.Node // table[v m]
}

// NewEmbedding adds the parameter NAME/table[v m], which starts as standard normal
// numbers unless another initialiser is given: a table that is also the weights of the
// output wants smaller ones.
func NewEmbedding(g *graph.Graph, name string, dt graph.DType, vocabulary, m graph.Axis, init ...graph.Init) Embedding {
	defer g.Scope(name)()
	init = append(init, graph.Normal(0, 1))
	return Embedding{name, g.Param("table", dt, vocabulary, m).Init(init[0])}
}

// Of returns the vectors [… m] of tokens[…], whole numbers below the vocabulary's size.
func (e Embedding) Of(tokens *graph.Node) *graph.Node {
	defer build.Within(e.Name, tokens, e.Table)()
	return build.Rows("Embedding", e.Table, tokens).As("vectors")
}

package nn

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
)

// Embedding maps tokens to vectors that are learnt: token w to row w of a table.
type Embedding struct {
	Name  string      // of the scope that its operation stands in; "" for none
	Table *graph.Node // table[v m]
}

// NewEmbedding adds the parameter NAME/table[v m]. It starts as standard normal numbers unless
// another initialiser is given; a table that also serves as the weights of the output should start
// smaller.
func NewEmbedding(g *graph.Graph, name string, dt graph.DType, vocabulary, m graph.Axis, init ...initial.Init) Embedding {
	defer g.Scope(name)()
	init = append(init, initial.Normal(0, 1))
	return Embedding{name, g.Param("table", dt, vocabulary, m).Init(init[0])}
}

// Of returns the vectors [… m] of tokens[…], i32 or i64. A token that the table does not have is a
// [trait.IndexError] when the program runs.
func (e Embedding) Of(tokens *graph.Node) *graph.Node {
	defer build.Within(e.Name, tokens, e.Table)()
	return build.Rows("Embedding", e.Table, tokens).As("vectors")
}

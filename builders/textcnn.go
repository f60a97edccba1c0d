package builders

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// TextCNN classifies sequences by their phrases, wherever these occur: it has filters over windows
// of several widths, the maximum of each over time, and a linear layer (Kim, 2014; the notes on CNN
// for text):
//
//	c_i = relu(W·x_{i:i+h} + b),  ĉ = max_i c_i,  scores = V·[ĉ of all widths] + a
//
// With windows of 2 and tanh it does to every pair of neighbouring words what a recurrent net does
// to a word and its state, c = tanh(W·[x_i; x_{i+1}] + b): a convolution over bigrams (the notes,
// from RNN to CNN).
type TextCNN struct {
	Table   *graph.Node // an embedding[v d] for each token
	Filters []nn.Conv   // of each width
	Head    nn.Linear
	Tanh    bool // in place of relu
}

// NewTextCNN adds the parameters of filters with windows of the given widths over tokens below v.
// Wide convolutions also have the windows that reach beyond the ends.
func NewTextCNN(g *graph.Graph, dt graph.DType, v, d, filters, out graph.Axis, widths []int, wide bool) TextCNN {
	m := TextCNN{Table: g.Param("embedding", dt, v, d).Init(initial.Normal(0, 1))}
	for i, k := range widths {
		w := ops.Size(k)
		if wide {
			w = ops.Windows(w, ops.Wide())
		}
		m.Filters = append(m.Filters, nn.NewConv1D(g, build.Numbered("filters", i), dt, d, filters, w))
	}
	all := graph.Axis{Name: filters.Name, Size: filters.Size * len(widths)}
	m.Head = nn.NewLinear(g, "head", dt, all, out)
	return m
}

// Of returns the scores[n k] of sequences tokens[n t], i32 or i64.
func (m TextCNN) Of(tokens *graph.Node) *graph.Node {
	x := build.Rows("TextCNN", m.Table, tokens).As("x")
	var found []*graph.Node
	activation := ops.ReLU
	if m.Tanh {
		activation = ops.Tanh
	}
	for i, l := range m.Filters {
		c := activation(l.Of(x)).As(build.Indexed("c", i))
		found = append(found, ops.Max(c, -2).As(build.Indexed("ĉ", i)))
	}
	return m.Head.Of(ops.Concat(-1, found...))
}

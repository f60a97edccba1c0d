package gorgonia

import (
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	G "gorgonia.org/gorgonia"
)

// Model returns the graph as a model: with what it predicts, which may be nil, and its loss, nil for
// none. Packages check, train, lab and viz take it as they take a model of the registry. Its examples
// are the values that gorgonia's inputs have, and for an input without one normal numbers, or
// indices of the axis that it indexes.
func (m *Imported) Model(output, loss *G.Node) *builders.Model {
	if m == nil {
		return &builders.Model{}
	}
	model := &builders.Model{Builder: m.Builder("gorgonia", output, loss)}
	m.fill(model, output, loss)
	return model
}

// Builder returns a builder of the model, which imports gorgonia's graph anew, with the same options
// and in the element type that it is asked for.
func (m *Imported) Builder(name string, output, loss *G.Node) builders.Builder {
	b := builders.Builder{Name: name, Title: name}
	if m == nil {
		return b
	}
	return builders.Define(b, func(_ builders.Settings, dt graph.DType, model *builders.Model) {
		again, err := Import(m.from, append(m.options[:len(m.options):len(m.options)], Floats(dt))...)
		if err != nil {
			model.Graph.Fail("gorgonia.Import", err)
			return
		}
		again.fill(model, output, loss)
	})
}

func (m *Imported) fill(model *builders.Model, output, loss *G.Node) {
	model.Graph, model.Step = m.Graph, m.Step
	model.Output, model.Loss = m.Node(output), m.Node(loss)
	if model.Output == nil {
		model.Output = model.Loss
	}
	model.Examples = m.examples
}

func (m *Imported) examples(rng *rand.Rand) graph.Values {
	values := graph.Values{}
	for _, n := range m.fed {
		x := m.nodes[n]
		if n.Value() != nil {
			if v, err := arrayOf(n.Value(), x.Type()); err == nil {
				values[x] = v
				continue
			}
		}
		v := graph.NewValue(x.Type())
		for i := range v.Data {
			if x.DType().IsFloat() {
				v.Data[i] = x.DType().Round(rng.NormFloat64())
			} else {
				v.Data[i] = float64(rng.IntN(m.limit(n)))
			}
		}
		values[x] = v
	}
	return values
}

// limit returns how many values an input of whole numbers may take: the size of the shortest axis
// that it indexes.
func (m *Imported) limit(n *G.Node) int {
	limit := 0
	for user, in := range m.operands {
		if kindOf(user) == "byIndicesOp" && len(in) == 2 && in[1] == n {
			if size := in[0].Shape()[attribute(user.Op(), "axis").Int()]; limit == 0 || size < limit {
				limit = size
			}
		}
	}
	return max(limit, 1)
}

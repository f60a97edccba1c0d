package onnx

import (
	"io"
	"slices"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/exporter"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// Begin leaves no input with a default, and writes the defaults to w as a model of its own: it has no
// inputs, and its outputs have the names and the values of those. It is for what runs models and does
// not take an input that has a default, such as ONNX Runtime in browsers: a training begins with the
// outputs of that model.
func Begin(w io.Writer) Option {
	return func(c *exporter.Config) { c.Begin = w }
}

// begun takes the defaults of inputs out of a model, and returns the model that gives them.
func begun(m *format.Model) *format.Model {
	g := &format.Graph{Name: m.Graph.Name}
	m.Graph.Init = slices.DeleteFunc(slices.Clone(m.Graph.Init), func(t *format.Tensor) bool {
		i := slices.IndexFunc(m.Graph.Inputs, func(v *format.Value) bool { return v.Name == t.Name })
		if i < 0 {
			return false
		}
		v, held := m.Graph.Inputs[i], *t
		held.Name = "begin/" + t.Name
		g.Init = append(g.Init, &held)
		g.Nodes = append(g.Nodes, &format.Node{Op: "Identity", Name: t.Name, Inputs: []string{held.Name}, Outputs: []string{t.Name}})
		g.Outputs = append(g.Outputs, v)
		return true
	})
	return &format.Model{IR: m.IR, Producer: m.Producer, ProducerVersion: m.ProducerVersion, Opsets: m.Opsets, Graph: g,
		Metadata: map[string]string{exporter.KeyFormat: m.Metadata[exporter.KeyFormat]}}
}

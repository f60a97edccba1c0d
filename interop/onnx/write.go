package onnx

import (
	"errors"
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/exporter"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/tape"
)

// Option says what [Write] writes, and how.
type Option func(*exporter.Config)

// Fetch makes nodes outputs of the model, in order: values and derivatives alike. An output is called
// by the name of its node ([graph.Node.As]), a leaf by its path, a derivative by x grad/x, and
// another node output. Names that are taken get a number.
func Fetch(nodes ...*graph.Node) Option {
	return func(c *exporter.Config) {
		for _, n := range nodes {
			c.Outputs = append(c.Outputs, exporter.Output{Node: n})
		}
	}
}

// As makes a node an output with a name of its own.
func As(name string, node *graph.Node) Option {
	return func(c *exporter.Config) { c.Outputs = append(c.Outputs, exporter.Output{Name: name, Node: node}) }
}

// Output makes a node an output, as [Fetch] does, and says in the model's metadata that it is what the model
// computes.
func Output(node *graph.Node) Option {
	return func(c *exporter.Config) {
		c.Outputs = append(c.Outputs, exporter.Output{Node: node, Role: exporter.RoleOutput})
	}
}

// Loss makes a scalar an output, as [Fetch] does, and says in the model's metadata that it is the loss.
func Loss(node *graph.Node) Option {
	return func(c *exporter.Config) {
		c.Outputs = append(c.Outputs, exporter.Output{Node: node, Role: exporter.RoleLoss})
	}
}

// Do writes updates, such as those of an optimiser. Each parameter or state that they assign is an input,
// whose default is its value in the store, and its new value is the output NAME.next: whoever feeds outputs
// back trains the model.
func Do(steps ...graph.Step) Option {
	return func(c *exporter.Config) {
		for _, s := range steps {
			c.Updates = append(c.Updates, s...)
		}
	}
}

// A DrawSource says where random numbers come from.
type DrawSource int

// Where random numbers come from.
const (
	FromInputs  DrawSource = iota // each draw is an input of the model, whose law the metadata says
	FromRuntime                   // what runs the model draws them, anew in each run
)

// Draws says where random numbers come from; [FromInputs] without this option.
func Draws(from DrawSource) Option {
	return func(c *exporter.Config) { c.Draws = from == FromRuntime }
}

// AsWritten leaves the graph as it was built. Without it, it is rewritten first as for the tape, so that what
// overflows as written does not overflow.
func AsWritten() Option {
	return func(c *exporter.Config) { c.AsWritten = true }
}

// Write writes the graph of the nodes that options ask for as an ONNX model of version 17 of the
// operators and version 8 of the format. Parameters and states have their values in the store, or fresh
// ones if it is nil. Nodes that ONNX cannot express are one error that names all of them,
// [Unsupported].
func Write(w io.Writer, g *graph.Graph, store *tape.Store, options ...Option) error {
	if w == nil {
		return errNoWriter
	}
	c := configured(options)
	m, err := exporter.Model(g, store, c)
	if err != nil {
		return err
	}
	return written(w, m, c)
}

var errNoWriter = errors.New("onnx: the writer is nil")

func configured(options []Option) (c exporter.Config) {
	for _, o := range options {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// written writes a model.
func written(w io.Writer, m *format.Model, c exporter.Config) (err error) {
	if c.Begin != nil {
		if err := begun(m).Write(c.Begin); err != nil {
			return fmt.Errorf("onnx: %w", err)
		}
	}
	if c.External != nil {
		err = m.WriteExternal(w, *c.External)
	} else {
		err = m.Write(w)
	}
	if err != nil {
		return fmt.Errorf("onnx: %w", err)
	}
	return nil
}

// Unsupported is the error for nodes that ONNX cannot express, with the reason and the user's
// line of each.
type Unsupported = exporter.Unsupported

// Refusal is one node of [Unsupported].
type Refusal = exporter.Refusal

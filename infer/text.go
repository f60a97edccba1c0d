package infer

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Text returns the model's text form, which [ParseModel] reads: a line with the numbers of its
// nodes, and the graph as graph.Graph.Dump writes it.
//
//	speak token %38 fresh %39 logits %222 window 64
//	graph "generator"
//	…
//
// It is an error if the graph has updates that are not in the step.
func (m Model) Text() (string, error) {
	if err := m.check(); err != nil {
		return "", err
	}
	g := m.Token.Graph()
	if n := len(g.Updates()); n != len(m.Step) {
		return "", fmt.Errorf("generator: the graph has %d updates, %d of them in the step: want a graph of its own", n, len(m.Step))
	}
	return fmt.Sprintf("speak token %%%d fresh %%%d logits %%%d window %d\n%v", m.Token.ID(), m.Fresh.ID(), m.Logits.ID(), m.Window, g), nil
}

// ParseModel reads the text form of a model. It knows the operations of package ops.
func ParseModel(text string) (Model, error) {
	var m Model
	var token, fresh, logits int
	err := parse(text, "speak token %%%d fresh %%%d logits %%%d window %d", []any{&token, &fresh, &logits, &m.Window}, func(g *graph.Graph) (err error) {
		if m.Token, err = nodeOf(g, token); err == nil {
			if m.Fresh, err = nodeOf(g, fresh); err == nil {
				m.Logits, err = nodeOf(g, logits)
			}
		}
		m.Step = g.Updates()
		return err
	})
	if err != nil {
		return Model{}, err
	}
	return m, m.check()
}

// Text returns the net's text form, which [ParseForward] reads: a line with the number of rows and
// the output node, and the graph as graph.Graph.Dump writes it.
//
//	predict rows 16 output %57
//	graph "digits"
//	…
func (n Forward) Text() string {
	return fmt.Sprintf("predict rows %d output %%%d\n%v", n.Rows, n.Output.ID(), n.Output.Graph())
}

// ParseForward reads the text form of a net. It knows the operations of package ops.
func ParseForward(text string) (Forward, error) {
	var n Forward
	var output int
	err := parse(text, "predict rows %d output %%%d", []any{&n.Rows, &output}, func(g *graph.Graph) (err error) {
		n.Output, err = nodeOf(g, output)
		return err
	})
	if err == nil && n.Rows < 1 {
		err = fmt.Errorf("model: line 1: for %d rows: want at least 1", n.Rows)
	}
	if err != nil {
		return Forward{}, err
	}
	return n, nil
}

// parse reads the first line by a format and the rest as a graph.
func parse(text, format string, fields []any, of func(g *graph.Graph) error) error {
	first, rest, _ := strings.Cut(text, "\n")
	if n, err := fmt.Sscanf(first+"\n", format+"\n", fields...); err != nil || n != len(fields) {
		return fmt.Errorf("model: line 1: got %.60q, want %q", first, strings.ReplaceAll(strings.ReplaceAll(format, "%%", "%"), "%d", "0"))
	}
	g, err := graph.Parse(strings.NewReader(rest), ops.Vocabulary()...)
	if err != nil {
		return fmt.Errorf("model: after line 1: %w", err)
	}
	if err := of(g); err != nil {
		return fmt.Errorf("model: line 1: %w", err)
	}
	return nil
}

func nodeOf(g *graph.Graph, id int) (*graph.Node, error) {
	nodes := g.Nodes()
	if id < 0 || id >= len(nodes) {
		return nil, fmt.Errorf("no node %%%d: the graph has %d", id, len(nodes))
	}
	return nodes[id], nil
}

package main

import (
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
)

// families are the models that the commands know: the registry, and in tests a
// few more.
var families = builders.Families

// lookup finds a model. An unknown name is a mistake in the command line.
func lookup(name string) (builders.Builder, error) {
	for _, f := range families() {
		for _, b := range f.Builders {
			if b.Name == name {
				return b, nil
			}
		}
	}
	b, err := builders.Lookup(name)
	if err != nil {
		return b, usageError{err}
	}
	return b, nil
}

// derivedBy are the nodes that a model's loss is differentiated by: those named, or
// the centres of a clustering, what training changes, the inputs of a loss without
// parameters. What cannot be differentiated by is a mistake in the command line.
func derivedBy(m *builders.Model, wrt []string) ([]*graph.Node, error) {
	switch {
	case m.Loss == nil:
		return nil, usagef("%s has no loss to differentiate", m.Builder.Name)
	case len(wrt) == 0 && m.KMeans != nil:
		return []*graph.Node{m.KMeans.Centres}, nil
	case len(wrt) == 0:
		return reached(m), nil
	}
	var out []*graph.Node
	for _, name := range wrt {
		n, err := quantity(m, name)
		if err != nil {
			return nil, err
		}
		if len(lab.Reached(m.Loss, n)) == 0 {
			return nil, usagef("the loss of %s has no derivative by %s", m.Builder.Name, name)
		}
		out = append(out, n)
	}
	return out, nil
}

// reached are the parameters that a derivative of the loss flows to, or else the
// inputs.
func reached(m *builders.Model) []*graph.Node {
	if out := lab.Trained(m); len(out) > 0 {
		return out
	}
	return lab.Reached(m.Loss, m.Graph.Leaves(graph.RoleInput)...)
}

// quantity finds an input, parameter or named quantity of a model. The error
// suggests the nearest name.
func quantity(m *builders.Model, name string) (*graph.Node, error) {
	if n := m.Graph.Lookup(name); n != nil {
		return n, nil
	}
	var names []string
	for _, n := range m.Graph.Nodes() {
		s := n.Path()
		if s == "" {
			s = n.Name()
		}
		if s != "" {
			names = append(names, s)
		}
	}
	return nil, usagef("%s has no quantity %q: did you mean %q? (it has %s)", m.Builder.Name, name, builders.Nearest(name, names), strings.Join(names, ", "))
}

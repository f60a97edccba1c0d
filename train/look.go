package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/spelling"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Look calls f with values from inside the evaluating net, such as weights of attention, feature
// maps and gates, for each batch of one epoch of a source, whose position it restores.
//
//	err := t.Look(ctx, data.InOrder(test, 0), []string{"α"}, func(b data.Batch, values []*tensor.Dense) error { … })
//
// A name is the path of an input, parameter or state, or one that the model gives with
// [graph.Node.As]; if several quantities have that name, the scopes before it tell them apart, as
// in "encoder/α". The values come in the order of the names and are valid until f returns. Only
// what they depend on is computed, by a program that is compiled once for each number of rows and
// list of names.
func (t *Trainer) Look(ctx context.Context, source data.Source, names []string, f func(b data.Batch, values []*tensor.Dense) error) error {
	if len(names) == 0 {
		return errors.New("look: no name of a quantity is given")
	}
	if f == nil {
		return errors.New("look: no function takes the values")
	}
	var values []*tensor.Dense
	return t.each(ctx, "look", size{look: strings.Join(names, "\x00")}, source, func(p *program, b data.Batch) error {
		values = values[:0]
		for _, n := range p.looked {
			v, err := p.vm.Value(n)
			if err != nil {
				return err
			}
			values = append(values, v)
		}
		return f(b, values)
	})
}

// find returns the quantities of a graph that have these names.
func find(g *graph.Graph, names []string) (found []*graph.Node, err error) {
	var all []string                     // all names, in the order of the graph
	byPath := map[string][]*graph.Node{} // a name with its scopes
	byName := map[string][]*graph.Node{} // a name without them
	paths := map[string][]string{}       // of a name, with its scopes
	for _, n := range g.Nodes() {
		if path := n.Path(); path != "" {
			all, byPath[path] = append(all, path), []*graph.Node{n}
			continue
		}
		for _, o := range n.Occurrences() {
			path := strings.TrimPrefix(o.Scope+"/"+o.Name, "/")
			if o.Name == "" || slices.Contains(byPath[path], n) {
				continue
			}
			all, byPath[path] = append(all, o.Name), append(byPath[path], n)
			if slices.Contains(byName[o.Name], n) {
				continue
			}
			byName[o.Name] = append(byName[o.Name], n)
			if !slices.Contains(paths[o.Name], path) {
				paths[o.Name] = append(paths[o.Name], path)
			}
		}
	}
	for _, name := range names {
		nodes := byPath[name]
		if len(nodes) == 0 {
			nodes = byName[name]
		}
		switch {
		case len(nodes) == 1:
			found = append(found, nodes[0])
		case len(paths[name]) > 1:
			return nil, fmt.Errorf("look: %d quantities of %s are called %q: want one of %s", len(nodes), g.Name(), name, strings.Join(paths[name], ", "))
		case len(nodes) > 1:
			return nil, fmt.Errorf("look: %d quantities of %s are called %q: want names that differ", len(nodes), g.Name(), name)
		case len(all) == 0:
			return nil, fmt.Errorf("look: nothing in %s is called %q", g.Name(), name)
		default:
			return nil, fmt.Errorf("look: nothing in %s is called %q: did you mean %q?", g.Name(), name, spelling.Nearest(name, all))
		}
	}
	return found, nil
}

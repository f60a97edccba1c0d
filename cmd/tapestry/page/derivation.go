package page

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz"
)

// derivationView is the mathematics of a model, or of one derivative in it.
type derivationView struct {
	// Derivation is an HTML table: the equations that lead to the loss, then the derivatives step
	// by step, each with the rules that it follows from.
	Derivation string `json:"derivation"`
	// Formula is of a model without derivatives: each equation after those it uses; the
	// last is the result's.
	Formula []*formulaView `json:"formula"`
	By      []string       `json:"by"` // the nodes by which the loss is differentiated
}

// derivatives returns the nodes that can be explained: all but the zeros, which say that the loss
// does not depend on a value.
func derivatives(nodes []*graph.Node) []*graph.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *graph.Node) bool { of, _ := n.AdjointOf(); return of == nil })
}

// derivation answers with the derivation of the whole model or, with node=ID, of the derivative of
// the loss by that node.
func (s *Service) derivation(r *request, d *document) (any, error) {
	w := d.asWritten
	out := &derivationView{Formula: []*formulaView{}, By: []string{}}
	of := derivatives(w.grads)
	if id := r.query.Get("node"); id != "" {
		n, v, err := d.node(r.ctx, id)
		if err != nil {
			return nil, err
		}
		g := adjoint(v, n)
		if by, _ := n.AdjointOf(); by != nil {
			g = n
		}
		if g == nil {
			return nil, failf(notFound, "no derivative by %s is computed", v.called(n))
		}
		of = []*graph.Node{g}
	}
	if len(of) == 0 {
		equations, err := viz.EquationsContext(r.ctx, w.result)
		if err != nil {
			return nil, err
		}
		for _, e := range equations {
			out.Formula = append(out.Formula, newFormula(e))
		}
		return out, nil
	}
	derived, err := viz.DeriveContext(r.ctx, of...)
	if err != nil {
		return nil, err
	}
	out.Derivation = derived.HTML()
	for _, g := range of {
		by, _ := g.AdjointOf()
		out.By = append(out.By, w.called(by))
	}
	return out, nil
}

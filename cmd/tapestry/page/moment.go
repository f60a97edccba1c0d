package page

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/tape"
)

// momentView is a state at a glance: a picture of the film strip.
type momentView struct {
	Step  int               `json:"step"`
	Sizes map[string]number `json:"sizes"` // by node: the largest |∂loss/∂v|, of v and of its derivative
	Dead  []deadView        `json:"dead"`  // rectifiers with units that are 0 in all rows
}

// deadView counts the units of a rectifier that are 0 whatever the row.
type deadView struct {
	Node  string `json:"node"`
	Label string `json:"label"`
	Units int    `json:"units"`
	Of    int    `json:"of"`
}

func (s *Service) moment(r *request, d *document) (any, error) {
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	level, err := levelOf(r)
	if err != nil {
		return nil, err
	}
	v, err := d.at(r.ctx, level)
	if err != nil {
		return nil, err
	}
	record, err := d.record(r.ctx, v, step)
	if err != nil {
		return nil, err
	}
	l, err := gradients(r.ctx, d, v, step, nil)
	if err != nil {
		return nil, err
	}
	out := &momentView{Step: step, Sizes: map[string]number{}, Dead: []deadView{}}
	for n, size := range l.values {
		out.Sizes[v.id(n)] = number(size)
	}
	for _, n := range v.cone {
		if !match.Is(n, match.Relu) || n.IsBackward() || n.Rank() < 2 {
			continue
		}
		if dead := deadUnits(n, record.Value(n)); dead > 0 {
			out.Dead = append(out.Dead, deadView{v.id(n), v.called(n), dead, n.Shape().Dim(n.Rank() - 1)})
		}
	}
	return out, nil
}

// deadUnits returns how many columns along the last axis are 0 in all rows.
func deadUnits(n *graph.Node, a tape.Array) (dead int) {
	units := n.Shape().Dim(n.Rank() - 1)
	for u := range units {
		p := u
		for p < n.Shape().Len() && a.At(p) == 0 {
			p += units
		}
		if p >= n.Shape().Len() {
			dead++
		}
	}
	return dead
}

package geometry

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train/data"
)

// prototypes are the points, centres and soft assignment of an objective that has them.
type prototypes struct {
	points     *graph.Node // x[i d], an input
	centres    *graph.Node // r[j d], a parameter
	assignment *graph.Node // α[i j]; nil without one
	offset     int         // of the centres in the parameter vector
}

// of returns the centres in a parameter vector, row-major [j d].
func (p prototypes) of(vector []float64) []float64 {
	return vector[p.offset : p.offset+p.centres.Shape().Len()]
}

// prototypes finds the points and prototypes of the site: those of a clustering, or the only input
// and parameter of rank 2 that share their second axis. The assignment is that of the clustering,
// or a node named α or alpha of the shape [i j].
func (s Site) prototypes() (p prototypes, err error) {
	params, err := s.parameters()
	if err != nil {
		return p, err
	}
	if r := s.Model.Centres(); r != nil {
		p = prototypes{points: s.Model.Points(), centres: r}
	} else if p, err = s.sharedAxis(params); err != nil {
		return p, err
	}
	for _, name := range []string{"α", "alpha"} {
		n := s.Model.Graph.Lookup(name)
		if p.assignment == nil && n != nil && n.Rank() == 2 && n.Dim(0) == p.points.Dim(0) && n.Dim(1) == p.centres.Dim(0) && s.Model.Loss.DependsOn(n) {
			p.assignment = n
		}
	}
	return p, nil
}

// sharedAxis finds an input and a parameter of rank 2 that share their second axis.
func (s Site) sharedAxis(params []*graph.Node) (p prototypes, err error) {
	offset := 0
	for _, r := range params {
		for _, x := range graph.Reachable(s.Model.Loss) {
			if x.Role() != graph.RoleInput || x.Rank() != 2 || r.Rank() != 2 || !x.DType().IsFloat() {
				continue
			}
			if a, b := x.Shape().Axis(1), r.Shape().Axis(1); a != b || a.Name == "" || x.Shape().Axis(0) == r.Shape().Axis(0) {
				continue
			}
			if p.centres != nil {
				return p, fmt.Errorf("%s: %s and %s could both be prototypes", s.name(), p.centres.Path(), r.Path())
			}
			p = prototypes{points: x, centres: r, offset: offset}
		}
		offset += r.Shape().Len()
	}
	if p.centres == nil {
		return p, fmt.Errorf("%s has no prototypes: no input [i d] and parameter [j d]", s.name())
	}
	return p, nil
}

// squarable is the magnitude up to which squared distances of a few features are finite.
const squarable = 1e150

// table returns the points that the site is fed, without names for the columns.
func (p prototypes) table(o *objective) (*data.Table, error) {
	x, err := o.valueOf(p.points)
	if err != nil {
		return nil, err
	}
	if !allWithin(x, squarable) {
		return nil, fmt.Errorf("%s: the points are not finite, or too large to be squared", o.site.name())
	}
	return &data.Table{Columns: make([]string, p.points.Dim(1)), X: x}, nil
}

// HasPrototypes reports whether the model has points x[i d] and prototypes r[j d], as
// [Site.Collapse] and [Field] want: whether it is a clustering, or has exactly one pair of an input
// and a parameter of two axes that share the second by name and size.
func (s Site) HasPrototypes() bool {
	_, err := s.prototypes()
	return err == nil
}

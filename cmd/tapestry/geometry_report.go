package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab/geometry"
)

// geometryReport holds the results of the geometry command.
type geometryReport struct {
	Trained   []*geometry.Trajectory
	Curvature []*geometry.Curvature
	Symmetry  []*geometry.Invariances
	Angles    *geometry.GradientAngles // nil where parameters differ
	Collapse  []*geometry.Collapse     // of the clusterings
	Surface   *geometry.Landscape      // if drawn
	Field     *geometry.GradientField  // if drawn
	Taken     [][]string               // what each model has as the notes have it; nil without --as-notes
}

// newGeometryReport examines models at the end of their trainings. Symmetries are examined at the
// start, because gradients at a minimum are too small to compare. begin is called before each part.
func newGeometryReport(ctx context.Context, trained []*geometry.Trajectory, begin func(what string)) (*geometryReport, error) {
	r := &geometryReport{Trained: trained}
	alike := len(trained) > 1
	var sites []geometry.Site
	for _, t := range trained {
		name := t.Site.Model.Builder.Name
		begin(name)
		c, err := t.Site.Curvature(ctx, geometry.CurvatureConfig{})
		if err != nil {
			return nil, err
		}
		r.Curvature = append(r.Curvature, c)
		start, err := t.Start()
		if err != nil {
			return nil, err
		}
		begin(name)
		i, err := start.Invariance(ctx, geometry.InvarianceConfig{})
		if err != nil {
			return nil, err
		}
		r.Symmetry = append(r.Symmetry, i)
		begin(name)
		if t.Site.HasPrototypes() {
			c, err := t.Site.Collapse(ctx, t.Path)
			if err != nil {
				return nil, err
			}
			r.Collapse = append(r.Collapse, c)
		}
		sites = append(sites, t.Site)
		alike = alike && t.Site.SameParameters(sites[0])
	}
	var err error
	begin("angles")
	if alike {
		r.Angles, err = geometry.Angles(ctx, trained[0].Path, sites...)
	}
	return r, err
}

// String returns the report for people, a heading and a table per part.
func (r *geometryReport) String() string {
	var b strings.Builder
	part := func(title string) {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(title + "\n")
	}
	for i, taken := range r.Taken {
		b.WriteString(r.Trained[i].Site.Model.Builder.Name + " " + notesText(taken) + "\n")
	}
	steps := len(r.Trained[0].Path) - 1
	part(fmt.Sprintf("CURVATURE after %s", plural.Count(steps, "step")))
	for _, c := range r.Curvature {
		b.WriteString(c.String())
	}
	part("SYMMETRIES at the start")
	for _, s := range r.Symmetry {
		b.WriteString(s.String())
	}
	if r.Angles != nil {
		part("ANGLES along the training of " + r.Angles.Names[0])
		b.WriteString(r.Angles.String())
	}
	if len(r.Collapse) > 0 {
		part("COLLAPSE along the training")
		for _, c := range r.Collapse {
			b.WriteString(c.String())
		}
	}
	if r.Surface != nil {
		part("SURFACE")
		b.WriteString(r.Surface.String())
	}
	if r.Field != nil {
		part("FIELD")
		b.WriteString(r.Field.String())
	}
	return b.String()
}

// machine returns the report for JSON.
func (r *geometryReport) machine() any {
	type extreme struct {
		Value    jsonNumber `json:"value"`
		Residual jsonNumber `json:"residual"`
	}
	type response struct {
		Quantity  string     `json:"quantity"`
		Response  string     `json:"response"`
		Power     jsonNumber `json:"power"`
		Deviation jsonNumber `json:"deviation"`
	}
	type symmetry struct {
		Transformation string     `json:"transformation"`
		Responses      []response `json:"responses"`
	}
	type collapse struct {
		Step       int        `json:"step"`
		Closest    jsonNumber `json:"closest"`
		Distance   jsonNumber `json:"distance"`
		Distinct   int        `json:"distinct"`
		Directions jsonNumber `json:"directions"`
		Used       jsonNumber `json:"used"`
		UsedHard   jsonNumber `json:"used_nearest"`
		Dead       int        `json:"dead"`
	}
	type model struct {
		Model      string       `json:"model"`
		Steps      int          `json:"steps"`
		Taken      []string     `json:"as_notes,omitzero"` // what is as the notes have it, and not by default
		Loss       []jsonNumber `json:"loss"`
		Largest    extreme      `json:"largest_eigenvalue"`
		Smallest   extreme      `json:"smallest_eigenvalue"`
		Converged  bool         `json:"converged"`
		Symmetries []symmetry   `json:"symmetries"`
		Collapse   []collapse   `json:"collapse,omitempty"`
	}
	type angles struct {
		Models []string       `json:"models"`
		Steps  [][]jsonNumber `json:"degrees"` // by pair, a < b, then by step
	}
	v := struct {
		Models []model `json:"models"`
		Angles *angles `json:"angles,omitempty"`
	}{}
	clusterings := 0
	for i, t := range r.Trained {
		c := r.Curvature[i]
		m := model{Model: c.Name, Steps: len(t.Loss), Loss: jsonNumbers(t.Loss), Converged: c.Converged,
			Largest:  extreme{jsonNumber(c.Largest.Value), jsonNumber(c.Largest.Residual)},
			Smallest: extreme{jsonNumber(c.Smallest.Value), jsonNumber(c.Smallest.Residual)}}
		if r.Taken != nil {
			m.Taken = r.Taken[i]
		}
		for _, row := range r.Symmetry[i].Rows {
			s := symmetry{Transformation: row.Transformation}
			for k, a := range row.Responses {
				s.Responses = append(s.Responses, response{r.Symmetry[i].Quantities[k], a.String(), jsonNumber(a.Power), jsonNumber(a.Deviation)})
			}
			m.Symmetries = append(m.Symmetries, s)
		}
		if t.Site.HasPrototypes() {
			for step, s := range r.Collapse[clusterings].Steps {
				m.Collapse = append(m.Collapse, collapse{step, jsonNumber(s.Closest), jsonNumber(s.Distance), s.Distinct,
					jsonNumber(s.Directions), jsonNumber(s.Used), jsonNumber(s.UsedHard), s.Dead})
			}
			clusterings++
		}
		v.Models = append(v.Models, m)
	}
	if a := r.Angles; a != nil {
		v.Angles = &angles{Models: a.Names}
		for x := range a.Names {
			for y := x + 1; y < len(a.Names); y++ {
				var along []jsonNumber
				for _, s := range a.Steps {
					along = append(along, jsonNumber(s.Overall[x][y]))
				}
				v.Angles.Steps = append(v.Angles.Steps, along)
			}
		}
	}
	return v
}

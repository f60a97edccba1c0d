package page

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/viz"
)

// docView is what the page knows of a document.
type docView struct {
	ID        string             `json:"id"`
	Name      string             `json:"name"`
	Title     string             `json:"title"`
	Notes     string             `json:"notes,omitempty"`
	Formula   string             `json:"formula"` // MathML
	Unicode   string             `json:"unicode"`
	Source    string             `json:"source"`
	Settings  map[string]float64 `json:"settings"`
	DType     string             `json:"dtype"`
	Optimiser string             `json:"optimiser"`
	Rate      float64            `json:"rate"`
	Seed      uint64             `json:"seed"`
	Data      string             `json:"data"`
	Nodes     int                `json:"nodes"`
	Params    int                `json:"params"`
	Steps     int                `json:"steps"`
	Trains    bool               `json:"trains"`
	HasPlane  bool               `json:"plane"`
	Levels    []string           `json:"levels"`
	Scalars   []scalarView       `json:"scalars"`
}

type scalarView struct {
	Name  string `json:"name"`
	Value number `json:"value"` // of the last state
}

// levels are those of drawings, from coarse to fine.
var levels = []viz.Level{viz.Notes, viz.Ops, viz.Primitive, viz.Compiled}

func (d *document) describe() (*docView, error) {
	m, w := d.model, d.asWritten
	v := &docView{ID: d.id, Name: m.Builder.Name, Title: m.Builder.Title, Notes: m.Builder.Notes, Source: d.source,
		Unicode: viz.Formula(w.result), Settings: d.settings, DType: d.asked.DType,
		Optimiser: d.asked.Optimiser, Rate: d.asked.Rate, Seed: d.asked.Seed, Data: d.asked.Data,
		Nodes: len(graph.Reachable(w.all()...)), Steps: d.session.steps(), Trains: d.session.trains, HasPlane: d.session.centres != nil, Scalars: []scalarView{}}
	if eqs := viz.Equations(w.result); len(eqs) > 0 {
		v.Formula = eqs[len(eqs)-1].MathML()
	}
	for _, p := range m.Params() {
		v.Params += p.Shape().Len()
	}
	for _, l := range levels {
		v.Levels = append(v.Levels, l.String())
	}
	feed, err := d.session.feeder.at(v.Steps)
	if err != nil {
		return nil, err
	}
	for _, n := range graph.Reachable(w.all()...) {
		if x, has := n.Default(); has && n.Role() == graph.RoleInput {
			if t := feed[n]; t != nil {
				a, err := tape.ArrayOf(n.Type(), t)
				if err != nil {
					return nil, err
				}
				x = a.At(0)
			}
			v.Scalars = append(v.Scalars, scalarView{n.Path(), number(x)})
		}
	}
	return v, nil
}

package page

import (
	"context"
	"encoding/json"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/viz"
)

// docView describes a document to the page.
type docView struct {
	ID        string             `json:"id"`
	Identity  string             `json:"identity"`          // of all documents with the same numbers; see identify
	Opening   json.RawMessage    `json:"opening,omitempty"` // opens another like it; absent if it has numbers that JSON lacks
	Name      string             `json:"name"`
	Title     string             `json:"title"`
	Notes     string             `json:"notes,omitempty"`
	Formula   string             `json:"formula"` // MathML
	Unicode   string             `json:"unicode"`
	Source    string             `json:"source"`
	Settings  map[string]float64 `json:"settings"`
	DType     string             `json:"dtype"`
	Optimiser string             `json:"optimiser"` // "" of a model that takes steps of its own, or none
	Rate      float64            `json:"rate"`
	Schedule  *courseView        `json:"schedule,omitempty"` // of the rate, where it is not constant
	Resumed   *resumedView       `json:"resumed,omitempty"`  // where it goes on with a run
	AsNotes   bool               `json:"as_notes,omitempty"` // trained as the lecture notes have it, where the defaults differ
	Seed      uint64             `json:"seed"`
	Data      string             `json:"data"`
	Nodes     int                `json:"nodes"`
	Params    int                `json:"params"`
	Steps     int                `json:"steps"`
	Trains    bool               `json:"trains"`
	Named     bool               `json:"named"` // by the command that began the page
	HasPlane  bool               `json:"plane"`
	Rows      *axisView          `json:"rows"` // the axis of the points in the plane; null without a plane
	Levels    []string           `json:"levels"`
	Scalars   []scalarView       `json:"scalars"`
	Courses   []courseView       `json:"courses"` // of the scalars that training changes by a plan
}

type scalarView struct {
	Name  string `json:"name"`
	Value number `json:"value"` // as fed at a state
}

// courseView is the plan of a scalar that is fed another number in every step.
type courseView struct {
	Name  string `json:"name"`
	Text  string `json:"text"` // of its schedule
	From  number `json:"from"`
	To    number `json:"to"`
	Steps int    `json:"steps"`           // after which it stays; 0 if that is not known
	Usual bool   `json:"usual,omitempty"` // a rate that falls, because nothing else is asked for
}

// levels lists the levels of detail of drawings, from coarse to fine.
var levels = []viz.Level{viz.Notes, viz.Ops, viz.Primitive, viz.Compiled}

func (d *document) describe(ctx context.Context) (*docView, error) {
	m, w := d.model, d.asWritten
	v := &docView{ID: d.id, Identity: d.identity, Name: m.Builder.Name, Title: d.title(), Notes: m.Builder.Notes, Source: d.source,
		Unicode: viz.Formula(w.result), Settings: d.settings, DType: d.asked.DType,
		Optimiser: d.asked.Optimiser, Rate: d.asked.Rate, Seed: d.asked.Seed, Data: d.asked.Data,
		Nodes: len(graph.Reachable(w.all()...)), Steps: d.session.steps(), Trains: d.session.trains, Named: d.asked.named, HasPlane: d.session.centres != nil, Scalars: []scalarView{}, Courses: []courseView{}}
	if len(lab.Trained(m)) == 0 {
		v.Optimiser, v.Rate = "", 0
	}
	v.AsNotes = d.asked.AsNotes
	if run := d.session.feeder.gone; run != nil {
		v.Resumed = run.view()
	}
	if n := d.session.feeder.rate; n != nil {
		rate := d.session.feeder.courses[n].view(n.Path())
		v.Schedule = &rate
	}
	if request, err := json.Marshal(d.request); err == nil {
		v.Opening = request
	}
	eqs, err := viz.EquationsContext(ctx, w.result)
	if err != nil {
		return nil, err
	}
	if len(eqs) > 0 {
		v.Formula = eqs[len(eqs)-1].MathML()
	}
	for _, p := range m.Params() {
		v.Params += p.Shape().Len()
	}
	for _, l := range levels {
		v.Levels = append(v.Levels, l.String())
	}
	f := d.session.feeder
	if v.HasPlane {
		v.Rows = f.rows()
	}
	fed, err := f.scalarsAt(v.Steps, m.Graph)
	if err != nil {
		return nil, err
	}
	for _, n := range graph.Reachable(w.all()...) {
		x, has := n.Default()
		if !has || n.Role() != graph.RoleInput {
			continue
		}
		if y, is := fed[n]; is {
			x = y
		}
		v.Scalars = append(v.Scalars, scalarView{n.Path(), number(x)})
		if s, planned := f.courses[n]; planned {
			v.Courses = append(v.Courses, s.view(n.Path()))
		}
	}
	return v, nil
}

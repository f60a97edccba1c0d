package page

import (
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// wordsView is what a drawing says in a few words: of its modules where their boxes are too small
// to be read, and of the tape where there is room for it.
type wordsView struct {
	Step    int                      `json:"step"`
	Modules map[string]moduleWords   `json:"modules"` // by path
	Tape    map[string]*computedView `json:"tape"`    // by the node that a box shows, or the module
}

// moduleWords describes a module.
type moduleWords struct {
	Formula    string  `json:"formula,omitempty"`    // of the last of its values that others read
	Derivative string  `json:"derivative,omitempty"` // likewise of its derivatives
	Params     int     `json:"params"`               // elements
	Share      *number `json:"share"`                // of the squares of the gradient by all parameters, at the step; null without one
}

// computedView lists the instructions that compute what a box shows.
type computedView struct {
	Rows  []computingView `json:"rows"` // the first few
	Count int             `json:"count"`
	Time  *float64        `json:"time"` // of all, in seconds; null until it was measured
}

type computingView struct {
	I    int      `json:"i"`
	Op   string   `json:"op"`
	Time *float64 `json:"time"`
}

// mostComputing is how many instructions are listed of a box.
const mostComputing = 3

// words answers what the drawing that a request asks for says in a few words.
func (s *Service) words(r *request, d *document) (any, error) {
	q, err := drawingOf(r, d)
	if err != nil {
		return nil, err
	}
	v, err := d.at(r.ctx, q.level)
	if err != nil {
		return nil, err
	}
	o, err := d.outline(r.ctx, v, q)
	if err != nil {
		return nil, err
	}
	record, err := d.record(r.ctx, v, q.step)
	if err != nil {
		return nil, err
	}
	out := &wordsView{Step: q.step, Modules: map[string]moduleWords{}, Tape: map[string]*computedView{}}
	paths, members := v.modules()
	squares := squaresOf(record, v)
	for _, p := range paths {
		m := moduleWords{Formula: o.formulas[figure.ModuleID(p, false)], Derivative: o.formulas[figure.ModuleID(p, true)]}
		sum := 0.0
		for _, n := range members[p] {
			if n.Role() == graph.RoleParam {
				m.Params += n.Shape().Len()
				sum += squares.by[n]
			}
		}
		if m.Params > 0 && squares.total > 0 && !math.IsInf(squares.total, 0) {
			share := number(sum / squares.total)
			m.Share = &share
		}
		out.Modules[p] = m
	}
	planned, err := d.plan(r.ctx, v, q)
	if err != nil {
		return nil, err
	}
	p, err := d.program()
	if err != nil {
		return nil, err
	}
	if q.overlay == "time" { // as the drawing, whichever of both is asked for first
		if _, err := d.measured(r.ctx); err != nil {
			return nil, err
		}
	}
	rows := rowsOf(p, v)
	for _, box := range planned.boxes {
		var in []int
		for _, n := range box {
			in = append(in, rows[n]...)
		}
		out.Tape[v.id(box[0])] = d.computed(p, in)
	}
	for _, path := range paths {
		for _, backward := range []bool{false, true} {
			var in []int
			for _, n := range members[path] {
				if n.IsBackward() == backward {
					in = append(in, rows[n]...)
				}
			}
			out.Tape[figure.ModuleID(path, backward)] = d.computed(p, in)
		}
	}
	for id, c := range out.Tape {
		if c == nil {
			delete(out.Tape, id)
		}
	}
	return out, nil
}

// squares holds the sums of the squares of the loss's derivatives by the elements of parameters.
type squares struct {
	by    map[*graph.Node]float64
	total float64
}

func squaresOf(record *inspect.Record, v *variant) squares {
	s := squares{by: map[*graph.Node]float64{}}
	for _, n := range v.cone {
		g := record.Gradient(n)
		if n.Role() != graph.RoleParam || g == nil {
			continue
		}
		a := record.Value(g)
		for i := range a.Type.Shape.Len() {
			s.by[n] += a.At(i) * a.At(i)
		}
		s.total += s.by[n]
	}
	return s
}

// rowsOf returns the instructions whose amounts belong to each node of a variant.
func rowsOf(p *program, v *variant) map[*graph.Node][]int {
	rows := map[*graph.Node][]int{}
	for i, n := range p.ownedBy(v) {
		if n != nil {
			rows[n] = append(rows[n], i)
		}
	}
	return rows
}

// computed describes some instructions; nil if there are none.
func (d *document) computed(p *program, rows []int) *computedView {
	if len(rows) == 0 {
		return nil
	}
	c := &computedView{Count: len(rows)}
	for _, i := range rows {
		v := computingView{I: i, Op: p.rows[i].Op}
		if d.timed != nil {
			t := d.timed.Rows[i].Time.Seconds()
			v.Time = &t
			if c.Time == nil {
				c.Time = new(float64)
			}
			*c.Time += t
		}
		if len(c.Rows) < mostComputing {
			c.Rows = append(c.Rows, v)
		}
	}
	return c
}

// formulasOf returns, for each module of a figure with all modules open, by its id, the formula of the
// last of its nodes that others read.
func formulasOf(f *figure.Figure) map[string]string {
	module := map[string]string{}
	for _, n := range f.Nodes {
		module[n.ID] = n.Module
	}
	read, leaves := map[string]bool{}, map[string][]string{} // by node: the modules that read it
	for _, e := range f.Edges {
		if e.Kind == figure.Forward || e.Kind == figure.Grad {
			read[e.From] = true
			leaves[e.From] = append(leaves[e.From], module[e.To])
		}
	}
	out := map[string]string{}
	for _, n := range f.Nodes {
		text := figure.Linear(figure.Clean(n.Main))
		if !n.Backward && !strings.Contains(text, " = ") { // a leaf says nothing of the module
			continue
		}
		for path := n.Module; path != ""; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
			leaving := !read[n.ID]
			for _, to := range leaves[n.ID] {
				leaving = leaving || to != path && !strings.HasPrefix(to, path+"/")
			}
			if leaving {
				out[figure.ModuleID(path, n.Backward)] = text
			}
		}
	}
	return out
}

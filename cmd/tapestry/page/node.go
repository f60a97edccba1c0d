package page

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// nodeView describes a node at a state.
type nodeView struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"` // "" if it has none
	Label      string            `json:"label"`
	Op         string            `json:"op"`
	Doc        string            `json:"doc"`
	Role       string            `json:"role"`
	Backward   bool              `json:"backward"`
	Shape      string            `json:"shape"`
	DType      string            `json:"dtype"`
	Axes       []axisView        `json:"axes"`
	Formula    *formulaView      `json:"formula"`
	Derivative *formulaView      `json:"derivative"` // of the loss by it; null if none is computed
	Partner    *string           `json:"partner"`    // its derivative, or what it is the derivative of
	Inputs     []string          `json:"inputs"`
	Users      []string          `json:"users"`
	Labels     map[string]string `json:"labels"` // of inputs and users, by id
	Scope      string            `json:"scope"`
	Pos        string            `json:"pos"`
	Why        string            `json:"why,omitempty"` // what made it, where the user did not
	Bytes      int               `json:"bytes"`
	FLOPs      int64             `json:"flops"` // of the instructions that compute it, in the step as it is run
	Time       *float64          `json:"time"`  // of these, in seconds; null until it was measured (overlay=time)
	Step       int               `json:"step"`
	Stats      *statsView        `json:"stats"`
	GradStats  *statsView        `json:"gradstats"` // of its derivative
	Alarm      string            `json:"alarm,omitempty"`
	Loops      []loopView        `json:"loops,omitempty"`   // in whose steps it is, from the outermost on
	Digits     *lossView         `json:"digits"`            // that float32 loses; null until the overlay precision was drawn of this state
	Checked    string            `json:"checked,omitempty"` // what the overlay blame found of its rule, if it was drawn of this state
}

type axisView struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// leafDocs says where the values of leaves come from, by role.
var leafDocs = map[graph.Role]string{
	graph.RoleInput:    "fed each run",
	graph.RoleParam:    "a parameter: what training changes",
	graph.RoleState:    "a state: carried from step to step",
	graph.RoleConstant: "part of the graph",
}

func axes(s graph.Shape) []axisView {
	out := []axisView{}
	for _, a := range s.Axes() {
		out = append(out, axisView{a.Name, a.Size})
	}
	return out
}

// formulaView is an equation in three forms.
type formulaView struct {
	MathML  string `json:"mathml"`
	Unicode string `json:"unicode"`
	LaTeX   string `json:"latex"`
}

func newFormula(e viz.Equation) *formulaView {
	return &formulaView{e.MathML(), e.String(), e.LaTeX()}
}

// formulaOf returns the equation of a node, or nil for nil and for a leaf, which has none.
func formulaOf(n *graph.Node) *formulaView {
	if n == nil || n.Path() != "" {
		return nil
	}
	return newFormula(viz.EquationOf(n, viz.StopAtAdjoints()))
}

// position returns the user's line, or "" for a node that the page's own program added.
func position(p graph.Pos) string {
	if strings.HasPrefix(p.File, "cmd/tapestry/") {
		return ""
	}
	return p.String()
}

// moduleInfo describes a module.
type moduleInfo struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Label    string            `json:"label"`
	Role     string            `json:"role"` // module
	Scope    string            `json:"scope"`
	Backward bool              `json:"backward"`
	Bytes    int               `json:"bytes"` // of all its values
	Module   contents          `json:"module"`
	Inputs   []string          `json:"inputs"`
	Users    []string          `json:"users"`
	Labels   map[string]string `json:"labels"` // of inputs and users, by id
	Alarm    string            `json:"alarm,omitempty"`
}

// contents counts the contents of a module.
type contents struct {
	Path   string `json:"path"`
	Nodes  int    `json:"nodes"`
	Params int    `json:"params"` // elements of its parameters
	Ops    int    `json:"ops"`
}

func (s *Service) nodeInfo(r *request, d *document) (any, error) {
	id := r.place("node")
	if id[0] == ofStep {
		step, err := stepOf(r, d)
		if err != nil {
			return nil, err
		}
		return d.stepInfo(r.ctx, id, step)
	}
	n, v, err := d.node(r.ctx, id)
	if err != nil {
		for _, v := range []*variant{d.asWritten, d.rewritten} {
			if v == nil {
				continue
			}
			if path, members, found := v.module(id); found {
				return newModule(v, id, path, members), nil
			}
		}
		return nil, err
	}
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	record, err := d.record(r.ctx, v, step)
	if err != nil {
		return nil, err
	}
	return d.newNode(v, n, record, step)
}

// newModule describes the nodes of a scope, and the values that enter and leave it.
func newModule(v *variant, id, path string, members []*graph.Node) *moduleInfo {
	m := &moduleInfo{ID: id, Name: path, Label: path, Role: "module", Scope: path, Module: contents{Path: path, Nodes: len(members)}}
	in := map[*graph.Node]bool{}
	for _, n := range members {
		in[n] = true
		m.Backward = n.IsBackward()
		m.Bytes += n.Shape().Len() * n.DType().Size()
		switch n.Role() {
		case graph.RoleParam:
			m.Module.Params += n.Shape().Len()
		case graph.RoleOp:
			m.Module.Ops++
		}
	}
	var from, to []*graph.Node
	for _, n := range v.cone {
		for _, x := range n.Inputs() {
			if in[n] && !in[x] {
				from = append(from, x)
			}
			if in[x] && !in[n] {
				to = append(to, n)
			}
		}
	}
	m.Inputs, m.Users, m.Labels = v.ids(from), v.ids(to), v.labels(from, to)
	return m
}

func (d *document) newNode(v *variant, n *graph.Node, record *inspect.Record, step int) (*nodeView, error) {
	out := &nodeView{ID: v.id(n), Name: n.Name(), Label: label(n), Op: opName(n), Role: n.Role().String(), Backward: n.IsBackward(),
		Shape: n.Shape().String(), DType: n.DType().String(), Axes: axes(n.Shape()), Formula: formulaOf(n),
		Inputs: v.ids(n.Inputs()), Scope: n.First().Scope, Pos: position(n.First().Pos), Bytes: n.Shape().Len() * n.DType().Size(), Step: step,
		Stats: newStats(record.Value(n)), Digits: d.lost(v, n, step), Checked: d.checked(v, n, step)}
	out.Doc = leafDocs[n.Role()]
	if op, is := n.Op().(ops.Op); is {
		out.Doc = op.Doc()
	}
	if p := n.Path(); p != "" {
		out.Name, out.Label = p, p
	}
	var users []*graph.Node
	for _, x := range v.cone {
		if slices.Contains(x.Inputs(), n) {
			users = append(users, x)
		}
	}
	out.Users, out.Labels = v.ids(users), v.labels(n.Inputs(), users)
	of, loss := n.AdjointOf()
	gradient := record.Gradient(n)
	switch {
	case gradient != nil:
		id := v.id(gradient)
		out.Partner, out.Derivative, out.GradStats = &id, formulaOf(gradient), newStats(record.Value(gradient))
	case of != nil && v.byID[of.ID()] == of:
		id := v.id(of)
		out.Partner = &id
	}
	if of != nil {
		out.Why = "the derivative of " + loss.Label() + " with respect to " + v.called(of)
	} else if o := n.First().Origin; o.Kind == graph.FromGrad && o.Of != nil {
		out.Why = "from the derivative of " + v.called(o.Of) + " (" + o.Of.Op().Name() + ")"
	}
	if o := n.First().Origin; o.Rule != "" {
		out.Why = "rule " + o.Rule
	}
	switch {
	case out.Stats.NaN > 0:
		out.Alarm = "nan"
	case out.Stats.Inf > 0:
		out.Alarm = "inf"
	}
	p, err := d.program()
	if err != nil {
		return nil, err
	}
	seconds, measured := 0.0, false
	for i, row := range p.rows {
		if p.ownedBy(v)[i] != n {
			continue
		}
		out.FLOPs += row.FLOPs
		if d.timed != nil {
			seconds, measured = seconds+d.timed.Rows[i].Time.Seconds(), true
		}
	}
	if measured {
		out.Time = &seconds
	}
	return out, nil
}

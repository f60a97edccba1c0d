package page

import (
	"context"
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/cmd/tapestry/marks"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/viz"
)

// autopsy finds out why the training step from a state, with its updates, is not finite. It returns
// nil if the step is finite. If the state itself is not finite, autopsy examines the step that made
// it so. of is the number of the step examined.
func (d *document) autopsy(ctx context.Context, step int) (f *inspect.Finding, of int, err error) {
	for of = step; ; of-- {
		feed, store, err := d.session.at(ctx, of, d.model.Graph)
		if err != nil {
			return nil, of, err
		}
		f, err := inspect.Autopsy(ctx, feed, store, d.session.roots...)
		if err != nil || f == nil || of == 0 || f.At.Node.Role() != graph.RoleParam && f.At.Node.Role() != graph.RoleState {
			return f, of, err
		}
	}
}

// notFinite marks the first value that is not finite, its cause, and the values that it spoils.
func notFinite(ctx context.Context, d *document, v *variant, step int, _ [][]*graph.Node) (layer, error) {
	f, err := d.findings.get(v, step, func() (*inspect.Finding, error) {
		feed, store, err := d.session.at(ctx, step, graph.Of(v.all()...))
		if err != nil {
			return nil, err
		}
		return inspect.Autopsy(ctx, feed, store, v.all()...)
	})
	if err != nil {
		return layer{}, err
	}
	if f == nil {
		return layer{scale: fmt.Sprintf("at step %d every value is finite, but for infinities that are meant", step)}, nil
	}
	return layer{marks: marks.Autopsy(f), scale: fmt.Sprintf("values with NaN or infinite elements at step %d: %d; ① the first is %s: %s; %s", step, len(f.NotFinite), f.At, f.Cause, marks.AutopsyColours)}, nil
}

// findingView is the finding of an autopsy.
type findingView struct {
	Finite   bool          `json:"finite"` // if so, the other fields are empty
	Step     int           `json:"step"`   // in which it began
	Harmless bool          `json:"harmless"`
	Cause    string        `json:"cause"`
	At       *entryView    `json:"at"`
	Witness  []operandView `json:"witness"` // its operands
	Path     []entryView   `json:"path"`    // back to the first suspicious value
	Made     []operandView `json:"made"`    // the operands of that value
	Carried  []entryView   `json:"carried"` // on to the result
	Twin     *entryView    `json:"twin"`    // the value that it is a derivative of
	Spoiled  int           `json:"spoiled"` // nodes
	Inside   *findingView  `json:"inside"`  // of a loop: in its body
	Time     int           `json:"time"`    // of that loop
	Cure     *cureView     `json:"cure"`
}

// entryView is one element of a node's value.
type entryView struct {
	Node *string `json:"node"` // null where it is of no node that can be drawn
	Text string  `json:"text"`
	Op   string  `json:"op,omitempty"` // "" where the text begins with it
	Pos  string  `json:"pos"`
}

type operandView struct {
	Entries []entryView `json:"entries"`
	Of      int         `json:"of"` // elements that are needed
}

type cureView struct {
	Works  bool       `json:"works"`
	Result string     `json:"result"` // the result that was not finite
	After  number     `json:"after"`  // its value after the cure
	Rules  []ruleView `json:"rules"`
}

type ruleView struct {
	Rule   string `json:"rule"`
	Why    string `json:"why"`
	Before string `json:"before"`
	After  string `json:"after"`
}

func (s *Service) autopsy(r *request, d *document) (any, error) {
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	f, of, err := d.autopsy(r.ctx, step)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return &findingView{Finite: true, Step: step}, nil
	}
	return d.asWritten.finding(f, of), nil
}

// finding describes a finding by the ids of the variant's nodes.
func (v *variant) finding(f *inspect.Finding, step int) *findingView {
	out := &findingView{Step: step, Harmless: f.Harmless(), Cause: f.Cause, Witness: v.operands(f.Witness), Path: v.entries(f.Path), Made: v.operands(f.Made),
		Carried: v.entries(f.Carried), Spoiled: len(f.NotFinite), Time: f.Time}
	at := v.entry(f.At)
	out.At = &at
	if f.Twin != nil {
		twin := v.entry(*f.Twin)
		out.Twin = &twin
	}
	if f.Inside != nil {
		out.Inside = v.finding(f.Inside, step)
	}
	if c := f.Cure; c != nil {
		out.Cure = &cureView{c.Works, c.Result.String(), number(c.After), []ruleView{}}
		for _, r := range c.Rules {
			out.Cure.Rules = append(out.Cure.Rules, ruleView{r.Rule, r.Why, viz.Formula(r.Before), viz.Formula(r.After)})
		}
	}
	return out
}

func (v *variant) entry(e inspect.Entry) entryView {
	name := spoken(e.Node)
	if ownName(e.Node) != "" {
		name = v.called(e.Node)
	}
	out := entryView{Text: name + strings.TrimPrefix(e.String(), e.Node.Label()), Op: opName(e.Node), Pos: position(e.Node.First().Pos)}
	if name == out.Op {
		out.Op = ""
	}
	if v.byID[e.Node.ID()] == e.Node {
		id := v.id(e.Node)
		out.Node = &id
	}
	return out
}

// spoken returns the name of a node or, if it has none, what it is the derivative of or its formula,
// shortened.
func spoken(n *graph.Node) string {
	if name := label(n); name != opName(n) || n.Role() != graph.RoleOp {
		return name
	}
	if of, loss := n.AdjointOf(); of != nil && (of.Name() != "" || of.Path() != "") {
		return "∂" + loss.Label() + "/∂" + of.Label()
	}
	formula := []rune(viz.Unicode(viz.EquationOf(n, viz.StopAtAdjoints()).Right))
	if len(formula) > longestSpoken {
		formula = append(formula[:longestSpoken-1], '…')
	}
	return "(" + string(formula) + ")"
}

// longestSpoken is the greatest number of letters of a formula that stands for a name.
const longestSpoken = 40

func (v *variant) entries(es []inspect.Entry) []entryView {
	out := make([]entryView, 0, len(es))
	for _, e := range es {
		out = append(out, v.entry(e))
	}
	return out
}

func (v *variant) operands(ps []inspect.Operand) []operandView {
	out := make([]operandView, 0, len(ps))
	for _, p := range ps {
		out = append(out, operandView{v.entries(p.Entries), p.Of})
	}
	return out
}

package viz

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// StepBox is a box that a drawing has in the step of a loop. It stands for a node of the loop's
// body in every step.
type StepBox struct {
	ID       string        // in the figure
	Name     string        // what it is called there: iₜ
	Node     *graph.Node   // of the body of the last of the loops
	Loops    []*graph.Node // in whose steps it is, from the outermost on, each in the body of the one before
	Paths    []string      // of the modules that these loops are drawn as
	Of       string        // the box of the value that it is the derivative by; "" if it is none
	Passed   bool          // it is only the part of that derivative that other steps pass on
	Backward bool
	Equation Equation
	Inputs   []string // the boxes from which it is computed, and that are computed from it
	Users    []string
	// Given has the boxes of what the body is given, by its inputs, and of what the step of a
	// derivative computes as the values' step does; "" of what is in no box.
	Given map[*graph.Node]string
}

// Steps lists the boxes in the steps of the loops that a drawing of the roots shows, with all
// modules open. The options are those of [Draw].
func Steps(roots []*graph.Node, opts ...Option) ([]StepBox, error) {
	v, err := newView(roots, collect(append(opts[:len(opts):len(opts)], withLoops)))
	if err != nil {
		return nil, err
	}
	inputs, users := map[*graph.Node][]string{}, map[*graph.Node][]string{}
	add := func(list []string, id string) []string {
		if slices.Contains(list, id) {
			return list
		}
		return append(list, id)
	}
	for _, l := range v.links() {
		inputs[l.to] = add(inputs[l.to], v.boxID(l.from))
		users[l.from] = add(users[l.from], v.boxID(l.to))
	}
	given := map[*loop]map[*graph.Node]string{}
	var out []StepBox
	for _, n := range v.shown {
		l := v.stepOf(n)
		if l == nil {
			continue
		}
		v.look()
		b := StepBox{ID: v.boxID(n), Node: l.original(n), Backward: v.backward[n], Inputs: inputs[n], Users: users[n], Given: given[l]}
		main, _ := v.label(n)
		b.Name, _, _ = strings.Cut(figure.Linear(figure.Clean(main)), " = ")
		if b.Equation = v.equation(n); b.Given == nil {
			b.Given = v.givenTo(l)
			given[l] = b.Given
		}
		if o, ok := v.of[n]; ok {
			b.Of = v.boxID(o.Of)
			b.Passed = v.passed(l, n)
		}
		for at := l; at != nil; at = v.stepOf(at.node) {
			loop := at.node
			if around := v.stepOf(loop); around != nil {
				loop = around.original(loop)
			}
			b.Loops, b.Paths = slices.Insert(b.Loops, 0, loop), slices.Insert(b.Paths, 0, v.loopPath(at))
		}
		out = append(out, b)
	}
	return out, nil
}

// original returns the node of the loop's own body that a node of the drawn body is a copy of.
func (l *loop) original(n *graph.Node) *graph.Node {
	if l.copied != nil {
		return l.copied[n]
	}
	return n
}

// passed reports whether a derivative by a carry lacks what the step itself adds to it, which the
// drawing calls λ.
func (v *view) passed(l *loop, n *graph.Node) bool {
	k := slices.Index(l.body.In(), n)
	if k < 0 {
		k = slices.Index(l.body.Out(), n)
	}
	if k < 0 || k >= l.Carries {
		return false
	}
	return strings.HasPrefix(v.names[l.body.Out()[k]], "λ")
}

// givenTo returns the boxes of what the body of a loop has from elsewhere.
func (v *view) givenTo(l *loop) map[*graph.Node]string {
	out := map[*graph.Node]string{}
	for _, x := range append(graph.Reachable(l.body.Out()...), l.body.In()...) {
		instead := v.instead[x]
		from, input := v.given[x]
		if _, carried := v.enters[x]; instead == nil && (!input || carried) {
			continue
		}
		if instead != nil {
			from = instead
		}
		for !v.visible[from] {
			if other := v.instead[from]; other != nil {
				from = other
				continue
			}
			in := v.operands(from)
			if around, given := v.given[from]; given {
				in = []*graph.Node{around}
			}
			if len(in) != 1 {
				from = nil
				break
			}
			from = in[0]
		}
		id := ""
		if from != nil {
			id = v.boxID(from)
		}
		out[l.original(x)] = id
	}
	return out
}

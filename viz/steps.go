package viz

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// steps says how a drawing shows the loops of a graph: the nodes of each body stand for those of
// every step, in a module of their own. A carry appears twice, as it enters the step and as it
// leaves it. In the loop of a derivative, what a step reads of the values' loop, or computes
// again, is drawn there alone.
type steps struct {
	open    map[*graph.Node]*loop       // the loops that are shown, by their nodes
	all     []*loop                     // the same, in order
	name    map[*loop]string            // the last part of the module's path
	instead map[*graph.Node]*graph.Node // the node that is drawn for a node of a body
	given   map[*graph.Node]*graph.Node // by an input of a body, what it is in the graph around
	enters  map[*graph.Node]int         // by an input of a body that is a carry, its number
	id      map[*graph.Node]string      // of the boxes of nodes in bodies
	stands  map[*graph.Node]*graph.Node // by the node of a body in whose box the loop itself is, the loop
}

// openLoops makes the bodies of loops part of the drawing.
func (v *view) openLoops() {
	v.steps = steps{open: map[*graph.Node]*loop{}, name: map[*loop]string{}, instead: map[*graph.Node]*graph.Node{},
		given: map[*graph.Node]*graph.Node{}, enters: map[*graph.Node]int{}, id: map[*graph.Node]string{}, stands: map[*graph.Node]*graph.Node{}}
	if !v.options.loops || v.options.level >= Primitive {
		return
	}
	v.again = map[*graph.Node]*graph.Node{}
	number := map[string]int{} // of loops in a scope
	for _, n := range v.cone {
		if at := clean(v.home[n]); at == "loop" || strings.HasSuffix(at, "/loop") {
			number[parent(at)] = 1 // a scope of that name
		}
	}
	for _, n := range v.cone {
		if l := v.loops[n]; l != nil && l.opens() {
			count := 0
			v.openLoop(l, number, func() string { count++; return fmt.Sprintf("s%d-%d", n.ID(), count) })
		}
	}
	for _, n := range v.cone {
		v.visible[n] = v.visible[n] && (v.roots[n] || v.known(n) || !v.isPlumbing(n))
	}
}

// loopOf returns the loop that is shown for a node, which may repeat it; nil if there is none.
func (v *view) loopOf(n *graph.Node) *loop {
	if same := v.again[n]; same != nil {
		n = same
	}
	return v.open[n]
}

// isPlumbing reports whether a node only takes a part out of a loop's value, or puts it into the
// derivative by that.
func (v *view) isPlumbing(n *graph.Node) bool {
	part := func(x *graph.Node) bool {
		return match.Is(x, match.Slice) && v.loopOf(x.In(0)) != nil
	}
	of := n.First().Origin.Of
	return part(n) || v.backward[n] && n.Rank() == 1 && of != nil && (v.open[of] != nil || part(of)) &&
		(match.Is(n, match.Slice) || match.Is(n, match.Place) || match.Is(n, match.Add))
}

// openLoop makes the body of a loop part of the drawing, and those of loops in it.
func (v *view) openLoop(l *loop, number map[string]int, id func() string) {
	n, in, out := l.node, l.body.In(), l.body.Out()
	v.open[n], v.all, v.visible[n] = l, append(v.all, l), false
	if l.base == l {
		at := clean(v.home[n])
		if around := v.inside[n]; around != nil {
			at = "\x00" + strconv.Itoa(around.node.ID()) // no scope has this name
		}
		if v.name[l] = "loop"; l.function() {
			v.name[l] = strings.ReplaceAll(l.body.Graph().Name(), "/", "·")
			at += "/" + v.name[l]
		}
		if number[at]++; number[at] > 1 {
			v.name[l] += " " + strconv.Itoa(number[at])
		}
	}
	for i, x := range in {
		v.backward[x], v.id[x] = v.backward[n], id()
		if v.given[x] = n.In(i); i < l.Carries {
			v.enters[x], v.visible[x] = i, true
		}
	}
	if l.base != l {
		v.repeat(l)
	}
	nodes := slices.DeleteFunc(graph.Reachable(out...), func(x *graph.Node) bool { return v.instead[x] != nil })
	v.enter(slices.DeleteFunc(slices.Clone(nodes), func(x *graph.Node) bool { return trait.LoopBody(x) == nil }))
	for _, x := range nodes {
		if _, input := v.given[x]; !input {
			v.backward[x], v.id[x] = v.backward[n], id()
			v.visible[x] = x.NumIn() > 0 && v.shows(x) && (v.known(x) || !v.isPlumbing(x))
		}
		if inner := v.loops[x]; inner != nil && v.inside[x] == l && inner.opens() {
			v.openLoop(inner, number, id)
		}
	}
	for _, x := range l.shown() {
		v.visible[x] = true
	}
	if l.base != l {
		v.pair(l)
	}
	if v.inside[n] == nil {
		v.stands[out[slices.IndexFunc(out, func(x *graph.Node) bool { return v.visible[x] })]] = n
	}
}

// function reports whether a loop is a body that is run once, for its results alone.
func (l *loop) function() bool { return l.Steps == 1 && l.Carries+l.Sequences == 0 }

// opens reports whether drawings show what a loop does. A function that only hands operands or
// constants on does nothing.
func (l *loop) opens() bool {
	return l.Carries > 0 || l.function() && l.base == l && len(l.shown()) > 0
}

// shown lists the results of the body that have boxes whatever they are.
func (l *loop) shown() []*graph.Node {
	out := l.body.Out()
	if l.function() {
		return slices.DeleteFunc(out, func(x *graph.Node) bool { return x.NumIn() == 0 })
	}
	return out[:l.Carries]
}

// repeat finds what the step of a derivative reads of the values' loop, or computes again as that
// does.
func (v *view) repeat(l *loop) {
	in, out := l.base.body.In(), l.base.body.Out()
	key := func(x *graph.Node, operands []*graph.Node) string {
		s := graph.OpText(x.Op()) + " " + x.Type().String()
		if c, ok := x.Constant(); ok {
			s += c.String()
		}
		for _, y := range operands {
			s += " " + strconv.Itoa(y.ID())
		}
		return s
	}
	computed := map[string]*graph.Node{}
	for _, x := range graph.Reachable(out...) {
		if x.Role() == graph.RoleOp || x.Role() == graph.RoleConstant {
			computed[key(x, x.Inputs())] = x
		}
	}
	of := map[*graph.Node]*graph.Node{}
	for _, x := range l.body.In()[l.Carries:] {
		for _, y := range slices.Concat(in, out[:l.base.Carries+l.base.Outs]) {
			if x.Name() != "" && x.Name() == y.Name() {
				of[x] = y
				if at := slices.Index(in, y); at < l.base.Carries { // the others are read from around the loop
					v.instead[x] = y
				}
				break
			}
		}
	}
	for _, x := range graph.Reachable(l.body.Out()...) {
		if _, input := v.given[x]; input {
			continue
		}
		operands := x.Inputs()
		known := true
		for i, y := range operands {
			if operands[i] = of[y]; operands[i] == nil {
				known = false
			}
		}
		if !known {
			continue
		}
		if y := computed[key(x, operands)]; y != nil {
			if of[x] = y; x.NumIn() > 0 {
				v.instead[x], v.again[x], v.visible[x] = y, y, false
			}
		}
	}
}

// pair relates the quantities of a derivative's step to those that they are the derivatives of.
func (v *view) pair(l *loop) {
	base, loss := l.base, l.loss
	in, out := base.body.In(), base.body.Out()
	value := map[string]*graph.Node{} // by the user's name in the step
	for _, x := range graph.Reachable(out...) {
		if v.visible[x] && x.Name() != "" {
			value[x.Name()] = x
		}
	}
	for k, x := range in[:base.Carries] {
		value[x.Name()] = x
		if !v.visible[out[k]] {
			delete(value, out[k].Name())
		}
	}
	for _, x := range append(graph.Reachable(l.body.Out()...), l.body.In()...) {
		for _, o := range x.Occurrences() {
			if of, derivative := strings.CutPrefix(o.Name, "∂ℓ/∂"); derivative && value[of] != nil && v.visible[x] {
				v.of[x] = graph.Origin{Kind: graph.FromAdjoint, Of: value[of], Loss: loss}
			}
		}
	}
	for k := range l.Carries {
		v.of[l.body.In()[k]] = graph.Origin{Kind: graph.FromAdjoint, Of: out[k], Loss: loss}
		v.of[l.body.Out()[k]] = graph.Origin{Kind: graph.FromAdjoint, Of: in[k], Loss: loss}
	}
}

// operands returns what a node is computed from, as a drawing shows it: what comes out of a loop
// is a result of its step, and what comes into a step is a value around the loop.
func (v *view) operands(x *graph.Node) []*graph.Node {
	var in []*graph.Node
	given, enters := v.given[x]
	switch {
	case enters:
		in = []*graph.Node{given}
	case v.open[x] != nil:
		in = v.open[x].body.Out()
	case x.NumIn() == 1 && v.loopOf(x.In(0)) != nil && match.Is(x, match.Slice):
		in = v.loopOf(x.In(0)).results(x)
	case v.vanishes(x):
	default:
		in = x.Inputs()
	}
	for i, y := range in {
		if other := v.instead[y]; other != nil {
			in[i] = other
		}
	}
	return in
}

// vanishes reports whether a part of the derivative by a loop's value is zero, because nothing
// outside the loop uses that part of the value.
func (v *view) vanishes(x *graph.Node) bool {
	cut := x
	if match.Is(cut, match.Reshape) {
		cut = cut.In(0)
	}
	if len(v.open) == 0 || !v.backward[x] || !match.Is(cut, match.Slice) || cut.In(0).Rank() != 1 {
		return false
	}
	indices := make([]string, x.Rank())
	for i, a := range x.Shape().Axes() {
		if a.Size > 1 {
			indices[i] = v.fresh("", a.Size)
		}
	}
	start, _ := cut.Op().(trait.Strided).Strides()
	e, ok := v.rowsOf(cut.In(0), start[0], x, indices)
	return ok && e.Kind == expr.KindNumber && Unicode(e) == "0"
}

// results returns the results of a step of which a slice of the loop's value has the values.
func (l *loop) results(cut *graph.Node) []*graph.Node {
	start, _ := cut.Op().(trait.Strided).Strides()
	for k, p := range l.Parts(l.body) {
		if p.At <= start[0] && start[0]+cut.Shape().Len() <= p.At+p.Rows*p.Size {
			return []*graph.Node{l.body.Out()[k]}
		}
	}
	return l.body.Out()
}

// stepOf returns the loop that is shown with a node in its body, or nil.
func (v *view) stepOf(n *graph.Node) *loop {
	if l := v.inside[n]; l != nil && v.open[l.node] == l {
		return l
	}
	return nil
}

// withSteps puts the shown nodes of bodies before their loops.
func (v *view) withSteps(nodes []*graph.Node) []*graph.Node {
	if len(v.open) == 0 {
		return nodes
	}
	var out []*graph.Node
	for _, n := range nodes {
		if l := v.open[n]; l != nil {
			out = append(out, l.body.In()[:l.Carries]...)
			out = append(out, v.withSteps(slices.DeleteFunc(graph.Reachable(l.body.Out()...), func(x *graph.Node) bool {
				_, input := v.given[x]
				return input
			}))...)
		}
		out = append(out, n)
	}
	return out
}

// stepPath returns the module of a node in the body of a loop: the scopes in which the step made
// it, within the module of the loop.
func (v *view) stepPath(l *loop, n *graph.Node) string {
	path := v.loopPath(l)
	made, around := clean(n.First().Scope), clean(l.node.First().Scope)
	if _, input := v.given[n]; !input && within(made, around) && l.base == l {
		path = join(path, strings.TrimPrefix(made[len(around):], "/"))
	}
	return strings.TrimSuffix(path, "/")
}

// closedLoops returns the paths of loops that are drawn closed: those with many boxes and, where
// there are many loops, all.
func (v *view) closedLoops() map[string]bool {
	boxes := map[string]int{}
	for _, n := range v.shown {
		for l := v.stepOf(n); l != nil; l = v.stepOf(l.node) {
			if v.drawn(n) == n && !v.backward[n] {
				boxes[v.loopPath(l)]++
			}
		}
	}
	out := map[string]bool{}
	for path, n := range boxes {
		if n > loopBoxes || len(boxes) > loopsOpen {
			out[path] = true
		}
	}
	for _, l := range v.all {
		if l.function() {
			out[v.loopPath(l)] = true
		}
	}
	return out
}

const (
	loopBoxes = 24 // of a loop that is drawn open
	loopsOpen = 6  // of a drawing
)

// loopPath returns the path of a loop's module.
func (v *view) loopPath(l *loop) string {
	node := v.drawn(l.base.node)
	return join(v.scope(node), v.name[v.open[node]])
}

// Loops lists the loops that drawings of the roots show, by the paths of their modules: the loop
// of the values, and those of its derivatives. Of a loop in the step of another, they are those
// around it. The options are those of [Draw].
func Loops(roots []*graph.Node, opts ...Option) (map[string][]*graph.Node, error) {
	v, err := newView(roots, collect(append(opts[:len(opts):len(opts)], withLoops)))
	if err != nil {
		return nil, err
	}
	out := map[string][]*graph.Node{}
	for _, l := range v.all {
		path, n := v.loopPath(l), l.node
		for v.stepOf(n) != nil {
			n = v.stepOf(n).node
		}
		if !slices.Contains(out[path], n) {
			out[path] = append(out[path], n)
		}
	}
	return out, nil
}

package viz

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// loop is a node that runs a body step by step, as formulas show it. What a step computes has the
// time as its first index, and a carry has the index of the step that produced it: h_t is
// computed from h_{t−1}. A loop that computes the derivative of another uses the other's indices.
type loop struct {
	trait.Loop
	node   *graph.Node
	body   *graph.Body
	copied map[*graph.Node]*graph.Node // what a node of the body is a copy of; nil if the body is the node's own
	base   *loop                       // the loop whose derivative this one computes; itself if none
	loss   *graph.Node                 // of that derivative; nil if none
	time   string                      // the name of the time index
	now    string                      // the index of the step that formulas are being made for
	shift  int                         // from rows of traces to times
}

// enterLoops names what the steps of loops compute.
func (u *unfolder) enterLoops() {
	u.loops, u.inside = map[*graph.Node]*loop{}, map[*graph.Node]*loop{}
	u.enter(u.cone)
}

// enter names what the steps of the loops among some nodes compute.
func (u *unfolder) enter(nodes []*graph.Node) {
	times := map[*graph.Body]int{}
	for _, n := range nodes {
		if b := trait.LoopBody(n); b != nil {
			times[b]++
		}
	}
	for _, n := range nodes {
		b := trait.LoopBody(n)
		if b == nil {
			continue
		}
		var copied map[*graph.Node]*graph.Node
		if times[b] > 1 || u.inside[b.Out()[0]] != nil {
			if b, copied = ownBody(n); b == nil {
				continue
			}
		}
		l := &loop{Loop: n.Op().(trait.Looped).Loop(), node: n, body: b, copied: copied, time: "t"}
		l.base = l
		if o := n.First().Origin; o.Kind == graph.FromGrad && trait.LoopBody(o.Of) != nil {
			if l.base = u.loops[o.Of]; l.base == nil {
				continue
			}
			l.loss = o.Loss
		} else if around := u.inside[n]; around != nil && around.base != around {
			if base := u.derived(l, around.base); base != nil {
				l.base, l.loss = base, around.loss
			}
		}
		if !u.nameSteps(l) {
			continue
		}
		if !l.base.Reverse {
			l.shift = -1
		}
		u.loops[n] = l
		for _, x := range append(graph.Reachable(b.Out()...), b.In()...) {
			u.inside[x] = l
		}
	}
}

// derived returns the loop in the steps of another whose derivative l computes, which the names of
// its carries tell; nil if there is none.
func (u *unfolder) derived(l, base *loop) *loop {
	for _, x := range graph.Reachable(base.body.Out()...) {
		of := u.loops[x]
		if of == nil || of.Carries != l.Carries {
			continue
		}
		same := true
		for k := range l.Carries {
			same = same && l.body.In()[k].Name() == "λ"+of.body.In()[k].Name()
		}
		if same {
			return of
		}
	}
	return nil
}

// nameSteps names the carries of a loop, and the values that its user named in a step.
func (u *unfolder) nameSteps(l *loop) bool {
	out, in := l.body.Out(), l.body.In()
	taken := map[string]bool{}
	for _, s := range u.names {
		taken[s] = true
	}
	base := map[string]bool{}
	if l.base != l {
		for _, n := range l.base.body.Graph().Nodes() {
			base[u.names[n]] = true
		}
		if l.Carries != l.base.Carries {
			return false
		}
	}
	for k, n := range out[:l.Carries] {
		if n.NumIn() == 0 || slices.Contains(out[:k], n) {
			return false
		}
		if l.base != l {
			// The derivative that later steps pass back to a carry is λ. It is not the whole derivative,
			// because the step adds its own use of the carry.
			carried := l.base.body.Out()[k]
			prefix := "∂" + grouped(u.lossName(l.loss)) + "/∂"
			if slices.ContainsFunc(graph.Reachable(out...), func(x *graph.Node) bool { return x.NumIn() > 0 && x.Name() == "∂ℓ/∂"+carried.Name() }) {
				prefix = "λ"
			}
			u.names[n] = prefix + grouped(u.names[carried])
			continue
		}
		name, ok := qualified(n, length{})
		if !ok {
			name = strings.TrimSuffix(in[k].Label(), "₋₁")
		}
		for scopes := 1; taken[name]; scopes++ {
			if longer, ok := qualified(n, length{scopes: scopes}); ok {
				name = longer
			} else {
				name += "′"
			}
		}
		u.names[n], taken[name] = name, true
	}
	if l.base != l {
		for _, n := range u.cone { // a value with a name outside needs no other
			if len(adjoints(n)) > 0 {
				taken[u.of(n)] = true
			}
		}
	}
	for _, n := range graph.Reachable(out...) {
		name, ok := qualified(n, length{})
		if _, done := u.names[n]; done || !ok || n.NumIn() == 0 {
			continue
		}
		if of, derivative := strings.CutPrefix(name, "∂ℓ/∂"); derivative && l.base != l {
			for _, x := range l.base.body.Graph().Nodes() {
				if s, named := u.names[x]; named && x.Name() == of {
					of = s
				}
			}
			for i, x := range l.base.body.In() { // what a step is given has a name outside
				if given := l.base.node.In(i); i >= l.base.Carries && x.Name() == of {
					for isLayout(given) && u.names[given] == "" {
						given = given.In(0)
					}
					if s, named := u.names[given]; named {
						of = s
						break
					}
				}
			}
			name = "∂" + grouped(u.lossName(l.loss)) + "/∂" + grouped(of)
			if taken[name] || strings.HasSuffix(of, "₋₁") {
				continue
			}
		}
		for scopes := 1; taken[name] && !base[name]; scopes++ {
			if longer, ok := qualified(n, length{scopes: scopes}); ok {
				name = longer
			} else {
				name += "′"
			}
		}
		u.names[n], taken[name] = name, true
	}
	return true
}

func (m names) lossName(loss *graph.Node) string {
	if m.known(loss) {
		return m.of(loss)
	}
	return "ℓ"
}

// meet records a symbol, so that its equation can be asked for.
func (u *unfolder) meet(x *graph.Node) {
	if !slices.Contains(u.met, x) {
		u.met = append(u.met, x)
	}
}

// carry returns the symbol of carry k in row row of its trace, counted from the time, or from the
// beginning if time is "". Where a loop ends by its condition, the last step that is run is called T.
func (u *unfolder) carry(l *loop, k int, time string, row int, indices []string) expr.Expr {
	n := l.body.Out()[k]
	u.meet(n)
	at := subscript.Fixed(row + l.shift)
	if gate, ok := l.Gated(); ok && gate < l.Carries {
		if _, _, last := l.At(l.Steps - 1); row == last {
			at = "T"
		}
	}
	if time != "" {
		at = subscript.Shifted(time, row+l.shift)
	}
	return u.symbol(n, slices.Concat(u.times(l), []string{at}, indices))
}

// times returns the times of the loops around a loop, for which formulas are being made.
func (u *unfolder) times(l *loop) (out []string) {
	for _, around := range slices.Backward(u.around(l)) {
		if around.now != "" {
			out = append(out, around.now)
		}
	}
	return out
}

// inStep returns the expression of a value that a step of a loop reads or computes.
func (u *unfolder) inStep(l *loop, x *graph.Node, indices []string) (expr.Expr, bool) {
	if i := slices.Index(l.body.In(), x); i >= 0 {
		switch {
		case i < l.Carries:
			_, before, _ := l.At(0)
			time, _, _ := l.At(0)
			return u.carry(l, i, l.now, before-time, indices), true
		case i < l.Carries+l.Sequences:
			return u.operand(l.node.In(i), append([]string{l.now}, indices...)), true
		}
		return u.operand(l.node.In(i), indices), true
	}
	if _, constant := x.Constant(); constant || u.names[x] == "" {
		return expr.Expr{}, false
	}
	if k := slices.Index(l.body.Out()[:l.Carries], x); k >= 0 {
		time, _, after := l.At(0)
		return u.carry(l, k, l.now, after-time, indices), true
	}
	u.meet(x)
	if l.function() { // there is no time
		return u.symbol(x, slices.Concat(u.times(l), indices)), true
	}
	return u.symbol(x, slices.Concat(u.times(l), []string{l.now}, indices)), true
}

// atTime returns the expression of result n of a step at a time.
func (u *unfolder) atTime(l *loop, n *graph.Node, time string, indices []string) expr.Expr {
	was, wasBase := l.now, l.base.now
	l.now = u.fresh(l.time, l.Steps)
	l.base.now = l.now
	var e expr.Expr
	if n.NumIn() == 0 {
		e = u.operand(n, indices)
	} else {
		e = u.unfold(n, indices)
	}
	e = rename(e, []string{l.now}, []string{time})
	l.now, l.base.now = was, wasBase
	return e
}

// isNow reports whether an index is the time of a step, and so belongs to no axis.
func (u *unfolder) isNow(index string) bool {
	for _, l := range u.loops {
		if l.now == index {
			return true
		}
	}
	return false
}

// step returns the expression of what a step computes, and the indices of its left side.
func (u *unfolder) step(l *loop, n *graph.Node, indices []string) (e expr.Expr, left []string) {
	for _, around := range u.around(l) {
		around.now = u.fresh(around.time, around.Steps)
		around.base.now = around.now
	}
	l.now = u.fresh(l.time, l.Steps)
	l.base.now = l.now
	e = u.unfold(n, indices)
	left = append(u.times(l), l.now)
	if slices.Contains(l.body.Out()[:l.Carries], n) {
		time, _, after := l.At(0)
		left[len(left)-1] = subscript.Shifted(l.now, after-time+l.shift)
	}
	l.now, l.base.now = "", ""
	for _, around := range u.around(l) {
		around.now, around.base.now = "", ""
	}
	return e, left
}

// around lists the loops in whose steps a loop runs.
func (u *unfolder) around(l *loop) (out []*loop) {
	for l = u.inside[l.node]; l != nil; l = u.inside[l.node] {
		out = append(out, l)
	}
	return out
}

// initial returns the equation of a carry before the first step.
func (u *unfolder) initial(n *graph.Node) (Equation, bool) {
	l := u.inside[n]
	if l == nil {
		return Equation{}, false
	}
	k := slices.Index(l.body.Out()[:l.Carries], n)
	if k < 0 {
		return Equation{}, false
	}
	indices := make([]string, n.Rank())
	for i, a := range n.Shape().Axes() {
		if indices[i] = a.Name; a.Size == 1 {
			indices[i] = ""
		}
	}
	_, before, _ := l.At(0)
	u.matrix, u.plain, u.merged = false, false, merged{}
	e := readable(u.simplify(u.operand(l.node.In(k), indices)), axisNames(n))
	left := u.symbol(n, append([]string{subscript.Fixed(before + l.shift)}, indices...))
	return Equation{n, left, e}, true
}

// repeated reports whether the loop that recomputes n for a derivative takes it from the loop
// that is differentiated.
func (u *unfolder) repeated(n *graph.Node) bool {
	l := u.inside[n]
	if l == nil || l.base == l || slices.Contains(l.body.Out()[:l.Carries], n) {
		return false
	}
	for _, x := range l.base.body.Graph().Nodes() {
		if s, ok := u.names[x]; ok && s == u.names[n] {
			return true
		}
	}
	return false
}

// outer returns the node itself, or the loop whose body contains it.
func (u *unfolder) outer(n *graph.Node) *graph.Node {
	if l := u.inside[n]; l != nil {
		return l.node
	}
	return n
}

// inOrder compares nodes by the order of computation.
func (u *unfolder) inOrder(a, b *graph.Node) int {
	if x, y := u.outer(a), u.outer(b); x != y {
		return x.ID() - y.ID()
	}
	return a.ID() - b.ID()
}

package exporter

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// A loop's value is one vector of all that it gives. It is not written as one: what reads a part of it
// reads an output of Scan, Loop or If, which is added to the operator when it is first read.

// pack is the value of a loop by its parts.
type pack struct {
	parts []trait.Part
	// rows returns some rows of a part, [rows …].
	rows func(k, from, rows int) value
}

// sliced returns elements start … start + size − 1 as a vector, where they are rows of one part.
func (p *pack) sliced(s site, start, size int) (v value, ok bool) {
	for k, part := range p.parts {
		at := start - part.At
		if part.Size == 0 || at < 0 || at >= part.Rows*part.Size || at%part.Size != 0 || size%part.Size != 0 || at+size > part.Rows*part.Size {
			continue
		}
		return s.reshape(p.rows(k, at/part.Size, size/part.Size), size), true
	}
	return value{}, false
}

// laid returns the vector of all parts.
func (e *emitter) laid(v value) value {
	return e.once(value{name: v.name}, "laid", func() value {
		var in []value
		for k, p := range v.pack.parts {
			if n := p.Rows * p.Size; n > 0 {
				in = append(in, e.reshape(v.pack.rows(k, 0, p.Rows), n))
			}
		}
		return e.concat(0, in...)
	})
}

// looping has what the forms of a loop share.
type looping struct {
	site
	trait.Loop
	body    *graph.Body
	parts   []trait.Part
	initial []value // of the carries
}

func loop(s site) value {
	l := looping{site: s, Loop: s.n.Op().(trait.Looped).Loop(), body: s.n.Body()}
	l.parts = l.Loop.Parts(l.body)
	for i, n := range l.body.In() {
		s.outside[n] = s.n.In(i)
	}
	for i := range l.Carries {
		l.initial = append(l.initial, s.whole(i))
	}
	gate, gated := l.Gated()
	var rows func(k, from, rows int) value
	switch {
	case l.Steps == 1:
		rows = l.once(gate, gated)
	case gated && gate < l.Carries && l.onlyFinal():
		rows = l.loop(gate)
	default:
		rows = l.scan(gate, gated)
	}
	name := s.fresh("Scan")
	return value{name: name, elem: s.elem(), dims: s.sizes(), pack: &pack{l.parts, rows}}
}

// onlyFinal reports whether nothing reads more than the last carries and the sums.
func (l looping) onlyFinal() bool {
	if l.roots[l.n] {
		return false
	}
	_, _, last := l.At(l.Steps - 1)
	for _, u := range l.users[l.n] {
		start, _, ok := match.Strided(u)
		if !ok || !match.Is(u, match.Slice) {
			return false
		}
		fine := false
		for k, p := range l.parts {
			from, to := p.At, p.At+p.Rows*p.Size
			if k < l.Carries {
				from, to = p.At+last*p.Size, p.At+(last+1)*p.Size
			} else if k < l.Carries+l.Outs {
				continue
			}
			fine = fine || start[0] >= from && start[0]+u.Dim(0) <= to
		}
		if !fine {
			return false
		}
	}
	return true
}

// constants gives the body's constants the values of their operands, which it reads where they are.
func (l looping) constants(values map[*graph.Node]value) {
	in := l.body.In()
	for i := l.Carries + l.Sequences; i < len(in); i++ {
		v := l.in(i)
		if v.pack != nil || v.perm != nil {
			v = l.flat(v)
		}
		values[in[i]] = v
	}
}

// results writes the body over the values of its inputs, behind its gate.
func (e *emitter) results(l looping, values map[*graph.Node]value, gate value, gated bool, carries []value) []value {
	out := l.body.Out()
	if !gated {
		return e.within(values, out)
	}
	then, otherwise := l.emitter.builder.emitter(e), l.emitter.builder.emitter(e)
	yes, no := make([]value, len(out)), make([]value, len(out))
	copy(yes, then.within(values, out))
	for i, n := range out {
		if i < l.Carries {
			no[i] = carries[i]
		} else {
			no[i] = otherwise.filled(elemOf(n.DType().Wide()), 0, n.Shape().Sizes())
		}
	}
	names := make([]string, len(out))
	for i := range out {
		then.gives(yes[i], out[i], label(out[i]))
		otherwise.gives(no[i], out[i], label(out[i]))
		names[i] = e.fresh(label(out[i]))
	}
	cond := gate
	if cond.elem != format.Bool {
		cond = e.unary("Not", e.pointwise("Equal", format.Bool, []value{gate, e.lit(gate.elem, 0)}))
	}
	n := e.add("If", []string{cond.name}, names[0], attrGraph("then_branch", &then.graph), attrGraph("else_branch", &otherwise.graph))
	n.Outputs = names
	results := make([]value, len(out))
	for i, name := range names {
		e.makers[name] = n
		results[i] = value{name: name, elem: yes[i].elem, dims: out[i].Shape().Sizes()}
	}
	then.graph.Name, otherwise.graph.Name = "then", "else"
	if gate, _ := l.Gated(); l.Steps == 1 && l.Carries == 0 {
		e.branches[n] = branch{l.n.In(gate), cond, &then.graph, results}
	}
	return results
}

// branch is a body that is run once, or not at all.
type branch struct {
	gate *graph.Node
	cond value
	body *format.Graph
	out  []value
}

// either writes one If for two bodies, of which one or the other is run, where a result of each is selected by the
// same condition; ok is false for other nodes.
func either(s site, a, b value) (v value, ok bool) {
	root := func(v value) value {
		if from, ok := s.reshaped[v.name]; ok {
			return from
		}
		return v
	}
	condition := s.n.In(0)
	for match.Is(condition, match.Broadcast) {
		condition = condition.In(0)
	}
	from, other := root(a), root(b)
	yes, no := s.makers[from.name], s.makers[other.name]
	then, isThen := s.branches[yes]
	otherwise, isElse := s.branches[no]
	if a.perm != nil || b.perm != nil || !isThen || !isElse || then.gate != condition || !match.Is(otherwise.gate, match.Not) || otherwise.gate.In(0) != then.gate {
		return value{}, false
	}
	k := slices.Index(yes.Outputs, from.name)
	if len(yes.Outputs) != len(no.Outputs) || slices.Index(no.Outputs, other.name) != k {
		return value{}, false
	}
	both := s.merged[[2]*format.Node{yes, no}]
	if both == nil {
		names := make([]string, len(yes.Outputs))
		for i, name := range yes.Outputs {
			names[i] = s.fresh("If")
			s.called[names[i]] = s.called[name]
		}
		both = s.add("If", []string{then.cond.name}, names[0], attrGraph("then_branch", then.body), attrGraph("else_branch", otherwise.body))
		both.Outputs = names
		for _, name := range names {
			s.makers[name] = both
		}
		s.merged[[2]*format.Node{yes, no}] = both
	}
	return s.reshape(value{name: both.Outputs[k], elem: from.elem, dims: from.dims}, a.dims...), true
}

// within writes nodes of a body over the values of its inputs.
func (e *emitter) within(values map[*graph.Node]value, out []*graph.Node) []value {
	had, users, roots, under := e.values, e.users, e.roots, e.under
	e.values, e.roots, e.under = values, map[*graph.Node]bool{}, e.base
	defer func() { e.values, e.users, e.roots, e.under = had, users, roots, under }()
	e.look(out)
	results := make([]value, len(out))
	for i, n := range out {
		results[i] = e.full(e.node(n), n.Shape().Sizes())
	}
	return results
}

// gives makes a value an output of a body.
func (e *emitter) gives(v value, n *graph.Node, name string) {
	out := e.fresh(name)
	e.add("Identity", []string{e.full(v, n.Shape().Sizes()).name}, out)
	e.graph.Outputs = append(e.graph.Outputs, e.info(out, n))
}

// info describes a value of a body in the type that it is computed in.
func (e *emitter) info(name string, n *graph.Node) *format.Value {
	t := n.Type()
	t.DType = t.DType.Wide()
	return valueInfo(name, t)
}

// once is a body that is run once, in place or behind a gate.
func (l looping) once(gate int, gated bool) func(k, from, rows int) value {
	values := map[*graph.Node]value{}
	l.constants(values)
	for i, n := range l.body.In()[:l.Carries+l.Sequences] {
		values[n] = l.reshape(l.whole(i), n.Shape().Sizes()...)
	}
	var g value
	if gated {
		g = values[l.body.In()[gate]]
	}
	out := l.results(l, values, g, gated, l.initial)
	_, before, after := l.At(0)
	row := func(v value) value { return l.reshape(v, append([]int{1}, v.dims...)...) }
	return func(k, from, rows int) value {
		switch {
		case k >= l.Carries:
			return row(out[k])
		case rows == 2:
			both := []value{row(l.initial[k]), row(out[k])}
			if before > after {
				slices.Reverse(both)
			}
			return l.concat(0, both...)
		case from == before:
			return row(l.initial[k])
		}
		return row(out[k])
	}
}

// scan is Scan. Sums are carried.
func (l looping) scan(gate int, gated bool) func(k, from, rows int) value {
	be := l.emitter.builder.emitter(l.emitter)
	be.graph.Name = l.body.Graph().Name()
	in, out := l.body.In(), l.body.Out()
	values := map[*graph.Node]value{}
	l.constants(values)
	input := func(n *graph.Node, suffix string) value {
		name := be.fresh(n.Name() + suffix)
		be.graph.Inputs = append(be.graph.Inputs, be.info(name, n))
		return value{name: name, elem: elemOf(n.DType().Wide()), dims: n.Shape().Sizes()}
	}
	var operands []string
	var carries, sums []value
	for k, n := range in[:l.Carries] {
		values[n] = input(n, "")
		carries = append(carries, values[n])
		operands = append(operands, l.initial[k].name)
	}
	for _, n := range out[l.Carries+l.Outs:] {
		sums = append(sums, input(n, " so far"))
		operands = append(operands, l.filled(elemOf(n.DType().Wide()), 0, n.Shape().Sizes()).name)
	}
	for i := l.Carries; i < l.Carries+l.Sequences; i++ {
		values[in[i]] = input(in[i], "")
		operands = append(operands, l.whole(i).name)
	}
	var g value
	if gated {
		g = values[in[gate]]
	}
	results := be.results(l, values, g, gated, carries)
	direction := 0
	if l.Reverse {
		direction = 1
	}
	n := l.add("Scan", operands, "", attrGraph("body", &be.graph), attrInt("num_scan_inputs", l.Sequences))
	if l.Reverse && l.Sequences > 0 {
		n.Attrs = append(n.Attrs, attrInts("scan_input_directions", slices.Repeat([]int{1}, l.Sequences)...))
	}
	n.Outputs = nil
	base := l.base
	give := func(v value, like *graph.Node, name string, dims []int) value {
		reader := l.base // an output may be asked for later, by another node
		l.emitter.base = base
		defer func() { l.emitter.base = reader }()
		be.gives(v, like, name)
		outer := l.fresh(name)
		n.Outputs = append(n.Outputs, outer)
		l.makers[outer] = n
		return value{name: outer, elem: v.elem, dims: dims}
	}
	final := make([]value, len(out))
	for k := range l.Carries {
		final[k] = give(results[k], out[k], "last "+label(out[k]), out[k].Shape().Sizes())
	}
	for k, n := range out[l.Carries+l.Outs:] {
		at := l.Carries + l.Outs + k
		final[at] = give(be.add2(sums[k], results[at]), n, "sum of "+label(n), n.Shape().Sizes())
	}
	if len(operands) == 0 || l.Sequences == 0 {
		// Scan counts its steps by a sequence.
		name := be.fresh("time")
		be.graph.Inputs = append(be.graph.Inputs, &format.Value{Name: name, Type: &format.Type{Elem: format.Int64, Ranked: true}})
		steps := make([]float64, l.Steps)
		for i := range steps {
			steps[i] = float64(i)
		}
		n.Inputs = append(n.Inputs, l.array("arange", format.Int64, []int{l.Steps}, steps).name)
		n.Attrs[1].Int = 1
	}
	stacks := map[string]value{}
	stack := func(what string, k int, v value) value {
		key := fmt.Sprint(what, k)
		if have, ok := stacks[key]; ok {
			return have
		}
		have := give(v, out[k], what+label(out[k]), append([]int{l.Steps}, out[k].Shape().Sizes()...))
		if direction == 1 {
			directions := n.Attr("scan_output_directions")
			if directions == nil {
				directions = attrInts("scan_output_directions")
				n.Attrs = append(n.Attrs, directions)
			}
			directions.Ints = append(directions.Ints, 1)
		}
		stacks[key] = have
		return have
	}
	row := func(v value) value { return l.reshape(v, append([]int{1}, v.dims...)...) }
	_, first, _ := l.At(0)
	_, _, last := l.At(l.Steps - 1)
	skip := 1 // the rows of a trace before those that follow a step
	if l.Reverse {
		skip = 0
	}
	return func(k, from, rows int) value {
		switch {
		case k >= l.Carries+l.Outs:
			return row(final[k])
		case k >= l.Carries:
			return l.part(stack("", k, results[k]), 0, from, rows)
		case rows == 1 && from == last:
			return row(final[k])
		case rows == 1 && from == first:
			return row(l.initial[k])
		case from >= skip && from+rows <= l.Steps+skip:
			return l.part(stack("", k, results[k]), 0, from-skip, rows)
		case from >= 1-skip && from+rows <= l.Steps+1-skip:
			return l.part(stack("before ", k, carries[k]), 0, from-(1-skip), rows)
		}
		all := []value{row(l.initial[k]), stack("", k, results[k])}
		if l.Reverse {
			slices.Reverse(all)
		}
		return l.part(l.concat(0, all...), 0, from, rows)
	}
}

// loop is Loop, which ends when its gate, a carry, is 0.
func (l looping) loop(gate int) func(k, from, rows int) value {
	be := l.emitter.builder.emitter(l.emitter)
	be.graph.Name = l.body.Graph().Name()
	in, out := l.body.In(), l.body.Out()
	values := map[*graph.Node]value{}
	l.constants(values)
	iteration, going := be.fresh("iteration"), be.fresh("going")
	be.graph.Inputs = []*format.Value{
		{Name: iteration, Type: &format.Type{Elem: format.Int64, Ranked: true}},
		{Name: going, Type: &format.Type{Elem: format.Bool, Ranked: true}},
	}
	nonzero := func(e *emitter, v value) value {
		return e.unary("Not", e.pointwise("Equal", format.Bool, []value{v, e.lit(v.elem, 0)}))
	}
	operands := []string{l.array(fmt.Sprint(l.Steps), format.Int64, nil, []float64{float64(l.Steps)}).name, nonzero(l.emitter, l.initial[gate]).name}
	carry := func(n *graph.Node, name string, start value) value {
		v := value{name: be.fresh(name), elem: elemOf(n.DType().Wide()), dims: n.Shape().Sizes()}
		be.graph.Inputs = append(be.graph.Inputs, be.info(v.name, n))
		operands = append(operands, start.name)
		return v
	}
	for k, n := range in[:l.Carries] {
		values[n] = carry(n, n.Name(), l.initial[k])
	}
	var sums []value
	for _, n := range out[l.Carries+l.Outs:] {
		sums = append(sums, carry(n, label(n)+" so far", l.filled(elemOf(n.DType().Wide()), 0, n.Shape().Sizes())))
	}
	time := value{name: iteration, elem: format.Int64}
	if l.Reverse {
		time = be.sub(be.lit(format.Int64, float64(l.Steps-1)), time)
	}
	for i := l.Carries; i < l.Carries+l.Sequences; i++ {
		values[in[i]] = be.gather(l.whole(i), time, 0)
	}
	results := be.results(l, values, value{}, false, nil)
	more := be.fresh("going on")
	be.add("Identity", []string{nonzero(be, results[gate]).name}, more)
	be.graph.Outputs = []*format.Value{{Name: more, Type: &format.Type{Elem: format.Bool, Ranked: true}}}
	final, names := make([]value, len(out)), []string(nil)
	give := func(k int, v value, name string) {
		be.gives(v, out[k], name)
		final[k] = value{name: l.fresh(name), elem: v.elem, dims: out[k].Shape().Sizes()}
		names = append(names, final[k].name)
	}
	for k := range l.Carries {
		give(k, results[k], "last "+label(out[k]))
	}
	for k, sum := range sums {
		at := l.Carries + l.Outs + k
		give(at, be.add2(sum, results[at]), "sum of "+label(out[at]))
	}
	n := l.add("Loop", operands, names[0], attrGraph("body", &be.graph))
	n.Outputs = names
	for _, name := range names {
		l.makers[name] = n
	}
	return func(k, _, _ int) value {
		v := final[k]
		return l.reshape(v, append([]int{1}, v.dims...)...)
	}
}

package importer

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// written is the largest number of steps of a loop that are written out, where a step differs from
// step to step in more than numbers.
const written = 1 << 10

// unbounded is the bound of a loop without one; its derivative keeps the carries of √n steps.
const unbounded, rooted = 1 << 30, 1 << 15

// looped is a Loop: as many steps as the trip count says, while the condition is true.
type looped struct {
	*call
	body    *format.Graph
	carried []value
	trips   int         // −1 where it depends on data
	limit   *graph.Node // then the count, a scalar
	going   bool        // the condition before the first step, where it is known
	cond    *graph.Node // where it is not
}

// loop becomes a scan if the number of steps is known and a step has the types of the one before, a
// loop with a condition if it depends on data, and steps in the graph itself otherwise.
func loop(c *call) []value {
	l := &looped{call: c, body: c.body("body"), trips: unbounded, going: true}
	if len(c.in) > 2 {
		l.carried = c.in[2:]
	}
	if len(l.body.Inputs) != len(l.carried)+2 || len(l.body.Outputs) < len(l.carried)+1 {
		c.fail("its body has %d inputs and %d outputs: %d carried values do not fit", len(l.body.Inputs), len(l.body.Outputs), len(l.carried))
	}
	if c.has(0) {
		if l.trips = -1; c.isKnown(0) {
			l.trips = max(c.one(0), 0)
		} else {
			l.limit = c.scalar(c.x(0))
		}
	}
	if c.has(1) {
		if c.isKnown(1) {
			l.going = c.one(1) != 0
		} else {
			l.cond = c.scalar(c.x(1))
		}
	}
	first := l.trial()
	always := first != nil && l.cond == nil && l.going && truly(first[0])
	rows := len(l.body.Outputs) - 1 - len(l.carried)
	switch {
	case first != nil && (!l.going && l.cond == nil || l.trips == 0):
		return l.none(first)
	case always && 0 < l.trips && l.trips < unbounded:
		return l.scan(l.trips)
	}
	if l.trips >= 0 && l.cond == nil && (first == nil || rows > 0 || l.known()) {
		if out := l.write(); out != nil {
			return out
		}
	}
	switch {
	case first == nil:
		c.fail("its carried values differ from step to step in type or shape, and the number of steps depends on data")
	case rows > 0:
		c.fail("its results have a row for each step, and the number of steps depends on data")
	}
	return l.while()
}

// known reports whether all carried values are known before the first step.
func (l *looped) known() bool {
	for i := range l.carried {
		if !l.isKnown(2 + i) {
			return false
		}
	}
	return true
}

// one returns the only element of operand i, which is known.
func (c *call) one(i int) int {
	v := c.ints(i)
	if len(v) != 1 {
		c.fail("operand %d has %d elements: want 1", i, len(v))
	}
	return v[0]
}

// scalar returns an array of one element without axes.
func (c *call) scalar(n *graph.Node) *graph.Node {
	if n.Shape().Len() != 1 {
		c.fail("an operand has %d elements: want 1", n.Shape().Len())
	}
	if n.Rank() == 0 {
		return n
	}
	return ops.Reshape(n)
}

// bare returns n without names of axes, as carries are: a step may drop or change them.
func bare(n *graph.Node) *graph.Node {
	for _, a := range n.Shape().Axes() {
		if a.Name != "" {
			s, _ := graph.NewShape(graph.Dims(n.Shape().Sizes()...)...)
			return ops.ReshapeTo(n, s)
		}
	}
	return n
}

// truly reports whether a value is known to be true.
func truly(v value) bool {
	if v.kind != array || v.node == nil {
		return false
	}
	n, ok := v.node.Constant()
	return ok && len(n.Data) == 1 && n.Data[0] != 0
}

func (l *looped) true() value {
	return value{node: l.g.Constant(graph.Bool, []float64{1}), elem: format.Bool}
}

// trial builds a step to see what it gives, and takes it back. It returns nil if the step cannot be
// one of a loop: its carried values have other types than those before it, or it cannot be built
// without the number of the step.
func (l *looped) trial() (out []value) {
	names, types := []string{"i"}, []graph.Type{{DType: graph.I64}}
	for k, v := range l.carried {
		if v.kind != array || v.node == nil {
			return nil
		}
		names, types = append(names, fmt.Sprint("c", k)), append(types, bare(v.node).Type())
	}
	l.enter(l.body)
	defer l.leave()
	g, problems, nodes := l.g.Open(), len(l.problems), l.nodes
	b, in := g.BodyGraph("step", names, types)
	defer g.Abandon(b)
	values := []value{{node: in[0], elem: format.Int64}, l.true()}
	for k, v := range l.carried {
		values = append(values, value{node: in[k+1], elem: v.elem})
	}
	out = l.branch(l.body, l.names, values...)
	failed := len(l.problems) > problems || b.Err() != nil
	l.problems, l.builder.nodes = l.problems[:problems], nodes
	if failed {
		return nil
	}
	for i, v := range out {
		if v.kind != array || !v.node.IsValid() {
			return nil
		}
		if i > 0 && i <= len(l.carried) {
			if t := types[i]; v.node.DType() != t.DType || !v.node.Shape().SameSizes(t.Shape) {
				return nil
			}
		}
	}
	return out
}

// none returns the results of no step.
func (l *looped) none(first []value) []value {
	out := append([]value(nil), l.carried...)
	for _, v := range first[1+len(l.carried):] {
		axes := append(graph.Dims(0), graph.Dims(v.node.Shape().Sizes()...)...)
		out = append(out, value{node: ops.Zeros(l.g, v.node.DType(), axes...), elem: v.elem})
	}
	return out
}

// carries returns the carries of a loop: the number of the step, the condition if it is asked for,
// and what the file carries.
func (l *looped) carries(cond bool) []*graph.Node {
	out := []*graph.Node{l.g.Constant(graph.I64, []float64{0})}
	if cond {
		c := l.cond
		if c == nil {
			c = l.true().node
		}
		out = append(out, c)
	}
	for _, v := range l.carried {
		out = append(out, bare(v.node))
	}
	return out
}

// scan returns the results of n steps.
func (l *looped) scan(n int) []value {
	l.enter(l.body)
	defer l.leave()
	var results []value
	r := ops.Scan(ops.Loop{Carry: l.carries(false), Steps: n}, func(carry, _, _ []*graph.Node) (next, out []*graph.Node) {
		values := []value{{node: carry[0], elem: format.Int64}, l.true()}
		for k, v := range l.carried {
			values = append(values, value{node: carry[1+k], elem: v.elem})
		}
		results = l.branch(l.body, l.names, values...)
		nodes := l.nodesOf(results)
		next = append(next, ops.Shift(carry[0], 1))
		for _, n := range nodes[1 : 1+len(l.carried)] {
			next = append(next, bare(n))
		}
		for _, n := range nodes[1+len(l.carried):] {
			out = append(out, bare(n))
		}
		return next, out
	})
	results = results[min(1, len(results)):]
	return l.results(append(r.Final[min(1, len(r.Final)):], r.Out...), &results)
}

// while returns the results of steps until the condition, or the count, ends them.
func (l *looped) while() []value {
	l.enter(l.body)
	defer l.leave()
	var results []value
	loop := ops.Loop{Carry: l.carries(true), Steps: l.trips}
	if l.trips < 0 || l.trips >= unbounded {
		loop.Steps, loop.Checkpoint = unbounded, rooted
	}
	r := ops.While(loop, func(carry, _ []*graph.Node) *graph.Node {
		if l.limit == nil {
			return carry[1]
		}
		return ops.And(carry[1], ops.Less(carry[0], ops.Cast(l.limit, graph.I64)))
	}, func(carry, _, _ []*graph.Node) (next, out []*graph.Node) {
		values := []value{{node: carry[0], elem: format.Int64}, {node: carry[1], elem: format.Bool}}
		for k, v := range l.carried {
			values = append(values, value{node: carry[2+k], elem: v.elem})
		}
		results = l.branch(l.body, l.names, values...)
		nodes := l.nodesOf(results)
		next = append(next, ops.Shift(carry[0], 1), l.scalar(nodes[0]))
		for _, n := range nodes[1:] {
			next = append(next, bare(n))
		}
		return next, nil
	})
	results = results[min(1, len(results)):]
	return l.results(r.Final[min(2, len(r.Final)):], &results)
}

// write adds the steps to the graph itself. It returns nil if a condition depends on data.
func (l *looped) write() []value {
	carried := l.carried
	rows := make([][]value, len(l.body.Outputs)-1-len(carried))
	for i := 0; i < l.trips && l.going; i++ {
		if i == written {
			l.fail("more than %d steps, each of which is of its own", written)
		}
		in := []value{l.constant(format.IntsOf("", nil, int64(i))), l.true()}
		problems := len(l.problems)
		out := l.branch(l.body, l.names, append(in, carried...)...)
		if len(l.problems) > problems {
			return make([]value, len(l.n.Outputs))
		}
		cond, known := value{}, false
		if cond = out[0]; cond.kind == array && cond.node != nil && leafOf(cond.node) == nil {
			v := (&call{builder: l.builder, n: l.n, in: []value{cond}}).known(0)
			l.going, known = len(v) == 1 && v[0] != 0, true
		}
		if !known {
			return nil
		}
		carried = out[1 : 1+len(carried)]
		for k, v := range out[1+len(carried):] {
			rows[k] = append(rows[k], v)
		}
	}
	out := append([]value(nil), carried...)
	for _, r := range rows {
		if len(r) == 0 {
			l.fail("no step is made, so that the shape of a result is not known")
		}
		nodes := make([]*graph.Node, len(r))
		for i, v := range r {
			nodes[i] = bare(l.numbers(v, math.MaxInt))
		}
		out = append(out, value{node: ops.Stack(0, "", nodes...), elem: r[0].elem})
	}
	return out
}

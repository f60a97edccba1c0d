package rewrite

import (
	"maps"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// rows lists the rules for tables of which a step touches a few rows. The derivative by a table from
// which rows were gathered is 0 but for these (ops.ScatterAdd); what elementwise operations make of it
// and of the table is computed for the rows alone.
var rows = []Rule{
	{"touched rows", "f(table, Σ rows at k) is the table but for the rows at k where f(x, 0) = x: t − η·scatter(k, v) = setAt(t, k, t[k] − η·v′), " +
		"where equal indices have the sum of their rows",
		func(n *graph.Node) *graph.Node {
			t, ok := newTouched(n)
			if !ok {
				return nil
			}
			table := t.elsewhere(n)
			if table == nil || table == t.zero {
				return nil
			}
			w := t.row(n)
			if w == nil {
				return nil
			}
			return ops.SetAt(table, t.index, w, 0)
		}},
	{"sum of touched rows", "Σ f(Σ rows at k) over a table is that over the rows at k where f(0) = 0",
		func(n *graph.Node) *graph.Node {
			x, axes, ok := match.Summed(n)
			if !ok || !axes.Has(0) || match.Is(x, match.ScatterAdd) {
				return nil
			}
			t, ok := newTouched(x)
			if !ok || t.elsewhere(x) != t.zero {
				return nil
			}
			for _, s := range t.sources {
				if !derived(s) {
					return nil // an index that is wrong is to be found where the user scatters
				}
			}
			// What was scattered refuses indices that are no rows, and what takes its place does not.
			zeros, _ := graph.NewShape(t.table.Axis(0))
			checked := ops.Gather(ops.BroadcastTo(ops.Lit(t.index, 0), zeros), t.index, 0)
			t.once, t.first = true, ops.FirstEqual(ops.Add(t.index, checked))
			w := t.row(x)
			if w == nil {
				return nil
			}
			in := n.Graph().Apply(n.Op(), w)
			return ops.ReshapeTo(in, n.Shape())
		}},
}

// leastTouched is how many times as many rows as indices a table has at least for its rules to apply: a
// gathered row costs more than one of a whole table that is read from first to last.
const leastTouched = 4

// derived reports whether a node is the derivative of a Gather by its table.
func derived(n *graph.Node) bool {
	for _, o := range n.Occurrences() {
		if o.Origin.Kind == graph.FromGrad && match.Is(o.Origin.Of, match.Gather) {
			return true
		}
	}
	return false
}

// mostSearched bounds the search for indices below a node, so that a pass takes a time in proportion to
// the graph: the step of an optimiser has some twenty operations.
const mostSearched = 100

// touched is a search through the elementwise operations below a node of a table's shape.
type touched struct {
	table   graph.Shape
	sources []*graph.Node // ScatterAdd nodes along axis 0
	index   *graph.Node   // [k]: all their indices, one after the other
	first   *graph.Node   // [k]: of each index, the number of the first equal one
	small   graph.Shape   // of the rows at the indices
	zero    *graph.Node   // stands for rows of zeros
	false_  *graph.Node   // stands for rows of a mask that are false
	once    bool          // rows at equal indices count once: the others are those of the sources that are 0
	known   map[*graph.Node]*graph.Node
	made    map[*graph.Node]*graph.Node
}

// newTouched finds the sources below n: it is not ok if there is none, or if they have so many rows
// that nothing is gained.
func newTouched(n *graph.Node) (*touched, bool) {
	if n.Rank() == 0 || !n.DType().IsFloat() || !trait.IsElementwise(n.Op()) {
		return nil, false
	}
	t := &touched{table: n.Shape()}
	count := 0
	var written *graph.Node                      // indices at which rows of a table below n are set already
	seen := make([]*graph.Node, 0, mostSearched) // most searches are short and in vain: a map would cost more
	var look func(x *graph.Node)
	look = func(x *graph.Node) {
		if len(seen) == mostSearched || x.NumIn() == 0 || !x.Shape().SameSizes(t.table) || slices.Contains(seen, x) {
			return
		}
		seen = append(seen, x)
		switch {
		case t.source(x):
			t.sources = append(t.sources, x)
			count += x.In(0).Shape().Len()
		case match.Is(x, match.Scatter) && writesRows(x):
			written = x.In(1)
		case trait.IsElementwise(x.Op()) || match.Is(x, match.Broadcast):
			for i := range x.NumIn() {
				look(x.In(i))
			}
		}
	}
	look(n)
	if len(t.sources) == 0 && written != nil && written.Rank() == 1 {
		t.index, count = written, written.Shape().Len()
	}
	if count == 0 || count*leastTouched > t.table.Dim(0) {
		return nil, false
	}
	t.zero, t.false_ = &graph.Node{}, &graph.Node{}
	t.known, t.made = map[*graph.Node]*graph.Node{}, map[*graph.Node]*graph.Node{}
	t.small, _ = graph.NewShape(append([]graph.Axis{{Size: count}}, t.table.Axes()[1:]...)...)
	if t.index != nil {
		return t, true
	}
	var parts []*graph.Node
	for _, s := range t.sources {
		flat, _ := graph.NewShape(graph.Axis{Size: s.In(0).Shape().Len()})
		parts = append(parts, ops.ReshapeTo(ops.Cast(s.In(0), graph.I64), flat))
	}
	t.index = parts[0]
	if len(parts) > 1 {
		t.index = ops.Concat(0, parts...)
	} else if s := t.sources[0].In(0); s.Rank() == 1 {
		t.index = s
	}
	t.first = ops.FirstEqual(t.index)
	return t, true
}

// writesRows reports whether n adds or sets slices at indices along its first axis.
func writesRows(n *graph.Node) bool {
	op, ok := n.Op().(trait.Scattering)
	return ok && op.Scatters() == 0
}

// source reports whether x has slices added at indices along the first axis of the table.
func (t *touched) source(x *graph.Node) bool {
	return match.Is(x, match.ScatterAdd) && writesRows(x) && x.Shape().SameSizes(t.table)
}

// elsewhere returns what the rows of n that no index picks are equal to: the rows of a leaf, zero,
// false_, or nil if that is not known. A factor of zero makes zero: where another factor is not finite,
// rows that are not picked stay as they are.
func (t *touched) elsewhere(n *graph.Node) *graph.Node {
	if x, ok := t.known[n]; ok {
		return x
	}
	t.known[n] = nil
	x := t.findElsewhere(n)
	t.known[n] = x
	return x
}

func (t *touched) findElsewhere(n *graph.Node) *graph.Node {
	of := func(i int) *graph.Node { return t.elsewhere(n.In(i)) }
	switch {
	case t.source(n):
		return t.zero
	case n.NumIn() == 0 && n.Shape().SameSizes(t.table):
		if v, ok := match.Literal(n); ok && v == 0 {
			return t.zero
		}
		return n
	}
	if v, ok := match.Literal(n); ok && v == 0 {
		return t.zero
	}
	switch match.KindOf(n) {
	case match.Scatter:
		if n.In(1) == t.index && t.alike(n.In(2)) {
			return of(0)
		}
	case match.Broadcast:
		if t.picked(n.In(0)) {
			return t.false_
		} else if of(0) == t.zero {
			return t.zero
		}
	case match.Neg, match.Square, match.Abs, match.Sqrt:
		if of(0) == t.zero {
			return t.zero
		}
	case match.Mul:
		if of(0) == t.zero || of(1) == t.zero {
			return t.zero
		}
	case match.Div:
		if of(0) == t.zero {
			return t.zero
		}
	case match.Add:
		if of(0) == t.zero {
			return of(1)
		} else if of(1) == t.zero {
			return of(0)
		}
	case match.Sub:
		if of(1) == t.zero {
			return of(0)
		}
	case match.Select:
		if of(0) == t.false_ || of(1) == of(2) {
			return of(2)
		}
	}
	return nil
}

// alike reports whether rows w at the indices are equal where the indices are: whether they are made
// element by element of what was gathered there.
func (t *touched) alike(w *graph.Node) bool {
	switch {
	case match.Is(w, match.Reshape) && w.Rank() > 0 && w.Dim(0) == t.index.Dim(0) && w.In(0).Rank() > 0 && w.In(0).Dim(0) == w.Dim(0):
		return t.alike(w.In(0))
	case match.Is(w, match.Gather):
		k := w.In(1)
		return k == t.index || match.Is(k, match.FirstEqual) && k.In(0) == t.index
	case match.Is(w, match.Broadcast):
		return w.In(0).Rank() < w.Rank() || w.In(0).Dim(0) == 1
	case w.NumIn() == 0:
		return w.Rank() == 0
	case !trait.IsElementwise(w.Op()):
		return false
	}
	for _, x := range w.Inputs() {
		if !t.alike(x) {
			return false
		}
	}
	return true
}

// row returns the rows of n at the indices, nil if they cannot be had without those of all the table.
func (t *touched) row(n *graph.Node) *graph.Node {
	if x, ok := t.made[n]; ok {
		return x
	}
	x := t.makeRow(n)
	t.made[n] = x
	return x
}

func (t *touched) makeRow(n *graph.Node) *graph.Node {
	switch {
	case t.source(n):
		return t.sum(n)
	case match.Is(n, match.Scatter):
		if n.In(1) == t.index && t.alike(n.In(2)) {
			return n.In(2)
		}
		return nil
	case match.Is(n, match.Broadcast):
		x := n.In(0)
		switch {
		case t.picked(x):
			return ops.BroadcastTo(n.Graph().Constant(graph.Bool, []float64{1}), t.small)
		case x.Rank() == n.Rank() && x.Dim(0) != 1:
			return nil // a number a row
		}
		return ops.BroadcastTo(x, t.small)
	case n.NumIn() == 0 && n.Shape().SameSizes(t.table):
		return t.gather(n)
	case n.Shape().SameSizes(t.table) && trait.IsElementwise(n.Op()):
		in := make([]*graph.Node, n.NumIn())
		for i := range in {
			if in[i] = t.row(n.In(i)); in[i] == nil {
				return nil
			}
		}
		return n.Graph().Apply(n.Op(), in...)
	}
	return nil
}

// picked reports whether x is the mask [v 1 …] of the rows at the indices: false, with true set there.
func (t *touched) picked(x *graph.Node) bool {
	if !match.Is(x, match.Reshape) || x.DType() != graph.Bool || x.Rank() != t.table.Rank() || x.Dim(0) != t.table.Dim(0) {
		return false
	}
	indices := map[*graph.Node]bool{}
	for x = x.In(0); match.Is(x, match.Scatter); x = x.In(0) {
		if v, ok := match.Literal(x.In(2)); !ok || v != 1 {
			return false
		}
		collect(x.In(1), indices)
	}
	if v, ok := match.Literal(x); !ok || v != 0 {
		return false
	}
	own := map[*graph.Node]bool{}
	collect(t.index, own)
	return maps.Equal(own, indices)
}

// collect adds the nodes of which the indices k are made by changes of layout and type, and one after
// the other: together they have the same elements.
func collect(k *graph.Node, into map[*graph.Node]bool) {
	switch match.KindOf(k) {
	case match.Reshape, match.Cast, match.Concat:
		for _, x := range k.Inputs() {
			if !x.DType().IsInt() || x.DType() == graph.I64 && k.DType() == graph.I32 {
				into[k] = true // a cast that changes numbers
				return
			}
		}
		for _, x := range k.Inputs() {
			collect(x, into)
		}
	default:
		into[k] = true
	}
}

// gather returns the rows of a leaf at the indices; equal indices have equal rows.
func (t *touched) gather(leaf *graph.Node) *graph.Node {
	return ops.ReshapeTo(ops.Gather(leaf, t.index, 0), t.small)
}

// sum returns for each index the sum of the slices of a source that have it, in their order.
func (t *touched) sum(source *graph.Node) *graph.Node {
	k := source.In(0).Shape().Len()
	at := 0
	for _, s := range t.sources {
		if s == source {
			break
		}
		at += s.In(0).Shape().Len()
	}
	first := t.first
	if len(t.sources) > 1 {
		first = ops.Slice(first, 0, at, at+k)
	}
	axes := append([]graph.Axis{{Size: k}}, t.table.Axes()[1:]...)
	slots, _ := graph.NewShape(axes...)
	added := ops.ScatterAdd(first, ops.ReshapeTo(source.In(1), slots), 0, t.small.Axes()...)
	if t.once {
		return added
	}
	return ops.ReshapeTo(ops.Gather(added, t.first, 0), t.small)
}

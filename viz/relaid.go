package viz

import (
	"slices"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// merged has the parts of indices: the index of an axis that merges several is written as theirs,
// Σ_hwc p_nhwc·w_{hwc,k}.
type merged struct {
	parts map[string][]string
	clash bool // an axis is merged from different ones, which no index can express
	off   bool // merging is therefore written as a call
}

func (m *merged) set(index string, parts []string) {
	if m.parts == nil {
		m.parts = map[string][]string{}
	}
	m.parts[index] = parts
}

// of returns an index written by its parts.
func (m *merged) of(index string) string {
	return subscript.Rename(index, func(s string) string {
		if parts, ok := m.parts[s]; ok {
			for i := range parts {
				parts[i] = m.of(parts[i])
			}
			return subscript.Joined(parts...)
		}
		return s
	})
}

// in replaces the merged indices of an expression by their parts.
func (m *merged) in(e expr.Expr) expr.Expr {
	if len(m.parts) == 0 {
		return e
	}
	var subs []string
	for _, s := range e.Subs {
		if s = m.of(s); binds(e) {
			subs = append(subs, subscript.Names(s)...)
		} else {
			subs = append(subs, s)
		}
	}
	e.Subs = subs
	e.Args = slices.Clone(e.Args)
	for i := range e.Args {
		e.Args[i] = m.in(e.Args[i])
	}
	return e
}

// enter forgets what the names of an operation's own indices mean outside it. leave returns the
// parts that they got inside and restores their outer meaning.
func (m *merged) enter(own []string) (outer map[string][]string) {
	outer = map[string][]string{}
	for _, s := range own {
		if p, ok := m.parts[s]; ok {
			outer[s] = p
			delete(m.parts, s)
		}
	}
	return outer
}

func (m *merged) leave(own []string, outer map[string][]string) (parts [][]string) {
	for _, s := range own {
		var names []string
		for _, p := range m.parts[s] {
			names = append(names, subscript.Names(m.of(p))...)
		}
		parts = append(parts, names)
		delete(m.parts, s)
	}
	for s, p := range outer {
		m.set(s, p)
	}
	return parts
}

// partsAs returns the parts of the index that takes the place of an operation's own index, given
// the parts that this one got.
func (u *unfolder) partsAs(index string, parts []string) []string {
	out := make([]string, len(parts))
	if index == "" || len(parts) == 0 {
		return out
	}
	sizes := make([]int, len(parts))
	for i, p := range parts {
		sizes[i] = u.size[p]
	}
	if taken, ok := u.partsOf(index, sizes, parts); ok {
		return taken
	}
	u.merged.clash = true
	return out
}

// partsOf splits an index into parts of the given sizes; if it has none yet, it gets those
// offered.
func (u *unfolder) partsOf(index string, sizes []int, offered []string) ([]string, bool) {
	names := subscript.Names(index)
	if len(names) == 1 && names[0] == index {
		if _, ok := u.merged.parts[index]; !ok {
			u.merged.set(index, slices.Clone(offered))
			return offered, true
		}
		names = subscript.Names(u.merged.of(index))
	}
	if subscript.Joined(names...) != u.merged.of(index) || len(names) != len(sizes) {
		return nil, false
	}
	for i, s := range names {
		if u.size[s] != sizes[i] {
			return nil, false
		}
	}
	return names, true
}

// relaid returns the indices of the operand of an operation that only moves elements, given those
// of the result; ok is false if no index expresses the move.
func (u *unfolder) relaid(y *graph.Node, indices []string) (in []string, ok bool) {
	if u.matrix || y.NumIn() != 1 {
		return nil, false
	}
	switch match.KindOf(y) {
	case match.Transpose:
		return u.transposed(y, indices)
	case match.Reshape:
		if !u.merged.off {
			return u.reshaped(y, indices)
		}
	}
	return nil, false
}

func (u *unfolder) transposed(y *graph.Node, indices []string) ([]string, bool) {
	x := y.In(0)
	at, ok := u.places[y]
	if !ok {
		at = placesOf(y)
		u.places[y] = at
	}
	if at == nil {
		return nil, false
	}
	in := make([]string, x.Rank())
	for i, k := range at {
		if y.Dim(i) > 1 {
			in[k] = indices[i]
		}
	}
	return in, true
}

// placesOf returns, for each axis of a transpose's result, its place in the operand; nil if the
// operation does not say.
func placesOf(y *graph.Node) []int {
	axes := y.In(0).Shape().Axes()
	for i := range axes {
		axes[i].Name = letter + strconv.Itoa(i)
	}
	copied := applied(y, [][]graph.Axis{axes})
	if copied == nil {
		return nil
	}
	at := make([]int, y.Rank())
	for i, a := range copied.Shape().Axes() {
		at[i] = copied.In(0).Shape().Index(a.Name)
	}
	return at
}

// reshaped walks over the axes of both sides in groups with equal numbers of elements, where one
// axis on either side is split into, or merged from, those of the other.
func (u *unfolder) reshaped(y *graph.Node, indices []string) ([]string, bool) {
	x := y.In(0)
	long := func(n *graph.Node) (at []int) {
		for i, a := range n.Shape().Axes() {
			if a.Size > 1 {
				at = append(at, i)
			}
		}
		return at
	}
	in := make([]string, x.Rank())
	from, to := long(x), long(y)
	for len(from) > 0 && len(to) > 0 {
		f, t := 1, 1
		a, b := x.Dim(from[0]), y.Dim(to[0])
		for a != b {
			if a < b {
				if f == len(from) {
					return nil, false
				}
				a *= x.Dim(from[f])
				f++
			} else {
				if t == len(to) {
					return nil, false
				}
				b *= y.Dim(to[t])
				t++
			}
		}
		switch {
		case f == 1:
			parts := make([]string, t)
			for i, k := range to[:t] {
				parts[i] = indices[k]
			}
			in[from[0]] = subscript.Joined(parts...)
		case t == 1 && indices[to[0]] != "":
			sizes, offered := make([]int, f), make([]string, f)
			for i, k := range from[:f] {
				a := x.Shape().Axis(k)
				sizes[i], offered[i] = a.Size, u.fresh(a.Name, a.Size)
			}
			parts, ok := u.partsOf(indices[to[0]], sizes, offered)
			if !ok {
				return nil, false
			}
			for i, k := range from[:f] {
				in[k] = parts[i]
			}
		case t > 1:
			return nil, false
		}
		from, to = from[f:], to[t:]
	}
	return in, len(from) == len(to)
}

// concatenated returns concat_h(head_bhte) for an array that is nothing but another one with
// several of its axes, which do not follow each other there, in one: the heads of attention.
func concatenated(e expr.Expr, left []string) expr.Expr {
	if e.Kind != expr.KindSymbol {
		return e
	}
	for _, index := range left {
		parts := subscript.Names(index)
		if len(parts) < 2 || subscript.Joined(parts...) != index {
			continue
		}
		for i, s := range parts[1:] {
			if at := slices.Index(e.Subs, parts[i]); at >= 0 && slices.Index(e.Subs, s) != at+1 {
				return expr.Expr{Kind: expr.KindCall, Text: "concat", Subs: parts[:len(parts)-1], Args: []expr.Expr{e}}
			}
		}
	}
	return e
}

// letter begins the names given to axes that have none in the graph.
const letter = "unnamed_"

// applied returns the operation of y applied to operands with other names of axes, in a graph of
// its own; nil if the operation refuses them.
func applied(y *graph.Node, axes [][]graph.Axis) *graph.Node {
	g := graph.New("")
	var n *graph.Node
	g.During(graph.Occurrence{}, graph.Origin{}, func() { // without a source line, since finding one costs more than the rest
		in := make([]*graph.Node, y.NumIn())
		for k := range in {
			in[k] = g.Input(strconv.Itoa(k), y.In(k).DType(), axes[k]...)
		}
		n = g.Apply(y.Op(), in...)
	})
	if g.Err() == nil && n.IsValid() && n.Rank() == y.Rank() {
		return n
	}
	return nil
}

// tried reports whether the operation accepts these names.
func tried(y *graph.Node, axes [][]graph.Axis, best **graph.Node) bool {
	n := applied(y, axes)
	for i, a := range y.Shape().Axes() {
		if n == nil || a.Name != "" && n.Shape().Axis(i).Name != a.Name {
			return false
		}
	}
	*best = n
	return n != nil
}

// partners lists the axes that an axis of operand k may be the same as.
func partners(axes [][]graph.Axis, k, size int) (out []*graph.Axis) {
	for o := range axes {
		for i := range axes[o] {
			if b := &axes[o][i]; o != k && b.Size == size && b.Name != "" {
				out = append(out, b)
			}
		}
	}
	return out
}

// lettering is a copy of a node in which all axes have names, with those of its operands.
type lettering struct {
	node *graph.Node
	axes [][]graph.Axis
}

// lettered returns a copy of y in which all axes have names, as far as the operation accepts
// them: an axis that it contracts has one name in both operands. It returns y itself where the
// result is written as a matrix, and where axes are aligned by position.
func (u *unfolder) lettered(y *graph.Node) *graph.Node {
	if y.NumIn() == 0 { // a random draw
		return y
	}
	if _, same := aligned(y, 0); same || u.matrix {
		return y
	}
	l, ok := u.letters[y]
	if !ok {
		l = letteringOf(y)
		u.letters[y] = l
	}
	for _, a := range l.node.Shape().Axes() {
		u.size[a.Name] = a.Size
	}
	for _, axes := range l.axes {
		for _, a := range axes {
			u.size[a.Name] = a.Size
		}
	}
	return l.node
}

func letteringOf(y *graph.Node) lettering {
	best := y
	axes := make([][]graph.Axis, y.NumIn())
	for k := range axes {
		axes[k] = y.In(k).Shape().Axes()
	}
	for k := range axes {
		for i := range axes[k] {
			a := &axes[k][i]
			if a.Name != "" || a.Size == 1 && !(y.Rank() == len(axes[k]) && y.Dim(i) > 1) {
				continue
			}
			fresh := letter + strconv.Itoa(k) + "_" + strconv.Itoa(i)
			if a.Name = fresh; tried(y, axes, &best) {
				continue
			}
			for _, partner := range partners(axes, k, a.Size) {
				if a.Name = partner.Name; tried(y, axes, &best) {
					break
				}
				// Another axis has that name here, so both get a new one.
				was := partner.Name
				if a.Name, partner.Name = fresh, fresh; tried(y, axes, &best) {
					break
				}
				a.Name, partner.Name = "", was
			}
		}
	}
	return lettering{best, axes}
}

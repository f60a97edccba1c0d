package viz

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/subscript"
)

// Unnamed values with more operations than these are symbols in the formulas of others. Without
// such a bound an expression could grow exponentially where values are used more than once.
const (
	maxWeight       = 120
	maxSharedWeight = 30 // of a value that is used more than once
)

// unfolder turns nodes into expressions. While it builds one, every bound index is unique
// ("j#3"), so that none can be captured; readable names are chosen at the end.
type unfolder struct {
	names
	cone     []*graph.Node
	adjoints bool // derivatives by named quantities are symbols
	cut      map[*graph.Node]bool
	size     map[string]int // of indices
	met      []*graph.Node  // quantities that appeared as symbols
	raw      bool           // do not simplify
	merged   merged
	left     []string                    // the indices of the node whose expression was built last
	matrix   bool                        // some of them have none: it is written as a matrix
	loops    map[*graph.Node]*loop       // by their nodes
	inside   map[*graph.Node]*loop       // by the nodes of their bodies
	again    map[*graph.Node]*graph.Node // by what the step of a derivative computes again, what the values' step computes
	plain    bool                        // parts of arrays are written as calls: their indices are not shown
	letters  map[*graph.Node]lettering
	places   map[*graph.Node][]int      // places of the axes of a transpose's result in its operand
	made     map[*graph.Node]made       // expressions built already; nil while names and cuts may still change
	fed      map[*graph.Node]float64    // values fed to inputs with a default
	courses  map[*graph.Node][2]float64 // the first and the last value fed to them
	ctx      context.Context            // ends long work; nil for none

	functions map[graph.DType][]composite // of the user's, called by their names
}

// made is an expression of a node with the indices of its left side.
type made struct {
	e    expr.Expr
	left []string
}

func newUnfolder(roots []*graph.Node, adjoints bool) *unfolder {
	u := &unfolder{cone: graph.Reachable(roots...), adjoints: adjoints, size: map[string]int{}, letters: map[*graph.Node]lettering{}, places: map[*graph.Node][]int{}}
	u.names = nameAll(withForward(u.cone))
	u.enterLoops()
	u.weigh()
	return u
}

// newWriter returns an unfolder for equations that are read together: an unnamed value that is
// cut off in any of them is called u₁ in all of them.
func newWriter(roots []*graph.Node, adjoints bool) *unfolder {
	u := newUnfolder(roots, !adjoints)
	nameless := u.nameless()
	u.adjoints = adjoints
	u.weigh()
	for _, n := range u.nameless() {
		if !slices.Contains(nameless, n) {
			nameless = append(nameless, n)
		}
	}
	slices.SortFunc(nameless, func(a, b *graph.Node) int { return a.ID() - b.ID() })
	u.names.invent(nameless, 1)
	return u
}

// nameless lists the unnamed values that are cut off.
func (u *unfolder) nameless() (out []*graph.Node) {
	for _, n := range u.cone {
		if u.cut[n] && !u.known(n) {
			out = append(out, n)
		}
	}
	return out
}

// weigh decides where to cut expressions.
func (u *unfolder) weigh() {
	u.cut = map[*graph.Node]bool{}
	weight, users := map[*graph.Node]int{}, users(u.cone)
	for _, n := range u.cone {
		if u.stops(n) {
			weight[n] = 1
			continue
		}
		w := 1
		for i := range n.NumIn() {
			w += weight[n.In(i)]
		}
		if w > maxWeight || w > maxSharedWeight && users[n] > 1 {
			u.cut[n], w = true, 1
		}
		weight[n] = w
	}
}

// users returns how many times each node is an operand.
func users(nodes []*graph.Node) map[*graph.Node]int {
	count := map[*graph.Node]int{}
	for _, n := range nodes {
		for i := range n.NumIn() {
			count[n.In(i)]++
		}
	}
	return count
}

// withForward adds the forward nodes and losses that names of derivatives refer to.
func withForward(cone []*graph.Node) []*graph.Node {
	in := map[*graph.Node]bool{}
	for {
		var more []*graph.Node
		for _, n := range cone {
			in[n] = true
			for _, o := range adjoints(n) {
				more = append(more, o.Of, o.Loss)
			}
			if o := n.First().Origin; o.Kind == graph.FromGrad {
				more = append(more, o.Of)
			}
		}
		if !slices.ContainsFunc(more, func(n *graph.Node) bool { return !in[n] }) {
			return cone
		}
		cone = graph.Reachable(append(cone, more...)...)
	}
}

// stops reports whether a node is a symbol in the formulas of others.
func (u *unfolder) stops(n *graph.Node) bool {
	if v, ok := n.Constant(); ok {
		return !uniform(v)
	}
	if _, named := u.names[n]; named || n.Role() != graph.RoleOp || u.cut[n] {
		return true
	}
	return u.adjoints && u.known(n)
}

// given lists the indices that there are.
func given(indices []string) []string {
	return slices.DeleteFunc(slices.Clone(indices), func(s string) bool { return s == "" })
}

func uniform(v graph.Value) bool {
	for _, x := range v.Data {
		if attr.FloatOf(x) != attr.FloatOf(v.Data[0]) {
			return false
		}
	}
	return len(v.Data) > 0
}

// symbol returns a node's name with an index for each axis that has one. If indices is nil, they
// are the names of the axes.
func (u *unfolder) symbol(n *graph.Node, indices []string) expr.Expr {
	if !n.IsValid() {
		return expr.Sym("invalid")
	}
	if indices == nil {
		return expr.Sym(u.of(n), axisNames(n)...)
	}
	e := expr.Sym(u.of(n))
	for _, s := range indices {
		if s != "" {
			e.Subs = append(e.Subs, s)
		}
	}
	return e
}

// expr returns the readable expression of a node; left has the indices of its elements.
func (u *unfolder) expr(n *graph.Node) expr.Expr {
	if u.made == nil {
		return u.write(n)
	}
	m, ok := u.made[n]
	if !ok {
		m.e = u.write(n)
		m.left = u.left
		u.made[n] = m
	}
	u.left = m.left
	return m.e
}

func (u *unfolder) write(n *graph.Node) expr.Expr {
	u.look()
	e := u.tagged(n)
	if !u.raw {
		e = u.simplify(e)
	}
	// The parts that an axis of n is merged from are free, and need names.
	var from, to []string
	taken := append(free(e), axisNames(n)...)
	for _, index := range u.left {
		for _, s := range subscript.Names(index) {
			if strings.Contains(s, "#") && !slices.Contains(from, s) {
				name := newIndex(s, taken)
				from, to, taken = append(from, s), append(to, name), append(taken, name)
				u.size[name] = u.size[s]
			}
		}
	}
	for i, index := range u.left {
		u.left[i] = renamed(index, from, to)
	}
	return concatenated(readable(rename(e, from, to), axisNames(n)), u.left)
}

// tagged returns the expression of a node with unique bound indices.
func (u *unfolder) tagged(n *graph.Node) expr.Expr {
	u.left, u.merged, u.matrix, u.plain = nil, merged{}, false, false
	switch {
	case !n.IsValid():
		return expr.Sym("invalid")
	case n.NumIn() == 0:
		u.left = axisNames(n)
		return u.leaf(n)
	}
	indices := make([]string, n.Rank())
	for i, a := range n.Shape().Axes() {
		indices[i] = a.Name
		u.size[a.Name] = a.Size
		u.matrix = u.matrix || a.Name == "" && a.Size > 1
	}
	var time []string
	whole := func() (e expr.Expr) {
		if l := u.inside[n]; l != nil {
			e, time = u.step(l, n, indices)
			return e
		}
		return u.unfold(n, indices)
	}
	e := whole()
	if u.merged.clash {
		u.merged = merged{off: true}
		e = whole()
	}
	if unseen(e) {
		u.plain, u.merged = true, merged{off: u.merged.off}
		e = whole()
	}
	u.left = time
	for _, s := range axisNames(n) {
		u.left = append(u.left, u.merged.of(s))
	}
	return u.merged.in(e)
}

// leaf returns the expression of an input, parameter, state or constant at the root: its value
// or, if that is not known, its name.
func (u *unfolder) leaf(n *graph.Node) expr.Expr {
	if v, ok := n.Constant(); ok && uniform(v) {
		return number(v.Data[0], n.DType())
	}
	if d, ok := n.Default(); ok {
		if v, fed := u.fed[n]; fed && v != d {
			return rounded(v)
		}
		if c, fed := u.courses[n]; fed {
			return course(c[0], c[1])
		}
		return number(d, n.DType())
	}
	if op, ok := n.Op().(trait.Notated); ok { // a random draw
		return op.Notation(n, nil)
	}
	return u.symbol(n, nil)
}

// operand returns the expression of x as it appears in that of another node, with the given
// indices for its axes ("" for none).
func (u *unfolder) operand(x *graph.Node, indices []string) expr.Expr {
	if v, ok := x.Constant(); ok && uniform(v) {
		return number(v.Data[0], x.DType())
	}
	if !u.plain && u.counts(x) && indices[0] != "" {
		return expr.Sym("", indices[0])
	}
	if u.isUnit(x) {
		return expr.Element(expr.Sym("I"), given(indices)...)
	}
	if e, ok := u.triangle(x, indices); ok {
		return e
	}
	if y := u.again[x]; y != nil {
		return u.operand(y, indices)
	}
	if l := u.inside[x]; l != nil && l.now != "" {
		if e, ok := u.inStep(l, x, indices); ok {
			return e
		}
	}
	if u.stops(x) {
		u.meet(x)
		return u.symbol(x, indices)
	}
	return u.unfold(x, indices)
}

// place returns a mark for operand k in the expression that an operation's Notation returns, so
// that operations see and move only indices, never what is behind them.
func place(k int, indices []string) expr.Expr {
	var subs []string
	for _, s := range indices {
		if s != "" {
			subs = append(subs, s)
		}
	}
	return expr.Sym("\x00"+strconv.Itoa(k), subs...)
}

// unfold returns the expression of an operation's result with the given indices.
func (u *unfolder) unfold(y *graph.Node, indices []string) expr.Expr {
	u.look()
	if e, ok := u.resultOf(y, indices); ok {
		return e
	}
	if e, ok := u.composed(y, indices); ok {
		return e
	}
	if e, ok := u.unpacked(y, indices); ok {
		return e
	}
	if e, ok := u.diagonal(y, indices); ok {
		return e
	}
	if in, ok := u.relaid(y, indices); ok {
		return u.operand(y.In(0), in)
	}
	if !ofLoop(y) {
		if e, ok := u.parted(y, indices); ok {
			return e
		}
	}
	shape := u.lettered(y)
	own := make([]string, y.Rank()) // the index of each axis while y is unfolded
	for i, a := range shape.Shape().Axes() {
		if own[i] = a.Name; a.Name == "" && indices[i] != "" {
			own[i] = u.fresh("", a.Size)
		}
		if a.Size == 1 {
			own[i] = ""
		}
		u.size[own[i]] = a.Size
	}
	in := make([][]string, y.NumIn())
	marks := make([]expr.Expr, y.NumIn())
	for k := range in {
		in[k] = operandIndices(shape, k, own)
		marks[k] = place(k, in[k])
	}
	t := &template{unfolder: u, y: y, shape: shape, in: in}
	outer := u.merged.enter(own)
	written := t.written(marks)
	if written.Kind != expr.KindCall && match.Is(y, match.Slice) && cutUnseen(y, indices) {
		written = expr.Call("slice", marks...)
	}
	e := t.fill(t.bind(written))
	e = u.merged.in(e)
	parts := u.merged.leave(own, outer)
	var from, to []string
	for i, s := range own {
		if s == "" || slices.Contains(from, s) {
			continue
		}
		from, to = append(from, s), append(to, indices[i])
		from, to = append(from, parts[i]...), append(to, u.partsAs(indices[i], parts[i])...)
	}
	// An index for which y has no axis stands for all its values and is not shown.
	for _, s := range free(e) {
		if !slices.Contains(from, s) && !u.isNow(s) {
			from, to = append(from, s), append(to, "")
		}
	}
	return rename(e, from, to)
}

// fresh returns a new index, called after base.
func (u *unfolder) fresh(base string, size int) string {
	base, _, _ = strings.Cut(base, "#")
	if strings.HasPrefix(base, letter) {
		base = ""
	}
	s := base + "#" + strconv.Itoa(len(u.size))
	u.size[s] = size
	return s
}

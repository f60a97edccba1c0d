package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// fission lists the rules by which what a loop does not carry leaves it, and is computed for all
// steps at once: the products of a recurrence with its inputs before it, and the derivatives by its
// weights after it, are then single large products instead of one a step.
var fission = []Rule{
	{"the same at all times", "a sequence that repeats one element is a constant of the loop", unvarying},
	{"after the loop", "Σ_t x_tᵀ·g_t = Xᵀ·G, and o_t = h_t·V is O = H·V: results that no step needs are computed of all steps' rows at once",
		func(n *graph.Node) *graph.Node {
			if l := newSteps(n); l != nil {
				return l.after()
			}
			return nil
		}},
	{"terms of all times", "(c + x_t) + b = c + (x_t + b), and so for products: what depends on no carry stands together, and leaves as one",
		func(n *graph.Node) *graph.Node {
			if l := newSteps(n); l != nil {
				return l.gathered()
			}
			return nil
		}},
	{"before the loop", "x_t·W is row t of X·W: what depends on no carry is computed for all steps at once, and the loop reads it",
		func(n *graph.Node) *graph.Node {
			if l := newSteps(n); l != nil {
				return l.before()
			}
			return nil
		}},
}

func isLoop(n *graph.Node) bool { return trait.LoopBody(n) != nil }

// steps is a loop of which nodes may leave.
type steps struct {
	trait.Loop
	loop    *graph.Node
	body    *graph.Body
	in, out []*graph.Node // of the body
	nodes   []*graph.Node // that the results need, inputs included
	number  map[*graph.Node]int
	moves   map[*graph.Node]bool // can be computed for all steps at once, as far as the operation goes
	free    map[*graph.Node]bool // depends on no carry, and on nothing that has to stay
	varies  map[*graph.Node]bool // differs from step to step
	most    int                  // elements that a node may have that all steps' values are kept of
}

// newSteps returns nil for other nodes than loops, and for loops of which nothing may leave: loops
// that data end, or within which there are others, as checkpoints have; these are there to save the
// memory that all steps' values take.
func newSteps(n *graph.Node) *steps {
	op, ok := n.Op().(match.Recounted)
	if !ok {
		return nil
	}
	l := &steps{Loop: n.Op().(trait.Looped).Loop(), loop: n, body: n.Body()}
	if _, open := op.Recount(l.Loop); !open || l.Gate > 0 || l.Steps < 2 || len(l.body.Graph().Derivations()) > 0 {
		return nil
	}
	l.in, l.out = l.body.In(), l.body.Out()
	l.nodes = graph.Reachable(l.out...)
	l.number, l.moves, l.free, l.varies = map[*graph.Node]int{}, map[*graph.Node]bool{}, map[*graph.Node]bool{}, map[*graph.Node]bool{}
	for i, x := range l.in {
		l.number[x] = i
		if i < l.Carries+l.Sequences {
			l.most += x.Shape().Len()
		}
	}
	for _, x := range l.out {
		if l.most += x.Shape().Len(); x.Shape().Len() == 0 {
			return nil
		}
	}
	bytes := manyBytes
	switch rows := l.rows(); {
	case rows == 1:
		bytes *= 8
	case rows <= fewRows:
		bytes *= 2
	}
	l.most = min(max(manyElements, l.most*growth), bytes/n.DType().Size()/l.Steps)
	for _, x := range l.nodes {
		if x.Body() != nil && !branches(x) {
			return nil
		}
		if i, isInput := l.number[x]; isInput {
			l.free[x], l.varies[x] = i >= l.Carries, i < l.Carries+l.Sequences
			continue
		}
		l.moves[x] = movable(x)
		l.free[x] = l.moves[x]
		for _, a := range x.Inputs() {
			l.free[x] = l.free[x] && l.free[a]
			l.varies[x] = l.varies[x] || l.varies[a]
		}
		l.varies[x] = l.varies[x] || match.Draws(x)
		if x.Shape().Len() > l.most && l.varies[x] {
			l.free[x] = false
		}
	}
	return l
}

// rows returns the most rows that a carry has: what is not along its last axis.
func (l *steps) rows() int {
	rows := 1
	for _, x := range l.in[:l.Carries] {
		if x.Rank() > 0 {
			rows = max(rows, x.Shape().Len()/max(1, x.Dim(x.Rank()-1)))
		}
	}
	return rows
}

const (
	// All steps' values of a node are kept if it has no more elements than manyElements, or than
	// growth times as many as a step reads and writes anyway.
	manyElements = 4096
	growth       = 8
	// They take no more than manyBytes: larger arrays are written to memory and read back, which
	// takes longer than to compute the rows of a step while they are in the cache. Where carries have
	// no more than fewRows rows, the products of a step are slow, and twice as much pays; with one
	// row, for which a step reads all weights, eight times as much.
	manyBytes = 8 << 20
	fewRows   = 8
	// A row of so few elements takes less time than the instruction that computes it.
	shortRow = 1024
)

// branches reports whether a node is a branch, which stays in the loop as a whole.
func branches(n *graph.Node) bool {
	op, ok := n.Op().(trait.Looped)
	return ok && op.Loop().Steps == 1 && op.Loop().Gate > 0
}

// movable reports whether a node can be computed for all steps at once. Indices stay where they are
// looked up, because the error about one that is out of range says at which time it is.
func movable(n *graph.Node) bool {
	if n.Rank() == graph.MaxRank {
		return false
	}
	switch match.KindOf(n) {
	case match.Reshape, match.Transpose, match.Broadcast, match.Slice, match.Place, match.Concat, match.Sum, match.Mean,
		match.Max, match.Min, match.Softmax, match.LogSoftmax, match.LogSumExp, match.StopGradient:
		return true
	}
	_, constant := n.Constant()
	return constant || isProduct(n) || trait.IsElementwise(n.Op()) && match.KindOf(n) != match.Other
}

// isProduct reports whether a node is worth the memory that all steps' values of its operands take.
func isProduct(n *graph.Node) bool { return match.Is(n, match.MatMul) || match.Is(n, match.Conv) }

// isView reports whether a node computes nothing.
func isView(n *graph.Node) bool {
	switch match.KindOf(n) {
	case match.Reshape, match.Transpose, match.Broadcast, match.Slice:
		return true
	}
	return n.NumIn() == 0
}

// isElementary reports whether each element of a node costs more than reading and writing it.
func isElementary(n *graph.Node) bool {
	switch match.KindOf(n) {
	case match.Add, match.Sub, match.Mul, match.Neg, match.Square, match.Abs, match.Cast, match.Select, match.Maximum, match.Minimum,
		match.Relu, match.Less, match.LessEqual, match.Equal, match.NotEqual, match.And, match.Or, match.Not, match.Sign, match.StopGradient:
		return false
	}
	return trait.IsElementwise(n.Op()) || match.Is(n, match.Softmax) || match.Is(n, match.LogSoftmax) || match.Is(n, match.LogSumExp)
}

// unvarying makes sequences that repeat one element constants.
func unvarying(n *graph.Node) *graph.Node {
	l := newSteps(n)
	if l == nil {
		return nil
	}
	r := newRemade(l)
	for i := l.Carries; i < l.Carries+l.Sequences; i++ {
		x := n.In(i)
		if !match.Is(x, match.Broadcast) {
			continue
		}
		one := x.In(0)
		if one.Rank() == x.Rank() {
			if one.Dim(0) > 1 {
				continue
			}
			s, _ := graph.NewShape(one.Shape().Axes()[1:]...)
			one = ops.ReshapeTo(one, s)
		}
		r.repeats[l.in[i]] = one
	}
	if len(r.repeats) == 0 {
		return nil
	}
	return r.make(l.outs(), l.sums())
}

// before moves what depends on no carry before the loop.
func (l *steps) before() *graph.Node {
	moved := l.early()
	if len(moved) == 0 {
		return nil
	}
	all, r := newAllTimes(l, nil, nil), newRemade(l)
	for _, n := range moved {
		r.reads[n], _ = all.of(n)
	}
	return r.make(l.outs(), l.sums())
}

func (l *steps) outs() []*graph.Node { return l.out[l.Carries : l.Carries+l.Outs] }
func (l *steps) sums() []*graph.Node { return l.out[l.Carries+l.Outs:] }

// early lists the nodes whose values for all steps the loop is to read, in their order.
func (l *steps) early() (moved []*graph.Node) {
	read := map[*graph.Node]bool{} // free nodes that those that stay read
	for _, n := range l.nodes {
		if l.free[n] {
			continue
		}
		for _, x := range n.Inputs() {
			read[x] = true
		}
	}
	for _, n := range l.out {
		read[n] = true
	}
	for _, n := range slices.Backward(l.nodes) {
		if _, isInput := l.number[n]; !read[n] || !l.free[n] || isInput {
			continue
		}
		if l.pays(n) {
			moved = append(moved, n)
			continue
		}
		for _, x := range n.Inputs() {
			read[x] = true
		}
	}
	slices.Reverse(moved)
	return moved
}

// pays reports whether a free node is worth the memory of its values at all steps: if a step is
// shortened by more than it gains in sequences, or the step reads fewer elements.
func (l *steps) pays(n *graph.Node) bool {
	switch {
	case isView(n):
		return false
	case !l.varies[n] || isProduct(n):
		return true
	case n.Shape().Len() <= shortRow:
		return isElementary(n) || l.work(n) > 1
	}
	elements := 0 // of what the step would read instead
	for _, x := range l.computed(n) {
		elements += x.Shape().Len()
	}
	return elements > n.Shape().Len()
}

// work returns 1 for a node that computes something of what the loop reads anyway, and more for others.
func (l *steps) work(n *graph.Node) int { return 1 + len(l.computed(n)) }

// computed lists what is computed in a step, and differs from step to step, among the operands of n,
// views aside.
func (l *steps) computed(n *graph.Node) (list []*graph.Node) {
	for _, x := range n.Inputs() {
		for isView(x) && x.NumIn() > 0 {
			x = x.In(0)
		}
		if _, isInput := l.number[x]; !isInput && l.varies[x] && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

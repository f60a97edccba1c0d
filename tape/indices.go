package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Kernels that take indices compare each with its axis, and note in their worker one that is
// outside. After each call of a step that takes indices the worker asks for it, and after each
// stage the VM keeps the first of all workers' finds; so to check costs a comparison a call. The
// run goes on to its checks, with numbers that are worth nothing, and fails there. Of several
// indices the first counts, in the order of the graph, then of the operand: neither workers nor
// fusion nor a budget decide which.

// TrustIndices leaves the indices unchecked that are fed or computed, for programs that know that
// they are right. One that is outside of its axis is no error then: Gather takes NaN for it, OneHot
// gives zeros, ScatterAdd leaves it out, and an operation of the user's gets it as it is. What
// takes indices may then run where updates are written in place, or be passed over under a
// condition, as all else may; to compare an index with its axis costs next to nothing either way.
// Constants are checked by Compile all the same.
func TrustIndices() Option { return func(r *request) { r.trusting = true } }

// indices say what a step that takes indices tells of one that is wrong.
type indices struct {
	node *graph.Node
	rows kernel.Rows // of the operand that holds them, where the step runs in blocks
}

// checks reports whether the indices that n takes are to be checked by each run. They need not be
// if they are constants, which are checked here, or places along an axis that is no longer.
func (l *lowering) checks(n *graph.Node) (bool, error) {
	op, ok := n.Op().(graph.Indexing)
	if !ok {
		return false, nil
	}
	operand, size := op.Places(n)
	index := n.In(operand)
	if v, constant := index.Constant(); constant {
		in := make([]graph.Value, n.NumIn())
		in[operand] = v
		return false, graph.CheckIndex(n, in)
	}
	if from, ok := index.Op().(Runnable); ok {
		if k, ok := from.Kernel(index).(kernel.Arg); ok {
			x := denseLayout(index.In(0))
			return !l.how.trusting && x.Dims[(k.Axis+x.Rank)%x.Rank] > size, nil
		}
	}
	return !l.how.trusting, nil
}

// within checks the indices of an operation of the user's.
func (r runner) within(c *kernel.Ctx, in []Array) bool {
	op, ok := r.op.(graph.Indexing)
	if !ok {
		return true
	}
	operand, size := op.Places(r.y)
	right := true
	for i, v := range in[operand].I32 {
		right = c.Below(int64(v), size, i) && right
	}
	for i, v := range in[operand].I64 {
		right = c.Below(v, size, i) && right
	}
	return right
}

// misplaced is an index outside of its axis: the at-th of the operand of a node.
type misplaced struct {
	node  *graph.Node // nil for none
	at    int
	value int64
}

// before reports whether m comes first.
func (m misplaced) before(o misplaced) bool {
	return m.node != nil && (o.node == nil || m.node.ID() < o.node.ID() || m.node == o.node && m.at < o.at)
}

// check keeps what the call of a step has found, over so many rows from the given one on; none if
// it did not run in blocks.
func (w *worker) check(x *indices, row, rows int) {
	if !w.Fault.Found {
		return
	}
	m := misplaced{x.node, w.Fault.At, w.Fault.Value}
	w.Fault = kernel.Fault{}
	if rows > 0 {
		m.at = x.rows.Number(row, rows, m.at)
	}
	if m.before(w.wrong) {
		w.wrong = m
	}
}

// wrongIndex says why a run fails, and where that stands in the order of the graph: node, index;
// for a loop node, step and the place in there.
type wrongIndex struct {
	err   *graph.IndexError
	place []int
}

// checkIndices keeps the first of what the workers have found in a stage.
func (vm *VM) checkIndices() {
	var first misplaced
	for _, w := range vm.workers {
		if w.wrong.before(first) {
			first = w.wrong
		}
		w.wrong = misplaced{}
	}
	if first.node == nil {
		return
	}
	x := &wrongIndex{graph.NewIndexError(first.node, first.at, first.value), []int{first.node.ID(), first.at}}
	root := vm
	for it := vm.around; it != nil; it = it.outer.around {
		now, _, _ := it.At(it.step)
		x.err.Times = slices.Insert(x.err.Times, 0, now)
		x.place = slices.Insert(x.place, 0, it.node.ID(), it.step)
		root = it.root
	}
	if root.wrong == nil || slices.Compare(x.place, root.wrong.place) < 0 {
		root.wrong = x
	}
}

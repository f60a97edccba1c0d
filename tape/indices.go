package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Kernels that take indices compare each with its axis, and record one that is outside in their
// worker. After each call of a step that takes indices the worker looks at the record, and after
// each stage the VM keeps the first one of all workers; so checking costs a comparison a call. The
// run goes on to its checks, with meaningless numbers, and fails there. Of several indices the
// first counts, in the order of the graph, then of the operand: workers, fusion and budget make no
// difference.

// TrustIndices leaves fed and computed indices unchecked, for programs that know that they are
// right. An index outside of its axis is no error then: Gather gives NaN for it, OneHot zeros,
// ScatterAdd leaves it out, and a user's operation gets it as it is. Operations with indices may
// then run where updates are written in place, or be passed over under a condition, like all
// others; comparing an index with its axis costs next to nothing either way. Compile checks
// constants in any case.
func TrustIndices() Option { return func(r *request) { r.trusting = true } }

// indices holds what a step needs to report an index that is wrong.
type indices struct {
	node *graph.Node
	rows kernel.Rows // of the operand that holds them, where the step runs in blocks
}

// checks reports whether the indices that n takes are to be checked by each run. Constants need not
// be, since they are checked here, nor positions along another axis of at most that length.
func (l *lowering) checks(n *graph.Node) (bool, error) {
	op, ok := n.Op().(trait.Indexing)
	if !ok {
		return false, nil
	}
	operand, size := op.Places(n)
	index := n.In(operand)
	if v, constant := index.Constant(); constant {
		in := make([]graph.Value, n.NumIn())
		in[operand] = v
		return false, trait.CheckIndex(n, in)
	}
	if l.how.trusting {
		return false, nil
	}
	if from, ok := index.Op().(Runnable); ok {
		axis := -1
		switch k := from.Kernel(index).(type) {
		case kernel.Arg:
			axis = (k.Axis + index.In(0).Rank()) % index.In(0).Rank()
		case kernel.ArgSort:
			axis = k.Axis
		case kernel.FirstEqual:
			return index.Shape().Len() > size, nil
		}
		if axis >= 0 {
			return index.In(0).Dim(axis) > size, nil
		}
	}
	// A table's update may be written in place where its indices are those of the rows that the step
	// has read.
	if k, ok := n.Op().(Runnable); ok {
		switch k.Kernel(n).(type) {
		case kernel.Scatter, kernel.DynamicUpdate:
			if l.checked(index, size) {
				return false, nil
			}
		}
	}
	if most, ok := l.known[index]; !ok || size < most {
		l.known[index] = size
	}
	return true, nil
}

// placed returns the kernel of n for integers that are constant, which checks has looked at.
func (l *lowering) placed(k kernel.Kernel, n *graph.Node) kernel.Kernel {
	p, ok := k.(kernel.Placed)
	if !ok {
		return k
	}
	operand, _ := n.Op().(trait.Indexing).Places(n)
	index := n.In(operand)
	if _, constant := index.Constant(); !constant {
		return k
	}
	v := l.value[index]
	return p.At(kernel.PositionsOf(v.layout, l.buffers[v.buf].constant))
}

// checked reports whether an earlier instruction checks the indices for as many places or fewer, or
// those of which they are made by a change of layout or type, or one after the other.
func (l *lowering) checked(index *graph.Node, size int) bool {
	if most, ok := l.known[index]; ok {
		return most <= size
	}
	var from []*graph.Node
	switch op := index.Op().(type) {
	case Viewed:
		if _, ok := op.View(index).(kernel.Reshape); ok {
			from = index.Inputs()
		}
	case Runnable:
		switch op.Kernel(index).(type) {
		case kernel.Concat:
			from = index.Inputs()
		case kernel.Cast:
			if index.In(0).DType() == graph.I32 && index.DType() == graph.I64 {
				from = index.Inputs()
			}
		}
	}
	for _, x := range from {
		if !l.checked(x, size) {
			return false
		}
	}
	return len(from) > 0
}

// within checks the indices of a user's operation.
func (r runner) within(c *kernel.Ctx, in []Array) bool {
	op, ok := r.op.(trait.Indexing)
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

// check keeps the fault of a call, which did so many rows from the given one on; 0 rows if it did
// not run in blocks.
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

// wrongIndex says why a run fails, and its position in the order of the graph: node and index; for
// a loop node, step and position in the body.
type wrongIndex struct {
	err   *trait.IndexError
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
	x := &wrongIndex{trait.NewIndexError(first.node, first.at, first.value), []int{first.node.ID(), first.at}}
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

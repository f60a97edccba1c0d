package ops

import "github.com/tapestry-ml/tapestry/graph"

// What rewrite rules ask of a node.

// Is reports whether a node is the operation called name.
func Is(n *graph.Node, name string) bool {
	return n.IsValid() && n.Op().Name() == name
}

// Summed gives the operand and the axes of a Sum.
func Summed(n *graph.Node) (x *graph.Node, axes graph.AxisSet, ok bool) {
	s, ok := n.Op().(sum)
	if !ok {
		return nil, 0, false
	}
	return n.In(0), s.Axes, true
}

// Squared gives x where the node is x², written as Square(x), x·x or x^2.
func Squared(n *graph.Node) (x *graph.Node, ok bool) {
	switch n.Op().(type) {
	case square:
		return n.In(0), true
	case mul:
		return n.In(0), n.In(0) == n.In(1)
	case pow:
		v, ok := Literal(n.In(1))
		return n.In(0), ok && v == 2
	}
	return nil, false
}

// SoftmaxAxis gives the operand and the axis of a Softmax.
func SoftmaxAxis(n *graph.Node) (x *graph.Node, axis int, ok bool) {
	s, ok := n.Op().(softmax)
	if !ok {
		return nil, 0, false
	}
	return n.In(0), s.Axis, true
}

// Literal gives the value of a constant whose elements are all equal, also where
// it is repeated.
func Literal(n *graph.Node) (float64, bool) {
	for n.IsValid() && Is(n, "Broadcast") {
		n = n.In(0)
	}
	v, ok := n.Constant()
	if !ok {
		return 0, false
	}
	for _, x := range v.Data {
		if graph.Bits(x) != graph.Bits(v.Data[0]) {
			return 0, false
		}
	}
	return v.Data[0], true
}

// Laid follows a node down through changes of layout (transposes, repetition,
// inserted and removed axes of size 1) to the node whose elements it shows.
// axes[a] is the axis of that root which axis a follows, or -1 where it repeats
// or has size 1.
func Laid(n *graph.Node) (root *graph.Node, axes []int) {
	axes = make([]int, n.Rank())
	for i := range axes {
		axes[i] = i
	}
	step := func(m []int) {
		for i, a := range axes {
			if a >= 0 {
				axes[i] = m[a]
			}
		}
	}
	for {
		switch op := n.Op().(type) {
		case transpose:
			step(op.Perm.List())
		case broadcast:
			x := n.In(0)
			m := make([]int, n.Rank())
			for i := range m {
				m[i] = i - (n.Rank() - x.Rank())
				if m[i] >= 0 && x.Dim(m[i]) != n.Dim(i) {
					m[i] = -1
				}
				m[i] = max(m[i], -1)
			}
			step(m)
		case reshape:
			m, ok := unitReshape(n.Shape(), n.In(0).Shape())
			if !ok {
				return n, axes
			}
			step(m)
		default:
			for i, a := range axes {
				if a >= 0 && n.Dim(a) == 1 {
					axes[i] = -1
				}
			}
			return n, axes
		}
		n = n.In(0)
	}
}

// unitReshape maps the axes of y to those of x when they differ by axes of size
// 1 and names only.
func unitReshape(y, x graph.Shape) (m []int, ok bool) {
	m = make([]int, y.Rank())
	k := 0
	next := func() {
		for k < x.Rank() && x.Dim(k) == 1 {
			k++
		}
	}
	for i := range m {
		m[i] = -1
		if y.Dim(i) == 1 {
			continue
		}
		next()
		if k == x.Rank() || x.Dim(k) != y.Dim(i) {
			return nil, false
		}
		m[i] = k
		k++
	}
	next()
	return m, k == x.Rank()
}

// Averaged gives the operand and the axes of a Mean.
func Averaged(n *graph.Node) (x *graph.Node, axes graph.AxisSet, ok bool) {
	m, ok := n.Op().(mean)
	if !ok {
		return nil, 0, false
	}
	return n.In(0), m.Axes, true
}

// Twin is a node that is already there and computes what n does, but for its shape:
// the same reduction with its axes kept or removed, or a commutative operation on
// the operands the other way round. It must be older than n.
func Twin(n *graph.Node) (twin *graph.Node, ok bool) {
	switch op := n.Op().(type) {
	case sum:
		twin = n.Graph().Find(sum{op.Axes, !op.Keep}, n.In(0))
	case mean:
		twin = n.Graph().Find(mean{op.Axes, !op.Keep}, n.In(0))
	case rstd:
		twin = n.Graph().Find(rstd{op.Axes, !op.Keep, op.Eps}, n.In(0))
	case logSumExp:
		twin = n.Graph().Find(logSumExp{op.Axis, !op.Keep}, n.In(0))
	case maxOver:
		twin = n.Graph().Find(maxOver{op.Axis, !op.Keep}, n.In(0))
	case minOver:
		twin = n.Graph().Find(minOver{op.Axis, !op.Keep}, n.In(0))
	case add, mul, maximum, minimum, equal, notEqual, and, or:
		twin = n.Graph().Find(op, n.In(1), n.In(0))
	}
	return twin, twin != nil && twin.ID() < n.ID()
}

// SliceBy is the operation that takes, along each axis, size elements from start
// by step.
func SliceBy(start, step, size []int) graph.Op {
	return slice{graph.IntsOf(start...), graph.IntsOf(step...), graph.IntsOf(size...)}
}

// What translators to other engines ask of a node besides.

// Along gives the axes that a reduction, a softmax or a Concat works along.
func Along(n *graph.Node) (axes graph.AxisSet, ok bool) {
	switch op := n.Op().(type) {
	case sum:
		return op.Axes, true
	case mean:
		return op.Axes, true
	case maxOver:
		return graph.AxesOf(op.Axis), true
	case minOver:
		return graph.AxesOf(op.Axis), true
	case standardise:
		return op.Axes, true
	case rstd:
		return op.Axes, true
	case softmax:
		return graph.AxesOf(op.Axis), true
	case logSoftmax:
		return graph.AxesOf(op.Axis), true
	case logSumExp:
		return graph.AxesOf(op.Axis), true
	case concat:
		return graph.AxesOf(op.Axis), true
	}
	return 0, false
}

// Permuted gives the order of axes of a Transpose: axis i of the result is axis
// order[i] of the operand.
func Permuted(n *graph.Node) (order []int, ok bool) {
	t, ok := n.Op().(transpose)
	return t.Perm.List(), ok
}

// Strided gives, for each axis, where the regular part that a Slice takes, or a
// Place fills, starts and how far apart its elements are.
func Strided(n *graph.Node) (start, step []int, ok bool) {
	switch op := n.Op().(type) {
	case slice:
		return op.Start.List(), op.Step.List(), true
	case place:
		return op.Start.List(), op.Step.List(), true
	}
	return nil, nil, false
}

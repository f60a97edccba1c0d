package kernel

// A block of rows lies turned where its rows are innermost: element e of row r, of n rows, is
// element e·n + r of the memory. Kernels that compute many short rows then run along the rows, with
// as many elements side by side as there are rows. The rows are an axis of their own, after all
// others, which are those of a single row.

// Apart returns the layout of n neighbouring rows as they lie, with the rows as the last axis. ok is
// false where that is one axis too many.
func (r Rows) Apart(n int) (l Layout, ok bool) {
	l = r.Layout(1)
	if l.Rank == MaxRank {
		return Layout{}, false
	}
	l.Dims[l.Rank], l.Strides[l.Rank] = n, r.stride
	l.Rank++
	return l, true
}

// Turned returns the layout of n neighbouring rows that lie turned, with the rows as the last axis.
// They must be equally spaced, each of them one after the other. ok is false where that is one axis
// too many.
func (r Rows) Turned(n int) (l Layout, ok bool) {
	if l, ok = r.Apart(n); ok {
		l = l.spread(n)
		l.Strides[l.Rank-1] = 1
	}
	return l, ok
}

// Along returns [Rows.Layout] of n rows that lie turned. ok is false unless a row is one index of an
// axis.
func (r Rows) Along(n int) (l Layout, ok bool) {
	if r.axis < 0 || r.unit != 1 {
		return Layout{}, false
	}
	l = r.Layout(n).spread(n)
	l.Strides[r.axis] = 1
	return l, true
}

// spread returns the layout of elements that lie n times as far apart.
func (l Layout) spread(n int) Layout {
	l.Offset *= n
	for a := range l.Rank {
		l.Strides[a] *= n
	}
	return l
}

// Raised returns the layout with axes of size 1 before the others, for a rank of at least that of l.
func (l Layout) Raised(rank int) Layout {
	by := rank - l.Rank
	if by <= 0 {
		return l
	}
	out := Layout{DType: l.DType, Rank: rank, Offset: l.Offset}
	for a := range by {
		out.Dims[a] = 1
	}
	copy(out.Dims[by:], l.Dims[:l.Rank])
	copy(out.Strides[by:], l.Strides[:l.Rank])
	return out
}

// WithRowsLast returns the kernel that does for layouts with an axis more, after the others, what k
// does without it, for each index of that axis. The operands have the rank of the result, at least.
// A Gather takes one integer for each such index, and all of the table. ok is false if there is no
// such kernel.
func WithRowsLast(k Kernel, out Layout, in []Layout) (turned Kernel, ok bool) {
	switch k := k.(type) {
	case InRange, Softmax: // one tells which of its indices is wrong, the other turns rows itself
		return nil, false
	case Rearranged:
		k.Axis++
		return k, true
	case SumOfProducts:
		return k, true
	case interface{ pointwise() }:
		return k.(Kernel), true
	case Reduce:
		return k, !k.Accumulate
	case Concat:
		k.Axis = out.axis(k.Axis)
		return k, true
	case Gather:
		return k.rowsLast(out, in)
	case Place:
		if out.Rank == MaxRank {
			return nil, false
		}
		k.Start[out.Rank], k.Step[out.Rank] = 0, 1
		return k, true
	}
	return nil, false
}

func (elementwise) pointwise() {}
func (Turn) pointwise()        {}

// Turn lays its operand out as [Copy] does, in another order: result and operand must not share
// memory.
type Turn struct{ apart }

// Flops is 0.
func (Turn) Flops(Layout, []Layout) int64 { return 0 }

// Divide divides along any axes.
func (Turn) Divide(out Layout, in []Layout) []Division { return Copy{}.Divide(out, in) }

// Bind takes one operand of the result's dtype, any.
func (Turn) Bind(out Layout, in []Layout) Bound { return Copy{}.Bind(out, in) }

// SideBySide returns how many elements a kernel computes side by side, for these layouts: 1 where those of
// an operand are strewn.
func SideBySide(k Kernel, out Layout, in []Layout) int {
	switch k := k.(type) {
	case interface{ pointwise() }:
		n := newNest(out, in...)
		for i := range n.hands {
			if s := n.step(i); s != 0 && s != n.size[i] {
				return 1
			}
		}
		_, cols := n.inner()
		return cols
	case Concat:
		axis, inner := out.axis(k.Axis), out.Len()
		for _, l := range in {
			inner = min(inner, l.count(axis, l.Rank))
		}
		return inner
	}
	last := in[0].Rank - 1
	for last > 0 && in[0].Dims[last] == 1 {
		last--
	}
	return in[0].count(last, in[0].Rank)
}

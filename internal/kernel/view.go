package kernel

// View is a change of layout that moves no data. ok is false where no strides can express it, as
// for a reshape of a transposed array, and where the shapes do not fit; the caller copies the
// operand first, or reports the mistake.
type View interface {
	View(in Layout) (out Layout, ok bool)
}

// Transpose makes axis Perm[a] of the operand axis a of the result.
type Transpose struct{ Perm [MaxRank]uint8 }

// View is defined for a permutation of the operand's axes.
func (v Transpose) View(in Layout) (Layout, bool) {
	out := in
	var seen uint8
	for a := range in.Rank {
		p := int(v.Perm[a])
		if p >= in.Rank || seen>>p&1 != 0 {
			return Layout{}, false
		}
		seen |= 1 << p
		out.Dims[a], out.Strides[a] = in.Dims[p], in.Strides[p]
	}
	return out, true
}

// Reshape gives the elements, in row-major order, another shape of the same size.
type Reshape struct {
	Rank int
	Dims [MaxRank]int
}

// View is defined where every group of the operand's axes that the new axes divide is evenly
// strided.
func (v Reshape) View(in Layout) (Layout, bool) {
	out := Dense(in.DType, v.Dims[:v.Rank]...)
	out.Offset = in.Offset
	if out.Len() != in.Len() {
		return Layout{}, false
	}
	if in.Len() == 0 {
		return out, true
	}
	// The merged axes of the operand, from the last: each must be a product of new axes.
	w := walkOf(in, allAxes, in.Offset)
	b := v.Rank - 1
	for a := w.rank - 1; a >= 0; a-- {
		left, stride := w.dims[a], w.strides[a]
		for ; b >= 0 && (left > 1 || v.Dims[b] == 1); b-- {
			if left%v.Dims[b] != 0 {
				return Layout{}, false
			}
			out.Strides[b] = stride
			stride *= v.Dims[b]
			left /= v.Dims[b]
		}
	}
	return out, true
}

// Broadcast repeats the operand to a shape, aligned from the right as in NumPy: new leading axes
// and axes of size 1 get stride 0.
type Broadcast struct {
	Rank int
	Dims [MaxRank]int
}

// View is defined where every axis of the operand has the size of its partner, or 1.
func (v Broadcast) View(in Layout) (Layout, bool) { return in.to(v.Rank, v.Dims) }

// Slice takes, of each axis, the Size elements Start, Start+Step, Start+2·Step, …; Step may be
// negative.
type Slice struct{ Start, Step, Size [MaxRank]int }

// View is defined where every element taken exists.
func (v Slice) View(in Layout) (Layout, bool) {
	out := in
	for a := range in.Rank {
		start, size := v.Start[a], v.Size[a]
		last := start + (size-1)*v.Step[a]
		switch {
		case size < 0, size > 0 && (min(start, last) < 0 || max(start, last) >= in.Dims[a]):
			return Layout{}, false
		case size > 0:
			out.Offset += start * in.Strides[a]
		}
		out.Dims[a], out.Strides[a] = size, v.Step[a]*in.Strides[a]
	}
	return out, true
}

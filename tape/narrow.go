package tape

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// Types for storage, f16 and bf16, i8 and u8, have no loops but those that convert and move
// elements. An instruction on them reads its operands as f32 or i32, made by instructions that
// widen, and another instruction rounds its result, once. All of them go by rows, so in a group the
// wide values are in scratch, and fusion changes no bit: every value of the graph is rounded,
// whether it is an array or not.

// wide returns the value of n as the kernels take it. Views of all elements of an array share what
// was made of the array; of other views the elements that they show are converted.
func (l *lowering) wide(v value, n *graph.Node) value {
	dt := v.layout.DType
	if dt.Wide() == dt {
		return v
	}
	if v.layout.Len() == 0 {
		v.layout.DType = dt.Wide()
		return v
	}
	if all, of := l.base(v, n); touched(v.layout) == touched(all.layout) {
		w := v
		w.buf, w.layout.DType = l.widened(all, of).buf, dt.Wide()
		return w
	}
	part := v // what a stride of 0 repeats is converted once
	for a := range part.layout.Rank {
		if part.layout.Strides[a] == 0 {
			part.layout.Dims[a] = 1
		}
	}
	w := l.widened(part, n)
	for a := range w.layout.Rank {
		if part.layout.Dims[a] != v.layout.Dims[a] {
			w.layout.Dims[a], w.layout.Strides[a] = v.layout.Dims[a], 0
		}
	}
	return w
}

// base returns the node of which n is a view, or n, and its value, if that is an array without gaps;
// otherwise nothing.
func (l *lowering) base(v value, n *graph.Node) (value, *graph.Node) {
	all, of := v, n
	for {
		if _, views := of.Op().(Viewed); !views || l.value[of.In(0)].buf != v.buf {
			break
		}
		of = of.In(0)
		all = l.value[of]
	}
	if size := all.layout.Len() * all.layout.DType.Size(); all.layout.IsDense() && size == l.buffers[v.buf].bytes {
		return all, of
	}
	return value{}, nil
}

// widened converts a value of n, once.
func (l *lowering) widened(v value, n *graph.Node) value {
	w, ok := l.wider[v]
	if !ok {
		w = l.emit(n, "Widen", kernel.Cast{}, kernel.Dense(v.layout.DType.Wide(), v.layout.Dims[:v.layout.Rank]...), []value{v})
		l.instrs[len(l.instrs)-1].does = widens
		l.wider[v] = w
	}
	return w
}

// narrow rounds a wide value of n to its type.
func (l *lowering) narrow(v value, n *graph.Node) value {
	dt := kernel.DType(n.DType())
	if v.layout.DType == dt {
		return v
	}
	out := v.layout
	out.DType = dt
	y := l.emit(n, "Narrow", kernel.Cast{}, out, []value{v})
	l.instrs[len(l.instrs)-1].does = narrows
	return y
}

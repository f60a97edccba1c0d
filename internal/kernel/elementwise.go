package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Unary applies a function element by element.
type Unary struct {
	elementwise
	Function simd.Function
}

// Binary applies an operation to pairs of elements.
type Binary struct {
	elementwise
	Operation simd.Operation
}

func (k Unary) cheap() bool  { return k.Function.Cheap() }
func (k Binary) cheap() bool { return k.Operation != simd.Div }

// Bind panics if there is no loop for the dtype.
func (k Unary) Bind(out Layout, in []Layout) Bound {
	var f simd.Map
	switch out.DType {
	case F32:
		f = simd.MapOf[float32](level, k.Function)
	case F64:
		f = simd.MapOf[float64](level, k.Function)
	case I32:
		f = simd.MapOf[int32](level, k.Function)
	case I64:
		f = simd.MapOf[int64](level, k.Function)
	}
	if f == nil {
		panic(unsupported(k, out.DType))
	}
	return mapLoop(f, out, in[0])
}

// Bind panics if there is no loop for the dtype.
func (k Binary) Bind(out Layout, in []Layout) Bound { return zipLoop(k.loops(out.DType), out, in) }

// loops returns the loops for a dtype. It panics if there are none.
func (k Binary) loops(dt DType) (f simd.Zips) {
	switch dt {
	case F32:
		f = simd.ZipOf[float32](level, k.Operation)
	case F64:
		f = simd.ZipOf[float64](level, k.Operation)
	case I32:
		f = simd.ZipOf[int32](level, k.Operation)
	case I64:
		f = simd.ZipOf[int64](level, k.Operation)
	}
	if f.Rows == nil {
		panic(unsupported(k, dt))
	}
	return f
}

// elementwise is embedded by kernels whose element i depends on the elements i of the operands
// alone: they may have any strides and share memory with the result.
type elementwise struct{}

func (elementwise) Flops(out Layout, _ []Layout) int64 { return int64(out.Len()) }
func (elementwise) InPlace(int) bool                   { return true }
func (elementwise) Strided(int) bool                   { return true }

func (elementwise) byElement() {}

// Elementwise reports whether element i of a kernel's result depends on the elements i of the
// operands alone.
func Elementwise(k Kernel) bool {
	_, ok := k.(interface{ byElement() })
	return ok
}

// Divide divides along any axes: element i depends on the elements i of the operands.
func (elementwise) Divide(out Layout, in []Layout) []Division {
	return []Division{alike(out, in, out.Rank)}
}

// apart is embedded by kernels whose result must not share memory with an operand; the operands may
// have any strides.
type apart struct{}

func (apart) InPlace(int) bool { return false }
func (apart) Strided(int) bool { return true }

// mapLoop binds a loop of one operand. Where a single call does all the work, it gets a closure of
// its own, as in zipLoop and mixLoop: on a small block the overhead counts.
func mapLoop(f simd.Map, out, in Layout) Bound {
	if out.Len() == 0 {
		return idle
	}
	n := newNest(out, in)
	if !n.byShortAxes() {
		n.divide()
	}
	if !n.direct() {
		return n.loop(func(a arrays, rows, cols int) {
			f(a.at[0], a.at[1], rows, cols, a.stride[0], a.stride[1])
		})
	}
	rows, cols := n.inner()
	toOut, toX, offset := n.strides[0][0], n.strides[1][0], n.offset[1]
	reachOut, reachX := n.reach[0], n.reach[1]
	return Bound{1, func(c *Ctx, lo, hi int) {
		if lo < hi {
			if c.Out.n < reachOut || c.In[0].n < reachX {
				panic(short)
			}
			f(at(c.Out, 0), at(c.In[0], offset), rows, cols, toOut, toX)
		}
	}}
}

// zipLoop binds the loop of two operands that suits how they repeat.
func zipLoop(z simd.Zips, out Layout, in []Layout) Bound {
	if out.Len() == 0 {
		return idle
	}
	n, f := zipNest(z, out, in)
	if !n.direct() {
		return n.loop(func(a arrays, rows, cols int) {
			f(a.at[0], a.at[1], a.at[2], rows, cols, a.stride[0], a.stride[1], a.stride[2])
		})
	}
	p := newPair(n, f)
	return Bound{1, func(c *Ctx, lo, hi int) {
		if lo < hi {
			x, y := (*[2]Mem)(c.In)[0], (*[2]Mem)(c.In)[1]
			if c.Out.n < p.reachOut || x.n < p.reachX || y.n < p.reachY {
				panic(short)
			}
			p.f(at(c.Out, 0), at(x, p.offsetX), at(y, p.offsetY), p.rows, p.cols, p.toOut, p.toX, p.toY)
		}
	}}
}

// zipNest returns the nest of two operands, with the loop that suits how they repeat.
func zipNest(z simd.Zips, out Layout, in []Layout) (*nest, simd.Zip) {
	n, f := newNest(out, in[0], in[1]), z.Rows
	switch x, y := n.one(1), n.one(2); {
	case n.byShortAxes():
	case x && !y && z.OneX != nil && !n.repeats(1):
		f = z.OneX
		n.divide(1)
	case y && !x && z.OneY != nil && !n.repeats(2):
		f = z.OneY
		n.divide(2)
	default:
		n.divide()
	}
	return n, f
}

// mixLoop binds the loop of a mask and two operands that suits how they repeat.
func mixLoop(m simd.Mixes, out Layout, in []Layout) Bound {
	if out.Len() == 0 {
		return idle
	}
	n, f := newNest(out, in[0], in[1], in[2]), m.Rows
	switch x, y := n.one(2), n.one(3); {
	case n.byShortAxes():
	case m.OneXY == nil, !x && !y:
		n.divide()
	case x && y:
		f = m.OneXY
		n.divide(2, 3)
	case x:
		f = m.OneX
		n.divide(2)
	default:
		f = m.OneY
		n.divide(3)
	}
	if !n.direct() {
		return n.loop(func(a arrays, rows, cols int) {
			f(a.at[0], a.at[1], a.at[2], a.at[3], rows, cols, a.stride[0], a.stride[1], a.stride[2], a.stride[3])
		})
	}
	rows, cols := n.inner()
	to := [...]int{n.strides[0][0], n.strides[1][0], n.strides[2][0], n.strides[3][0]}
	offset := n.offset
	return Bound{1, func(c *Ctx, lo, hi int) {
		if lo < hi {
			n.check(c)
			f(at(c.Out, 0), at(c.In[0], offset[1]), at(c.In[1], offset[2]), at(c.In[2], offset[3]), rows, cols, to[0], to[1], to[2], to[3])
		}
	}}
}

package kernel

// Unary applies a function element by element. Each field is a loop over slices of equal length, which may be the same slice;
// a nil field means that there is no loop for the dtype. Bind does the striding and broadcasting.
type Unary struct {
	elementwise
	F32 func(dst, x []float32)
	F64 func(dst, x []float64)
	I32 func(dst, x []int32)
	I64 func(dst, x []int64)
}

// Binary is as Unary, of two operands of one dtype.
type Binary struct {
	elementwise
	F32 func(dst, x, y []float32)
	F64 func(dst, x, y []float64)
	I32 func(dst, x, y []int32)
	I64 func(dst, x, y []int64)
}

// Bind panics if there is no loop for the dtype.
func (k Unary) Bind(out Layout, in []Layout) Loop {
	switch dt := out.DType; {
	case dt == F32 && k.F32 != nil:
		return loop1(out, in, k.F32)
	case dt == F64 && k.F64 != nil:
		return loop1(out, in, k.F64)
	case dt == I32 && k.I32 != nil:
		return loop1(out, in, k.I32)
	case dt == I64 && k.I64 != nil:
		return loop1(out, in, k.I64)
	}
	panic(unsupported(k, out.DType))
}

// Bind panics if there is no loop for the dtype.
func (k Binary) Bind(out Layout, in []Layout) Loop {
	switch dt := out.DType; {
	case dt == F32 && k.F32 != nil:
		return loop2(out, in, k.F32)
	case dt == F64 && k.F64 != nil:
		return loop2(out, in, k.F64)
	case dt == I32 && k.I32 != nil:
		return loop2(out, in, k.I32)
	case dt == I64 && k.I64 != nil:
		return loop2(out, in, k.I64)
	}
	panic(unsupported(k, out.DType))
}

// elementwise is embedded by kernels whose element i depends on the elements i of the operands alone: they may have any strides
// and share memory with the result.
type elementwise struct{}

func (elementwise) Flops(out Layout, _ []Layout) int64 { return int64(out.Len()) }
func (elementwise) InPlace(int) bool                   { return true }
func (elementwise) Strided(int) bool                   { return true }

// apart is embedded by kernels whose result must not share memory with an operand; the operands may have any strides.
type apart struct{}

func (apart) InPlace(int) bool { return false }
func (apart) Strided(int) bool { return true }

// An operand reads one operand of an elementwise loop, tile by tile.
type operand[T any] struct {
	*walk
	src, buf []T
}

// open reads operand i. A single repeated element fills the operand's tile once.
func open[T any](c *Ctx, i int, w *walk) operand[T] {
	o := operand[T]{w, raw[T](c.In[i]), tile[T](c, i)}
	if w.single() {
		fill(o.buf, o.src[w.offset])
	}
	return o
}

// part gives elements [lo,hi).
func (o *operand[T]) part(lo, hi int) []T {
	if o.single() {
		return o.buf[:hi-lo]
	}
	return read(o.walk, o.src, o.buf, 0, lo, hi)
}

// stride is how many elements a loop does at once: all, where every operand is dense.
func stride(n int, ws ...*walk) int {
	for _, w := range ws {
		if !w.dense() {
			return tileLen
		}
	}
	return max(n, 1)
}

// loop1, loop2 and loop3 run f over tiles of one, two and three operands.
func loop1[D, X any](out Layout, in []Layout, f func(dst []D, x []X)) Loop {
	n, wx := out.Len(), walkOver(out, in[0])
	step := stride(n, wx)
	return Loop{blocks(n, tileLen), func(c *Ctx, lo, hi int) {
		dst, x := raw[D](c.Out), open[X](c, 0, wx)
		end := min(hi*tileLen, n)
		for a := lo * tileLen; a < end; a += step {
			b := min(a+step, end)
			f(dst[a:b], x.part(a, b))
		}
	}}
}

func loop2[D, X, Y any](out Layout, in []Layout, f func(dst []D, x []X, y []Y)) Loop {
	n, wx, wy := out.Len(), walkOver(out, in[0]), walkOver(out, in[1])
	step := stride(n, wx, wy)
	return Loop{blocks(n, tileLen), func(c *Ctx, lo, hi int) {
		dst, x, y := raw[D](c.Out), open[X](c, 0, wx), open[Y](c, 1, wy)
		end := min(hi*tileLen, n)
		for a := lo * tileLen; a < end; a += step {
			b := min(a+step, end)
			f(dst[a:b], x.part(a, b), y.part(a, b))
		}
	}}
}

func loop3[D, X, Y, Z any](out Layout, in []Layout, f func(dst []D, x []X, y []Y, z []Z)) Loop {
	n, wx, wy, wz := out.Len(), walkOver(out, in[0]), walkOver(out, in[1]), walkOver(out, in[2])
	step := stride(n, wx, wy, wz)
	return Loop{blocks(n, tileLen), func(c *Ctx, lo, hi int) {
		dst, x, y, z := raw[D](c.Out), open[X](c, 0, wx), open[Y](c, 1, wy), open[Z](c, 2, wz)
		end := min(hi*tileLen, n)
		for a := lo * tileLen; a < end; a += step {
			b := min(a+step, end)
			f(dst[a:b], x.part(a, b), y.part(a, b), z.part(a, b))
		}
	}}
}

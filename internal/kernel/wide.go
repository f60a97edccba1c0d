package kernel

import (
	"math"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Wide says how a function of F32 that has no loop of its own is computed: in float64, by the loops
// of other functions, and rounded once. It errs by little more than half a unit in the last place.
// Where operands are special, and in F64 but for powers, the function that is given in Go is called
// for each element.
type Wide uint8

// The functions that are computed so.
const (
	ByElement Wide = iota // none
	WideTan
	WidePow   // of two operands
	WideAtan2 // of two operands
)

// wideLoops are the loops of float64 that make the others.
type wideLoops struct {
	exp, log, sin, cos, atan simd.Map
	widen, narrow            simd.Map
}

func newWideLoops() *wideLoops {
	of := func(f simd.Function) simd.Map { return simd.MapOf[float64](level, f) }
	return &wideLoops{
		exp: of(simd.Exp), log: of(simd.Log), sin: of(simd.Sin), cos: of(simd.Cos), atan: of(simd.Atan),
		widen: simd.CastOf[float64, float32](level), narrow: simd.CastOf[float32, float64](level),
	}
}

// apply runs a loop in place.
func apply(f simd.Map, x []float64) { f(pointerTo(x), pointerTo(x), 1, len(x), 0, 0) }

// one computes a function of x in place; y is as long and free.
func (w *wideLoops) one(f Wide, x, y []float64) {
	switch f {
	case WideTan:
		w.cos(pointerTo(y), pointerTo(x), 1, len(x), 0, 0)
		apply(w.sin, x)
		for i, c := range y {
			x[i] /= c
		}
	}
}

// two computes a function of x and y, into x.
func (w *wideLoops) two(f Wide, x, y []float64) {
	switch f {
	case WidePow:
		apply(w.log, x)
		for i, v := range y {
			x[i] *= v
		}
		apply(w.exp, x)
	case WideAtan2: // atan(x/y), and half a turn further where y is negative
		for i, v := range y {
			y[i] = math.Copysign(halfTurn[math.Float64bits(v)>>63], x[i])
			x[i] /= v
		}
		apply(w.atan, x)
		for i, turn := range y {
			x[i] += turn
		}
	}
}

// halfTurn is the angle that is added for a positive and for a negative number.
var halfTurn = [2]float64{0, math.Pi}

// regular reports whether the operands are not special; a function of one operand is given it
// twice.
func (f Wide) regular(x, y float32) bool {
	finite := x-x == 0 && y-y == 0
	switch f {
	case WidePow:
		return finite && x > 0
	case WideAtan2:
		return finite && (x != 0 || y != 0)
	}
	return finite
}

// bind returns the loop of a function of one operand or two, and calls of for special ones.
func (f Wide) bind(of func(x, y float64) float64, out Layout, in ...Layout) Bound {
	w := newWideLoops()
	return byTiles(out, in, func(c *Ctx, dst, x, y []float32) { w.tile(c, f, of, dst, x, y) })
}

// byTiles returns the loop that does an elementwise operation tile by tile: tile gets the result and
// the first and the last operand.
func byTiles[T float](out Layout, in []Layout, tile func(c *Ctx, dst, x, y []T)) Bound {
	if out.Len() == 0 {
		return idle
	}
	n, size, last := newNest(out, in...), sizeOf[T](), len(in)
	if !n.byShortAxes() {
		n.divide()
	}
	return Bound{n.units(), func(c *Ctx, lo, hi int) {
		n.run(c, lo, hi, func(a arrays, rows, cols int) {
			for r := range rows {
				for j := 0; j < cols; j += tileLen {
					m := min(tileLen, cols-j)
					row := func(i int) []T { return sliceAt[T](move(a.at[i], r*a.stride[i]+size*j), m) }
					tile(c, row(0), row(1), row(last))
				}
			}
		})
	}}
}

// tile does the elements of one tile. The first two tiles of the scratch may hold operands.
func (w *wideLoops) tile(c *Ctx, f Wide, of func(x, y float64) float64, dst, x, y []float32) {
	n := len(dst)
	wide, free := sliceAt[float64](hand(c, 2), n), sliceAt[float64](hand(c, 3), n)
	w.widen(pointerTo(wide), pointerTo(x), 1, n, 0, 0)
	if f < WidePow {
		w.one(f, wide, free)
	} else {
		w.widen(pointerTo(free), pointerTo(y), 1, n, 0, 0)
		w.two(f, wide, free)
	}
	results := sliceAt[float32](hand(c, 3), n)
	w.narrow(pointerTo(results), pointerTo(wide), 1, n, 0, 0)
	for i, v := range x {
		if !f.regular(v, y[i]) {
			results[i] = float32(of(float64(v), float64(y[i])))
		}
	}
	copy(dst, results)
}

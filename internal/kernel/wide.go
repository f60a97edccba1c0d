package kernel

import (
	"math"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Wide says how a function of F32 that has no loop of its own is computed: in float64, by the loops
// of other functions, and rounded once. It errs by little more than half a unit in the last place.
// Where operands are special, and in F64, the function that is given in Go is called for each
// element.
type Wide uint8

// The functions that are computed so.
const (
	ByElement Wide = iota // none
	WideTan
	WideAsin
	WideAcos
	WideSinh
	WideCosh
	WideAtanh
	WideExp2
	WideLog2
	WideLog10
	WidePow   // of two operands
	WideAtan2 // of two operands
)

// wideLoops are the loops of float64 that make the others.
type wideLoops struct {
	exp, expm1, log, log1p, sin, cos, atan, sqrt simd.Map
	widen, narrow                                simd.Map
}

func newWideLoops() *wideLoops {
	of := func(f simd.Function) simd.Map { return simd.MapOf[float64](level, f) }
	return &wideLoops{
		exp: of(simd.Exp), expm1: of(simd.Expm1), log: of(simd.Log), log1p: of(simd.Log1p), sin: of(simd.Sin), cos: of(simd.Cos),
		atan: of(simd.Atan), sqrt: of(simd.Sqrt),
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
	case WideAsin: // atan(x/√(1-x²))
		for i, v := range x {
			y[i] = (1 - v) * (1 + v)
		}
		apply(w.sqrt, y)
		for i, c := range y {
			x[i] /= c
		}
		apply(w.atan, x)
	case WideAcos: // 2·atan(√((1-x)/(1+x)))
		for i, v := range x {
			x[i] = (1 - v) / (1 + v)
		}
		apply(w.sqrt, x)
		apply(w.atan, x)
		scale(x, 2)
	case WideSinh:
		for i, v := range x {
			x[i], y[i] = math.Abs(v), v
		}
		apply(w.expm1, x)
		for i, u := range x {
			x[i] = math.Copysign((u+u/(u+1))/2, y[i])
		}
	case WideCosh:
		apply(w.exp, x)
		for i, e := range x {
			x[i] = (e + 1/e) / 2
		}
	case WideAtanh:
		for i, v := range x {
			x[i] = 2 * v / (1 - v)
		}
		apply(w.log1p, x)
		scale(x, 0.5)
	case WideExp2:
		scale(x, math.Ln2)
		apply(w.exp, x)
	case WideLog2:
		apply(w.log, x)
		scale(x, 1/math.Ln2)
	case WideLog10:
		apply(w.log, x)
		scale(x, 1/math.Ln10)
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

func scale(x []float64, c float64) {
	for i := range x {
		x[i] *= c
	}
}

// regular reports whether the operands are not special; a function of one operand is given it
// twice.
func (f Wide) regular(x, y float32) bool {
	finite := x-x == 0 && y-y == 0
	switch f {
	case WideSinh, WideCosh:
		return -700 <= x && x <= 700 // beyond, powers of e overflow
	case WidePow:
		return finite && x > 0
	case WideAtan2:
		return finite && (x != 0 || y != 0)
	}
	return finite
}

// bind returns the loop of a function of one operand or two, and calls of for special ones.
func (f Wide) bind(of func(x, y float64) float64, out Layout, in ...Layout) Bound {
	if out.Len() == 0 {
		return idle
	}
	n, w, last := newNest(out, in...), newWideLoops(), len(in)
	if !n.byShortAxes() {
		n.divide()
	}
	return Bound{n.units(), func(c *Ctx, lo, hi int) {
		n.run(c, lo, hi, func(a arrays, rows, cols int) {
			for r := range rows {
				for j := 0; j < cols; j += tileLen {
					m := min(tileLen, cols-j)
					row := func(i int) []float32 { return sliceAt[float32](move(a.at[i], r*a.stride[i]+4*j), m) }
					w.tile(c, f, of, row(0), row(1), row(last))
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

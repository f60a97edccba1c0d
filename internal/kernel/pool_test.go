package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// poolExample is a pooling with its operands and the results by the definitions.
type poolExample struct {
	Pooling
	sx, sy                         []int
	x, u, y                        array
	most, pick, unpick, sum, unsum []float64
}

// newPoolExample draws operands: x of values that may be equal, infinite or NaN.
func newPoolExample(r *rand.Rand, k Pooling, dt DType, value func(*rand.Rand) float64, n, h, w, c int) *poolExample {
	yh, yw := (h+2*k.Padding[0]-k.Size[0])/k.Stride[0]+1, (w+2*k.Padding[1]-k.Size[1])/k.Stride[1]+1
	e := &poolExample{Pooling: k, sx: []int{n, h, w, c}, sy: []int{n, yh, yw, c}}
	if k.Spatial == 1 {
		e.sx, e.sy = []int{n, w, c}, []int{n, yw, c}
	}
	draw := func(value func(*rand.Rand) float64, dims []int) array {
		return styled(r, styleDense, dt, value, dims...)
	}
	e.x, e.u, e.y = draw(value, e.sx), draw(plain, e.sx), draw(plain, e.sy)
	e.most, e.pick, e.sum = make([]float64, e.y.Len()), make([]float64, e.y.Len()), make([]float64, e.y.Len())
	e.unpick, e.unsum = make([]float64, e.x.Len()), make([]float64, e.x.Len())
	for q := range e.y.Len() {
		b, i, j, ch := q/(yh*yw*c), q/(yw*c)%yh, q/c%yw, q%c
		var window []int // places of its elements
		for t := range k.Size[0] * k.Size[1] {
			a, s := i*k.Stride[0]+t/k.Size[1]-k.Padding[0], j*k.Stride[1]+t%k.Size[1]-k.Padding[1]
			if a >= 0 && a < h && s >= 0 && s < w {
				window = append(window, ((b*h+a)*w+s)*c+ch)
			}
		}
		e.most[q] = math.Inf(-1)
		for _, p := range window {
			e.most[q] = max(e.most[q], element(dt, e.x.mem, p))
			e.sum[q] += element(dt, e.u.mem, p)
			e.unsum[p] += element(dt, e.y.mem, q)
		}
		for _, p := range window {
			if !(element(dt, e.x.mem, p) < e.most[q]) {
				e.pick[q] = element(dt, e.u.mem, p)
				e.unpick[p] += element(dt, e.y.mem, q)
				break
			}
		}
	}
	return e
}

// check runs the five kernels.
func (e *poolExample) check(t *testing.T) {
	t.Helper()
	of := func(dims []int, values []float64) func(ix []int) float64 {
		return func(ix []int) float64 {
			p := 0
			for a, i := range ix {
				p = p*dims[a] + i
			}
			return values[p]
		}
	}
	dt, tol := e.x.DType, 1e-5
	check(t, MaxPool(e.Pooling), dt, e.sy, []array{e.x}, 0, of(e.sy, e.most))
	check(t, MaxPick(e.Pooling), dt, e.sy, []array{e.x, e.u}, 0, of(e.sy, e.pick))
	check(t, MaxUnpool(e.Pooling), dt, e.sx, []array{e.x, e.y}, tol, of(e.sx, e.unpick))
	check(t, SumPool(e.Pooling), dt, e.sy, []array{e.u}, tol, of(e.sy, e.sum))
	check(t, SumUnpool(e.Pooling), dt, e.sx, []array{e.y}, tol, of(e.sx, e.unsum))
}

// TestPooling: random sizes, strides and paddings against the definitions.
func TestPooling(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for trial := range 200 {
			k := Pooling{Spatial: 1 + r.IntN(2), Size: [2]int{1, 1 + r.IntN(3)}, Stride: [2]int{1, 1 + r.IntN(3)}}
			h := 1
			if k.Spatial == 2 {
				k.Size[0], k.Stride[0] = 1+r.IntN(3), 1+r.IntN(3)
				k.Padding[0] = r.IntN(k.Size[0]/2 + 1)
				h = max(1, k.Size[0]-2*k.Padding[0]) + r.IntN(5)
			}
			k.Padding[1] = r.IntN(k.Size[1]/2 + 1)
			w := max(1, k.Size[1]-2*k.Padding[1]) + r.IntN(12)
			value := plain
			if trial%3 == 0 {
				value = special
			} else if trial%3 == 1 {
				value = func(r *rand.Rand) float64 { return float64(r.IntN(3)) } // many are equal
			}
			newPoolExample(r, k, []DType{F32, F64}[trial%2], value, 1+r.IntN(3), h, w, 1+r.IntN(40)).check(t)
		}
		halves := Pooling{Spatial: 2, Size: [2]int{2, 2}, Stride: [2]int{2, 2}}
		newPoolExample(r, halves, F64, special, 2, 4, 6, 5).check(t)
		newPoolExample(r, halves, F32, plain, 1, 2, 4, 2*tileLen+3).check(t)
	})
}

// TestPoolDivides: images one by one give the same bits as all at once.
func TestPoolDivides(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range []Pooling{{Spatial: 2, Size: [2]int{2, 2}, Stride: [2]int{2, 2}}, {Spatial: 2, Size: [2]int{3, 3}, Stride: [2]int{2, 1}, Padding: [2]int{1, 1}}} {
		e := newPoolExample(r, p, F32, plain, 3, 6, 4, 5)
		checkDivision(t, MaxPool(p), F32, e.sy, []array{e.x}, 0)
		checkDivision(t, MaxPick(p), F32, e.sy, []array{e.x, e.u}, 0)
		checkDivision(t, MaxUnpool(p), F32, e.sx, []array{e.x, e.y}, 0)
		checkDivision(t, SumPool(p), F32, e.sy, []array{e.x}, 0)
		checkDivision(t, SumUnpool(p), F32, e.sx, []array{e.y}, 0)
	}
}

package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Straight is a bound kernel that is run as a whole, one after the other with others of its kind.
// For rows of a few elements, calling a function may take longer than what it computes.
type Straight struct {
	Bound
	pair *pair // what Run does, if that is a single call of a loop of two operands
}

// NewStraight takes a kernel, the layouts that it is bound to, and what it is bound as.
func NewStraight(k Kernel, out Layout, in []Layout, b Bound) Straight {
	s := Straight{Bound: b}
	if k, ok := k.(Binary); ok && out.Len() > 0 {
		if n, f := zipNest(k.loops(out.DType), out, in); n.direct() {
			s.pair = newPair(n, f)
			s.pair.entry = simd.EntryOf(f)
		}
	}
	return s
}

// RunStraight runs kernels, each with a Ctx of its own.
func RunStraight(all []Straight, with []Ctx) {
	with = with[:len(all)]
	for k := range all {
		s, c := &all[k], &with[k]
		p := s.pair
		if p == nil {
			s.Run(c, 0, s.Units)
			continue
		}
		x, y := (*[2]Mem)(c.In)[0], (*[2]Mem)(c.In)[1]
		if c.Out.n < p.reachOut || x.n < p.reachX || y.n < p.reachY {
			panic(short)
		}
		if p.entry != 0 {
			simd.Enter(at(c.Out, 0), at(x, p.offsetX), at(y, p.offsetY), p.rows, p.cols, p.toOut, p.toX, p.toY, p.entry)
		} else {
			p.f(at(c.Out, 0), at(x, p.offsetX), at(y, p.offsetY), p.rows, p.cols, p.toOut, p.toX, p.toY)
		}
	}
}

// pair is a call of a loop of two operands.
type pair struct {
	f                        simd.Zip
	entry                    simd.Entry // of f, if it is entered
	rows, cols               int
	toOut, toX, toY          int // distances between rows
	offsetX, offsetY         int
	reachOut, reachX, reachY int // bytes that each array must have
}

// newPair returns the call of a nest that is one.
func newPair(n *nest, f simd.Zip) *pair {
	rows, cols := n.inner()
	return &pair{f, 0, rows, cols, n.strides[0][0], n.strides[1][0], n.strides[2][0], n.offset[1], n.offset[2], n.reach[0], n.reach[1], n.reach[2]}
}

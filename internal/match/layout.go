package match

import "github.com/tapestry-ml/tapestry/graph"

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
		switch KindOf(n) {
		case Transpose:
			order, _ := Permuted(n)
			step(order)
		case Broadcast:
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
		case Reshape:
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

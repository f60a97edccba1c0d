package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// window emits the loops of pooling over windows of four elements, such as squares of 2×2, each of
// which reads its operands once, and one that goes through larger windows element by element.
func window(c *build.Context) {
	p := &pool{c, map[string]operand.Mem{}}
	for _, z := range []bool{false, true} {
		for _, bits := range []int{32, 64} {
			t := &target{Context: c, z: z, bits: bits, pool: p}
			t.maxOfFour()
			t.layAtMax()
			t.takeAtMax()
		}
	}
}

// four returns the ports of four arrays.
func (t *target) four(name string) (ports []port) {
	for _, n := range "0123" {
		ports = append(ports, port{name: name + string(n), size: t.bytes()})
	}
	return ports
}

// most returns the greatest of the elements of four ports, from one on, and the elements.
func (c cell) most(from int) (most vector, x [4]vector) {
	for i := range x {
		x[i] = c.load(from + i)
	}
	return c.extreme(true, c.extreme(true, x[0], x[1]), c.extreme(true, x[2], x[3])), x
}

func (t *target) maxOfFour() {
	t.row(rowLoop{
		name: "maxOfFour", doc: "is the greatest of the elements of x0 to x3.",
		ports:  append([]port{{name: "dst", size: t.bytes()}}, t.four("x")...),
		unroll: 1,
		body: func(c cell) {
			most, _ := c.most(1)
			c.store(0, most)
		},
	})
}

func (t *target) layAtMax() {
	t.row(rowLoop{
		name:   "layAtMax",
		doc:    "is y in one of dst0 to dst3, that of the first x which is not less than the greatest, and 0 in the others.",
		ports:  append(append(t.four("dst"), t.four("x")...), port{name: "y", size: t.bytes()}),
		unroll: 1,
		body: func(c cell) {
			most, x := c.most(4)
			left := c.load(8)
			for i := range 3 {
				c.store(i, c.where(c.compare(notBelow, x[i], most), left))
				left = c.where(c.compare(less, x[i], most), left)
			}
			c.store(3, left)
		},
	})
}

func (t *target) takeAtMax() {
	t.row(rowLoop{
		name:   "takeAtMax",
		doc:    "adds left to dst where x is not less than most, and sets it to 0 there.",
		ports:  []port{{name: "dst", size: t.bytes()}, {name: "left", size: t.bytes()}, {name: "x", size: t.bytes()}, {name: "most", size: t.bytes()}},
		unroll: 1,
		body: func(c cell) {
			x, most, left := c.load(2), c.load(3), c.load(1)
			c.store(0, c.add(c.load(0), c.where(c.compare(notBelow, x, most), left)))
			c.store(1, c.where(c.compare(less, x, most), left))
		},
	})
}

package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
)

// The loops of an operation of two operands: of whole rows, and with one value per row in place of
// a row of y or of x.
var forms = []form{
	{"", "", false, false},
	{"Y", ", y one value per row", false, true},
	{"X", ", x one value per row", true, false},
}

// A form says which operands of a loop have one value per row.
type form struct {
	name, doc    string
	onceX, onceY bool
}

// operations lists the operations of two operands; the constant of add is Add.
var operations = []struct {
	Name string
	of   func(t *target, x, y vector) vector
}{
	{"add", func(t *target, x, y vector) vector { return t.add(x, y) }},
	{"sub", func(t *target, x, y vector) vector { return t.sub(x, y) }},
	{"mul", func(t *target, x, y vector) vector { return t.mul(x, y) }},
	{"div", func(t *target, x, y vector) vector { return t.div(x, y) }},
	{"max", func(t *target, x, y vector) vector { return t.extreme(true, x, y) }},
	{"min", func(t *target, x, y vector) vector { return t.extreme(false, x, y) }},
}

// arithmetic emits the operations of two operands.
func (t *target) arithmetic() {
	size := t.bytes()
	for _, o := range operations {
		for _, f := range forms {
			t.row(rowLoop{
				name: o.Name + f.name, doc: "of each pair of elements: " + o.Name + f.doc + ".",
				ports:  []port{{name: "dst", size: size}, {name: "x", size: size, once: f.onceX}, {name: "y", size: size, once: f.onceY}},
				unroll: 4,
				body:   func(c cell) { c.store(0, o.of(t, c.load(1), c.load(2))) },
			})
		}
	}
}

// productSums emits the sums of two and of three products, each product and each sum rounded.
func (t *target) productSums() {
	size := t.bytes()
	for k, name := range []string{"sumTwoProducts", "sumThreeProducts"} {
		n := k + 2
		ports := []port{{name: "dst", size: size}}
		for _, side := range []string{"x", "y"} {
			for i := range n {
				ports = append(ports, port{name: fmt.Sprint(side, i), size: size})
			}
		}
		t.row(rowLoop{name: name, doc: "adds up the products of elements of x0 and y0, x1 and y1 and so on.", ports: ports, unroll: 2,
			body: func(c cell) {
				sum := t.mul(c.load(1), c.load(1+n))
				for i := 1; i < n; i++ {
					sum = t.add(sum, t.mul(c.load(1+i), c.load(1+n+i)))
				}
				c.store(0, sum)
			}})
	}
}

// extreme returns the greater or the lesser of x and y: NaN where either is, with -0 before 0.
func (t *target) extreme(greatest bool, x, y vector) vector {
	nan := t.compare(unordered, x, y)
	if t.z {
		r := t.ordered(greatest, x, y)
		t.emit("VADDP"+t.s(), y, x, nan, r)
		return r
	}
	return t.choose(nan, t.add(x, y), t.ordered(greatest, x, y))
}

// ordered is like extreme, but may return anything for NaN.
func (t *target) ordered(greatest bool, x, y vector) vector {
	if t.z {
		// VRANGE orders zeros.
		r, kind := t.like(x), uint64(4)
		if greatest {
			kind = 5
		}
		t.emit("VRANGEP"+t.s(), operand.Imm(kind), y, x, r)
		return r
	}
	// VMAX and VMIN give their second operand where both are zero.
	if greatest {
		return t.and(t.max(x, y), t.max(y, x))
	}
	return t.or(t.min(x, y), t.min(y, x))
}

// relations lists the relations of two operands; the constant of less is Less.
var relations = []struct {
	Name     string
	relation uint64
}{{"less", less}, {"lessEq", lessEq}, {"equal", equal}, {"notEqual", notEqual}}

// relations emits the relations of two operands; the result is a byte.
func (t *target) relations() {
	size := t.bytes()
	for _, o := range relations {
		for _, f := range forms {
			t.row(rowLoop{
				name: o.Name + f.name, doc: "of each pair of elements whether they are in the relation" + f.doc + ".",
				ports:  []port{{name: "dst", size: 1}, {name: "x", size: size, once: f.onceX}, {name: "y", size: size, once: f.onceY}},
				unroll: 2,
				body:   func(c cell) { c.storeBools(0, c.compare(o.relation, c.load(1), c.load(2))) },
			})
		}
	}
}

// selections emits the choice between two operands by a third, of bytes.
func (t *target) selections() {
	size := t.bytes()
	for _, f := range append(forms[:3:3], form{"XY", ", x and y one value per row", true, true}) {
		t.row(rowLoop{
			name: "choose" + f.name, doc: "is an element of x where mask is true, else of y" + f.doc + ".",
			ports: []port{{name: "dst", size: size}, {name: "mask", size: 1},
				{name: "x", size: size, once: f.onceX}, {name: "y", size: size, once: f.onceY}},
			unroll: 2,
			body:   func(c cell) { c.store(0, c.choose(c.loadBools(1), c.load(2), c.load(3))) },
		})
	}
}

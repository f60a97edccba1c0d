package tape

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// A body may be so small that finding its memory anew in each step takes as long as its
// instructions. From step to step each of its inputs and exports moves on by the same distance,
// but for the end of a ring, so that it is found by an addition.

// cursor is where an input or an export of a body lies in the step to come.
type cursor struct {
	to    []*kernel.Mem // points there
	in    int           // of an element: the loop's operand that it lies in
	first int           // where it lies in step 0, in bytes
	by    int           // how far it moves in a step
	last  int           // behind the last row of a ring, in the direction of the steps
	again int           // the row of the ring that comes then
	bytes int           // of a row
	at    int
}

// newIteration returns what runs a loop in the VM of its body.
func newIteration(l *loop, node *graph.Node, body, outer, root *VM) *iteration {
	it := &iteration{loop: l, node: node, vm: body, outer: outer, root: root}
	if l.Steps == 0 {
		return it
	}
	inputs, exports := body.pointers[:len(l.body.inputs)], body.pointers[len(l.body.inputs):]
	now, before, after := l.At(0)
	for k, x := range l.rings[:l.Carries+l.Outs] {
		if k < l.Carries {
			it.rows = append(it.rows, l.cursor(inputs[k], x, before), l.cursor(exports[k], x, after))
		} else {
			it.rows = append(it.rows, l.cursor(exports[k], x, now))
		}
	}
	it.rows = slices.DeleteFunc(it.rows, func(c cursor) bool { return c.bytes == 0 }) // nothing lies there
	for k := l.Carries; k < l.Carries+l.Sequences; k++ {
		c := cursor{to: inputs[k], in: k, by: l.reads[k].stride, last: -1}
		if l.reads[k].back != l.Reverse {
			c.first, c.by = (l.Steps-1)*c.by, -c.by
		}
		it.elements = append(it.elements, c)
	}
	return it
}

// cursor returns the cursor that begins at row r of a ring.
func (l *loop) cursor(to []*kernel.Mem, x ring, r int) cursor {
	size := kernel.DType(l.dtype).Size()
	c := cursor{to: to, first: x.row(r) * size, by: x.Size * size, bytes: x.Size * size}
	c.again, c.last = x.At*size, x.At*size+x.Rows*c.bytes
	if l.Reverse {
		c.by = -c.by
		c.again, c.last = c.last-c.bytes, c.again-c.bytes
	}
	return c
}

// rewind sets the cursors to the first step.
func (it *iteration) rewind() {
	for i := range it.rows {
		it.rows[i].at = it.rows[i].first
	}
	for i := range it.elements {
		it.elements[i].at = it.elements[i].first
	}
}

// point points the body's inputs and exports at the memory of the step to come, and goes on to the
// next.
func (it *iteration) point(c *kernel.Ctx) {
	for i := range it.rows {
		x := &it.rows[i]
		m := c.Out.From(x.at).First(x.bytes)
		for _, p := range x.to {
			*p = m
		}
		if x.at += x.by; x.at == x.last {
			x.at = x.again
		}
	}
	for i := range it.elements {
		x := &it.elements[i]
		m := c.In[x.in].From(x.at)
		for _, p := range x.to {
			*p = m
		}
		x.at += x.by
	}
}

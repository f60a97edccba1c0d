package tape

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// A loop's value has a row for every step: the traces of its carries, and its outs. Where nothing
// reads the earlier rows, as where only the final carry is wanted, they have no memory of their
// own: in a ring of rows, the next row overwrites the oldest. In the end a ring holds the rows that
// are read, side by side in their order, and for a carry one more, from which the first of them was
// computed.

// rowsOf says which elements of a loop's value are read: by part, the number of rows from the first
// that is read on, in the order in which the steps write them.
type rowsOf struct {
	loop trait.Loop
	kept []int
	all  bool // read otherwise than part by part
}

// viewOf is a node that shows elements of a loop's value: nothing is copied for it.
type viewOf struct {
	loop   *graph.Node
	layout kernel.Layout // as if the value were all there
}

// findRows finds which rows of the loops among the nodes are read; the roots are read as wanted
// values. Views of a loop read nothing; the nodes that read a view do.
func (l *lowering) findRows(nodes, roots []*graph.Node) {
	for _, n := range nodes {
		if op, ok := n.Op().(trait.Looped); ok {
			l.rows[n] = &rowsOf{loop: op.Loop(), kept: make([]int, len(n.Body().Out()))}
			l.views[n] = viewOf{n, denseLayout(n)}
		}
		for i, x := range n.Inputs() {
			from, ok := l.views[x]
			if !ok {
				continue
			}
			if op, views := n.Op().(Viewed); views {
				if i > 0 {
					continue // a view is of the first operand
				}
				if layout, fits := op.View(n).View(from.layout); fits {
					l.views[n] = viewOf{from.loop, layout}
					continue
				}
			}
			l.rows[from.loop].read(from)
		}
	}
	for _, n := range roots {
		if from, ok := l.views[n]; ok {
			l.rows[from.loop].read(from)
		}
	}
}

// read adds the rows that a view shows.
func (r *rowsOf) read(v viewOf) {
	if v.layout.Len() == 0 {
		return
	}
	first, last := v.layout.Offset, v.layout.Offset
	for a := range v.layout.Rank {
		if s := (v.layout.Dims[a] - 1) * v.layout.Strides[a]; s < 0 {
			first += s
		} else {
			last += s
		}
	}
	for k, p := range r.loop.Parts(v.loop.Body()) {
		if first < p.At || last >= p.At+p.Rows*p.Size {
			continue
		}
		rows := p.Rows - (first-p.At)/p.Size
		if r.loop.Reverse {
			rows = (last-p.At)/p.Size + 1
		}
		r.kept[k] = max(r.kept[k], rows)
		return
	}
	r.all = true
}

// ring says where the rows of one result of a loop lie.
type ring struct {
	trait.Part     // rows that there is room for, and where they begin
	first      int // the row at the beginning of a full ring
}

// lay lays the results of a loop out and returns their length; r is nil where everything is kept.
func (l *loop) lay(body *graph.Body, r *rowsOf) (length int) {
	for k, p := range l.Parts(body) {
		rows := p.Rows
		if r != nil && !r.all {
			switch {
			case k < l.Carries:
				rows = min(rows, max(r.kept[k], 1)+1)
			case k < l.Carries+l.Outs:
				rows = min(rows, max(r.kept[k], 1))
			}
		}
		x := ring{trait.Part{At: length, Rows: rows, Size: p.Size}, p.Rows - rows}
		if l.Reverse {
			x.first = 0
		}
		l.rings = append(l.rings, x)
		length += rows * p.Size
		if rows < p.Rows {
			l.keeps = append(l.keeps, keeps(body.Out()[k].Label(), r.kept[k]))
		}
	}
	return length
}

func keeps(name string, rows int) string {
	switch rows {
	case 0:
		return "none of " + name
	case 1:
		return "the last of " + name
	}
	return fmt.Sprintf("the last %d of %s", rows, name)
}

// row returns where row r lies, in elements.
func (x ring) row(r int) int {
	at := (r - x.first) % x.Rows
	if at < 0 {
		at += x.Rows
	}
	return x.At + at*x.Size
}

// shown returns the value of a view of a loop.
func (l *lowering) shown(v viewOf) value {
	k, layout := l.loops[v.loop], v.layout
	for i, p := range k.Parts(v.loop.Body()) {
		if at := layout.Offset - p.At; at >= 0 && at < p.Rows*p.Size {
			layout.Offset = k.rings[i].row(at/p.Size) + at%p.Size
			break
		}
	}
	return value{l.value[v.loop].buf, layout}
}

// kept returns the remark of the listing on a loop that does not keep all rows; "" for others.
func (l *loop) kept() string {
	if len(l.keeps) == 0 {
		return ""
	}
	return "keeps " + strings.Join(l.keeps, ", ")
}

package page

import (
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// valuesView is a window on an array: rows and columns along two of its axes, at fixed indices of
// the others.
type valuesView struct {
	Axes      []axisView  `json:"axes"`
	Row       *spanView   `json:"row"`   // null of a vector or a scalar
	Col       *spanView   `json:"col"`   // null of a scalar
	Fixed     []fixedView `json:"fixed"` // the other axes
	Cells     [][]string  `json:"cells"`
	GradCells [][]string  `json:"gradcells,omitempty"` // of the derivative, at the same places
}

// spanView is the range of indices along an axis from From up to, but not including, To.
type spanView struct {
	Axis int `json:"axis"`
	From int `json:"from"`
	To   int `json:"to"`
}

type fixedView struct {
	Axis  int `json:"axis"`
	Index int `json:"index"`
}

// Limits of a window.
const (
	mostRows = 200
	mostCols = 100
)

// window is the part of an array that a request asks for.
type window struct {
	at         []int // by axis: where rows and columns begin, and what is fixed
	row, col   int   // axes; -1 for none
	rows, cols int   // how many
}

func windowOf(r *request, s graph.Shape) (w window, err error) {
	rank := s.Rank()
	w = window{at: make([]int, rank), row: rank - 2, col: rank - 1}
	if w.rows, err = whole(r, "rows", 20, 1, mostRows); err != nil {
		return w, err
	}
	if w.cols, err = whole(r, "cols", 12, 1, mostCols); err != nil {
		return w, err
	}
	if w.row, err = whole(r, "row", max(w.row, -1), -1, rank-1); err != nil {
		return w, err
	}
	if w.col, err = whole(r, "col", w.col, -1, rank-1); err != nil {
		return w, err
	}
	if w.row >= 0 && w.row == w.col {
		return w, badf("row and col are both axis %d", w.row)
	}
	text := r.query.Get("at")
	if text == "" {
		return w, nil
	}
	at, err := indices(text, s)
	w.at = at
	return w, err
}

// indices reads the indices of an element, one for each axis, separated by commas.
func indices(text string, s graph.Shape) ([]int, error) {
	at := make([]int, s.Rank())
	if text == "" && len(at) == 0 {
		return at, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) != len(at) {
		return nil, badf("at=%.40s: want %d indices, one for each axis", text, len(at))
	}
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 || v >= s.Dim(i) {
			return nil, badf("at=%.40s: want an index from 0 to %d along axis %d", text, s.Dim(i)-1, i)
		}
		at[i] = v
	}
	return at, nil
}

// view reads the elements in the window.
func (w window) view(a, gradient tape.Array) *valuesView {
	s := a.Type.Shape
	out := &valuesView{Axes: axes(s), Fixed: []fixedView{}}
	stride := make([]int, s.Rank())
	for i, step := s.Rank()-1, 1; i >= 0; i-- {
		stride[i] = step
		step *= s.Dim(i)
	}
	base := 0
	for i := range s.Rank() {
		base += w.at[i] * stride[i]
		if i != w.row && i != w.col {
			out.Fixed = append(out.Fixed, fixedView{i, w.at[i]})
		}
	}
	span := func(axis, most int) (*spanView, int, int) {
		if axis < 0 {
			return nil, 1, 0
		}
		n := min(most, s.Dim(axis)-w.at[axis])
		return &spanView{axis, w.at[axis], w.at[axis] + n}, n, stride[axis]
	}
	var rows, cols, down, across int
	out.Row, rows, down = span(w.row, w.rows)
	out.Col, cols, across = span(w.col, w.cols)
	cells := func(a tape.Array) (table [][]string) {
		for i := range rows {
			line := make([]string, cols)
			for j := range line {
				line[j] = cellText(a.At(base + i*down + j*across))
			}
			table = append(table, line)
		}
		return table
	}
	out.Cells = cells(a)
	if gradient.Type == a.Type {
		out.GradCells = cells(gradient)
	}
	return out
}

func (s *Service) values(r *request, d *document) (any, error) {
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	if id := r.place("node"); id[0] == ofStep {
		n, err := d.stepNode(id)
		if err != nil {
			return nil, err
		}
		w, err := windowOf(r, n.Node.Shape())
		if err != nil {
			return nil, err
		}
		value, gradient, _, err := d.quantity(r.ctx, n, step)
		if err != nil {
			return nil, err
		}
		return w.view(value, gradient), nil
	}
	n, v, err := d.node(r.ctx, r.place("node"))
	if err != nil {
		return nil, err
	}
	w, err := windowOf(r, n.Shape())
	if err != nil {
		return nil, err
	}
	record, err := d.record(r.ctx, v, step)
	if err != nil {
		return nil, err
	}
	var gradient tape.Array
	if g := record.Gradient(n); g != nil {
		gradient = record.Value(g)
	}
	return w.view(record.Value(n), gradient), nil
}

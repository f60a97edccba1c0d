package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// mostCollected is the greatest number of elements of a row that Concat collects.
const mostCollected = 64

// TurnsBack reports whether Concat should turn back rows of so many elements as it joins them.
// Rows of up to four elements are joined first: then whole vectors are shuffled.
func (Concat) TurnsBack(row int, d DType) bool {
	return d.Size() >= 4 && 4 < row && row <= mostCollected
}

// A collection makes rows of columns that lie anywhere in its operands.
type collection struct {
	columns           []column
	rows, stride      int // the rows, and their distance in bytes
	size, offset, out int // of an element, the first byte of the result, and how many that has
	in                []int
}

// A column is an operand, and where the column begins in it, in bytes.
type column struct{ operand, at int }

// collects returns the loop of a Concat whose operands have the last axis innermost, while in the
// result it is the outermost: rows that lie turned are joined and turned back.
func (k Concat) collects(out Layout, in []Layout) (b Bound, ok bool) {
	last := out.Rank - 1
	axis, size := out.axis(k.Axis), out.DType.Size()
	if last < 1 || axis == last || size < 4 || out.Strides[last] <= 1 || out.Len() == 0 {
		return Bound{}, false
	}
	row := 1
	for a := last - 1; a >= 0; a-- {
		if out.Dims[a] > 1 && out.Strides[a] != row {
			return Bound{}, false
		}
		row *= out.Dims[a]
	}
	if row > mostCollected || out.Strides[last] < row {
		return Bound{}, false
	}
	c := &collection{columns: make([]column, row), rows: out.Dims[last], stride: out.Strides[last] * size,
		size: size, offset: out.Offset * size, out: out.reach() * size}
	inner := out.count(axis+1, last) // elements of an index of the axis
	first := 0
	for i, l := range in {
		if l.Strides[last] != 1 && l.Dims[last] > 1 {
			return Bound{}, false
		}
		c.in = append(c.in, l.reach()*size)
		columns := walkOf(l, prefix(last), l.Offset)
		each := l.Dims[axis] * inner // columns side by side in the result
		for e := range columns.n {
			c.columns[e/each*out.Dims[axis]*inner+first*inner+e%each] = column{i, columns.at(e) * size}
		}
		first += l.Dims[axis]
	}
	return Bound{1, c.run}, true
}

func (l *collection) run(c *Ctx, lo, hi int) {
	if lo >= hi {
		return
	}
	if c.Out.n < l.out {
		panic(short)
	}
	for i, n := range l.in {
		if c.In[i].n < n {
			panic(short)
		}
	}
	var columns [mostCollected]*byte
	for i, x := range l.columns {
		columns[i] = at(c.In[x.operand], x.at)
	}
	simd.Collect(level, l.size, at(c.Out, l.offset), columns[:len(l.columns)], l.rows, l.stride)
}

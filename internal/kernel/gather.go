package kernel

import (
	"math"
	"slices"
	"sort"
	"unsafe"
)

// Gather takes a table and integers. The result is the table with an axis (negative counted from
// the end) replaced by the axes of the integers: each integer picks a slice of the table.
type Gather struct {
	apart
	Axis  int
	Known *Positions // the integers, where they are known
}

// At returns the kernel for integers that are known.
func (k Gather) At(p *Positions) Kernel {
	k.Known = p
	return k
}

// Flops is 0.
func (Gather) Flops(Layout, []Layout) int64 { return 0 }

// Reads returns the number of elements that are read of an operand: of the table only the slices
// that are picked.
func (Gather) Reads(out Layout, in []Layout, i int) int {
	if i == 0 {
		return out.Len()
	}
	return in[i].Len()
}

// Divide divides along the table's axes before the one looked up, and those of the integers.
func (k Gather) Divide(out Layout, in []Layout) []Division {
	a := in[0].axis(k.Axis)
	d := Division{Dims: slices.Clone(out.Dims[:a+in[1].Rank]), Axes: make([][]int, 2)}
	for i := range d.Dims {
		table, ints := -1, -1
		if i < a {
			table = i
		} else {
			ints = i - a
		}
		d.Axes[0], d.Axes[1] = append(d.Axes[0], table), append(d.Axes[1], ints)
	}
	return []Division{d}
}

// Bind takes table and integers.
func (k Gather) Bind(out Layout, in []Layout) Bound {
	if out.Len() > 0 {
		if view, ok := k.view(out, in); ok {
			return Copy{}.Bind(out, []Layout{view})
		}
	}
	switch out.DType {
	case Bool, I8, U8:
		return gatherLoop[uint8](k, out, in, 0)
	case F16:
		return gatherLoop[uint16](k, out, in, nan16)
	case BF16:
		return gatherLoop[uint16](k, out, in, nanBrain)
	case F32:
		return gatherLoop(k, out, in, math.Float32bits(float32(math.NaN())))
	case F64:
		return gatherLoop(k, out, in, math.Float64bits(math.NaN()))
	case I32:
		return gatherLoop[uint32](k, out, in, 0)
	default:
		return gatherLoop[uint64](k, out, in, 0)
	}
}

// view returns the result as a part of the table, where known positions are equally spaced.
func (k Gather) view(out Layout, in []Layout) (l Layout, ok bool) {
	at, known := k.Known.all(in[1])
	step, even := progression(at)
	if !known || !even {
		return Layout{}, false
	}
	table, a := in[0], in[0].axis(k.Axis)
	l = out
	l.Offset = table.Offset + at[0]*table.Strides[a]
	copy(l.Strides[:a], table.Strides[:a])
	stride := step * table.Strides[a]
	for i := in[1].Rank - 1; i >= 0; i-- {
		l.Strides[a+i] = stride
		stride *= in[1].Dims[i]
	}
	copy(l.Strides[a+in[1].Rank:], table.Strides[a+1:table.Rank])
	return l, true
}

func gatherLoop[T any](k Gather, out Layout, in []Layout, missing T) Bound {
	table, ints := in[0], indexOf(in[1])
	a := table.axis(k.Axis)
	before := walkOf(table, prefix(a), table.Offset)
	after := walkOf(table, suffix(a+1), 0)
	rows, per := before.n*ints.n, rowsPer(after.n)
	if at, ok := k.Known.all(in[1]); ok && before.n > 1 && 0 < ints.n && ints.n*after.n <= mostParts {
		return gatherParts(before, after, at, out, table, table.Strides[a])
	}
	g := gathering[T]{ints, before, table.Dims[a], after.n, nil, table.Strides[a], missing, out.Len(), table.reach()}
	if after.n == 1 || after.dense() {
		if at, ok := k.Known.all(in[1]); ok {
			if all := streaks(at); len(at)*after.n*sizeOf[T]() >= longStreak*len(all) && (after.n == 1 || g.stride == after.n) && g.stride > 0 {
				return g.byStreaks(all)
			}
		}
		return g.byRows()
	}
	if after.n <= mostStrewn {
		for j := range after.n {
			g.strewn = append(g.strewn, after.at(j)*sizeOf[T]())
		}
		return g.byRows()
	}
	return Bound{blocks(rows, per), func(c *Ctx, lo, hi int) {
		dst, src := raw[T](c.Out), raw[T](c.In[0])
		for r := lo * per; r < min(hi*per, rows); r++ {
			slice := dst[r*after.n : (r+1)*after.n]
			if i := ints.get(c.In[1], r%ints.n); c.Below(i, table.Dims[a], r%ints.n) {
				gather(after, slice, src, before.at(r/ints.n)+int(i)*table.Strides[a], 0)
			} else {
				fill(slice, missing)
			}
		}
	}}
}

// gatherParts is for a few known positions in each of many tables.
func gatherParts(before, after *walk, positions []int, out, table Layout, stride int) Bound {
	size := out.DType.Size()
	r, row := &relay{rank: before.rank, dims: before.dims}, len(positions)*after.n*size
	toOuter := row
	for a := before.rank - 1; a >= 0; a-- {
		r.from[a], r.to[a] = before.strides[a]*size, toOuter
		toOuter *= before.dims[a]
	}
	part, each := size, after.n // bytes, and parts of a slice
	if after.dense() || after.n == 1 {
		part, each = after.n*size, 1
	}
	var to, from []int
	for _, p := range positions {
		for j := range each {
			to, from = append(to, len(to)*part), append(from, (p*stride+after.at(j))*size)
		}
	}
	r.with(to, from, part)
	per, reachOut, reach := rowsPer(row/size), out.Len()*size, table.reach()*size
	return Bound{blocks(before.n, per), func(c *Ctx, lo, hi int) {
		checkReach(c, reachOut, reach)
		if first, end := lo*per, min(hi*per, before.n); first < end {
			r.run(at(c.Out, 0), at(c.In[0], before.offset*size), first, end-first, 0, 0)
		}
	}}
}

// mostStrewn is the number of elements of a slice from which on finding each of them costs no more
// than the copy.
const mostStrewn = 64

// A gathering copies slices whose elements lie side by side, or few that are strewn.
type gathering[T any] struct {
	ints      index
	before    *walk // over the axes before the one looked up
	size      int   // of that axis
	row       int   // elements of a slice
	strewn    []int // where they lie, in bytes from the slice's start, unless side by side
	stride    int   // from slice to slice
	missing   T
	out, from int // elements that result and table have at least
}

// each calls f for the slices of units [lo,hi): m of them from number q on, those of one pass over
// the integers.
func (g *gathering[T]) each(c *Ctx, lo, hi int, f func(dst, src *byte, q, m int)) {
	size := sizeOf[T]()
	checkReach(c, g.out*size, g.from*size)
	per := rowsPer(g.row)
	for r, end := lo*per, min(hi*per, g.before.n*g.ints.n); r < end; {
		o, q := r/g.ints.n, r%g.ints.n
		m := min(end-r, g.ints.n-q)
		f(at(c.Out, r*g.row*size), at(c.In[0], g.before.at(o)*size), q, m)
		r += m
	}
}

func (g *gathering[T]) units() int { return blocks(g.before.n*g.ints.n, rowsPer(g.row)) }

// byRows goes integer by integer.
func (g gathering[T]) byRows() Bound {
	row := g.row * sizeOf[T]()
	narrow, wide := pickerOf[int32](row), pickerOf[int64](row)
	if g.strewn != nil {
		narrow, wide = pickStrewn[int32, T](g.strewn), pickStrewn[int64, T](g.strewn)
	}
	return Bound{g.units(), func(c *Ctx, lo, hi int) {
		g.each(c, lo, hi, func(dst, src *byte, q, m int) {
			switch {
			case g.ints.dense() && g.ints.dtype == I64:
				pickRows(&g, c, wide, dst, src, raw[int64](c.In[1])[g.ints.offset+q:][:m], q)
			case g.ints.dense() && g.ints.dtype == I32:
				pickRows(&g, c, narrow, dst, src, raw[int32](c.In[1])[g.ints.offset+q:][:m], q)
			default:
				buf := tile[int64](c, 0)
				for i := 0; i < m; i += tileLen {
					part := buf[:min(tileLen, m-i)]
					for j := range part {
						part[j] = g.ints.get(c.In[1], q+i+j)
					}
					pickRows(&g, c, wide, move(dst, i*row), src, part, q+i)
				}
			}
		})
	}}
}

// pickRows copies the slices that the integers from number q on pick.
func pickRows[T any, I int32 | int64](g *gathering[T], c *Ctx, pick picker[I], dst, src *byte, ints []I, q int) {
	row, stride := g.row*sizeOf[T](), g.stride*sizeOf[T]()
	for i := 0; i < len(ints); i++ {
		i += pick(move(dst, i*row), src, ints[i:], g.size, stride)
		if i == len(ints) {
			return
		}
		c.Fault.add(q+i, int64(ints[i]))
		fill(sliceAt[T](move(dst, i*row), g.row), g.missing)
	}
}

// byStreaks copies neighbouring slices together.
func (g gathering[T]) byStreaks(all []streak) Bound {
	row := g.row * sizeOf[T]()
	copies := copyElements(sizeOf[T]())
	return Bound{g.units(), func(c *Ctx, lo, hi int) {
		g.each(c, lo, hi, func(dst, src *byte, q, m int) {
			s := sort.Search(len(all), func(i int) bool { return all[i].from+all[i].n > q })
			for done := 0; done < m; s++ {
				skip := q + done - all[s].from
				n := min(m-done, all[s].n-skip)
				to := move(dst, done*row)
				from := move(src, (all[s].at+skip)*g.stride*sizeOf[T]())
				if g.stride == g.row {
					copy(unsafe.Slice(to, n*row), unsafe.Slice(from, n*row))
				} else {
					copies(to, from, 1, n, 0, row, 0, g.stride*sizeOf[T]())
				}
				done += n
			}
		})
	}}
}

// A picker copies rows, one after the other, from where the integers say in src: row i is i·stride
// bytes from there. It stops at an integer outside of [0,size), and returns its number, or that of
// all.
type picker[I int32 | int64] func(dst, src *byte, ints []I, size, stride int) int

// pickerOf returns the loop for rows of so many bytes. Copying a few bytes by a function costs more
// than the copy.
func pickerOf[I int32 | int64](row int) picker[I] {
	switch row {
	case 1:
		return pick[I, uint8]
	case 2:
		return pick[I, uint16]
	case 4:
		return pick[I, uint32]
	case 8:
		return pick[I, uint64]
	case 12:
		return pick[I, [3]uint32]
	case 16:
		return pick[I, [2]uint64]
	case 20:
		return pick[I, [5]uint32]
	case 24:
		return pick[I, [3]uint64]
	case 32:
		return pick[I, [4]uint64]
	case 40:
		return pick[I, [5]uint64]
	case 48:
		return pick[I, [6]uint64]
	case 64:
		return pick[I, [8]uint64]
	}
	return func(dst, src *byte, ints []I, size, stride int) int {
		for q, i := range ints {
			if uint64(i) >= uint64(size) {
				return q
			}
			copy(unsafe.Slice(move(dst, q*row), row), unsafe.Slice(move(src, int(i)*stride), row))
		}
		return len(ints)
	}
}

func pick[I int32 | int64, R any](dst, src *byte, ints []I, size, stride int) int {
	to, from := unsafe.Pointer(dst), unsafe.Pointer(src)
	for q, i := range ints {
		if uint64(i) >= uint64(size) {
			return q
		}
		*(*R)(unsafe.Add(to, q*sizeOf[R]())) = *(*R)(unsafe.Add(from, int(i)*stride))
	}
	return len(ints)
}

// pickStrewn returns the loop for rows whose elements lie at so many bytes from where they start.
func pickStrewn[I int32 | int64, T any](at []int) picker[I] {
	row := len(at) * sizeOf[T]()
	return func(dst, src *byte, ints []I, size, stride int) int {
		for k, o := range at { // an element of each row after the other: loops over a few elements cost more
			to, from := unsafe.Pointer(move(dst, k*sizeOf[T]())), unsafe.Pointer(move(src, o))
			for q, i := range ints {
				if uint64(i) >= uint64(size) {
					ints = ints[:q]
					break
				}
				*(*T)(unsafe.Add(to, q*row)) = *(*T)(unsafe.Add(from, int(i)*stride))
			}
		}
		return len(ints)
	}
}

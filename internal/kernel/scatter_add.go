package kernel

import (
	"slices"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// ScatterAdd is the transpose of Gather: it takes integers and updates, shaped as Gather's result,
// and adds each slice of the updates to the slice of the result that its integer picks along the
// axis (negative counted from the end). The result starts from zeros. Slices that meet are added in
// the order of the integers.
type ScatterAdd struct {
	apart
	Axis  int
	Known *Positions // the integers, where they are known
}

// At returns the kernel for integers that are known.
func (k ScatterAdd) At(p *Positions) Kernel {
	k.Known = p
	return k
}

// Flops counts one per element of the updates.
func (ScatterAdd) Flops(_ Layout, in []Layout) int64 { return int64(in[1].Len()) }

// Divide divides along the axes before the one that is added to.
func (k ScatterAdd) Divide(out Layout, _ []Layout) []Division {
	a := out.axis(k.Axis)
	d := Division{Dims: slices.Clone(out.Dims[:a]), Axes: make([][]int, 2)}
	for i := range a {
		d.Axes[0], d.Axes[1] = append(d.Axes[0], -1), append(d.Axes[1], i)
	}
	return []Division{d}
}

// Bind takes integers and updates.
func (k ScatterAdd) Bind(out Layout, in []Layout) Bound {
	switch out.DType {
	case F32:
		return scatterLoop[float32](k, out, in)
	case F64:
		return scatterLoop[float64](k, out, in)
	case I32:
		return scatterLoop[int32](k, out, in)
	case I64:
		return scatterLoop[int64](k, out, in)
	}
	panic(unsupported(k, out.DType))
}

// scatterCols is the number of elements of a slice that a unit adds: long enough for the loops, and
// short enough that there are several units.
const scatterCols = 64

// fewElements is the most elements of a slice that are added one by one: a call of the vectors'
// loop costs as much.
const fewElements = 12

// A scattering adds slices. It splits the axes before and after the one that is added to, never
// that one, unless the positions are known: each unit goes through all the integers.
type scattering[T number] struct {
	ints                 index
	before, which, after *walk // over the axes of the updates
	n, cols              int   // of the axis that is added to, and elements of a slice
	add                  simd.Zip
}

func scatterLoop[T number](k ScatterAdd, out Layout, in []Layout) Bound {
	updates, a := in[1], out.axis(k.Axis)
	end := a + in[0].Rank
	s := &scattering[T]{
		ints: indexOf(in[0]), n: out.Dims[a], add: simd.ZipOf[T](level, simd.Add).Rows,
		before: walkOf(updates, prefix(a), updates.Offset),
		which:  walkOf(updates, suffix(a)&prefix(end), 0),
		after:  walkOf(updates, suffix(end), 0),
	}
	s.cols = s.after.n
	at, known := k.Known.all(in[0])
	switch {
	case known && s.cols >= scatterCols:
		return s.bySums(at)
	case known && s.cols == 1:
		return s.known(at)
	case s.cols == 1 && s.which.rank == 1:
		return s.single()
	case s.cols <= fewElements && (s.cols == 1 || s.after.dense()):
		return s.short()
	}
	return s.long()
}

// long adds slices of any length.
func (s *scattering[T]) long() Bound {
	across := blocks(s.cols, scatterCols)
	return Bound{s.before.n * across, func(c *Ctx, lo, hi int) {
		dst, src, buf := raw[T](c.Out), raw[T](c.In[1]), tile[T](c, 0)
		for u := lo; u < hi; u++ {
			o, from := u/across, u%across*scatterCols
			to := min(from+scatterCols, s.cols)
			for i := range s.n {
				clear(dst[(o*s.n+i)*s.cols:][from:to])
			}
			for q := range s.ints.n {
				i := s.ints.get(c.In[0], q)
				if !c.Below(i, s.n, q) {
					continue
				}
				sum := dst[(o*s.n+int(i))*s.cols:][from:to]
				term := read(s.after, src, buf, s.before.at(o)+s.which.at(q), from, to)
				s.add(pointerTo(sum), pointerTo(sum), pointerTo(term), 1, to-from, 0, 0, 0)
			}
		}
	}}
}

// single adds single elements that are evenly spaced.
func (s *scattering[T]) single() Bound {
	_, step := s.which.inner()
	return Bound{s.before.n, func(c *Ctx, lo, hi int) {
		src, buf := raw[T](c.In[1]), tile[int64](c, 0)
		for o := lo; o < hi; o++ {
			dst := raw[T](c.Out)[o*s.n:][:s.n]
			clear(dst)
			p := s.before.at(o)
			for q := 0; q < s.ints.n; q += tileLen {
				for j, i := range s.ints.some(c.In[0], buf[:min(tileLen, s.ints.n-q)], q) {
					if uint64(i) < uint64(len(dst)) {
						dst[i] += src[p]
					} else {
						c.Fault.add(q+j, i)
					}
					p += step
				}
			}
		}
	}}
}

// short adds slices of a few elements side by side, in blocks of integers that are read first.
func (s *scattering[T]) short() Bound {
	return Bound{s.before.n, func(c *Ctx, lo, hi int) {
		src, places, from, buf := raw[T](c.In[1]), tile[int](c, 0), tile[int](c, 1), tile[int64](c, 2)
		for o := lo; o < hi; o++ {
			dst := raw[T](c.Out)[o*s.n*s.cols:][:s.n*s.cols]
			clear(dst)
			base := s.before.at(o)
			for q := 0; q < s.ints.n; q += tileLen {
				m := 0
				for j, i := range s.ints.some(c.In[0], buf[:min(tileLen, s.ints.n-q)], q) {
					if c.Below(i, s.n, q+j) {
						places[m], from[m] = int(i)*s.cols, s.which.at(q+j)
						m++
					}
				}
				addRows(dst, src, base, places[:m], from[:m], s.cols)
			}
		}
	}}
}

// addRows adds rows of n elements of src, each as far from base as from tells, to those of dst.
func addRows[T number](dst, src []T, base int, places, from []int, n int) {
	from = from[:len(places)]
	switch n {
	case 1:
		for q, i := range places {
			dst[i] += src[base+from[q]]
		}
	case 2:
		for q, i := range places {
			d, v := dst[i:i+2], src[base+from[q]:][:2]
			d[0], d[1] = d[0]+v[0], d[1]+v[1]
		}
	case 3:
		for q, i := range places {
			d, v := dst[i:i+3], src[base+from[q]:][:3]
			d[0], d[1], d[2] = d[0]+v[0], d[1]+v[1], d[2]+v[2]
		}
	default:
		for q, i := range places {
			d, v := dst[i:i+n], src[base+from[q]:][:n]
			for j := range d {
				d[j] += v[j]
			}
		}
	}
}

// known adds single elements to known positions; neighbours are added together.
func (s *scattering[T]) known(at []int) Bound {
	all := streaks(at)
	together := s.which.dense() && len(at)*sizeOf[T]() >= longStreak*len(all)
	from := make([]int, len(at))
	for q := range from {
		from[q] = s.which.at(q)
	}
	dense, add := s.which.dense(), s.add
	per := rowsPer(s.n)
	return Bound{blocks(s.before.n, per), func(c *Ctx, lo, hi int) {
		for o := lo * per; o < min(hi*per, s.before.n); o++ {
			dst, src, base := raw[T](c.Out)[o*s.n:][:s.n], raw[T](c.In[1]), s.before.at(o)
			clear(dst)
			switch {
			case together:
				for _, t := range all {
					sum, term := dst[t.at:][:t.n], src[base+t.from:][:t.n]
					add(pointerTo(sum), pointerTo(sum), pointerTo(term), 1, t.n, 0, 0, 0)
				}
			case dense:
				term := src[base:][:len(at)]
				for q, i := range at {
					dst[i] += term[q]
				}
			default:
				addRows(dst, src, base, at, from, 1)
			}
		}
	}}
}

// bySums goes through the slices of the result, each of which is a sum of known slices: none is
// cleared that something is added to, and they are as many units as one wants.
func (s *scattering[T]) bySums(at []int) Bound {
	terms, ends := bySlice(at, s.n)
	per := rowsPer(s.cols)
	return Bound{blocks(s.before.n*s.n, per), func(c *Ctx, lo, hi int) {
		dst, src := raw[T](c.Out), raw[T](c.In[1])
		buf, zeros := tile[T](c, 0), tile[T](c, 1)
		clear(zeros)
		for r := lo * per; r < min(hi*per, s.before.n*s.n); r++ {
			o, i := r/s.n, r%s.n
			sum, first := dst[r*s.cols:][:s.cols], 0
			if i > 0 {
				first = ends[i-1]
			}
			if first == ends[i] {
				clear(sum)
			}
			for n, q := range terms[first:ends[i]] {
				base := s.before.at(o) + s.which.at(q)
				for j := 0; j < s.cols; j += tileLen {
					part := sum[j:min(j+tileLen, s.cols)]
					term, old := read(s.after, src, buf, base, j, j+len(part)), part
					if n == 0 {
						old = zeros
					}
					s.add(pointerTo(part), pointerTo(old), pointerTo(term), 1, len(part), 0, 0, 0)
				}
			}
		}
	}}
}

// bySlice sorts the numbers of the positions by position: those of position i end at ends[i], in
// order.
func bySlice(at []int, n int) (terms, ends []int) {
	ends, terms = make([]int, n), make([]int, len(at))
	for _, i := range at {
		ends[i]++
	}
	sum := 0
	for i, m := range ends {
		ends[i] = sum
		sum += m
	}
	for q, i := range at {
		terms[ends[i]] = q
		ends[i]++
	}
	return terms, ends
}

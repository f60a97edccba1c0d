package chart

import (
	"cmp"
	"math"
	"slices"
)

// field has values over the plot at the corners of a grid, in pixels.
type field struct {
	xs, ys []float64
	at     [][]float64
	log    bool
}

// field places the values on the plot.
func (h Heatmap) field(p plane) field {
	f := field{at: h.Values, log: h.Log}
	for _, x := range h.Xs {
		f.xs = append(f.xs, p.x.at(x))
	}
	for _, y := range h.Ys {
		f.ys = append(f.ys, p.y.at(y))
	}
	return f
}

// corner is a grid point with its value.
type corner struct {
	point
	z float64
}

// quad returns the corners of a cell in order around it; ok is false if one of them cannot be
// drawn.
func (f field) quad(i, j int) (q [4]corner, ok bool) {
	for k, d := range [4][2]int{{0, 0}, {1, 0}, {1, 1}, {0, 1}} {
		z := f.at[j+d[1]][i+d[0]]
		if !drawable(z, f.log) {
			return q, false
		}
		q[k] = corner{point{f.xs[i+d[0]], f.ys[j+d[1]]}, z}
	}
	return q, true
}

// crossing returns the point between two corners where the value equals the level. It is the same
// point for both cells that share the edge.
func (f field) crossing(a, b corner, level float64) point {
	if a.x > b.x || a.x == b.x && a.y > b.y {
		a, b = b, a
	}
	za, zb := a.z, b.z
	if f.log {
		za, zb, level = math.Log(za), math.Log(zb), math.Log(level)
	}
	t := min(1, max(0, (level/2-za/2)/(zb/2-za/2))) // halves do not overflow
	return point{a.x + float64(t*(b.x-a.x)), a.y + float64(t*(b.y-a.y))}
}

// above returns the part of a cell where the value reaches the level, as a polygon, and the lines
// that cut it off, each with that part on the same side.
func (f field) above(q [4]corner, level float64) (polygon []point, cuts [][2]point) {
	var ins, outs []point // crossings into the part and out of it, in turn
	first := 0
	for k, a := range q {
		b := q[(k+1)%4]
		if a.z >= level {
			polygon = append(polygon, a.point)
		}
		if (a.z >= level) == (b.z >= level) {
			continue
		}
		x := f.crossing(a, b, level)
		polygon = append(polygon, x)
		if a.z >= level {
			outs = append(outs, x)
		} else {
			if len(outs) == 0 {
				first = 1 // the exit that belongs to it comes last
			}
			ins = append(ins, x)
		}
	}
	for k, out := range outs {
		cuts = append(cuts, [2]point{out, ins[(k+first)%len(ins)]})
	}
	return polygon, cuts
}

// fill paints the bands, higher ones over lower ones. Neighbouring cells that are entirely above
// a level are one rectangle.
func (f field) fill(c *canvas, s scale) {
	for band := range len(s.levels) + 1 {
		level := math.Inf(-1)
		if band > 0 {
			level = s.levels[band-1].value
		}
		var d canvas
		for j := range len(f.ys) - 1 {
			from := -1
			flush := func(to int) {
				if from >= 0 {
					d.printf("%vZ", path([]point{{f.xs[from], f.ys[j]}, {f.xs[to], f.ys[j]}, {f.xs[to], f.ys[j+1]}, {f.xs[from], f.ys[j+1]}}))
				}
				from = -1
			}
			for i := range len(f.xs) - 1 {
				q, ok := f.quad(i, j)
				whole := ok && min(q[0].z, q[1].z, q[2].z, q[3].z) >= level
				switch {
				case whole && from < 0:
					from = i
				case !whole:
					flush(i)
					if polygon, _ := f.above(q, level); ok && len(polygon) > 2 {
						d.printf("%vZ", path(polygon))
					}
				}
			}
			flush(len(f.xs) - 1)
		}
		if d.Len() > 0 {
			k := s.ink(band)
			c.printf("<path d=\"%v\"%v/>\n", raw(d.String()), k.both(k, `stroke-width=".7"`)) // a stroke of the same colour closes the seams
		}
	}
}

// lines joins the cuts of each level into lines, the longest first.
func (f field) lines(s scale) [][][]point {
	out := make([][][]point, len(s.levels))
	for l, level := range s.levels {
		var cuts [][2]point
		for j := range len(f.ys) - 1 {
			for i := range len(f.xs) - 1 {
				if q, ok := f.quad(i, j); ok {
					_, more := f.above(q, level.value)
					cuts = append(cuts, more...)
				}
			}
		}
		out[l] = joined(cuts)
		slices.SortStableFunc(out[l], func(a, b []point) int { return cmp.Compare(lengthOf(b), lengthOf(a)) })
	}
	return out
}

// joined makes lines of pieces that begin where others end.
func joined(pieces [][2]point) [][]point {
	pieces = slices.DeleteFunc(pieces, func(p [2]point) bool { return p[0] == p[1] })
	beginning, ending := map[point][]int{}, map[point]int{}
	for i, p := range pieces {
		beginning[p[0]] = append(beginning[p[0]], i)
		ending[p[1]]++
	}
	used := make([]bool, len(pieces))
	var out [][]point
	follow := func(i int) {
		line := []point{pieces[i][0]}
		for i >= 0 {
			used[i] = true
			line = append(line, pieces[i][1])
			next := -1
			for _, k := range beginning[pieces[i][1]] {
				if !used[k] {
					next = k
					break
				}
			}
			i = next
		}
		out = append(out, line)
	}
	for _, open := range []bool{true, false} { // open lines first, then rings
		for i, p := range pieces {
			if !used[i] && (!open || ending[p[0]] == 0) {
				follow(i)
			}
		}
	}
	return out
}

func lengthOf(line []point) (l float64) {
	for i := 1; i < len(line); i++ {
		l += math.Hypot(line[i].x-line[i-1].x, line[i].y-line[i-1].y)
	}
	return l
}

// stroke draws the lines.
func (f field) stroke(c *canvas, s scale, lines [][][]point) {
	for l, all := range lines {
		thin := make([][]point, len(all))
		for i, line := range all {
			thin[i] = straightened(line)
		}
		if d := path(thin...); d != "" {
			c.printf(`<path d="%v" fill="none"%v stroke-width="1" stroke-opacity=".65" stroke-linejoin="round"><title>%v</title></path>`+"\n", d, s.lineInk(l).stroke(), s.levels[l].label)
		}
	}
}

// label writes each level once, on its longest line, if there is room.
func (f field) label(c *canvas, p plane, s scale, lines [][][]point) {
	var taken []box
	font := noteFont
	font.ink, font.ringed = textInk, true
	for l, all := range lines {
		if len(all) == 0 || lengthOf(all[0]) < 40 {
			continue
		}
		line, text := all[0], s.levels[l].label
		for _, share := range []float64{.5, .3, .7, .15, .85, .4, .6} {
			at := line[int(share*float64(len(line)-1))]
			at.y += 4
			b := textBox(at, middle, font.size, text)
			b = box{b.left - 2, b.top - 2, b.right + 2, b.bottom + 2}
			if b.within(p.box) && !slices.ContainsFunc(taken, b.overlaps) {
				c.text(at, middle, font, text)
				taken = append(taken, b)
				break
			}
		}
	}
}

package chart

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Cloud is data that charts of a page have behind all else, as small dots that are told apart from
// nothing. The page has it once, as an element without extent, and each [Scatter] refers to it, so
// that thousands of points in many charts are written once.
type Cloud struct {
	// ID must be unique in the page: a letter, then letters, digits, '-' and '_'.
	ID     string
	Name   string // in legends; may be empty
	Points [][2]float64
}

// fine is the number of units of a cloud's own coordinates along its longer side: more than any
// chart has pixels.
const fine = 4096

// SVG writes the element that charts refer to.
func (c Cloud) SVG(w io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	g := c.raster()
	seen := map[[2]int]bool{}
	var at [][2]int
	for _, q := range c.Points {
		if !drawable(q[0], false) || !drawable(q[1], false) {
			continue
		}
		if p := g.at(q); !seen[p] {
			seen[p] = true
			at = append(at, p)
		}
	}
	// In columns, up one and down the next, neighbours are near and their distances short to write.
	column := fine / max(1, int(math.Sqrt(float64(len(at)))))
	slices.SortFunc(at, func(a, b [2]int) int {
		k := a[0] / column
		if d := cmp.Compare(k, b[0]/column); d != 0 {
			return d
		}
		if k%2 == 1 {
			a, b = b, a
		}
		return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0]))
	})
	var d strings.Builder
	last := [2]int{}
	for _, p := range at {
		fmt.Fprintf(&d, "m%d%+dh0", p[0]-last[0], p[1]-last[1])
		last = p
	}
	var out canvas
	out.printf(`<svg class="cloud" width="0" height="0" aria-hidden="true"><defs><path id="%v" d="%v"/></defs>`+"\n", c.ID, raw(d.String()))
	return out.close(w)
}

func (c Cloud) check() error {
	if !validID.MatchString(c.ID) {
		return fmt.Errorf("cloud %q: the id is not a letter followed by letters, digits, '-' or '_'", c.ID)
	}
	return nil
}

// raster maps the plane to a cloud's own coordinates: x from the left and y from above, in units.
type raster struct{ left, top, unit float64 }

func (c Cloud) raster() raster {
	x, y := emptySpan, emptySpan
	for _, q := range c.Points {
		if drawable(q[0], false) && drawable(q[1], false) {
			x.add(q[0])
			y.add(q[1])
		}
	}
	g := raster{x.lo, y.hi, max(x.hi-x.lo, y.hi-y.lo) / fine}
	if x.empty() || g.unit < 1/finiteMax {
		g.unit = 1
	}
	return g
}

func (g raster) at(q [2]float64) [2]int {
	return [2]int{int(math.Round((q[0] - g.left) / g.unit)), int(math.Round((g.top - q[1]) / g.unit))}
}

// drawCloud draws the cloud by reference.
func (s Scatter) drawCloud(c *canvas, p plane) {
	if s.Cloud == nil {
		return
	}
	shown := 0
	for _, q := range s.Cloud.Points {
		if drawable(q[0], false) && drawable(q[1], false) {
			shown++
		}
	}
	if shown == 0 {
		return
	}
	g := s.Cloud.raster()
	scale := g.unit * (p.x.to - p.x.from) / (p.x.hi - p.x.lo)
	c.printf("<g%v fill=\"none\" stroke-opacity=\".45\" stroke-linecap=\"round\"><title>%v</title>", noteInk.stroke(), strings.TrimPrefix(s.Cloud.Name+": ", ": ")+count(shown, "point"))
	c.printf(`<use href="#%v" transform="translate(%v %v)scale(%v)" stroke-width="%v"/></g>`+"\n", s.Cloud.ID, p.x.at(g.left), p.y.at(g.top), exact(scale), exact(dotOf(shown)/scale))
}

// dotOf returns the width of each of n dots in pixels: the more there are, the smaller, so that it
// is seen where they are dense.
func dotOf(n int) float64 { return max(1.5, dotWidth*min(1, math.Sqrt(800/float64(n)))) }

// exact writes v to six digits.
func exact(v float64) raw { return raw(strconv.FormatFloat(v, 'g', 6, 64)) }

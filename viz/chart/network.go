package chart

import (
	"fmt"
	"io"
	"math"
)

// Network draws nodes and the links between them on a circle, each node with a value: the more ink, the
// larger its magnitude; positive and negative ones differ in colour and in shape.
type Network struct {
	Frame
	Links  [][2]int  // pairs of nodes
	Values []float64 // one for each node
	Order  []int     // the nodes around the circle; nil for 0, 1, 2…
	Names  []string  // beside the nodes; nil for none
}

// Sizes of a network in pixels.
const (
	networkBody = 220.0 // of up to fewNodes
	largeBody   = 320.0
	fewNodes    = 20
	nodeRadius  = 9.0
	mostNames   = 60 // nodes that have room for names
)

// body returns the height and width of the circle with its names.
func (n Network) body() float64 {
	if len(n.Values) > fewNodes {
		return largeBody
	}
	return networkBody
}

// radii returns the radius of the circle and of a node; nodes do not overlap.
func (n Network) radii() (circle, node float64) {
	circle = n.body()/2 - 2*nodeRadius - 8
	return circle, min(nodeRadius, float64(.8*math.Pi*circle)/float64(len(n.Values)))
}

// SVG writes the chart as one element. It is an error if a link leads to no node, or names and order do
// not match the values.
func (n Network) SVG(w io.Writer) error {
	if err := n.check(); err != nil {
		return err
	}
	top := n.bodyTop()
	if len(n.Values) == 0 {
		return n.blank(w, top+80)
	}
	c := n.open(top+n.body()+margin, n.figures())
	centre := point{n.width() / 2, top + n.body()/2}
	at := n.places(centre)
	_, radius := n.radii()
	for _, l := range n.Links {
		if l[0] != l[1] {
			c.line(at[l[0]], at[l[1]], axisInk.stroke())
		}
	}
	most := 0.0
	for _, v := range n.Values {
		if drawable(v, false) {
			most = max(most, math.Abs(v))
		}
	}
	most = orDefault(most, 1)
	for i, v := range n.Values {
		p := at[i]
		ink, strength := groupInks[0], math.Abs(v)/most
		if v < 0 {
			ink = groupInks[1]
		}
		if !drawable(v, false) {
			strength = 0
		}
		side := float64(1.8 * radius)
		outline := func(paint raw) {
			if v < 0 {
				c.printf(`<rect x="%v" y="%v" width="%v" height="%v"%v/>`+"\n", p.x-side/2, p.y-side/2, side, side, paint)
			} else {
				c.printf(`<circle cx="%v" cy="%v" r="%v"%v/>`+"\n", p.x, p.y, radius, paint)
			}
		}
		outline(pageInk.both(ink, `stroke-width="1.5"`))
		if strength > 0 {
			outline(ink.fill() + raw(fmt.Sprintf(` fill-opacity="%.2g"`, strength)))
		}
		if n.Names != nil && len(n.Names) <= mostNames {
			dx, dy := p.x-centre.x, p.y-centre.y
			away := (radius + 11) / orDefault(math.Hypot(dx, dy), 1)
			q := point{p.x + float64(dx*away), p.y + float64(dy*away) + 4}
			c.text(q, middle, noteFont, fitted(n.Names[i], noteFont.size, 40))
		}
	}
	return c.close(w)
}

func (n Network) check() error {
	if err := n.Frame.check(); err != nil {
		return err
	}
	for _, l := range n.Links {
		if min(l[0], l[1]) < 0 || max(l[0], l[1]) >= len(n.Values) {
			return n.errorf("a link of the nodes %d and %d among %d", l[0], l[1], len(n.Values))
		}
	}
	if n.Names != nil && len(n.Names) != len(n.Values) {
		return n.errorf("%d names for %d nodes", len(n.Names), len(n.Values))
	}
	seen := make([]bool, len(n.Values))
	for _, i := range n.Order {
		if i < 0 || i >= len(seen) || seen[i] {
			return n.errorf("the order is not of the %d nodes", len(n.Values))
		}
		seen[i] = true
	}
	if n.Order != nil && len(n.Order) != len(n.Values) {
		return n.errorf("the order is not of the %d nodes", len(n.Values))
	}
	return nil
}

// places returns where the nodes are around a centre, the first of the order on top.
func (n Network) places(centre point) []point {
	out := make([]point, len(n.Values))
	radius, _ := n.radii()
	for k := range out {
		i := k
		if n.Order != nil {
			i = n.Order[k]
		}
		angle := float64(2*math.Pi*float64(k)/float64(len(out))) - math.Pi/2
		out[i] = point{centre.x + float64(radius*math.Cos(angle)), centre.y + float64(radius*math.Sin(angle))}
	}
	return out
}

// figures says for each node what its value is.
func (n Network) figures() string {
	text := count(len(n.Values), "node") + ", " + count(len(n.Links), "link") + "."
	for i, v := range n.Values {
		if i == 24 {
			return text + " And others."
		}
		name := fmt.Sprint(i + 1)
		if n.Names != nil {
			name = n.Names[i]
		}
		text += fmt.Sprintf(" %s: %s.", name, Format(v))
	}
	return text
}

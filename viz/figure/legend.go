package figure

import "slices"

var roleTitles = [roles]string{
	"input", "hyperparameter", "parameter (trained)", "state (carried over)", "constant", "element by element",
	"takes, joins or moves elements", "combines along an axis that stays: softmax, norm, loop", "combines elements: sum, product, convolution", "gradient of the value in its row", "loss", "output", "update",
}

var kindLegends = [kinds]string{
	"forward value, read downward", "gradient, read upward", "forward value saved for the gradient", "assigned by the update",
	"carried to the next step of the loop",
}

var statusTitles = [statuses]string{
	"", "the same in both, same position", "only here", "same rule, but what flows in differs", "same rule with one more term on this side",
}

// A legendItem is a sign of the given width with its explanation.
type legendItem struct {
	width float64
	text  string
	below bool               // begins a line: the text before goes on
	draw  func(x, y float64) // sign, from x, centred on y
}

const legendSize = 11.5

// legend explains the signs in the shown panels, below y; it returns where it ends.
func (d *drawing) legend(y float64, shown []int) float64 {
	var role [roles]bool
	var strip [2]bool
	var kind [kinds]bool
	var status [2][statuses]bool
	var laid present
	for _, p := range shown {
		for _, n := range d.layout.Panels[p].Nodes {
			node := d.figure.Nodes[n.Node].marked(p)
			role[node.Role] = true
			if node.Params != "" && node.Backward {
				strip[1] = true
			} else if node.Params != "" {
				strip[0] = true
			}
			laid.alarm[node.Alarm] = true
			laid.heat = laid.heat || node.Heat > 0
			laid.group = laid.group || node.Group > 0
			laid.bare = laid.bare || node.Heat == 0 && node.Group == 0
			if d.figure.comparing() {
				status[p][node.Status[p]] = true
			}
		}
		for _, e := range d.layout.Panels[p].Edges {
			kind[d.figure.Edges[e.Edge].Kind] = true
		}
	}
	roleItems, kindItems := append(d.roleItems(role), d.stripItems(strip)...), d.kindItems(kind)
	if d.figure.Dense { // in a line, if there is room
		roleItems, kindItems = append(roleItems, kindItems...), nil
	}
	groups := [][]legendItem{roleItems, kindItems, d.statusItems(status), d.overlayItems(laid), d.signItems()}
	groups = slices.DeleteFunc(groups, func(g []legendItem) bool { return len(g) == 0 })
	if len(groups) == 0 {
		return y
	}
	d.put(`<g class="legend">`, "\n")
	d.rule(border, y, d.width-border, y)
	y += 24
	for _, items := range groups {
		x := border + 8
		for _, it := range items {
			wide := it.width + 9 + TextWidth(it.text, legendSize)
			if x > border+8 && (it.below || x+wide > d.width-border) {
				x = border + 8
				y += 30
			}
			it.draw(x, y)
			for i, l := range wrap(it.text, legendSize, d.width-border/2-x-it.width-9, 6) {
				if i > 0 { // only what a line has no room for
					y += 17
				}
				d.text(x+it.width+9, y+4, legendSize, start, false, ink, l)
			}
			d.put("\n")
			x += wide + 26
		}
		y += 34
	}
	d.put("</g>\n")
	return y - 16
}

func (d *drawing) roleItems(present [roles]bool) (items []legendItem) {
	for r, ok := range present {
		if ok {
			items = append(items, legendItem{width: 40, text: roleTitles[r], draw: func(x, y float64) {
				r := Role(r)
				box := Rect{x, y - 11 - ringOf(r)/2, 40, 22 + ringOf(r)}
				fill, line := d.figure.roleColours(r)
				d.put(shape(r, box, d.easel.attrs(fill, line)+` stroke-width="2"`, d.easel.attrs(none, line)+` stroke-width="1.2"`))
			}})
		}
	}
	return items
}

// stripItems explains the parameters inside nodes, and the gradients by them.
func (d *drawing) stripItems(present [2]bool) (items []legendItem) {
	for k, text := range [...]string{"parameters, in what uses them", "gradients by these, in what gives them"} {
		if present[k] {
			items = append(items, legendItem{width: 40, text: text, draw: func(x, y float64) {
				d.strip(&Node{Params: [...]string{"w 3×4", "∂w"}[k], Backward: k == 1}, false, Point{x, y - stripHeight/2})
			}})
		}
	}
	return items
}

func (d *drawing) kindItems(present [kinds]bool) (items []legendItem) {
	for k, ok := range present {
		if ok {
			items = append(items, legendItem{width: 50, text: kindLegends[k], draw: func(x, y float64) {
				style := kindLine[k]
				path := course{{x, y}}
				path.line(Point{x + 50, y})
				dash := ""
				if style.dash != "" {
					dash = ` stroke-dasharray="` + style.dash + `"`
				}
				if Kind(k) == Saved {
					dash += ` stroke-linecap="round"`
				}
				d.put(`<path d="`, pathData(path), `"`, d.easel.attrs(none, style.paint), ` stroke-width="`, num(style.width+0.2), `"`, dash, "/>", arrowHead(path, d.easel.attrs(style.paint, none)))
			}})
		}
	}
	return items
}

// signItems explains signs in the texts.
func (d *drawing) signItems() (items []legendItem) {
	for _, s := range d.figure.Signs {
		items = append(items, legendItem{width: -9, text: line(s, 100), draw: func(float64, float64) {}})
	}
	return items
}

func (d *drawing) statusItems(present [2][statuses]bool) (items []legendItem) {
	if present[0][Shared] || present[1][Shared] {
		items = append(items, legendItem{width: 40, text: statusTitles[Shared] + " (muted)", draw: func(x, y float64) {
			d.put(rectangle(Rect{x, y - 10, 40, 20}, 5, d.easel.attrs(d.sharedFill(), rule)+` stroke-width="1.3"`))
		}})
	}
	for p := range present {
		if present[p][Only] {
			items = append(items, d.markItem(Only, "only in "+d.short(p), p))
		}
	}
	if present[0][Upstream] || present[1][Upstream] {
		items = append(items, d.markItem(Upstream, statusTitles[Upstream], 0))
	}
	for p := range present {
		if present[p][Term] {
			items = append(items, d.markItem(Term, "same rule with one more term in "+d.short(p), p))
		}
	}
	return items
}

func (d *drawing) markItem(s Status, text string, p int) legendItem {
	return legendItem{width: 16, text: text, draw: func(x, y float64) { d.mark(Point{x + 8, y}, s, p) }}
}

// short returns the name of panel p in the legend.
func (d *drawing) short(p int) string {
	letter := string(rune('A' + p))
	if s := line(d.figure.Panels[p].Short, textLimit); s != "" {
		return letter + " · " + s
	}
	return letter
}

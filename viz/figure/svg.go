package figure

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"
	"strconv"
)

const (
	border   = 26.0 // around the page
	panelGap = 44.0 // between panels
	panelTop = 22.0 // height of a panel's heading bar
	font     = `'DejaVu Sans','Segoe UI',Roboto,Helvetica,Arial,sans-serif`
)

// SVG writes f as a self-contained SVG document. Nothing is written if f has a
// mistake.
func (f *Figure) SVG(w io.Writer, opts ...Option) error {
	return f.SVGContext(context.Background(), w, opts...)
}

// SVGContext is SVG, stopped with the error of ctx once ctx is done.
func (f *Figure) SVGContext(ctx context.Context, w io.Writer, opts ...Option) error {
	o, err := f.options(opts)
	if err != nil {
		return err
	}
	l, err := f.Layout(ctx)
	if err != nil {
		return err
	}
	d := &drawing{figure: f, layout: l, options: o, easel: easel{theme: o.theme}, index: f.index()}
	d.body()
	_, err = w.Write(slices.Concat(d.head(), d.Bytes()))
	return err
}

// A drawing collects the body of an SVG.
type drawing struct {
	bytes.Buffer
	figure  *Figure
	layout  *Layout
	options options
	easel   easel
	index   map[string]int
	width   float64
	height  float64
}

func (d *drawing) put(parts ...string) {
	for _, p := range parts {
		d.WriteString(p)
	}
}

// head returns what precedes the body; it needs the size of the body and the
// paints used in it.
func (d *drawing) head() []byte {
	var b bytes.Buffer
	class := "tapestry"
	if d.options.theme == Auto {
		class += " " + rootClass
	}
	w, h := num(d.width), num(d.height)
	title, desc := d.figure.Title, d.figure.Desc
	if title == "" {
		title = "graph"
	}
	if desc == "" {
		desc = strconv.Itoa(len(d.figure.Nodes)) + " nodes, " + strconv.Itoa(len(d.figure.Edges)) + " edges"
	}
	p := d.options.prefix
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" class="` + class + `" viewBox="0 0 ` + w + ` ` + h + `" width="` + w + `" height="` + h +
		`" role="group" aria-labelledby="` + p + `title ` + p + `desc" font-family="` + font + `">` + "\n")
	b.WriteString(`<title id="` + p + `title">` + xmlText(title) + `</title><desc id="` + p + `desc">` + xmlText(desc) + "</desc>\n")
	back := rectangle(Rect{0, 0, d.width, d.height}, 0, d.easel.attrs(page, none))
	b.WriteString(d.easel.style() + back + "\n")
	return b.Bytes()
}

// body draws headings, panels, footer and legend from top to bottom.
func (d *drawing) body() {
	var shown []int
	wide := make([]float64, 2)
	for p := range d.layout.Panels {
		if d.options.shows(p) {
			shown = append(shown, p)
			wide[p] = max(d.layout.Panels[p].Width, d.headingWidth(p))
			d.width += wide[p]
		}
	}
	title := line(d.figure.Title, 100)
	titleWidth := TextWidth(title, 20) * boldFactor
	d.width = math.Ceil(max(d.width+panelGap*float64(len(shown)-1), titleWidth, 320) + 2*border)
	room := d.width - 2*border

	y := border
	if title != "" {
		d.text(border, y+16, 20, start, true, ink, title)
		y += 32
	}
	for _, l := range wrap(d.figure.Subtitle, 12.5, room, 6) {
		d.text(border, y+8, 12.5, start, false, faint, l)
		y += 18
	}
	if y > border {
		y += 6
	}
	ruleTop := y
	if slices.ContainsFunc(shown, func(p int) bool { return d.heading(p) != "" }) {
		x := border
		for _, p := range shown {
			if h := d.heading(p); h != "" {
				bar := ink
				if d.figure.comparing() {
					bar = ownOf(p)
				}
				d.put(rectangle(Rect{x, y, 6, panelTop}, 0, d.easel.attrs(bar, none)))
				d.text(x+14, y+16.5, 15, start, true, ink, h)
				d.put("\n")
			}
			x += wide[p] + panelGap
		}
		y += panelTop + 10
	}
	x, tall := border, 0.0
	for k, p := range shown {
		tall = max(tall, d.layout.Panels[p].Height)
		d.put(`<g class="panel" transform="translate(`, num(x), " ", num(y), `)">`, "\n")
		d.drawPanel(p)
		d.put("</g>\n")
		x += wide[p]
		if k+1 < len(shown) {
			d.rule(x+panelGap/2, ruleTop, x+panelGap/2, y+max(tall, d.layout.Panels[shown[k+1]].Height))
		}
		x += panelGap
	}
	y += tall + 10
	for _, foot := range d.figure.Footer {
		for _, l := range wrap(foot, 13, room, 4) {
			d.text(border, y+12, 13, start, false, ink, l)
			y += 20
		}
	}
	if d.options.legend {
		y = d.legend(y+6, shown)
	}
	d.height = math.Ceil(y + border/2)
	d.put("</svg>\n")
}

// heading is the text above panel p.
func (d *drawing) heading(p int) string {
	if p < len(d.figure.Panels) {
		return line(d.figure.Panels[p].Title, 80)
	}
	return ""
}

func (d *drawing) headingWidth(p int) float64 {
	return TextWidth(d.heading(p), 15)*boldFactor + 24
}

// id returns the id of a part of panel p.
func (d *drawing) id(p int, part string) string {
	return d.options.prefix + "p" + strconv.Itoa(p+1) + "-" + part
}

func (d *drawing) rule(x0, y0, x1, y1 float64) {
	d.put(`<path d="M`, xy(Point{x0, y0}), "L", xy(Point{x1, y1}), `"`, d.easel.attrs(none, rule), "/>\n")
}

type anchor string

const (
	start  anchor = ""
	middle anchor = ` text-anchor="middle"`
)

// text writes one line of text that has the same width in every viewer.
func (d *drawing) text(x, y, size float64, a anchor, bold bool, c paint, s string) {
	if s == "" {
		return
	}
	w, weight := TextWidth(s, size), ""
	if bold {
		w, weight = w*boldFactor, ` font-weight="bold"`
	}
	d.put(`<text x="`, num(x), `" y="`, num(y), `" font-size="`, num(size), `"`, string(a), weight, d.easel.attrs(c, none),
		` textLength="`, num(w), `" lengthAdjust="spacingAndGlyphs">`, xmlText(s), "</text>")
}

// num formats a coordinate with at most one decimal.
func num(v float64) string {
	v = math.Round(v*10) / 10
	if v == 0 {
		return "0" // not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func xy(p Point) string { return num(p.X) + "," + num(p.Y) }

package figure

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	border   = 26.0 // around the page
	panelGap = 44.0 // between panels
	panelTop = 22.0 // height of a panel's heading bar
	font     = `'DejaVu Sans','Segoe UI',Roboto,Helvetica,Arial,sans-serif`
)

// errNoFigure is the error of drawing nil.
var errNoFigure = errors.New("figure: there is no figure")

// errNoWriter is the error of writing to nil.
var errNoWriter = errors.New("figure: there is no writer to write to")

// SVG writes f as a self-contained SVG document. It is an error if [Figure.Validate] finds a
// mistake; nothing is written then.
func (f *Figure) SVG(w io.Writer, opts ...Option) error {
	return f.SVGContext(context.Background(), w, opts...)
}

// SVGContext is SVG, stopped with the error of ctx once ctx is done.
func (f *Figure) SVGContext(ctx context.Context, w io.Writer, opts ...Option) error {
	o, err := f.options(opts)
	if err != nil {
		return err
	}
	l, err := f.layout(ctx, o)
	if err != nil {
		return err
	}
	if w == nil {
		return errNoWriter
	}
	d := newDrawing(f, l, o)
	d.body()
	_, err = w.Write(slices.Concat(d.head(), d.Bytes()))
	return err
}

func newDrawing(f *Figure, l *Layout, o options) *drawing {
	return &drawing{measures: f.measures(), figure: f, layout: l, options: o, easel: easel{theme: o.theme}, index: f.index()}
}

// A drawing collects the body of an SVG, or the items of a sheet.
type drawing struct {
	bytes.Buffer
	*measures
	figure  *Figure
	layout  *Layout
	options options
	easel   easel
	index   map[string]int
	width   float64
	height  float64
	sheet   *Sheet // nil if a document is written
	origin  Point  // of the panel being drawn, in the sheet
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
	title, desc := d.figure.Title, d.figure.describe()
	if title == "" {
		title = "graph"
	}
	p := d.options.prefix
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" class="` + class + `" viewBox="0 0 ` + w + ` ` + h + `" width="` + w + `" height="` + h +
		`" role="group" aria-labelledby="` + p + `title ` + p + `desc" font-family="` + font + `">` + "\n")
	b.WriteString(`<title id="` + p + `title">` + xmlText(title) + `</title><desc id="` + p + `desc">` + xmlText(desc) + "</desc>\n")
	back := rectangle(Rect{0, 0, d.width, d.height}, 0, d.easel.attrs(page, none))
	b.WriteString(d.easel.style() + back + "\n")
	return b.Bytes()
}

// describe returns Desc, or else the size of f.
func (f *Figure) describe() string {
	if f.Desc != "" {
		return f.Desc
	}
	return strconv.Itoa(len(f.Nodes)) + " nodes, " + strconv.Itoa(len(f.Edges)) + " edges"
}

// body draws headings, panels, footer and legend from top to bottom.
func (d *drawing) body() {
	shown, wide := d.columns()
	title := line(d.figure.Title, 100)
	d.width = math.Ceil(max(wide, TextWidth(title, 20)*boldFactor, 320) + 2*border)
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
	y = d.panels(y, shown) + 10
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

// columns returns the panels that are drawn, and their width side by side.
func (d *drawing) columns() (shown []int, wide float64) {
	for p := range d.layout.Panels {
		if d.options.shows(p) {
			shown = append(shown, p)
			wide += d.panelWidth(p)
		}
	}
	return shown, wide + panelGap*float64(len(shown)-1)
}

// panelWidth returns the width of panel p with its heading.
func (d *drawing) panelWidth(p int) float64 {
	return max(d.layout.Panels[p].Width, TextWidth(d.heading(p), 15)*boldFactor+24)
}

// panels draws the panels with their headings below y and returns where they end.
func (d *drawing) panels(y float64, shown []int) float64 {
	top := y
	if slices.ContainsFunc(shown, func(p int) bool { return d.heading(p) != "" }) {
		x := border
		for _, p := range shown {
			if h := d.heading(p); h != "" {
				d.item(Item{Kind: "heading", Panel: p + 1, Box: Rect{x, y, d.panelWidth(p), panelTop}}, func() {
					bar := ink
					if d.figure.comparing() {
						bar = ownOf(p)
					}
					d.put(rectangle(Rect{x, y, 6, panelTop}, 0, d.easel.attrs(bar, none)))
					d.text(x+14, y+16.5, 15, start, true, ink, h)
					d.put("\n")
				})
			}
			x += d.panelWidth(p) + panelGap
		}
		y += panelTop + 10
	}
	x, tall := border, 0.0
	for k, p := range shown {
		tall = max(tall, d.layout.Panels[p].Height)
		d.origin = Point{x, y}
		if d.sheet == nil {
			d.put(`<g class="panel"`, d.shift(), ">\n")
		}
		d.drawPanel(p)
		if d.sheet == nil {
			d.put("</g>\n")
		}
		d.origin = Point{}
		x += d.panelWidth(p)
		if k+1 < len(shown) {
			end := y + max(tall, d.layout.Panels[shown[k+1]].Height)
			d.item(Item{Kind: "rule", Box: Rect{x + panelGap/2 - 1, top, 2, end - top}}, func() {
				d.rule(x+panelGap/2, top, x+panelGap/2, end)
			})
		}
		x += panelGap
	}
	return y + tall
}

// shift returns the attribute that moves the drawing of a panel to its place.
func (d *drawing) shift() string {
	return ` transform="translate(` + num(d.origin.X) + " " + num(d.origin.Y) + `)"`
}

// heading returns the text above panel p.
func (d *drawing) heading(p int) string {
	if p < len(d.figure.Panels) {
		return line(d.figure.Panels[p].Title, 80)
	}
	return ""
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
	space := ""
	if strings.ContainsFunc(s, isMark) {
		space = ` xml:space="preserve"` // librsvg drops blanks where a span begins
	}
	d.put(`<text x="`, num(x), `" y="`, num(y), `" font-size="`, num(size), `"`, string(a), weight, space, d.easel.attrs(c, none),
		` textLength="`, num(w), `" lengthAdjust="spacingAndGlyphs">`, spans(s, size), "</text>")
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

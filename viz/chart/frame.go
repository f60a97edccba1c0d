package chart

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
)

// Frame is what all charts have in common.
type Frame struct {
	// ID is unique in the page: a letter, then letters, digits, '-' and '_'.
	ID string
	// Title stands above the chart and is its name for a screen reader.
	Title string
	// Desc says in a sentence what is to be seen, for those who do not see it.
	// The chart adds the figures. It may be empty.
	Desc string
	// Width is the chart's width in pixels, in the unit that text is measured
	// in: text is 12 pixels high. In a page the chart takes the width there is.
	// 0 means 440, which stays readable on a phone.
	Width float64
}

// Sizes in pixels. A body is what lies below the title and the legend.
const (
	defaultWidth = 440
	leastBody    = 150
	linesBody    = 244
	scatterBody  = 320
	margin       = 12 // around everything
	lineHeight   = 16 // of text
)

var validID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// check complains about what no chart could be drawn with.
func (f Frame) check() error {
	if !validID.MatchString(f.ID) {
		return fmt.Errorf("chart %q: the id is not a letter followed by letters, digits, '-' or '_'", f.ID)
	}
	if strings.TrimSpace(f.Title) == "" {
		return f.errorf("the title is empty")
	}
	return f.checkSide("width", f.Width, 240)
}

// checkSide complains about a width or height that leaves no room for a chart.
func (f Frame) checkSide(name string, v, least float64) error {
	if v != 0 && !(v >= least && v <= 4000) {
		return f.errorf("a %s of %v is not within %v to 4000", name, v, least)
	}
	return nil
}

// height is the chart's height: what was asked for, or title, legend and the
// usual body if that is 0, and in any case enough to see something.
func (f Frame) height(asked, legend, body float64) float64 {
	top := f.bodyTop() + legend
	return max(orDefault(asked, top+body), top+leastBody)
}

// errorf is an error that names the chart.
func (f Frame) errorf(format string, args ...any) error {
	return fmt.Errorf("chart %q: %w", f.ID, fmt.Errorf(format, args...))
}

// width is Width or its default.
func (f Frame) width() float64 { return orDefault(f.Width, defaultWidth) }

func orDefault(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}

// open starts a chart of the given height: its element, its texts for screen
// readers, its ground and its title.
func (f Frame) open(height float64, figures string) *canvas {
	c := new(canvas)
	desc := figures
	if f.Desc != "" {
		desc = f.Desc + " " + figures
	}
	w := f.width()
	c.printf(`<svg class="chart" role="img" aria-labelledby="%[1]v-title %[1]v-desc"`+
		` width="%[2]v" height="%[3]v" viewBox="0 0 %[2]v %[3]v" font-family="sans-serif">`+"\n", f.ID, w, height)
	c.printf("<title id=\"%v-title\">%v</title>\n<desc id=\"%v-desc\">%v</desc>\n", f.ID, f.Title, f.ID, desc)
	c.printf("<rect width=\"%v\" height=\"%v\"%v/>\n", w, height, pageInk.fill())
	for i, line := range f.titleLines() {
		c.text(point{margin, margin + 12 + titleRow*float64(i)}, start, titleFont, line)
	}
	return c
}

// titleRow is the height of a line of the title.
const titleRow = 18

// titleLines are the lines of the title above the chart.
func (f Frame) titleLines() []string {
	return wrapped(f.Title, titleFont.size*boldness, f.width()-2*margin)
}

// bodyTop is where the space below the title begins.
func (f Frame) bodyTop() float64 {
	return margin + titleRow*float64(len(f.titleLines())) + 6
}

// blank draws the chart that has nothing to show.
func (f Frame) blank(w io.Writer, height float64) error {
	const nothing = "no finite data"
	c := f.open(height, "There is no finite data to draw.")
	c.text(point{f.width() / 2, (f.bodyTop() + height) / 2}, middle, noteFont, nothing)
	return c.close(w)
}

// missing says in a line at p how many points are not shown, if any, and returns
// the height of what it wrote.
func (c *canvas) missing(p point, width float64, n int, log bool) (height float64) {
	if n == 0 {
		return 0
	}
	c.text(p, start, noteFont, fitted(missingText(n, log), noteFont.size, width))
	return lineHeight
}

// missingText says how many points are not shown and why.
func missingText(n int, log bool) string {
	why := "not finite"
	if log {
		why += " or ≤ 0"
	}
	return fmt.Sprintf("%s not shown (%s)", count(n, "point"), why)
}

// count returns a number as [Format] writes it, with its noun: "1 point", "2 points".
func count(n int, noun string) string {
	return Format(float64(n)) + " " + plural.Noun(n, noun)
}

// close ends the element and writes it in one call.
func (c *canvas) close(w io.Writer) error {
	if w == nil {
		return errors.New("chart: there is no writer to write to")
	}
	c.printf("</svg>\n")
	_, err := io.WriteString(w, c.String())
	return err
}

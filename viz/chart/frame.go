package chart

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
)

// Frame has what all charts have in common.
type Frame struct {
	// ID must be unique in the page: a letter, then letters, digits, '-' and '_'.
	ID string
	// Title stands above the chart and is its name for screen readers.
	Title string
	// Desc says in a sentence what the chart shows, for readers who cannot see it. The chart adds
	// figures to it. It may be empty.
	Desc string
	// Width is the width of the chart in pixels, at which text is 12 pixels high. A page scales the
	// chart to the width available. 0 means 440, which stays readable on a phone.
	Width float64
}

// Sizes in pixels. The body is everything below the title and the legend.
const (
	defaultWidth = 440
	leastBody    = 150
	linesBody    = 244
	scatterBody  = 320
	margin       = 12 // around everything
	lineHeight   = 16 // of text
)

var validID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// check returns an error if no chart could be drawn with the frame.
func (f Frame) check() error {
	if !validID.MatchString(f.ID) {
		return fmt.Errorf("chart %q: the id is not a letter followed by letters, digits, '-' or '_'", f.ID)
	}
	if strings.TrimSpace(f.Title) == "" {
		return f.errorf("the title is empty")
	}
	return f.checkSide("width", f.Width, 240)
}

// checkSide returns an error if a width or height leaves no room for a chart.
func (f Frame) checkSide(name string, v, least float64) error {
	if v != 0 && !(v >= least && v <= 4000) {
		return f.errorf("a %s of %v is not within %v to 4000", name, v, least)
	}
	return nil
}

// height returns the height of the chart: the one asked for or, if that is 0, that of title,
// legend and the usual body; in any case enough to see something.
func (f Frame) height(asked, legend, body float64) float64 {
	top := f.bodyTop() + legend
	return max(orDefault(asked, top+body), top+leastBody)
}

// errorf returns an error that names the chart.
func (f Frame) errorf(format string, args ...any) error {
	return fmt.Errorf("chart %q: %w", f.ID, fmt.Errorf(format, args...))
}

// width returns Width or its default.
func (f Frame) width() float64 { return orDefault(f.Width, defaultWidth) }

func orDefault(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}

// open starts a chart of the given height: its element, its texts for screen readers, its
// background and its title.
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

// titleLines returns the lines of the title.
func (f Frame) titleLines() []string {
	return wrapped(f.Title, titleFont.size*boldness, f.width()-2*margin)
}

// bodyTop returns where the body begins.
func (f Frame) bodyTop() float64 {
	return margin + titleRow*float64(len(f.titleLines())) + 6
}

// blank draws a chart that has nothing to show.
func (f Frame) blank(w io.Writer, height float64) error {
	const nothing = "no finite data"
	c := f.open(height, "There is no finite data to draw.")
	c.text(point{f.width() / 2, (f.bodyTop() + height) / 2}, middle, noteFont, nothing)
	return c.close(w)
}

// missing writes a line at p saying how many points are not shown, if any. It returns the height
// of the text.
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

package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Panels writes charts side by side into one self-contained SVG file, with the given number of
// columns, in light and dark colours. A chart may be any type that writes an svg element with a
// width and a height, and with classes for which [Style] has a dark colour: "ch-text" fills with
// the colour of text, "ch-text-s" strokes with it; there are also page, note, grid, axis, and 0
// to 5 for the groups. It is an error if there is no chart, or if one cannot be drawn, is not
// well-formed or has another class.
func Panels(w io.Writer, columns int, charts ...interface{ SVG(io.Writer) error }) error {
	return Sheet(w, "", columns, charts...)
}

// Sheet writes charts as [Panels] does, below a line that says what holds for all of them. "" writes
// none.
func Sheet(w io.Writer, says string, columns int, charts ...interface{ SVG(io.Writer) error }) error {
	if len(charts) == 0 || columns < 1 {
		return errors.New("panels: want a chart, and at least one in a row")
	}
	var body canvas
	var x, y, row, width float64
	style := Style()
	for i, c := range charts {
		if c == nil {
			return fmt.Errorf("panels: chart %d is nil", i)
		}
		var b bytes.Buffer
		if err := c.SVG(&b); err != nil {
			return err
		}
		chartWidth, chartHeight, err := size(b.Bytes(), style)
		if err != nil {
			return fmt.Errorf("panels: chart %d: %w", i, err)
		}
		if i > 0 && i%columns == 0 {
			x, y, row = 0, y+row, 0
		}
		body.printf(`<svg x="%v" y="%v" width="%v" height="%v">`+"\n%v</svg>\n", x, y, chartWidth, chartHeight, raw(b.String()))
		x, row = x+chartWidth, max(row, chartHeight)
		width = max(width, x)
	}
	var out canvas
	lines, top := wrapped(says, noteFont.size, width-2*margin), 0.0
	if says != "" {
		top = margin + lineHeight*float64(len(lines))
	}
	out.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]v" height="%[2]v" viewBox="0 0 %[1]v %[2]v">`+"\n<style>%[3]v</style>\n", width, top+y+row, raw(style))
	out.printf("<rect width=\"%v\" height=\"%v\"%v/>\n", width, top+y+row, pageInk.fill())
	if top > 0 {
		out.printf(`<g font-family="sans-serif">`)
		for i, line := range lines {
			out.text(point{margin, margin + 12 + lineHeight*float64(i)}, start, noteFont, line)
		}
		out.printf("</g>\n")
		out.printf(`<svg y="%v" width="%v" height="%v">`+"\n%v</svg>\n", top, width, y+row, raw(body.String()))
	} else {
		out.printf("%v", raw(body.String()))
	}
	return out.close(w)
}

// size reads the size of a chart from its element. It is an error if the element has a class that
// the style does not know.
func size(svg []byte, style string) (width, height float64, err error) {
	d := xml.NewDecoder(bytes.NewReader(svg))
	for first := true; ; first = false {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && !first {
			break
		}
		if err != nil {
			return 0, 0, fmt.Errorf("not well-formed: %w", err)
		}
		element, ok := token.(xml.StartElement)
		if first && !ok {
			return 0, 0, errors.New("not an element")
		}
		for _, a := range element.Attr {
			v, _ := strconv.ParseFloat(a.Value, 64)
			switch {
			case first && a.Name.Local == "width":
				width = v
			case first && a.Name.Local == "height":
				height = v
			case a.Name.Local == "class":
				for _, class := range strings.Fields(a.Value) {
					if !strings.Contains(style, "."+class+"{") {
						return 0, 0, fmt.Errorf("the style has no class %q: it would stay light in the dark", class)
					}
				}
			}
		}
	}
	if !(width > 0 && height > 0) {
		return 0, 0, errors.New("it has no size")
	}
	return width, height, nil
}

package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Panels writes charts side by side into one SVG file that stands alone, with so many in
// a row, in light and dark colours. It complains about a chart that cannot be drawn, and
// where there is none.
func Panels(w io.Writer, columns int, charts ...interface{ SVG(io.Writer) error }) error {
	if len(charts) == 0 || columns < 1 {
		return errors.New("panels: want a chart, and at least one in a row")
	}
	var body canvas
	var x, y, row, width float64
	for i, c := range charts {
		var b bytes.Buffer
		if err := c.SVG(&b); err != nil {
			return err
		}
		chartWidth, chartHeight, err := size(b.Bytes())
		if err != nil {
			return err
		}
		if i > 0 && i%columns == 0 {
			x, y, row = 0, y+row, 0
		}
		body.printf(`<svg x="%v" y="%v" width="%v" height="%v">`+"\n%v</svg>\n", x, y, chartWidth, chartHeight, raw(b.String()))
		x, row = x+chartWidth, max(row, chartHeight)
		width = max(width, x)
	}
	var out canvas
	out.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]v" height="%[2]v" viewBox="0 0 %[1]v %[2]v">`+"\n<style>%[3]v</style>\n", width, y+row, raw(Style()))
	out.printf("<rect width=\"%v\" height=\"%v\"%v/>\n%v", width, y+row, pageInk.fill(), raw(body.String()))
	return out.close(w)
}

// size reads the size of a chart off its element.
func size(svg []byte) (width, height float64, err error) {
	token, err := xml.NewDecoder(bytes.NewReader(svg)).Token()
	root, ok := token.(xml.StartElement)
	if err != nil || !ok {
		return 0, 0, fmt.Errorf("panels: a chart is no element: %v", err)
	}
	for _, a := range root.Attr {
		v, _ := strconv.ParseFloat(a.Value, 64)
		switch a.Name.Local {
		case "width":
			width = v
		case "height":
			height = v
		}
	}
	if !(width > 0 && height > 0) {
		return 0, 0, errors.New("panels: a chart has no size")
	}
	return width, height, nil
}

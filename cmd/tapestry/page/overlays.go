package page

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz"
)

// layer is an overlay of a document, with the meaning of its colours.
type layer struct {
	marks  map[*graph.Node]viz.Mark
	scale  string                  // what is shown; with values, painting adds their range
	sums   string                  // what the values of this document come to, where they add up
	values map[*graph.Node]float64 // that give colours
	format func(v float64) string  // of values
	steps  inSteps                 // of boxes in the steps of loops
	rest   float64                 // what values lack of the whole, where they add up to one
}

// paint colours the values of layers by one common range, and returns the legend.
func paint(layers ...layer) (scale string) {
	h := newHeats(layers)
	for _, l := range layers {
		for id, v := range l.steps.values {
			m := l.steps.marks[id]
			m.Heat = h.of(v)
			l.steps.marks[id] = m
		}
		for n, v := range l.values {
			m := l.marks[n]
			m.Heat = h.of(v)
			l.marks[n] = m
		}
	}
	scale = apart(layers, func(l layer) string { return l.scale })
	if sums := apart(layers, func(l layer) string { return l.sums }); sums != "" {
		scale += "; " + sums
	}
	for _, l := range layers {
		if l.format != nil {
			return h.text(scale, l.format)
		}
	}
	return scale
}

// apart returns a text of all layers: once if they agree, or else for each panel.
func apart(layers []layer, of func(layer) string) string {
	text := of(layers[0])
	if last := of(layers[len(layers)-1]); last != text {
		text = "A: " + text + "; B: " + last
	}
	return text
}

// overlays holds the quantities that can be laid over a drawing, measured at a state. A quantity
// that adds up is given to the first node of each box.
var overlays = map[string]func(ctx context.Context, d *document, v *variant, step int, boxes [][]*graph.Node) (layer, error){
	"grad":      gradients,
	"nan":       notFinite,
	"memory":    memory,
	"time":      times,
	"fusion":    fusion,
	"precision": precision,
	"blame":     blame,
}

func overlayNames() string { return "grad, nan, memory, time, fusion, precision or blame" }

// heats divides the range of some logarithms into the seven colours.
type heats struct{ lo, hi float64 }

const colours = 7

func newHeats(layers []layer) heats {
	h := heats{math.Inf(1), math.Inf(-1)}
	add := func(v float64) {
		if l := math.Log10(v); !math.IsInf(l, 0) && !math.IsNaN(l) {
			h.lo, h.hi = min(h.lo, l), max(h.hi, l)
		}
	}
	for _, l := range layers {
		for _, v := range l.values {
			add(v)
		}
		for _, v := range l.steps.values {
			add(v)
		}
	}
	return h
}

// of returns the colour of a value: 0 for zero and for values that are not finite.
func (h heats) of(v float64) int {
	l := math.Log10(v)
	switch {
	case math.IsNaN(l) || math.IsInf(l, 0):
		return 0
	case h.hi == h.lo:
		return colours
	}
	return 1 + min(int((l-h.lo)/(h.hi-h.lo)*colours), colours-1)
}

// text describes the range of the colours.
func (h heats) text(what string, format func(float64) string) string {
	if h.lo > h.hi {
		return what + ": nothing to show"
	}
	return fmt.Sprintf("%s; colours from %s to %s, by orders of magnitude", what, format(math.Pow(10, h.lo)), format(math.Pow(10, h.hi)))
}

// short writes a number with two or three digits in a few characters.
func short(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return "∞"
	case math.Abs(v) >= 9.95 && math.Abs(v) < 999.5:
		return strings.ReplaceAll(strconv.FormatFloat(v, 'f', 0, 64), "-", "−")
	case math.Abs(v) >= 0.01 && math.Abs(v) < 9.95:
		return strings.ReplaceAll(strconv.FormatFloat(v, 'g', 2, 64), "-", "−")
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	return strings.ReplaceAll(strings.TrimSuffix(digits, ".0")+"e"+strconv.Itoa(e), "-", "−")
}

// sizeText writes a number of bytes.
func sizeText(v float64) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if v < 1024 || unit == "GiB" {
			return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0") + " " + unit
		}
		v /= 1024
	}
	return ""
}

// timeText writes a time in seconds.
func timeText(v float64) string {
	for _, unit := range []string{"s", "ms", "µs"} {
		switch {
		case v >= 999.5: // seconds
			return strconv.FormatFloat(v, 'f', 0, 64) + " " + unit
		case v >= 1:
			return strconv.FormatFloat(v, 'g', 3, 64) + " " + unit
		}
		v *= 1000
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " ns"
}

// gradients shows how strongly the loss depends on each value: the largest |∂loss/∂v|.
func gradients(ctx context.Context, d *document, v *variant, step int, _ [][]*graph.Node) (layer, error) {
	record, err := d.record(ctx, v, step)
	if err != nil {
		return layer{}, err
	}
	most := map[*graph.Node]float64{}
	for _, n := range v.cone {
		if g := record.Gradient(n); g != nil {
			most[n] = largest(record.Value(g))
		}
	}
	l := layer{marks: map[*graph.Node]viz.Mark{}, scale: "largest |∂loss/∂v| at step " + strconv.Itoa(step), values: map[*graph.Node]float64{}, format: short}
	for n, m := range most {
		mark := viz.Mark{Badge: short(m), Note: "largest |∂loss/∂v| " + short(m)}
		if math.IsNaN(m) || math.IsInf(m, 0) {
			mark.Alarm = viz.NotFinite
		}
		for _, x := range []*graph.Node{n, record.Gradient(n)} {
			l.marks[x], l.values[x] = mark, m
		}
	}
	return l, nil
}

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

// layer is what an overlay shows of a document, and what its colours mean.
type layer struct {
	marks  map[*graph.Node]viz.Mark
	scale  string                  // what is shown; with values, painting adds their range
	values map[*graph.Node]float64 // that give colours
	format func(v float64) string  // of values
}

// paint gives the values of layers their colours, all from one range, and says which.
func paint(layers ...layer) (scale string) {
	all := map[*graph.Node]float64{}
	for _, l := range layers {
		for n, v := range l.values {
			all[n] = v
		}
	}
	h := newHeats(all)
	for _, l := range layers {
		for n, v := range l.values {
			m := l.marks[n]
			m.Heat = h.of(v)
			l.marks[n] = m
		}
	}
	if layers[0].format == nil {
		return layers[0].scale
	}
	return h.text(layers[0].scale, layers[0].format)
}

// overlays are the quantities that can be laid over a drawing, measured at a state.
var overlays = map[string]func(ctx context.Context, d *document, v *variant, step int) (layer, error){
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

func newHeats(values map[*graph.Node]float64) heats {
	h := heats{math.Inf(1), math.Inf(-1)}
	for _, v := range values {
		if l := math.Log10(v); !math.IsInf(l, 0) && !math.IsNaN(l) {
			h.lo, h.hi = min(h.lo, l), max(h.hi, l)
		}
	}
	return h
}

// of is the colour of a value: 0 for nought, and for what is not finite.
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

// text is the range of the colours.
func (h heats) text(what string, format func(float64) string) string {
	if h.lo > h.hi {
		return what + ": nothing to show"
	}
	return fmt.Sprintf("%s, from %s to %s", what, format(math.Pow(10, h.lo)), format(math.Pow(10, h.hi)))
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
		if v >= 1 {
			return strconv.FormatFloat(v, 'g', 3, 64) + " " + unit
		}
		v *= 1000
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " ns"
}

// gradients shows how strongly the loss depends on each value: the largest |∂loss/∂v|.
func gradients(ctx context.Context, d *document, v *variant, step int) (layer, error) {
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
	l := layer{map[*graph.Node]viz.Mark{}, "largest |∂loss/∂v| at step " + strconv.Itoa(step), map[*graph.Node]float64{}, short}
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

// memory shows how many bytes each value has, and how long it is needed.
func memory(_ context.Context, _ *document, v *variant, _ int) (layer, error) {
	place, last := map[*graph.Node]int{}, map[*graph.Node]int{}
	bytes := map[*graph.Node]float64{}
	for i, n := range v.cone {
		place[n] = i
		bytes[n] = float64(n.Shape().Len() * n.DType().Size())
		for _, x := range n.Inputs() {
			last[x] = i
		}
	}
	l := layer{map[*graph.Node]viz.Mark{}, "bytes of each value", bytes, sizeText}
	for _, n := range v.cone {
		m := viz.Mark{Badge: sizeText(bytes[n]), Note: sizeText(bytes[n])}
		if at, used := last[n]; used {
			m.Note += fmt.Sprintf(", needed for %d of the %d steps of computation: last for %s", at-place[n], len(v.cone), v.cone[at].Label())
		}
		l.marks[n] = m
	}
	return l, nil
}

// times shows how long the instructions of each node take in a run.
func times(ctx context.Context, d *document, v *variant, _ int) (layer, error) {
	p, err := d.program()
	if err != nil {
		return layer{}, err
	}
	profile, err := d.measured(ctx)
	if err != nil {
		return layer{}, err
	}
	seconds := map[*graph.Node]float64{}
	for i := range p.rows {
		if n := p.of(v, i); n != nil {
			seconds[n] += profile.Rows[i].Time.Seconds()
		}
	}
	l := layer{map[*graph.Node]viz.Mark{}, "time in a run of " + timeText(profile.Wall.Seconds()), seconds, timeText}
	for n, t := range seconds {
		share := 100 * t / max(profile.Wall.Seconds(), 1e-12)
		l.marks[n] = viz.Mark{Badge: timeText(t), Note: fmt.Sprintf("%s in a run, %.1f %%", timeText(t), share)}
	}
	return l, nil
}

// fusion shows what runs together, block of rows by block.
func fusion(_ context.Context, d *document, v *variant, _ int) (layer, error) {
	p, err := d.program()
	if err != nil {
		return layer{}, err
	}
	size := map[int]int{}
	for _, r := range p.rows {
		size[r.Stage]++
	}
	l := layer{marks: map[*graph.Node]viz.Mark{}, scale: fmt.Sprintf("stages of the tape: what has one number and colour runs together, block by block; %d instructions in %d stages", len(p.rows), len(size))}
	for i, r := range p.rows {
		if n := p.of(v, i); n != nil {
			note := fmt.Sprintf("instruction %d in stage %d, of %d", i, r.Stage, size[r.Stage])
			if r.Cut != "" {
				note += "\n" + r.Cut
			}
			l.marks[n] = viz.Mark{Heat: 1 + r.Stage%colours, Badge: "s" + strconv.Itoa(r.Stage), Note: note}
		}
	}
	return l, nil
}

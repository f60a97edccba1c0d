package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// alignment is where a decoder looked while it wrote a date.
type alignment struct {
	title, text, said string
	α                 [][]float32 // by characters said, then by characters read
}

// align records where a translator looks while it writes the dates of pairs.
func align(ctx context.Context, t *train.Trainer, score string, pairs []pair) ([]alignment, error) {
	set, err := encoded(pairs)
	if err != nil {
		return nil, err
	}
	var all []alignment
	err = t.Look(ctx, data.InOrder(set, 0), []string{"said", "decoder/α"}, func(_ data.Batch, values []*tensor.Dense) error {
		dates, err := decoded(values[0])
		weights := slices.Clone(values[1].Float32s())
		for i, date := range dates {
			a := alignment{title: score, text: pairs[i].text, said: date}
			for range isoLength {
				a.α, weights = append(a.α, weights[:len(a.text)]), weights[textLength:] // padding has none
			}
			all = append(all, a)
		}
		return err
	})
	return all, err
}

// Places in the picture, in pixels. Its colours are those of [chart.Style].
const (
	cell = 16
	gap  = 1  // between cells
	left = 28 // of the first character read
	top  = 58 // of the first character said
	edge = 12 // right and below
)

// SVG draws the characters read from left to right, those said from top to bottom, and
// where they meet the weight: the fuller, the larger.
func (a alignment) SVG(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg role="img" width="%d" height="%d" font-family="monospace" font-size="13" text-anchor="middle">`+"\n", left+cell*len(a.text)+edge, top+cell*len(a.said)+edge)
	fmt.Fprintf(&b, "<title>%s: %s → %s</title>\n<desc>%s</desc>\n", a.title, escaped(a.text), escaped(a.said), escaped(a.description()))
	b.WriteString(`<g class="ch-text" fill="#1B2733">` + "\n")
	fmt.Fprintf(&b, `<text x="%d" y="24" font-family="sans-serif" font-size="14" font-weight="600" text-anchor="start">%s</text>`+"\n", left, a.title)
	for s, c := range a.text {
		if c != ' ' {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`, left+cell*s+cell/2, top-7, escaped(string(c)))
		}
	}
	for t, c := range a.said {
		fmt.Fprintf(&b, `<text x="%d" y="%d">%c</text>`, left-cell/2-2, top+cell*t+12, c)
	}
	b.WriteString("\n</g>\n")
	var cells, weights strings.Builder
	for t := range a.said {
		for s, α := range a.α[t] {
			x, y := left+cell*s, top+cell*t
			fmt.Fprintf(&cells, "M%d %dh%[3]dv%[3]dh-%[3]dz", x, y, cell-gap)
			if α >= .01 {
				fmt.Fprintf(&weights, `<rect x="%d" y="%d" width="%d" height="%[3]d" fill-opacity="%.2f"/>`, x, y, cell-gap, α)
			}
		}
	}
	fmt.Fprintf(&b, `<path d="%s" class="ch-grid" fill="#E1E6EB" fill-opacity=".5"/>`+"\n", cells.String())
	fmt.Fprintf(&b, `<g class="ch-0" fill="#0072B2">`+"\n%s\n</g>\n</svg>\n", weights.String())
	_, err := io.WriteString(w, b.String())
	return err
}

// description says for each character said where most of the weight was.
func (a alignment) description() string {
	var said []string
	for t, c := range a.said {
		best := 0
		for s, α := range a.α[t] {
			if α > a.α[t][best] {
				best = s
			}
		}
		said = append(said, fmt.Sprintf("%q looks most at %q, character %d", c, a.text[best], best+1))
	}
	return strings.Join(said, "; ") + "."
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

package main

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/examples/internal/chars"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// head is where one head of attention looks while it reads a sentence.
type head struct {
	title, text string
	α           [][]float32 // by place of the reader, then by place looked at
}

// look reads a sentence of at most 64 characters, and returns the two heads that are surest of
// where to look, each as a picture.
func look(ctx context.Context, t *chars.Trained, sentence string) ([]interface{ SVG(io.Writer) error }, error) {
	codes, err := t.Text.Vocabulary.Encode(sentence)
	if err != nil {
		return nil, err
	}
	x := make([]int32, chars.Window) // the characters after the sentence are not seen from within
	copy(x, codes)
	set, err := data.NewSet(map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(1, len(x)), tensor.WithBacking(x))})
	if err != nil {
		return nil, err
	}
	const first, second = "decoder/block1/self-attention/attend/α", "decoder/block2/self-attention/attend/α"
	var heads []head
	err = t.Trainer.Look(ctx, data.InOrder(set, 0), []string{first, second}, func(_ data.Batch, blocks []*tensor.Dense) error {
		for block, α := range blocks { // α[b h t t′]
			for h := range α.Shape()[1] {
				one := head{title: fmt.Sprintf("block %d, head %d", block+1, h+1), text: sentence}
				for at := range codes {
					row := α.Float32s()[(h*chars.Window+at)*chars.Window:][:len(codes)]
					one.α = append(one.α, slices.Clone(row))
				}
				heads = append(heads, one)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(heads, func(a, b head) int { return cmp.Compare(b.sureness(), a.sureness()) })
	var out []interface{ SVG(io.Writer) error }
	for _, h := range heads[:min(2, len(heads))] {
		out = append(out, h)
	}
	return out, nil
}

// sureness returns the mean, over the places, of the largest weight.
func (h head) sureness() float64 {
	sum := 0.0
	for _, α := range h.α {
		sum += float64(slices.Max(α))
	}
	return sum / float64(len(h.α))
}

// Places in the picture, in pixels. Its colours are those of chart.Style.
const (
	cell = 9
	left = 28 // of the first place looked at
	top  = 52 // of the first place of the reader
	edge = 10 // right and below
	tone = 10 // shades of a weight
)

// SVG draws the places of the reader from top to bottom, those looked at from left to
// right, and where they meet the weight: the fuller, the larger. Weights of ½
// and more are full.
func (h head) SVG(w io.Writer) error {
	size := cell * len(h.text)
	var b, side, across strings.Builder
	fmt.Fprintf(&b, `<svg role="img" width="%d" height="%d" font-family="monospace" font-size="10" text-anchor="middle">`+"\n", left+size+edge, top+size+edge)
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n", h.title, escaped(h.description()))
	for i, c := range h.text {
		if c != ' ' {
			fmt.Fprintf(&across, `<text x="%d" y="%d">%s</text>`, left+cell*i+cell/2, top-5, escaped(string(c)))
			fmt.Fprintf(&side, `<text x="%d" y="%d">%s</text>`, left-8, top+cell*i+cell-1, escaped(string(c)))
		}
	}
	fmt.Fprintf(&b, `<path d="M%d %dv%[3]dh%[3]dz" class="ch-grid" fill="#E1E6EB" fill-opacity=".5"/>`+"\n", left, top, size)
	fmt.Fprintf(&b, `<g class="ch-text" fill="#1B2733"><text x="%d" y="22" font-family="sans-serif" font-size="14" font-weight="600" text-anchor="start">%s</text>`+"\n%s\n%s</g>\n", left, h.title, across.String(), side.String())
	var shades [tone + 1]strings.Builder
	for at, α := range h.α {
		for to, weight := range α {
			shade := min(tone, max(0, int(2*weight*tone+0.5)))
			fmt.Fprintf(&shades[shade], "M%d %dh%[3]dv%[3]dh-%[3]dz", left+cell*to, top+cell*at, cell)
		}
	}
	b.WriteString(`<g class="ch-0" fill="#0072B2">` + "\n")
	for shade := 1; shade <= tone; shade++ { // less than half a shade is left out
		if d := shades[shade].String(); d != "" {
			fmt.Fprintf(&b, `<path d="%s" fill-opacity="%.1f"/>`+"\n", d, float64(shade)/tone)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// description says how far the head looks back.
func (h head) description() string {
	back := 0.0
	for at, α := range h.α {
		for to, weight := range α {
			back += float64(weight) * float64(at-to)
		}
	}
	return fmt.Sprintf("On average the head looks %.1f characters back.", back/float64(len(h.α)))
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

package chars

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Surprise is a passage with the surprise at each of its characters.
type Surprise struct {
	Title, Text string
	Nats        []float64 // −log p of each character, given those before it
}

// Surprise measures a passage of what is held out, each character in view of the 64 before it.
func (t *Trained) Surprise(ctx context.Context, passage string) (*Surprise, error) {
	lo, hi, err := t.Text.passage(passage)
	if err != nil {
		return nil, err
	}
	n := hi - lo
	x, y := make([]int32, 0, n*Window), make([]int32, 0, n*Window)
	for at := lo; at < hi; at++ {
		x, y = append(x, t.Text.held[at-Window:at]...), append(y, t.Text.held[at-Window+1:at+1]...)
	}
	windows, err := data.NewSet(map[string]*tensor.Dense{
		"x": tensor.New(tensor.WithShape(n, Window), tensor.WithBacking(x)),
		"y": tensor.New(tensor.WithShape(n, Window), tensor.WithBacking(y)),
	})
	if err != nil {
		return nil, err
	}
	s := &Surprise{Title: t.Study.Name, Text: passage}
	characters := t.Text.Vocabulary.Len()
	err = t.Trainer.Predict(ctx, data.InOrder(windows, 85), func(b data.Batch, logits *tensor.Dense) error {
		z, y := logits.Float32s(), b.Values["y"].Int32s()
		for i := range b.Rows {
			last := (i+1)*Window - 1
			s.Nats = append(s.Nats, surprise(z[last*characters:(last+1)*characters], y[last]))
		}
		return nil
	})
	return s, err
}

// surprise is −log softmax(z) at y.
func surprise(z []float32, y int32) float64 {
	most := math.Inf(-1)
	for _, v := range z {
		most = max(most, float64(v))
	}
	sum := 0.0
	for _, v := range z {
		sum += math.Exp(float64(v) - most)
	}
	return most + math.Log(sum) - float64(z[y])
}

// Mean is the mean over the passage.
func (s *Surprise) Mean() float64 {
	sum := 0.0
	for _, v := range s.Nats {
		sum += v
	}
	return sum / float64(len(s.Nats))
}

// Places in the picture, in pixels. Its colours are those of chart.Style.
const (
	charWidth, lineHeight = 9, 20
	margin, heading       = 12, 58
	most                  = 5   // nats that are the fullest colour,
	fullest               = 0.6 // on which a character can still be read
)

// SVG draws the passage line by line, each character on a ground that is the fuller the
// less it was expected.
func (s *Surprise) SVG(w io.Writer) error {
	lines := strings.Split(strings.TrimRight(s.Text, "\n"), "\n")
	width := 0
	for _, line := range lines {
		width = max(width, len(line)+1) // a mark for the end of the line
	}
	var grounds, glyphs strings.Builder
	at := 0
	for row, line := range lines {
		y := heading + row*lineHeight
		if row < len(lines)-1 {
			line += "⏎"
		}
		for column, c := range []rune(line) {
			x := margin + column*charWidth
			if part := fullest * min(1, s.Nats[at]/most); part >= .02 {
				fmt.Fprintf(&grounds, `<rect x="%d" y="%d" width="%d" height="%d" fill-opacity="%.2f"/>`, x, y, charWidth, lineHeight-2, part)
			}
			if c != ' ' {
				fmt.Fprintf(&glyphs, `<text x="%g" y="%d">%s</text>`, float64(x)+charWidth/2., y+14, escaped(string(c)))
			}
			at++
		}
	}
	legend := fmt.Sprintf("−log p in nats, mean %.2f:", s.Mean())
	var b strings.Builder
	fmt.Fprintf(&b, `<svg role="img" width="%d" height="%d" font-size="14">`+"\n", 2*margin+width*charWidth, heading+len(lines)*lineHeight+margin)
	fmt.Fprintf(&b, "<title>How much each character surprises the %s</title>\n<desc>%s</desc>\n", escaped(s.Title), escaped(s.description()))
	fmt.Fprintf(&b, `<g class="ch-text" fill="#1B2733" font-family="sans-serif"><text x="%d" y="22" font-weight="600">%s</text>`, margin, escaped(s.Title))
	fmt.Fprintf(&b, `<text x="%d" y="44" font-size="12">%s</text>`, margin, legend)
	for v := range most + 1 {
		x := margin + 180 + v*34
		fmt.Fprintf(&b, `<rect x="%d" y="31" width="30" height="18" class="ch-1" fill="#B84A00" fill-opacity="%.2f"/><text x="%d" y="44" font-size="12" text-anchor="middle">%d%s</text>`, x, fullest*float64(v)/most, x+15, v, map[bool]string{true: "+"}[v == most])
	}
	fmt.Fprintf(&b, "</g>\n"+`<g class="ch-1" fill="#B84A00">%s</g>`+"\n", grounds.String())
	fmt.Fprintf(&b, `<g class="ch-text" fill="#1B2733" font-family="monospace" text-anchor="middle">%s</g>`+"\n</svg>\n", glyphs.String())
	_, err := io.WriteString(w, b.String())
	return err
}

// description says what the passage is and where the surprise was greatest.
func (s *Surprise) description() string {
	best := 0
	for i, v := range s.Nats {
		if v > s.Nats[best] {
			best = i
		}
	}
	return fmt.Sprintf("%q: %.2f nats per character; the greatest surprise, %.1f, is %q after %q.", s.Text, s.Mean(), s.Nats[best], s.Text[best], s.Text[max(0, best-12):best])
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

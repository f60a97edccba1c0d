package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data/edges"
)

// picture is the club as a network sees it, in the colours of [chart.Style].
type picture struct {
	name    string
	club    *edges.Network
	places  [][2]float64
	faction []int // the truth
	outcome outcome
}

// Sizes in the picture, in pixels.
const (
	width  = 470
	top    = 50 // of the club, below the title
	margin = 26
	size   = 11 // half a member
	widest = 16 // an edge that carries everything that is heard
)

// ink paints a faction: classes of [chart.Style], and the colour in the light.
var ink = [factions]string{`class="ch-0" fill="#0072B2"`, `class="ch-1" fill="#B84A00"`}

// SVG draws members where layout has placed them, a circle for whom went with the
// instructor and a square for whom went with the officer, in the colour of the faction that
// the network says. An edge is as thick at either end as the member there listens to the
// other one.
func (p picture) SVG(w io.Writer) error {
	at, height := p.fitted()
	wrong := p.outcome.wrong(p.faction)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg role="img" width="%d" height="%.0f" font-family="sans-serif" font-size="11" text-anchor="middle">`+"\n", width, height)
	title := fmt.Sprintf("%s: %d of %d right", p.name, len(p.faction)-len(wrong), len(p.faction))
	fmt.Fprintf(&b, "<title>%s</title>\n<desc>%s</desc>\n", title, p.description(wrong))
	fmt.Fprintf(&b, `<text x="%d" y="26" font-size="14" font-weight="600" text-anchor="start" class="ch-text" fill="#1B2733">%s</text>`+"\n", margin-size, title)
	fmt.Fprintf(&b, `<text x="%d" y="45" text-anchor="start" class="ch-note" fill="#59636E">shape: the truth; colour: the network; framed: told; ×: wrong</text>`+"\n", margin-size)
	b.WriteString(`<path class="ch-axis" fill="#8A95A0" fill-opacity=".75" d="`)
	for e := range p.club.From {
		i, j := p.club.From[e], p.club.To[e]
		b.WriteString(tapered(at[i], at[j], p.hears(i, j), p.hears(j, i)))
	}
	b.WriteString("\"/>\n")
	told := labelled(len(at))
	for i, q := range at {
		colour := ink[p.outcome.says(i)]
		if slices.Contains(told, i) {
			b.WriteString(outline(p.faction[i], q, size+4.5, `class="ch-page ch-text-s" fill="#FFFFFF" stroke="#1B2733" stroke-width="2"`))
		}
		b.WriteString(outline(p.faction[i], q, size, colour))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" font-weight="600" class="ch-page" fill="#FFFFFF">%d</text>`+"\n", q[0], q[1]+4, i)
		if slices.Contains(wrong, i) {
			fmt.Fprintf(&b, `<path class="ch-text-s" stroke="#1B2733" stroke-width="2.5" d="M%.1f %.1fl-9 9m0 -9l9 9"/>`+"\n", q[0]+size+8, q[1]-size-8)
		}
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// fitted are the places in pixels, and the picture's height.
func (p picture) fitted() (at [][2]float64, height float64) {
	low, high := p.places[0], p.places[0]
	for _, q := range p.places {
		for k := range q {
			low[k], high[k] = min(low[k], q[k]), max(high[k], q[k])
		}
	}
	scale := (width - 2*margin) / (high[0] - low[0])
	for _, q := range p.places {
		at = append(at, [2]float64{margin + scale*(q[0]-low[0]), top + margin + scale*(q[1]-low[1])})
	}
	return at, top + 2*margin + scale*(high[1]-low[1])
}

// hears is the thickness of what i hears from j.
func (p picture) hears(i, j int) float64 {
	return widest * float64(p.outcome.α[i*len(p.places)+j])
}

// tapered is a line from a to b, which begins and ends with a thickness.
func tapered(a, b [2]float64, atA, atB float64) string {
	dx, dy := b[0]-a[0], b[1]-a[1]
	long := max(math.Hypot(dx, dy), 1e-9)
	x, y := -dy/long/2, dx/long/2 // across, half a pixel
	return fmt.Sprintf("M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fz", a[0]+x*atA, a[1]+y*atA, b[0]+x*atB, b[1]+y*atB, b[0]-x*atB, b[1]-y*atB, a[0]-x*atA, a[1]-y*atA)
}

// outline is the shape of a faction.
func outline(faction int, at [2]float64, size float64, paint string) string {
	if faction == 0 {
		return fmt.Sprintf(`<circle cx="%.1f" cy="%.1f" r="%.1f" %s/>`, at[0], at[1], size, paint)
	}
	size *= 0.9
	return fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%[3]g" rx="2" %s/>`, at[0]-size, at[1]-size, 2*size, paint)
}

// description says who is given the other faction.
func (p picture) description(wrong []int) string {
	if len(wrong) == 0 {
		return "Everyone is given the faction that he joined."
	}
	var said []string
	for _, i := range wrong {
		said = append(said, fmt.Sprintf("member %d joined faction %d, the network says %d", i, p.faction[i], p.outcome.says(i)))
	}
	return strings.Join(said, "; ") + "."
}

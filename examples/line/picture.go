package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// drawLine draws the line w·x + b among the data.
func drawLine(set *data.Set, w, b float64) func(io.Writer) error {
	line := chart.Series{Name: "ŷ = w·x + b", X: []float64{-2, 2}, Y: []float64{b - 2*w, b + 2*w}}
	points := chart.Series{Name: "data", Points: true, Group: 1, X: set.Column("x").Float64s(), Y: set.Column("y").Float64s()}
	return func(out io.Writer) error {
		return chart.Panels(out, 1, chart.Lines{
			Frame: chart.Frame{ID: "line", Title: "The line of least squares", Width: 560},
			X:     "x", Y: "y", Series: []chart.Series{points, line},
		})
	}
}

// Sizes of the sheet of moments, in pixels.
const (
	across         = 3
	width, height  = 280.0, 190.0
	unitX, unitY   = 56.0, 46.0 // of one in x and in y
	highest        = 1.6
	margin, legend = 14.0, 30.0
)

// sheet is the style of the moments, in light and dark.
const sheet = `<style>
text{font:12px system-ui,sans-serif;fill:#1B2733}
.page{fill:#fff}.frame{fill:none;stroke:#E1E6EB}.data{fill:#59636E;fill-opacity:.45}
.curve{fill:none;stroke:#0072B2;stroke-width:2.2;stroke-linejoin:round}
.hair{stroke:#B84A00;stroke-width:1;stroke-opacity:.35}.elbow{fill:#B84A00;stroke:#fff;stroke-width:1}
@media screen and (prefers-color-scheme:dark){
text{fill:#E9EEF3}.page{fill:#14191F}.frame{stroke:#2B343D}.data{fill:#97A3AF}
.curve{stroke:#56B4E9}.hair{stroke:#FF8A4C}.elbow{fill:#FF8A4C;stroke:#14191F}}
</style>
`

// drawMoments draws the net after each of the given numbers of steps: its curve over the data, and
// its elbows.
func (f *film) drawMoments(w io.Writer, set *data.Set, steps []int) error {
	rows := (len(steps) + across - 1) / across
	full, tall := margin+across*(width+margin), legend+float64(rows)*(height+margin)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]g" height="%[2]g" viewBox="0 0 %[1]g %[2]g">
<title>A sum of elbows while it is fitted</title>
%[3]s<rect class="page" width="%[1]g" height="%[2]g"/>
<circle class="data" cx="%[4]g" cy="16" r="2.5"/><text x="%[5]g" y="20">data</text>
<path class="curve" d="M74 16h24"/><text x="104" y="20">the net</text>
<path class="elbow" d="%[6]s"/><text x="174" y="20">bends up</text><path class="elbow" d="%[7]s"/><text x="258" y="20">bends down: an elbow at x = −b/w; larger, the sharper</text>
`, full, tall, sheet, margin+4, margin+14, triangle(164, 16, 5, true), triangle(248, 16, 5, false))
	for i, step := range steps {
		fmt.Fprintf(&b, `<svg x="%g" y="%g" width="%g" height="%g"><rect class="frame" x=".5" y=".5" width="%g" height="%g" rx="4"/>`+"\n",
			margin+float64(i%across)*(width+margin), legend+float64(i/across)*(height+margin), width, height, width-1, height-1)
		f.shots[step].draw(&b, set)
		fmt.Fprintf(&b, "<text x=\"10\" y=\"20\">after %s steps</text></svg>\n", chart.Format(float64(step)))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// draw draws one moment into its frame, which cuts off what lies outside.
func (s shot) draw(b *strings.Builder, set *data.Set) {
	px := func(x float64) float64 { return width/2 + unitX*x }
	py := func(y float64) float64 { return height/2 - unitY*y }
	for h := range s.w {
		if x, _ := s.elbow(h); math.Abs(x) < seen {
			fmt.Fprintf(b, `<path class="hair" d="M%.1f %.1fV%.0f"/>`, px(x), py(s.at(x)), height-6)
		}
	}
	ys := set.Column("y").Float64s()
	for i, x := range set.Column("x").Float64s() {
		fmt.Fprintf(b, `<circle class="data" cx="%.1f" cy="%.1f" r="2.5"/>`, px(x), py(ys[i]))
	}
	b.WriteString(`<path class="curve" d="M`)
	for x := -width / 2 / unitX; x <= width/2/unitX; x += 0.02 {
		fmt.Fprintf(b, "%.1f %.1f ", px(x), py(s.at(x)))
	}
	b.WriteString("\"/>\n")
	for h := range s.w {
		if x, bend := s.elbow(h); math.Abs(x) < seen {
			size := min(7, 2.5+0.8*math.Abs(bend))
			fmt.Fprintf(b, `<path class="elbow" d="%s"/>`, triangle(px(x), height-8, size, bend > 0))
		}
	}
}

// triangle points up or down.
func triangle(x, y, r float64, up bool) string {
	if !up {
		r = -r
	}
	return fmt.Sprintf("M%.1f %.1fl%.1f %.1fh%.1fz", x, y-r, r, 1.8*r, -2*r)
}

// drawPaths draws the way of every elbow over the steps.
func (f *film) drawPaths(w io.Writer) error {
	c := chart.Lines{
		Frame: chart.Frame{ID: "paths", Title: "Where the elbows are", Desc: "Each line is the place of one unit's elbow.", Width: 660},
		X:     "step", Y: "place of the elbow, −b/w", LogX: true, YTicks: []float64{-2, -1, 0, 1, 2}, Height: 380,
	}
	if len(f.shots) < 2 {
		return errors.New("no step was taken")
	}
	for h := range f.shots[0].w {
		var way chart.Series
		end := func() {
			if len(way.X) > 1 {
				c.Series = append(c.Series, way)
			}
			way = chart.Series{Group: h % 6}
		}
		end()
		for step, s := range f.shots[1:] {
			x, _ := s.elbow(h)
			if !(math.Abs(x) < seen) {
				end() // beyond the picture, until it comes back
				continue
			}
			way.X, way.Y = append(way.X, float64(step+1)), append(way.Y, x)
		}
		end()
	}
	return chart.Panels(w, 1, c)
}

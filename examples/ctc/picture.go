package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// utterance is what is heard x[t tone], the letters, and what the net makes of it, logp[t class].
type utterance struct {
	x    []float32
	y    []int32
	logp []float32
}

func (u utterance) clone() utterance {
	return utterance{slices.Clone(u.x), slices.Clone(u.y), slices.Clone(u.logp)}
}

// heard draws the loudness of the tones.
func (u utterance) heard() chart.Lines {
	c := chart.Lines{
		Frame: chart.Frame{ID: "heard", Title: "What is heard of " + written(u.y...), Desc: "The loudness of three tones.", Width: 640},
		X:     "time", Y: "loudness", Height: 220,
	}
	for k := range tones {
		s := chart.Series{Name: fmt.Sprint("tone ", k+1), Group: k}
		for t := k; t < len(u.x); t += tones {
			s.Y = append(s.Y, float64(u.x[t]))
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// spikes draws the probabilities of the letters that are there or seem to be, and of none.
func (u utterance) spikes() chart.Lines {
	c := chart.Lines{
		Frame: chart.Frame{ID: "spikes", Title: "What the net says of it: " + written(spelt(u.logp)...), Desc: "Each letter is a spike, and between them there is none.", Width: 640},
		X:     "time", Y: "probability", YTicks: []float64{0, 0.5, 1}, Covers: [][2]float64{{0, 0}, {0, 1}},
	}
	shown := append([]int32{0}, append(slices.Clone(u.y), spelt(u.logp)...)...)
	slices.Sort(shown)
	for i, class := range slices.Compact(shown) {
		s := chart.Series{Name: "none", Faint: true}
		if class != 0 {
			s = chart.Series{Name: written(class), Group: i}
		}
		for t := int(class); t < len(u.logp); t += classes {
			s.Y = append(s.Y, math.Exp(float64(u.logp[t])))
		}
		c.Series = append(c.Series, s)
	}
	return c
}

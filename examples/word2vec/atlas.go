package main

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// atlas maps the n most frequent words; where there is room for few, the most frequent have it.
func (t *vectors) atlas(n int) (chart.Scatter, error) {
	places, shown, err := t.plane(n)
	return chart.Scatter{
		Frame: chart.Frame{
			ID: "words", Title: fmt.Sprintf("The %d most frequent words", len(places)), Width: 900,
			Desc: fmt.Sprintf("The plane shows %.0f %% of the variance of their vectors.", 100*shown),
		},
		X:      fmt.Sprintf("first principal component (both: %.0f %% of the variance)", 100*shown),
		Y:      "second principal component",
		Points: places, Names: t.words.Tokens()[:len(places)], Height: 620,
	}, err
}

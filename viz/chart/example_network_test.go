package chart_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

func ExampleNetwork() {
	var b strings.Builder
	err := chart.Network{
		Frame:  chart.Frame{ID: "ring", Title: "The second eigenvector of a ring"},
		Links:  [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}},
		Values: []float64{0.5, 0.5, -0.5, -0.5},
	}.SVG(&b)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Count(b.String(), "<path "), "links")
	// Output: 4 links
}

package chart_test

import (
	"fmt"
	"math"
	"os"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

func ExampleFormat() {
	fmt.Println(chart.Format(78.8514), chart.Format(0.000012), chart.Format(math.Inf(1)))
	// Output: 78.85 1.2e-5 ∞
}

func ExampleSparkline() {
	err := chart.Sparkline{Name: "loss", Y: []float64{8, 4, 2, 1}}.SVG(os.Stdout)
	fmt.Println(err)
	// Output:
	// <svg class="spark" role="img" aria-label="loss: 8 at 0 to 1 at 3." width="96" height="20" viewBox="0 0 96 20"><title>loss: 8 at 0 to 1 at 3.</title><path d="M3 3L33 11 63 15 93 17" fill="none" class="ch-0-s" stroke="#0072B2" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"/><path d="M90.5 17A2.5 2.5 0 1 0 95.5 17A2.5 2.5 0 1 0 90.5 17Z" class="ch-0" fill="#0072B2"/></svg>
	// <nil>
}

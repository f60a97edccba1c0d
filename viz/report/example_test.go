package report_test

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/viz/report"
)

func Example() {
	page := report.Page{
		Data: report.Data{Name: "two heaps"},
		Variants: []report.Method{
			{Name: "soft k-means", Runs: []report.Run{{Seed: 1, Inertia: []float64{9, 5, 4}}}},
			{Name: "goofy alternative", Runs: []report.Run{{Seed: 1, Inertia: []float64{9, 7, 6}}}},
		},
	}
	var b strings.Builder
	if err := page.Write(&b); err != nil {
		fmt.Println(err)
		return
	}
	_, after, _ := strings.Cut(b.String(), "<h1>")
	heading, _, _ := strings.Cut(after, "</h1>")
	fmt.Println(heading)
	// Output: Soft k‑means and goofy alternative on two heaps
}

package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab"
)

// restJSON says how nearly a training has converged, in JSON; see lab.Convergence.
type restJSON struct {
	Moved    jsonNumber `json:"moved"`
	Slope    jsonNumber `json:"slope"`
	Changing bool       `json:"schedule_changes_loss"`
}

func newRestJSON(c lab.Convergence) restJSON {
	return restJSON{jsonNumber(c.Moved), jsonNumber(c.Slope), c.Changing}
}

// settled counts the trainings that have converged.
func settled(cells []lab.Cell) int {
	n := 0
	for _, c := range cells {
		if c.Rest.Converged() {
			n++
		}
	}
	return n
}

// digits returns a number with n significant digits, without an exponent below ten million.
func digits(v float64, n int) string {
	text := fmt.Sprintf("%.*g", n, v)
	if strings.Contains(text, "e+") && math.Abs(v) < 1e7 {
		return fmt.Sprintf("%.0f", v)
	}
	return text
}

// oneLine returns a text without its line breaks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// restText says how many of a model's runs have converged, and of one why it has not, with the
// test.
func restText(why string, settled, runs int, centres bool) string {
	if settled == runs {
		return fmt.Sprintf("converged: %d of %s", settled, plural.Count(runs, "run"))
	}
	return fmt.Sprintf("converged: %d of %s; %s\n%s", settled, plural.Count(runs, "run"), why, lab.ConvergenceTest(centres))
}

// optimumJSON is a grouping in which converged runs ended, in JSON.
type optimumJSON struct {
	Inertia jsonNumber `json:"inertia"`
	Runs    int        `json:"runs"`
}

func newOptimaJSON(v lab.Clustering) []optimumJSON {
	out := []optimumJSON{}
	for _, o := range v.Optima() {
		out = append(out, optimumJSON{jsonNumber(o.Inertia), len(o.Runs)})
	}
	return out
}

// mostOptima is the number of optima that fit on a line.
const mostOptima = 4

// optimaText says how many runs came to rest in each grouping, "24 runs at 78.85144, 22 at
// 78.85567", how many did not, and how many have fewer groups than centres.
func optimaText(v lab.Clustering) string {
	var said []string
	optima := v.Optima()
	rest := 0
	for i, o := range optima {
		switch {
		case i >= mostOptima:
			rest += len(o.Runs)
		case i == 0:
			said = append(said, fmt.Sprintf("%s at inertia %s", plural.Count(len(o.Runs), "run"), digits(o.Inertia, 7)))
		default:
			said = append(said, fmt.Sprintf("%d at %s", len(o.Runs), digits(o.Inertia, 7)))
		}
	}
	if rest > 0 {
		said = append(said, fmt.Sprintf("%d at others", rest))
	}
	if len(optima) == 0 {
		said = append(said, "none: no run has converged")
	} else if moving := v.Moving(); moving > 0 {
		said = append(said, fmt.Sprintf("%d not converged", moving))
	}
	text := strings.Join(said, ", ")
	if n := v.Collapsed(); n > 0 {
		text += fmt.Sprintf("; %d of %s with fewer groups than centres", n, plural.Count(len(v.Runs), "run"))
	}
	if n := v.Diverged(); n > 0 {
		text += fmt.Sprintf("; %d of %s diverged", n, plural.Count(len(v.Runs), "run"))
	}
	return text
}

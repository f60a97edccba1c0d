package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// printTraining prints the best run of a clustering, its centres, and how the other runs ended.
// fresh has the rows of --predict, which are assigned to the centres; nil for none.
func printTraining(ctx context.Context, w io.Writer, o *options, c lab.Config, v lab.Clustering, t *training, fresh *data.Table) error {
	best := v.Best()
	d := len(c.Table.Columns)
	final := t.unscaled(best.Centres())
	k := len(final) / d
	var inertias []float64
	for _, r := range v.Runs {
		inertias = append(inertias, r.Inertia())
	}
	var predicted []int
	var predictedInertia float64
	if fresh != nil {
		var err error
		if predicted, predictedInertia, err = lab.Assign(ctx, fresh.X, best.Centres(), d); err != nil {
			return err
		}
	}
	if o.json {
		centres := make([][]jsonNumber, k)
		for j := range centres {
			centres[j] = jsonNumbers(final[j*d : (j+1)*d])
		}
		var held []scoresJSON
		for _, s := range v.Held {
			held = append(held, newScoresJSON(s))
		}
		var stopped []int
		for _, best := range t.stopped {
			stopped = append(stopped, best.Step)
		}
		return printJSON(w, struct {
			Model     string         `json:"model"`
			Data      string         `json:"data"`
			Seed      uint64         `json:"seed"`
			Steps     int            `json:"steps"`
			Lanes     int            `json:"lanes,omitempty"`   // into which a batch is cut
			Taken     []string       `json:"as_notes,omitzero"` // what is as the notes have it, and not by default
			Loss      jsonNumber     `json:"loss"`
			Inertia   jsonNumber     `json:"inertia"`
			Median    jsonNumber     `json:"median_inertia"`
			ARI       jsonNumber     `json:"ari"`
			Converged bool           `json:"converged"`
			Rest      restJSON       `json:"rest"`
			Settled   int            `json:"converged_runs"`
			Optima    []optimumJSON  `json:"optima"`
			Inertias  []jsonNumber   `json:"inertia_by_seed"`
			Columns   []string       `json:"columns"`
			Centres   [][]jsonNumber `json:"centres"`
			Assigned  []int          `json:"assigned"`
			Predicted []int          `json:"predicted,omitempty"`
			Standard  bool           `json:"standardised,omitempty"` // all but the columns' names and the centres
			Held      []scoresJSON   `json:"validation,omitempty"`   // by seed
			Stopped   []int          `json:"best_steps,omitempty"`   // by seed, which patience returned to; 0 where it did not
		}{v.Name, c.Table.Name, best.Seed, best.Steps, lanes(c.Ranks), t.taken, jsonNumber(lastOf(best.Loss)), jsonNumber(best.Inertia()), jsonNumber(lab.Median(inertias)), jsonNumber(best.ARI),
			best.Rest.Converged(), newRestJSON(best.Rest), len(v.Runs) - v.Moving(), newOptimaJSON(v), jsonNumbers(inertias), c.Table.Columns, centres, best.Assigned, predicted, t.standardise, held, stopped})
	}
	fmt.Fprintf(w, "%s on %s: best of %s by inertia is seed %d, after %s\n", v.Name, c.Table.Name, plural.Count(len(v.Runs), "run"), best.Seed, plural.Count(best.Steps, "step"))
	printLanes(w, c.Ranks)
	t.notes.print(w, t.taken)
	fmt.Fprintf(w, "loss %s  inertia %.10g (median over the runs %.10g)", digits(lastOf(best.Loss), 6), best.Inertia(), lab.Median(inertias))
	if best.ARI == best.ARI {
		fmt.Fprintf(w, "  ARI %.4f", best.ARI)
	}
	fmt.Fprintf(w, "\n%s\n", restText(whyMoving(v), len(v.Runs)-v.Moving(), len(v.Runs), true))
	if len(v.Runs) > 1 {
		fmt.Fprintf(w, "optima: %s\n", optimaText(v))
	}
	for i, s := range v.Held {
		if i == 0 {
			fmt.Fprintf(w, "on the %s held out:\n", plural.Count(t.held.Rows(), "row"))
		}
		fmt.Fprintf(w, "%6d  %s", v.Runs[i].Seed, scoresText(s))
		if i < len(t.stopped) {
			printStopped(w, t.stopped[i], len(v.Runs[i].Loss))
		}
		fmt.Fprintln(w)
	}
	if t.standardise {
		fmt.Fprintln(w, "trained on standardised columns; the centres are in the units of the columns")
	}
	scale := lab.Scale(c.Table)
	if t.standardise {
		scale *= slices.Min(t.points.Std)
	}
	precision := centreDigits(final, scale)
	width := precision + 6 // with a sign, a dot and an exponent
	fmt.Fprintf(w, "\ncentres\n%6s", "")
	for _, name := range c.Table.Columns {
		fmt.Fprintf(w, " %*.*s", width, width, name)
	}
	sizes := make([]int, k)
	for _, a := range best.Assigned {
		sizes[a]++
	}
	fmt.Fprintln(w, "  points")
	for j := range k {
		fmt.Fprintf(w, "%6d", j)
		for _, x := range final[j*d : (j+1)*d] {
			fmt.Fprintf(w, " %*.*g", width, precision, x)
		}
		fmt.Fprintf(w, "  %d\n", sizes[j])
	}
	if fresh != nil {
		fmt.Fprintf(w, "\n%s: %s, inertia %.10g\n%s\n", fresh.Name, plural.Count(fresh.Rows(), "row"), predictedInertia, strings.Trim(fmt.Sprint(predicted), "[]"))
	}
	return nil
}

// centreDigits returns how many digits to print of a centre: six, and more where the data lies far
// from the origin.
func centreDigits(centres []float64, scale float64) int {
	const least, most = 6, 17
	largest := 0.0
	for _, v := range centres {
		largest = max(largest, math.Abs(v))
	}
	if far := largest / scale; far > 10 && !math.IsInf(far, 0) {
		return min(most, least+int(math.Log10(far)))
	}
	return least
}

// whyMoving says why the best run has not converged. If it has, whyMoving is about the first run
// that has not.
func whyMoving(v lab.Clustering) string {
	if best := v.Best(); !best.Rest.Converged() {
		return "the best " + best.Rest.String()
	}
	for _, r := range v.Runs {
		if !r.Rest.Converged() {
			return fmt.Sprintf("the best has, seed %d %v", r.Seed, r.Rest)
		}
	}
	return ""
}

func lastOf(v []float64) float64 { return v[len(v)-1] }

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/metric"
)

// summary prints the summary of the report for a terminal.
func (c *comparison) summary(w io.Writer, res *lab.Clusterings) error {
	type row struct {
		Name         string        `json:"name"`
		Best         jsonNumber    `json:"best_inertia"`
		Seed         uint64        `json:"best_seed"`
		BestARI      jsonNumber    `json:"best_ari"`
		BestSpread   jsonNumber    `json:"best_spread"`
		Median       jsonNumber    `json:"median_inertia"`
		MedianARI    jsonNumber    `json:"median_ari"`
		MedianSpread jsonNumber    `json:"median_spread"`
		Runs         int           `json:"runs"`
		Settled      int           `json:"converged_runs"`
		Collapsed    int           `json:"collapsed_runs"` // with fewer groups of points than centres
		Diverged     int           `json:"diverged_runs"`
		Optima       []optimumJSON `json:"optima"`
		Seconds      float64       `json:"seconds_per_step"`
		Peak         int           `json:"peak_bytes"`
		FLOPs        int64         `json:"flops"`
		Inertias     []jsonNumber  `json:"inertia_by_seed"`
		Converged    []bool        `json:"converged_by_seed"`
		Groups       []int         `json:"groups_by_seed"`
		Held         []scoresJSON  `json:"validation,omitempty"` // by seed
		Taken        []string      `json:"as_notes,omitzero"`    // what is as the notes have it, and not by default
		optima, held string
	}
	var rows []row
	moving, collapsed, diverged := 0, 0, 0
	for _, v := range slices.Concat(res.Variants, res.Baselines) {
		best := v.Best()
		var inertias, aris, spreads []float64
		var converged []bool
		var groups []int
		for _, r := range v.Runs {
			inertias, aris, spreads = append(inertias, r.Inertia()), append(aris, r.ARI), append(spreads, r.Final().Spread)
			converged, groups = append(converged, r.Rest.Converged()), append(groups, r.Groups)
		}
		moving, collapsed, diverged = moving+v.Moving(), collapsed+v.Collapsed(), diverged+v.Diverged()
		var held []scoresJSON
		for _, s := range v.Held {
			held = append(held, newScoresJSON(s))
		}
		rows = append(rows, row{v.Name, jsonNumber(best.Inertia()), best.Seed, jsonNumber(best.ARI), jsonNumber(best.Final().Spread),
			jsonNumber(lab.Median(inertias)), jsonNumber(lab.Median(aris)), jsonNumber(lab.Median(spreads)), len(v.Runs), len(v.Runs) - v.Moving(), v.Collapsed(), v.Diverged(),
			newOptimaJSON(v), v.Cost.Seconds, v.Cost.Peak, v.Cost.FLOPs, jsonNumbers(inertias), converged, groups, held, c.takenBy(res, v), optimaText(v), medianScores(v.Held)})
	}
	if c.json {
		return printJSON(w, struct {
			Data   string `json:"data"`
			Report string `json:"report"`
			Test   string `json:"convergence_test"`
			Rows   []row  `json:"methods"`
		}{res.Config.Table.Name, c.out, oneLine(lab.ConvergenceTest(true)), rows})
	}
	fmt.Fprintf(w, "%s%s: %s, %s, k = %d; %s of %s, medians are over the seeds\n\n", res.Config.Table.Name, c.preparedText(), plural.Count(res.Config.Table.Rows(), "row"),
		plural.Count(len(res.Config.Table.Columns), "feature"), res.Config.K, plural.Count(res.Config.Seeds, "seed"), plural.Count(res.Config.Steps, "step"))
	fmt.Fprintf(w, "%-24s %12s %12s %8s %10s %10s %8s %9s\n", "", "best", "median", "median", "median", "", "µs per", "peak")
	fmt.Fprintf(w, "%-24s %12s %12s %8s %10s %10s %8s %9s\n", "", "inertia", "inertia", "ARI", "spread", "converged", "step", "KiB")
	for _, r := range rows {
		fmt.Fprintf(w, "%-24s %12s %12s %8s %10s %10s %8.1f %9.1f\n", r.Name, shortly(r.Best), shortly(r.Median), shortly(r.MedianARI), shortly(r.MedianSpread),
			fmt.Sprintf("%d of %d", r.Settled, r.Runs), r.Seconds*1e6, float64(r.Peak)/1024)
	}
	fmt.Fprintf(w, "\nWhere the runs came to rest:\n")
	for _, r := range rows {
		fmt.Fprintf(w, "%-24s %s\n", r.Name, r.optima)
	}
	if c.held != nil {
		fmt.Fprintf(w, "\nOn the %s held out, medians over the runs:\n", plural.Count(c.held.Rows(), "row"))
		for _, r := range rows {
			fmt.Fprintf(w, "%-24s %s\n", r.Name, r.held)
		}
	}
	if moving > 0 {
		fmt.Fprintf(w, "\nWhat has not converged says where it was stopped, not where its objective leads.\n%s\n", lab.ConvergenceTest(true))
	}
	if collapsed > 0 {
		fmt.Fprintf(w, "\nWhere there are fewer groups than centres, some centres lie on each other or no point is nearest to them:\nsuch inertias and spreads are not those of k groups.\n")
	}
	if diverged > 0 {
		fmt.Fprintf(w, "\nWhere a run diverged, its loss was no finite number any more: it counts as worse than all others.\n")
	}
	if lines := c.takenLines(res); len(lines) > 0 {
		fmt.Fprintln(w, "\n"+strings.Join(lines, "\n"))
	}
	fmt.Fprintf(w, "\n%s\n", c.written())
	return nil
}

// takenLines says what each variant has of the notes; none without --as-notes.
func (c *comparison) takenLines(res *lab.Clusterings) (lines []string) {
	for _, v := range res.Variants {
		if c.notes.on {
			lines = append(lines, v.Name+" "+notesText(c.takenBy(res, v)))
		}
	}
	return lines
}

// takenBy lists what a variant has of the notes; nil for a baseline.
func (c *comparison) takenBy(res *lab.Clusterings, v lab.Clustering) []string {
	if !among(res, v.Name) {
		return nil
	}
	return c.notes.taken(v.Model, &v.Config)
}

// medianScores returns the medians of scores, by name, in one line.
func medianScores(runs []metric.Scores) string {
	var out metric.Scores
	for i := range slices.Concat(runs[:min(1, len(runs))]...) {
		var values []float64
		for _, s := range runs {
			values = append(values, s[i].Value)
		}
		out = append(out, metric.Score{Name: runs[0][i].Name, Value: lab.Median(values)})
	}
	return scoresText(out)
}

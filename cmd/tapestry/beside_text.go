package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// besideSummary prints the summary of the report for a terminal.
func (c *comparison) besideSummary(w io.Writer, res *lab.Comparison) error {
	if c.json {
		return printJSON(w, c.besideJSON(res))
	}
	fmt.Fprint(w, res)
	if text := c.takenText(res); text != "" {
		fmt.Fprintln(w, "\n"+text)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", c.written())
	return err
}

// takenOf lists what a variant has of the notes.
func (c *comparison) takenOf(res *lab.Comparison, v int) []string {
	p := res.Config
	if own := res.Variants[v].Own; !own.IsZero() {
		p.Optimisers, p.Rate = []train.Optimiser{own}, res.Variants[v].OwnRate
	}
	return c.notes.taken(res.Variants[v].Model, &p)
}

// takenText says what the variants have of the notes, a line each; "" without --as-notes.
func (c *comparison) takenText(res *lab.Comparison) string {
	if !c.notes.on {
		return ""
	}
	var lines []string
	for v, variant := range res.Variants {
		lines = append(lines, variant.Name+" "+notesText(c.takenOf(res, v)))
	}
	return strings.Join(lines, "\n")
}

// besideJSON returns the comparison for programs: the matrix, training by training, and the tables.
func (c *comparison) besideJSON(res *lab.Comparison) any {
	type model struct {
		Name     string       `json:"name"`
		Task     string       `json:"task"`
		Reads    string       `json:"reads,omitempty"`             // what its inputs are fed of the rows, if there are several
		Replaced bool         `json:"examples_replaced,omitempty"` // its own would be others than those of the task
		Taken    []string     `json:"as_notes,omitzero"`           // what is as the notes have it, and not by default
		Setting  string       `json:"best_setting"`
		Level    jsonNumber   `json:"level"`
		Median   jsonNumber   `json:"median_end"`
		Ends     []jsonNumber `json:"end_by_seed"`
		Settled  int          `json:"converged_runs"`
		Params   int          `json:"params"`
		FLOPs    int64        `json:"flops"`
		Peak     int          `json:"peak_bytes"`
	}
	type pair struct {
		A         string     `json:"a"`
		B         string     `json:"b"`
		Seeds     int        `json:"seeds"`
		Mean      jsonNumber `json:"difference"`
		Error     jsonNumber `json:"standard_error"`
		P         jsonNumber `json:"p"`
		Corrected jsonNumber `json:"p_corrected"`
		Beyond    bool       `json:"exceeds_noise"`
	}
	type metric struct {
		Name    string       `json:"name"`
		Higher  bool         `json:"higher_is_better"`
		Medians []jsonNumber `json:"median_by_model"`
		Marks   []string     `json:"letters_by_model"`
		Missing []string     `json:"missing_by_model,omitempty"` // why there is no median, "" where there is one
		Pairs   []pair       `json:"pairs"`
	}
	type training struct {
		Model     string       `json:"model"`
		Optimiser string       `json:"optimiser"`
		Start     string       `json:"start"`
		Seed      uint64       `json:"seed"`
		Diverged  int          `json:"diverged_at_step,omitempty"`
		Converged bool         `json:"converged"`
		Rest      restJSON     `json:"rest"`
		Steps     jsonNumber   `json:"steps_to_level"`
		Measures  []jsonNumber `json:"measures"`
	}
	out := struct {
		Report    string     `json:"report"`
		Test      string     `json:"convergence_test"`
		Steps     int        `json:"steps"`
		Models    []model    `json:"models"`
		Pairs     []pair     `json:"pairs"` // by the loss at the end
		Metrics   []metric   `json:"metrics"`
		Trainings []training `json:"trainings"`
	}{Report: c.out, Test: oneLine(res.ConvergenceTest()), Steps: res.Config.Steps}
	for v, variant := range res.Variants {
		best := res.Best(v)
		ends := res.Values(0, v, best)
		out.Models = append(out.Models, model{variant.Name, res.Variants[variant.Task].Name, variant.Reads, variant.Replaced, c.takenOf(res, v), res.SettingOf(v, best), jsonNumber(res.Level(v)),
			jsonNumber(lab.Summarise(ends).Median), jsonNumbers(ends), settled(res.Cells(v, best)), variant.Cost.Params, variant.Cost.FLOPs, variant.Cost.Peak})
		for _, s := range res.Settings() {
			for _, cell := range res.Cells(v, s) {
				out.Trainings = append(out.Trainings, training{variant.Name, res.OptimiserName(v, s), res.Config.Starts[s.Start].String(),
					cell.Seed, cell.Diverged, cell.Rest.Converged(), newRestJSON(cell.Rest), jsonNumber(cell.StepsTo(res.Level(v))), jsonNumbers(cell.Measures)})
			}
		}
	}
	for k, y := range res.Metrics {
		row := metric{Name: y.Name, Higher: y.Higher, Marks: res.Marks(k, lab.StudentT)}
		for v := range res.Variants {
			row.Medians = append(row.Medians, jsonNumber(lab.Summarise(res.Values(k, v, res.Best(v))).Median))
			row.Missing = append(row.Missing, res.Missing(k, v))
		}
		if strings.Join(row.Missing, "") == "" {
			row.Missing = nil
		}
		for _, d := range res.Differences(k, lab.StudentT) {
			row.Pairs = append(row.Pairs, pair{res.Variants[d.A].Name, res.Variants[d.B].Name, d.N, jsonNumber(d.Mean), jsonNumber(d.Error),
				jsonNumber(d.P), jsonNumber(d.Corrected), d.Beyond})
		}
		out.Metrics = append(out.Metrics, row)
	}
	out.Pairs = out.Metrics[0].Pairs
	return out
}

package main

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"github.com/tapestry-ml/tapestry/viz/figure"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// beside compares models that learn from examples of their own.
func (c *comparison) beside(cmd *cobra.Command, names []string) error {
	config, err := c.learning.config(c.options, &c.training)
	if err != nil {
		return err
	}
	builds, err := c.builds(names)
	if err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr())
	config.Progress = bar.at
	res, err := lab.LearnTogether(cmd.Context(), config, builds...)
	bar.end()
	if err != nil {
		return err
	}
	page, err := c.besidePage(cmd.Context(), config, res)
	if err != nil {
		return err
	}
	if err := writeOutput(c.out, cmd.OutOrStdout(), page.Write); err != nil {
		return err
	}
	if toStdout(c.out) {
		return nil
	}
	return c.besideSummary(cmd.OutOrStdout(), config, res, page.Pairs)
}

// builds are what makes the models, each with those of the settings that it has. A
// setting that none has is a mistake in the command line.
func (c *comparison) builds(names []string) ([]func() (*builders.Model, error), error) {
	known := map[string]bool{}
	var out []func() (*builders.Model, error)
	for _, name := range names {
		b, err := lookup(name)
		if err != nil {
			return nil, err
		}
		own := learning{}
		for _, kv := range c.learning.set {
			key, _, _ := strings.Cut(kv, "=")
			if slices.ContainsFunc(b.Sizes, func(z builders.Size) bool { return z.Name == key }) {
				known[kv] = true
				own.set = append(own.set, kv)
			}
		}
		out = append(out, own.build(&c.training, name))
	}
	for _, kv := range c.learning.set {
		if !known[kv] {
			return nil, usagef("--set %s: none of %s has it", kv, strings.Join(names, ", "))
		}
	}
	return out, nil
}

// besidePage is the report.
func (c *comparison) besidePage(ctx context.Context, config lab.LearnConfig, res *lab.Together) (report.Page, error) {
	p := report.Page{
		Setup: report.Setup{Steps: config.Steps, Optimiser: config.Optimiser.String()},
		Task:  tasksText(config, res),
	}
	shown := shownNames(res)
	for i, l := range res.Models {
		m := report.Method{Name: shown[i], Cost: report.Cost(l.Cost)}
		for _, r := range l.Runs {
			m.Runs = append(m.Runs, report.Run{Seed: r.Seed, Loss: r.Loss, End: r.End(), ARI: math.NaN()})
		}
		if err := forwardEquations(&m, l.Model); err != nil {
			return p, err
		}
		p.Variants = append(p.Variants, m)
	}
	for j := range res.Models {
		for i := range j {
			if !res.SameTask(i, j) {
				continue
			}
			d, err := lab.Pair(res.Models[i], res.Models[j])
			if err != nil {
				return p, err
			}
			p.Pairs = append(p.Pairs, report.Pair{A: i, B: j, Mean: d.Mean, Error: d.Error, Beyond: d.Beyond})
		}
	}
	p.Made = made(typed(c.args), res.Models[0].Model.Loss.DType())
	if len(res.Models) == 2 {
		var err error
		if p.Drawing, err = forwardDrawing(ctx, res.Models[0].Model, res.Models[1].Model); err != nil {
			return p, err
		}
	}
	return p, nil
}

// shownNames are the titles of the models, or their names where a title is long or two
// are the same.
func shownNames(res *lab.Together) []string {
	var titles, names []string
	usable := true
	for _, l := range res.Models {
		b := l.Model.Builder
		usable = usable && utf8.RuneCountInString(b.Title) <= longTitle && !slices.Contains(titles, b.Title)
		titles, names = append(titles, b.Title), append(names, b.Name)
	}
	if usable {
		return titles
	}
	return names
}

// longTitle is the number of letters that a sentence about models still bears.
const longTitle = 36

// tasksText says which models saw the same examples.
func tasksText(config lab.LearnConfig, res *lab.Together) string {
	how := "fresh examples in every step"
	if config.OneBatch {
		how = "one batch of examples"
	}
	if len(res.Models) == 1 {
		return capitalised(how) + ", drawn from the seed."
	}
	shown, byTask := shownNames(res), map[int][]string{}
	var order []int
	for i, t := range res.Task {
		if byTask[t] == nil {
			order = append(order, t)
		}
		byTask[t] = append(byTask[t], shown[i])
	}
	if len(order) == 1 {
		return fmt.Sprintf("The inputs have the same names and types, so all were trained on the same task: that of %s, %s.", shown[order[0]], how)
	}
	var b strings.Builder
	b.WriteString("The tasks differ, because the inputs do: the losses of different tasks are not comparable, and their curves stand side by side for their shapes alone. " +
		capitalised(how) + ":")
	for k, t := range order {
		sep := ";"
		if k == 0 {
			sep = ""
		}
		fmt.Fprintf(&b, "%s %s on the task of %s", sep, strings.Join(byTask[t], ", "), shown[t])
	}
	return b.String() + "."
}

func capitalised(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// mostEquations are as many as anyone reads of one model.
const mostEquations = 40

// forwardEquations adds the formulas of a model's loss.
func forwardEquations(m *report.Method, trained *builders.Model) error {
	model, err := trained.Builder.Build(trained.Settings, graph.F32)
	if err != nil {
		return err
	}
	eqs := viz.Equations(model.Loss)
	m.Formula = template.HTML(eqs[len(eqs)-1].MathML())
	if len(eqs) > mostEquations {
		eqs = eqs[len(eqs)-mostEquations:]
	}
	m.LaTeX = chain(m, eqs)
	return nil
}

// forwardDrawing is the aligned drawing of two models, forward; none where it would
// be too large to be read.
func forwardDrawing(ctx context.Context, a, b *builders.Model) (report.Drawing, error) {
	diff, err := diffModels(a, b, false, viz.Notes)
	if err != nil {
		return report.Drawing{}, err
	}
	if len(diff.Shared)+len(diff.OnlyA)+len(diff.OnlyB) > mostDrawn {
		return report.Drawing{}, nil
	}
	var svg strings.Builder
	if err := diff.Figure().SVGContext(ctx, &svg, figure.IDPrefix("diff-")); err != nil {
		return report.Drawing{}, err
	}
	return report.Drawing{SVG: svg.String(), Footer: diff.Summary()}, nil
}

// mostDrawn is the number of boxes that a comparison is still read with.
const mostDrawn = 200

// besideSummary prints what a terminal should know of the report.
func (c *comparison) besideSummary(w io.Writer, config lab.LearnConfig, res *lab.Together, pairs []report.Pair) error {
	type row struct {
		Name   string       `json:"name"`
		Task   string       `json:"task"`
		Median jsonNumber   `json:"median_end"`
		Ends   []jsonNumber `json:"end_by_seed"`
		Params int          `json:"params"`
		FLOPs  int64        `json:"flops"`
		Peak   int          `json:"peak_bytes"`
	}
	type pair struct {
		A      string     `json:"a"`
		B      string     `json:"b"`
		Mean   jsonNumber `json:"difference"`
		Error  jsonNumber `json:"standard_error"`
		Beyond bool       `json:"exceeds_noise"`
	}
	name := func(i int) string { return res.Models[i].Model.Builder.Name }
	var rows []row
	for i, l := range res.Models {
		rows = append(rows, row{name(i), name(res.Task[i]), jsonNumber(lab.Median(l.Ends())), jsonNumbers(l.Ends()), l.Cost.Params, l.Cost.FLOPs, l.Cost.Peak})
	}
	var differences []pair
	for _, d := range pairs {
		differences = append(differences, pair{name(d.A), name(d.B), jsonNumber(d.Mean), jsonNumber(d.Error), d.Beyond})
	}
	if c.json {
		return printJSON(w, struct {
			Report string `json:"report"`
			Rows   []row  `json:"models"`
			Pairs  []pair `json:"pairs"`
		}{c.out, rows, differences})
	}
	fmt.Fprintf(w, "%s of %v, %s; loss: mean of the last tenth of the steps\n\n", count(config.Steps, "step"), config.Optimiser, count(config.Seeds, "seed"))
	fmt.Fprintf(w, "%-28s %12s %12s %12s %10s %10s\n", "", "median loss", "best", "worst", "params", "peak KiB")
	for i, r := range rows {
		lo, hi := extremes(res.Models[i].Ends())
		fmt.Fprintf(w, "%-28s %12s %12s %12s %10d %10.1f\n", r.Name, shortly(r.Median), chart.Format(lo), chart.Format(hi), r.Params, float64(r.Peak)/1024)
	}
	fmt.Fprintln(w)
	for _, d := range differences {
		verdict := "within the noise"
		if d.Beyond {
			verdict = "exceeds the noise"
		}
		fmt.Fprintf(w, "%s − %s: %s ± %s, %s\n", d.B, d.A, shortly(d.Mean), shortly(d.Error), verdict)
	}
	if all := len(rows) * (len(rows) - 1) / 2; len(pairs) < all {
		fmt.Fprintln(w, "The tasks differ: losses of different tasks are not comparable.")
	}
	_, err := fmt.Fprintf(w, "\nThe report is in %s\n", c.out)
	return err
}

func extremes(v []float64) (lo, hi float64) {
	lo, hi = v[0], v[0]
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}

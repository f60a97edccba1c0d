package main

import (
	"context"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// besidePage builds the report of the comparison.
func (c *comparison) besidePage(ctx context.Context, res *lab.Comparison) (report.Page, error) {
	plan := res.Config
	p := report.Page{
		Setup: report.Setup{Steps: plan.Steps, Optimiser: besideOptimisers(res), Test: oneLine(res.ConvergenceTest())},
		Task:  strings.TrimSpace(tasksText(res) + " " + strings.ReplaceAll(c.takenText(res), "\n", "; ")),
		Made:  made(typed(c.args), res.Variants[0].Model.Loss.DType()),
	}
	if len(plan.Starts) > 1 || plan.Starts[0].String() != (lab.Initial{}).String() {
		p.Setup.Start = texts(plan.Starts)
	}
	if γ, fed := plan.Scheduled["γ"]; fed && slices.ContainsFunc(res.Variants, func(v lab.Compared) bool { return len(plan.ScheduledOf(v.Model)) > 0 }) {
		p.Setup.Schedule, p.Setup.Gamma = scheduleText(γ, plan.Steps), gammas(γ, plan.Steps)
	}
	if plan.Table != nil {
		p.Data = report.Data{Name: plan.Table.Name, Rows: plan.Table.Rows(), Features: plan.Table.Columns, Classes: plan.Table.Classes()}
		c.prepared(&p.Data)
	}
	shown := shownNames(res)
	for v, variant := range res.Variants {
		m := report.Method{Name: shown[v], Cost: report.Cost(variant.Cost)}
		for _, cell := range res.Cells(v, res.Best(v)) {
			r := report.Run{Seed: cell.Seed, Loss: cell.Loss, End: cell.Measures[0], ARI: math.NaN(), Unsettled: unsettled(cell.Rest), Diverged: cell.Diverged > 0}
			if cell.Diverged > 0 {
				r.Loss = append(slices.Clone(r.Loss), math.NaN())
			}
			m.Runs = append(m.Runs, r)
		}
		forwardEquations(&m, variant.Model)
		p.Variants = append(p.Variants, m)
	}
	p.Pairs = pairs(res, 0)
	p.Matrix = newMatrix(res, shown)
	var names []string
	for _, v := range res.Variants {
		names = append(names, v.Name)
	}
	var err error
	p.Drawings, err = c.drawings(names, shown, func(id string, a, b int) (report.Drawing, error) {
		return forwardDrawing(ctx, id, res, a, b)
	})
	return p, err
}

// besideOptimisers describes the optimisers, and the schedules of their rates if there are any.
func besideOptimisers(res *lab.Comparison) string {
	p := res.Config
	text := texts(p.Optimisers)
	if slices.ContainsFunc(res.Variants, func(v lab.Compared) bool { return !v.Own.IsZero() }) {
		var each []string
		for v, variant := range res.Variants {
			each = append(each, variant.Name+" by "+res.OptimiserName(v, lab.Setting{}))
		}
		text = strings.Join(each, ", ")
	}
	switch {
	case len(p.Rates) > 0:
		return fmt.Sprintf("%s, the rates %s", text, texts(p.Rates))
	case !p.Rate.IsZero():
		return fmt.Sprintf("%s, the rate %v", text, p.Rate)
	case p.Falling:
		return fmt.Sprintf("%s, the rate falling to 0 after the first %d of %s", text, p.Steps/4, plural.Count(p.Steps, "step"))
	}
	return text
}

// texts joins the texts of all values with commas.
func texts[T fmt.Stringer](all []T) string {
	var out []string
	for _, v := range all {
		out = append(out, v.String())
	}
	return strings.Join(out, ", ")
}

// pairs returns the differences between the models by a metric.
func pairs(res *lab.Comparison, metric int) []report.Pair {
	var out []report.Pair
	for _, d := range res.Differences(metric, lab.StudentT) {
		out = append(out, report.Pair{A: d.A, B: d.B, Mean: d.Mean, Error: d.Error, Beyond: d.Beyond, Half: d.Half, P: d.Corrected})
	}
	return out
}

// curvePoints is the number of steps at which the curves of a matrix are shown.
const curvePoints = 100

// newMatrix builds the table of every setting, with each objective's own metrics beside the loss.
func newMatrix(res *lab.Comparison, shown []string) report.Matrix {
	var m report.Matrix
	for _, s := range res.Settings() {
		m.Settings = append(m.Settings, res.SettingName(s))
	}
	for v := range res.Variants {
		var row []report.Outcome
		for _, o := range res.Outcomes(v, lab.StudentT) {
			x, median, lo, hi := res.Curve(v, o.Setting, curvePoints)
			row = append(row, report.Outcome{Loss: report.Band{X: x, Median: median, Lo: lo, Hi: hi}, End: spreadOf(o.End),
				Steps: o.Steps.Median, Diverged: o.Diverged, Moving: o.Moving, Best: o.Best, Verdict: o.Verdict()})
		}
		m.Outcomes = append(m.Outcomes, row)
	}
	for k, y := range res.Metrics {
		if k == 0 {
			continue
		}
		if k <= len(shown) {
			y.Name = "loss of " + shown[k-1]
		}
		if y.Higher {
			y.Name += " ↑"
		}
		out := report.Metric{Name: y.Name, Marks: res.Marks(k, lab.StudentT), Pairs: pairs(res, k)}
		for v := range res.Variants {
			out.Values = append(out.Values, spreadOf(lab.Summarise(res.Values(k, v, res.Best(v)))))
		}
		m.Metrics = append(m.Metrics, out)
	}
	return m
}

func spreadOf(s lab.Summary) report.Spread {
	return report.Spread{Median: s.Median, Q1: s.Q1, Q3: s.Q3, Mean: s.Mean, Half: s.Half}
}

// shownNames returns the titles of the models, or their names where a title is long or not unique.
func shownNames(res *lab.Comparison) []string {
	var titles, names []string
	usable := true
	for _, v := range res.Variants {
		b := v.Model.Builder
		usable = usable && utf8.RuneCountInString(b.Title) <= longTitle && !slices.Contains(titles, b.Title)
		titles, names = append(titles, b.Title), append(names, b.Name)
	}
	if usable {
		return titles
	}
	return names
}

// longTitle is the length, in letters, beyond which a title is too long for a sentence.
const longTitle = 36

// tasksText says which models saw the same examples.
func tasksText(res *lab.Comparison) string {
	if res.Config.Table != nil {
		var reads []string
		for i, v := range res.Variants {
			if v.Reads != "" {
				reads = append(reads, "Of "+shownNames(res)[i]+", "+v.Reads+".")
			}
		}
		return strings.Join(reads, " ")
	}
	if on := res.Data(); on != "" {
		return "Trained on " + on + ": the same batches in every step."
	}
	if slices.ContainsFunc(res.Variants, func(v lab.Compared) bool { return v.Model.Rows != nil }) {
		shown, said := shownNames(res), []string(nil)
		for i, v := range res.Variants {
			on := "examples of its own"
			if v.Model.Rows != nil {
				on = v.Model.Rows.String()
			}
			said = append(said, shown[i]+" on "+on)
		}
		return "The batches differ, so that seeds bring the models less in common: " + strings.Join(said, "; ") + "."
	}
	how := "fresh examples in every step"
	if res.Config.OneBatch {
		how = "one batch of examples"
	}
	if len(res.Variants) == 1 {
		return capitalised(how) + ", drawn from the seed."
	}
	shown, byTask := shownNames(res), map[int][]string{}
	var order []int
	for i, v := range res.Variants {
		t := v.Task
		if byTask[t] == nil {
			order = append(order, t)
		}
		byTask[t] = append(byTask[t], shown[i])
	}
	if len(order) == 1 {
		return fmt.Sprintf("The inputs correspond, so all were trained on the same task: that of %s, %s.", shown[order[0]], how) + replacedText(res, shown)
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
	return b.String() + "." + replacedText(res, shown)
}

// replacedText names the models that would draw other examples by themselves than those of the task;
// "" if there are none.
func replacedText(res *lab.Comparison, shown []string) string {
	text := ""
	for i, v := range res.Variants {
		if v.Replaced {
			text += fmt.Sprintf(" By itself %s draws other examples than those of %s, by which all are measured.", shown[i], shown[v.Task])
		}
	}
	return text
}

func capitalised(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// mostEquations is the largest number of equations shown of one model.
const mostEquations = 40

// forwardEquations adds the formulas of a model's loss.
func forwardEquations(m *report.Method, model *builders.Model) {
	eqs := viz.Equations(model.Loss)
	m.Formula = template.HTML(eqs[len(eqs)-1].MathML())
	if len(eqs) > mostEquations {
		eqs = eqs[len(eqs)-mostEquations:]
	}
	m.LaTeX = chain(m, eqs)
}

// drawings returns the aligned drawings of the pair that was asked for, or of the first model with
// each other one. draw makes a drawing whose identifiers begin with id.
func (c *comparison) drawings(names, shown []string, draw func(id string, a, b int) (report.Drawing, error)) ([]report.Drawing, error) {
	var out []report.Drawing
	for i, p := range c.pairs(len(names)) {
		d, err := draw(fmt.Sprintf("diff-%d-", i+1), p[0], p[1])
		if err != nil {
			return nil, err
		}
		if len(names) > 2 {
			d.Of = shown[p[0]] + " and " + shown[p[1]]
		}
		out = append(out, d)
	}
	return out, nil
}

// forwardDrawing returns the aligned drawing of two models without derivatives, or none if it
// would be too large to read.
func forwardDrawing(ctx context.Context, id string, res *lab.Comparison, a, b int) (report.Drawing, error) {
	diff, err := diffModels(ctx, res.Variants[a].Model, res.Variants[b].Model, false, viz.Notes, func(m *builders.Model) courses {
		fed := courses{}
		for n, s := range res.Config.ScheduledOf(m) {
			fed[n] = ends(s, res.Config.Steps)
		}
		return fed
	})
	if err != nil {
		return report.Drawing{}, err
	}
	if len(diff.Boxes()) > mostDrawn {
		return report.Drawing{}, nil
	}
	var svg strings.Builder
	if err := diff.Figure().SVGContext(ctx, &svg, figure.IDPrefix(id)); err != nil {
		return report.Drawing{}, err
	}
	return report.Drawing{SVG: svg.String(), Footer: diff.Sentence() + " Against A, " + diff.Summary()}, nil
}

// mostDrawn is the largest number of boxes in a readable comparison.
const mostDrawn = 200

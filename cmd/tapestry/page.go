package main

import (
	"context"
	"fmt"
	"html/template"
	"runtime"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// newPage turns a finished experiment into the report.
func newPage(ctx context.Context, res *lab.Clusterings, command string) (report.Page, error) {
	c := res.Config
	γ := c.Scheduled["γ"]
	p := report.Page{
		Data: report.Data{Name: c.Table.Name, Rows: c.Table.Rows(), Features: c.Table.Columns, Classes: c.Table.Classes(), Scale: lab.Scale(c.Table)},
		Setup: report.Setup{K: c.K, Steps: c.Steps, Optimiser: optimisersText(res), Start: startText(c.Start), Baselines: baselinesText(res),
			Test: oneLine(lab.ConvergenceTest(true))},
		Made: made(command, c.DType),
	}
	fed := slices.ContainsFunc(res.Variants, func(v lab.Clustering) bool { return v.Model.Gamma() != nil })
	if fed {
		p.Setup.Schedule, p.Setup.Gamma = scheduleText(γ, c.Steps), gammas(γ, c.Steps)
	} else {
		p.Setup.Schedule = fmt.Sprintf("constant %s, of the spread that is measured: no objective has one", digits(ends(γ, c.Steps)[1], 3))
	}
	if among(res, "kmeans-softmax") && among(res, "kmeans-goofy") {
		p.Setup.Angle = "soft k-means and goofy alternative"
	}
	reference := slices.Concat(res.Baselines, res.Variants)[0].Best().Centres()
	for _, v := range res.Variants {
		m := newMethod(res, v, reference)
		m.Assigned = assignments(res, v, reference)
		if err := derive(&m, v); err != nil {
			return p, err
		}
		for _, w := range slices.Concat(res.Variants, res.Baselines) { // a file may have the title of another model
			if w.Name != v.Name && w.Model.Builder.Title == v.Model.Builder.Title {
				m.Name = fmt.Sprintf("%s (%s)", v.Model.Builder.Title, v.Name)
			}
		}
		p.Variants = append(p.Variants, m)
	}
	for _, v := range res.Baselines {
		m := newMethod(res, v, reference)
		p.Baselines = append(p.Baselines, m)
	}
	p.Plane = report.Plane{Share: res.Plane.Share, Points: res.Plane.Points(c.Table.X)}
	if len(c.Table.Labels) > 0 {
		p.Plane.Class, _ = data.Codes(c.Table.Labels)
	}
	var err error
	if p.Between, err = between(slices.Concat(res.Variants, res.Baselines)); err != nil {
		return p, err
	}
	p.Sweeps = []report.Sweep{newSweep("k", false, floats(c.SweepK), c, res.K)}
	if fed {
		p.Sweeps = []report.Sweep{softened(newSweep("γ", true, c.SweepGamma, c, res.Gamma), c, res.Gamma), p.Sweeps[0]}
		p.Sweeps[0].Ends = sweepEnds(res, reference)
	}
	if len(res.Variants) == 2 {
		if p.Drawing, err = compareDrawing(ctx, "diff-", res, 0, 1); err != nil {
			return p, err
		}
		p.Difference = difference(res.Variants[0].Name, res.Variants[1].Name)
	}
	return p, nil
}

// made returns how the page was made: the command, the version and the machine.
func made(command string, dt graph.DType) report.Made {
	return report.Made{Command: command, Version: fmt.Sprintf("%s, %s", version(), dt),
		Machine: fmt.Sprintf("%s/%s, %s, one core", runtime.GOOS, runtime.GOARCH, runtime.Version())}
}

func startText(s lab.Start) string {
	return map[lab.Start]string{lab.PlusPlus: "k-means++", lab.StartPoints: "random points", lab.StartGiven: "given centres", lab.StartGroups: "means of random groups"}[s]
}

// among reports whether the named objective is compared.
func among(res *lab.Clusterings, name string) bool {
	return slices.ContainsFunc(res.Variants, func(v lab.Clustering) bool { return v.Name == name })
}

// optimisersText names the optimiser of the variants, each where they differ, and those that take
// steps of their own.
func optimisersText(res *lab.Clusterings) string {
	var own, each, titles []string
	for _, v := range res.Variants {
		switch how, title := optimiserText(v.Config), v.Model.Builder.Title; {
		case len(v.Model.Step) > 0:
			own = append(own, title)
		case slices.Contains(each, how):
			i := slices.Index(each, how)
			titles[i] += " and " + title
		default:
			each, titles = append(each, how), append(titles, title)
		}
	}
	if len(each) == 0 {
		return "none: steps of its own, until nothing moves"
	}
	text := each[0]
	if len(each) > 1 {
		for i := range each {
			each[i] = titles[i] + " by " + each[i]
		}
		text = strings.Join(each, "; ")
	}
	if len(own) > 0 {
		text += fmt.Sprintf("; %s takes steps of its own, until nothing moves", strings.Join(own, ", "))
	}
	return text
}

// baselinesText describes how the baselines were trained, which differs from the variants.
func baselinesText(res *lab.Clusterings) string {
	var said []string
	for _, v := range res.Baselines {
		how := fmt.Sprintf("%s: %s, until nothing moves", v.Model.Builder.Title, plural.Count(len(v.Runs), "start"))
		if rows := v.Model.Points().Dim(0); len(v.Model.Step) == 0 {
			how = fmt.Sprintf("%s: %s, of %s each", v.Model.Builder.Title, optimiserText(v.Config), plural.Count(rows, "row"))
		}
		said = append(said, how)
	}
	return strings.Join(said, ". ")
}

// optimiserText describes the optimiser and the schedule of its rate.
func optimiserText(c lab.Config) string {
	if !c.Rate.IsZero() {
		return fmt.Sprintf("%v, its rate %v", c.Optimisers[0], c.Rate)
	}
	if !c.Falling {
		return fmt.Sprintf("%v, its rate constant", c.Optimisers[0])
	}
	return fmt.Sprintf("%v, its rate falling to 0 after the first %d of %s", c.Optimisers[0], c.Steps/4, plural.Count(c.Steps, "step"))
}

// ends returns the first and the last value of a schedule.
func ends(s train.Schedule, steps int) [2]float64 {
	return [2]float64{s.At(0, steps), s.At(steps-1, steps)}
}

func scheduleText(γ train.Schedule, steps int) string {
	first, last := ends(γ, steps)[0], ends(γ, steps)[1]
	if first != last {
		rest := steps // the first step from which γ stays
		for rest > 0 && γ.At(rest-1, steps) == last {
			rest--
		}
		if rest < steps-1 {
			return fmt.Sprintf("annealed from %s to %s in the first %d of %s, and then constant", digits(first, 3), digits(last, 3), rest+1, plural.Count(steps, "step"))
		}
		return fmt.Sprintf("annealed from %s to %s", digits(first, 3), digits(last, 3))
	}
	return "constant " + digits(first, 3)
}

func gammas(γ train.Schedule, steps int) []float64 {
	out := make([]float64, steps)
	for t := range out {
		out[t] = γ.At(t, steps)
	}
	return out
}

// newMethod returns a variant's results, with its centres in the order of the reference.
func newMethod(res *lab.Clusterings, v lab.Clustering, reference []float64) report.Method {
	d := len(res.Config.Table.Columns)
	best := v.Best()
	order := lab.Match(reference, best.Centres(), d)
	m := report.Method{Name: v.Model.Builder.Title, Cost: report.Cost(v.Cost)}
	for _, s := range v.Held {
		inertia, _ := s.Get("inertia")
		m.Held = append(m.Held, inertia)
	}
	for _, o := range v.Optima() {
		m.Optima = append(m.Optima, report.Optimum{Inertia: o.Inertia, Runs: len(o.Runs)})
	}
	for _, r := range v.Runs {
		m.Runs = append(m.Runs, newRun(r, among(res, "kmeans-softmax") && among(res, "kmeans-goofy")))
	}
	for _, j := range order {
		m.Centres = append(m.Centres, best.Centres()[j*d:(j+1)*d])
		var path [][2]float64
		for _, at := range best.Path {
			path = append(path, res.Plane.At(at[j*d:(j+1)*d]))
		}
		m.Paths = append(m.Paths, path)
	}
	if labels := res.Config.Table.Labels; len(labels) > 0 {
		place := make([]int, len(order))
		for to, j := range order {
			place[j] = to
		}
		codes, classes := data.Codes(labels)
		m.Counts = make([][]int, len(classes))
		for i := range m.Counts {
			m.Counts[i] = make([]int, len(order))
		}
		for i, a := range best.Assigned {
			m.Counts[codes[i]][place[a]]++
		}
	}
	return m
}

// newRun converts a run for the page. With angle, it includes the angle between the gradients of
// soft k-means and its alternative.
func newRun(r lab.ClusterRun, angle bool) report.Run {
	out := report.Run{Seed: r.Seed, At: r.At, Loss: r.Loss, Movement: r.Movement, ARI: r.ARI, Unsettled: unsettled(r.Rest), Groups: r.Groups, Diverged: r.Diverged > 0}
	for _, m := range r.Measures {
		out.Inertia = append(out.Inertia, m.Inertia)
		out.Spread = append(out.Spread, m.Spread)
		if angle {
			out.Angle = append(out.Angle, m.Angle)
		}
	}
	return out
}

// unsettled says why a run has not converged, or returns "" if it has.
func unsettled(c lab.Convergence) string {
	if c.Converged() {
		return ""
	}
	return c.String()
}

// derive adds the formulas of a variant's loss, its derivatives and its updates.
func derive(m *report.Method, v lab.Clustering) error {
	model, err := v.Model.Builder.Build(v.Model.Settings, graph.F32)
	if err != nil {
		return err
	}
	moves := []*graph.Node{} // what training computes from the loss, or instead of it
	for _, u := range model.Step {
		moves = append(moves, u.Value)
	}
	if len(moves) == 0 {
		moves = grad.Of(model.Loss, model.Centres())
	}
	if err := model.Graph.Err(); err != nil {
		return err
	}
	forward := viz.Equations(model.Loss)
	m.Formula = template.HTML(forward[len(forward)-1].MathML())
	all := forward
	for _, n := range moves {
		all = append(all, slices.DeleteFunc(viz.Equations(n), func(e viz.Equation) bool {
			return slices.ContainsFunc(forward, func(f viz.Equation) bool { return f.Node == e.Node })
		})...)
	}
	m.LaTeX = chain(m, all)
	return nil
}

// chain adds equations to a method and gives their source.
func chain(m *report.Method, eqs []viz.Equation) string {
	var latex []string
	for _, e := range eqs {
		m.Chain = append(m.Chain, report.Equation{Math: template.HTML(e.MathML())})
		latex = append(latex, e.LaTeX())
	}
	return strings.Join(latex, " \\\\\n")
}

// compareDrawing returns the aligned drawing of two clusterings with their gradients.
func compareDrawing(ctx context.Context, id string, res *lab.Clusterings, a, b int) (report.Drawing, error) {
	c := res.Config
	diff, err := diffModels(ctx, res.Variants[a].Model, res.Variants[b].Model, true, viz.Notes, func(m *builders.Model) courses {
		if m.Gamma() == nil {
			return nil
		}
		return courses{m.Gamma(): ends(c.Scheduled["γ"], c.Steps)}
	})
	if err != nil {
		return report.Drawing{}, err
	}
	var svg strings.Builder
	if err := diff.Figure().SVGContext(ctx, &svg, figure.IDPrefix(id)); err != nil {
		return report.Drawing{}, err
	}
	return report.Drawing{SVG: svg.String(), Footer: diff.Sentence() + " Against A, " + diff.Summary()}, nil
}

// difference returns the identity that relates two objectives, and its meaning in words.
func difference(a, b string) report.Difference {
	identity, words := web.Difference(a, b)
	if identity == nil {
		return report.Difference{}
	}
	return report.Difference{Identity: template.HTML(identity.MathML()), LaTeX: identity.LaTeX(), Words: words}
}

func between(vs []lab.Clustering) ([][]float64, error) {
	out := make([][]float64, len(vs))
	for i, v := range vs {
		out[i] = make([]float64, len(vs))
		for j, w := range vs {
			var err error
			if out[i][j], err = metric.AdjustedRand(v.Best().Assigned, w.Best().Assigned); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func newSweep(name string, log bool, values []float64, c lab.Config, points []lab.SweepPoint) report.Sweep {
	s := report.Sweep{Name: name, Log: log, Values: values, Seeds: c.SweepSeeds}
	for _, o := range c.Objectives {
		var inertia, loss, ari []float64
		for _, p := range points {
			if p.Objective == o {
				s.Moving += p.Moving
				inertia, loss, ari = append(inertia, p.Inertia), append(loss, p.Loss), append(ari, p.ARI)
			}
		}
		s.Inertia, s.Loss, s.ARI = append(s.Inertia, inertia), append(s.Loss, loss), append(s.ARI, ari)
	}
	return s
}

// softened adds to a sweep over γ how the points share the centres.
func softened(s report.Sweep, c lab.Config, points []lab.SweepPoint) report.Sweep {
	for _, o := range c.Objectives {
		var spread, entropy, reach []float64
		for _, p := range points {
			if p.Objective == o {
				spread, entropy, reach = append(spread, p.Spread), append(entropy, p.Entropy), append(reach, p.Reach)
			}
		}
		s.Spread, s.Entropy, s.Reach = append(s.Spread, spread), append(s.Entropy, entropy), append(s.Reach, reach)
	}
	return s
}

func floats(v []int) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

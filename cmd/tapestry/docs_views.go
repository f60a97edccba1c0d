package main

import (
	"context"
	"fmt"
	"strings"

	objectives "github.com/tapestry-ml/tapestry/examples/notation"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/notation"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz"
)

// The training on the page of the five views.
const (
	viewsModel = "kmeans-softmax"
	viewsSteps = 100
)

// viewsPages returns a page that shows soft k-means in five views: formula, graph, derivative, tape
// and values. The functions behind the commands make all of it; places in memory are left out,
// because they depend on the processor.
func viewsPages(ctx context.Context) ([]referencePage, error) {
	c := lab.Config{Table: data.Iris(), Steps: viewsSteps}
	m, err := c.Variant(viewsModel).Build(graph.F64)
	if err != nil {
		return nil, err
	}
	task, err := c.Task(m, 1)
	if err != nil {
		return nil, err
	}
	wrt := m.Centres()
	derivation, err := viz.Derive(grad.Of(m.Loss, wrt)...)
	if err != nil {
		return nil, err
	}
	fresh, err := m.Builder.Build(m.Settings, graph.F64) // without the derivative
	if err != nil {
		return nil, err
	}
	forward, err := notesDrawing(ctx, []*graph.Node{fresh.Loss})
	if err != nil {
		return nil, err
	}
	both, err := notesDrawing(ctx, append([]*graph.Node{fresh.Loss}, grad.Of(fresh.Loss, fresh.Centres())...))
	if err != nil {
		return nil, err
	}
	rows, err := viewsTape(ctx, task)
	if err != nil {
		return nil, err
	}
	values, err := viewsValues(ctx, task)
	if err != nil {
		return nil, err
	}
	var equations, latex []string
	for _, e := range viz.Equations(fresh.Loss) {
		equations, latex = append(equations, e.String()), append(latex, e.LaTeX())
	}
	text, err := objectives.Files.ReadFile(viewsModel + notation.Extension)
	if err != nil {
		return nil, err
	}
	var t strings.Builder
	fmt.Fprintf(&t, "%s# Soft k-means in five views\n\nOne objective as formula, graph, derivative, tape and numbers, on the iris data. ", generated)
	t.WriteString("Every part is the output of a command; `tapestry serve kmeans-softmax` has them on one page in the browser.\n\n## 1. Formula\n\n")
	fmt.Fprintf(&t, "As it may be typed into a file ([the notation](../notation.md)):\n\n%s\n", block([]string{strings.TrimSpace(string(text))}))
	fmt.Fprintf(&t, "As it is read back from the graph, in Unicode and in LaTeX (`tapestry grad %s`):\n\n%s\n```math\n\\begin{gathered}\n%s\n\\end{gathered}\n```\n", viewsModel, block(equations), strings.Join(latex, " \\\\\n"))
	fmt.Fprintf(&t, "\n## 2. Graph\n\nInputs are pills, parameters have a double line, reductions are funnels; the edges carry shapes (`tapestry draw %s`).\n\n![The graph of soft k-means](soft-kmeans.svg)\n", viewsModel)
	fmt.Fprintf(&t, "\n## 3. Derivative\n\nBy the centres, with the rule behind each step (`tapestry grad %s --rules`):\n\n%s\n", viewsModel, block(strings.Split(strings.TrimSpace(derivation.String()), "\n")))
	t.WriteString("The derivative is a graph, too. Each gradient stands in the row of its value (`tapestry draw " + viewsModel + " --grad`).\n\n![The graph with its derivative](soft-kmeans-grad.svg)\n")
	fmt.Fprintf(&t, "\n## 4. Tape\n\nA training step after rewriting and fusion: the instructions in a bracket run together, block by block of rows. `tapestry tape %s` adds the places in memory, `tapestry rewrite %s` how the graph was rewritten.\n\n%s",
		viewsModel, viewsModel, block(rows))
	fmt.Fprintf(&t, "\n## 5. Values\n\nThe values in it (`tapestry step %s --print`), before training and after %d steps of %s.\n\n%s", viewsModel, viewsSteps, "Adam, as γ rises", values)
	return []referencePage{{"soft-kmeans.md", t.String()}, {"soft-kmeans.svg", forward}, {"soft-kmeans-grad.svg", both}}, nil
}

// viewsTape lists the training step without places and sizes.
func viewsTape(ctx context.Context, task lab.Task) ([]string, error) {
	prog, err := tape.CompileContext(ctx, task.Model.Graph, tape.Fetch(task.Model.Loss), tape.Do(task.Step))
	if err != nil {
		return nil, err
	}
	return viewsRows(prog), nil
}

// viewsRows lists the rows of a program, and below a loop those of its body, marked ┆.
func viewsRows(prog *tape.Program) (out []string) {
	rows := prog.Rows()
	joined := func(i, j int) bool { return j >= 0 && j < len(rows) && rows[i].Stage == rows[j].Stage }
	for i, r := range rows {
		bracket := " "
		switch before, after := joined(i, i-1), joined(i, i+1); {
		case before && after:
			bracket = "│"
		case after:
			bracket = "╭"
		case before:
			bracket = "╰"
		}
		out = append(out, fmt.Sprintf("%4d %s %-18s = %s %s", i, bracket, r.Result, r.Op, strings.Join(r.In, ", ")))
		if r.Body != nil {
			for _, line := range append(r.Head, viewsRows(r.Body)...) {
				out = append(out, "     ┆ "+line)
			}
		}
	}
	return out
}

// viewsValues shows some quantities with their gradients before and after training.
func viewsValues(ctx context.Context, task lab.Task) (string, error) {
	s, err := inspect.Open(ctx, inspect.Subject{Graph: task.Model.Graph, Wanted: []*graph.Node{task.Model.Loss}, Step: task.Step, Feed: task.Feed, Store: task.Store})
	if err != nil {
		return "", err
	}
	defer s.Close()
	var lines []string
	for _, step := range []int{0, viewsSteps} {
		if err := s.Train(ctx, step-s.Step()); err != nil {
			return "", err
		}
		for _, name := range []string{"loss", "D", "α", "r"} {
			q, err := s.Quantity(ctx, task.Model.Graph.Lookup(name))
			if err != nil {
				return "", err
			}
			if name == "loss" {
				lines = append(lines, fmt.Sprintf("step %d: loss = %.4f", step, q.Value.At(0)), "")
				continue
			}
			lines = append(lines, inspect.StatisticsOf(q.Value, 8).String())
			lines = append(lines, strings.Split(strings.TrimRight(inspect.Values(name, q.Value, inspect.Window{Rows: 6}), "\n"), "\n")...)
			lines = append(lines, "")
		}
	}
	return block(lines[:len(lines)-1]), nil
}

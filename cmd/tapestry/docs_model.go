package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/viz"
)

// Limits of the page of a model.
const (
	pageDerivatives = 8       // equations of the derivative
	pageEquations   = 40      // of the model
	pageColumns     = 240     // length of an equation
	pageBytes       = 200_000 // size of the drawing
)

// modelPages returns the page of a model and its drawings.
func modelPages(ctx context.Context, f builders.Family, b builders.Builder) ([]referencePage, error) {
	m, err := b.Build(nil, graph.F32)
	if err != nil {
		return nil, err
	}
	var t strings.Builder
	fmt.Fprintf(&t, "%s# %s\n\n`%s`, of the family [%s](../README.md); the notes: %s.\n\n", generated, capitalised(b.Title), b.Name, f.Name, b.Notes)
	if b.AsNotes.Differs() {
		fmt.Fprintf(&t, "The notes have %s; `--as-notes` has it so.\n\n", b.AsNotes.Says)
	}
	fmt.Fprintf(&t, "%s\n![The graph of %s, at the level of the notes](%s.svg)\n\n## Settings\n\n", block([]string{b.Formula}), b.Name, b.Name)
	var rows [][]string
	for _, s := range b.Hyperparameters {
		rows = append(rows, []string{"`" + s.Name + "`", "`" + s.Format(s.Default) + "`", settingDoc(s)})
	}
	t.WriteString(markdownTable([]string{"setting", "default", "meaning"}, rows))
	t.WriteString("\n## Inputs, parameters and states\n\n")
	t.WriteString(markdownTable([]string{"path", "type", "is"}, leafRows(m)))
	t.WriteString("\n## Equations\n\n" + equationBlock(viz.Equations(m.Result()), pageEquations, "tapestry draw "+b.Name+" --level ops"))
	if m.Loss != nil {
		if wrt, err := derivedBy(m, nil); err != nil {
			return nil, err
		} else if len(wrt) > 0 {
			d := grad.Of(m.Loss, wrt[0])[0]
			if err := m.Graph.Err(); err != nil {
				return nil, err
			}
			fmt.Fprintf(&t, "\n## Derivative by %s\n\n%s", wrt[0].Path(), equationBlock(viz.Equations(d), pageDerivatives, "tapestry grad "+b.Name))
		}
	}
	fresh, err := b.Build(nil, graph.F32) // without the derivative
	if err != nil {
		return nil, err
	}
	roots, err := asDrawn(ctx, drawnRoots(fresh, nil), viz.Notes)
	if err != nil {
		return nil, err
	}
	pages := []referencePage{{"models/" + b.Name + ".md", ""}}
	drawings := [][]*graph.Node{roots}
	for _, body := range loopBodies(roots) {
		drawings = append(drawings, body.Out())
	}
	for k, roots := range drawings {
		name := b.Name
		if k > 0 {
			name = fmt.Sprintf("%s-loop%d", b.Name, k)
			fmt.Fprintf(&t, "\n## A step of the loop %s\n\n%s\n![What a step does](%s.svg)\n", roots[0].Graph().Name(),
				equationBlock(stepEquations(roots), pageEquations, fmt.Sprintf("tapestry draw %s --loop %d", b.Name, k)), name)
		}
		svg, err := notesDrawing(ctx, roots)
		if err != nil {
			return nil, err
		}
		pages = append(pages, referencePage{"models/" + name + ".svg", svg})
	}
	claims, err := claimSection(b.Name)
	if err != nil {
		return nil, err
	}
	pages[0].text = t.String() + claims
	return pages, nil
}

// stepEquations returns the equations of all results of a step, each once.
func stepEquations(out []*graph.Node) []viz.Equation {
	var all []viz.Equation
	seen := map[*graph.Node]bool{}
	for _, n := range out {
		for _, e := range viz.Equations(n) {
			if !seen[e.Node] {
				seen[e.Node] = true
				all = append(all, e)
			}
		}
	}
	return all
}

// notesDrawing returns the drawing of a graph at the level of the notes.
func notesDrawing(ctx context.Context, roots []*graph.Node) (string, error) {
	var svg strings.Builder
	for _, boxes := range []int{300, 100, 50, 0} { // above this number of boxes, scopes are drawn closed
		fig, err := viz.Draw(roots, viz.At(viz.Notes), viz.WithoutLines(), viz.CollapseAbove(boxes))
		if err != nil {
			return "", err
		}
		svg.Reset()
		if err := fig.SVGContext(ctx, &svg); err != nil {
			return "", err
		}
		if svg.Len() <= pageBytes {
			break
		}
	}
	return svg.String(), nil
}

// leafRows returns the rows of the table of inputs, parameters and states.
func leafRows(m *builders.Model) [][]string {
	var out [][]string
	for _, n := range m.Graph.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
		is := n.Role().String()
		if v, ok := n.Default(); ok {
			is = fmt.Sprintf("setting, %g unless fed", v)
		} else if n.Role() != graph.RoleInput {
			is += ", starts as " + n.Initialiser().String()
		}
		out = append(out, []string{"`" + n.Path() + "`", "`" + n.Type().String() + "`", is})
	}
	return out
}

// equationBlock returns the equations that are short enough to read, at most so many, and names the
// command that shows the rest.
func equationBlock(eqs []viz.Equation, most int, rest string) string {
	var lines []string
	for _, e := range eqs {
		if s := e.String(); len(lines) < most && utf8.RuneCountInString(s) <= pageColumns {
			lines = append(lines, s)
		}
	}
	text := ""
	if len(lines) > 0 {
		text = block(lines)
	}
	if left := len(eqs) - len(lines); left > 0 {
		if text != "" {
			text += "\n"
		}
		text += fmt.Sprintf("%s more: `%s`.\n", plural.Count(left, "equation"), rest)
	}
	return text
}

package main

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tapestry-ml/tapestry/cmd/tapestry/firing"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// draw writes the drawings that --svg asks for.
func (r *rewriting) draw(ctx context.Context, t *traced) error {
	write := func(path string, d *viz.Difference) error {
		return writeOutput(path, nil, func(w io.Writer) error { return d.Figure().SVGContext(ctx, w) })
	}
	if strings.HasSuffix(r.svg, ".svg") {
		if r.number > 0 {
			d, err := firing.Drawing(t.history.Firings[r.number-1])
			if err != nil {
				return err
			}
			return write(r.svg, d)
		}
		d, err := viz.Diff(t.wanted, t.after(), viz.At(viz.Primitive), viz.Panels("as written", "rewritten"))
		if err != nil {
			return err
		}
		return write(r.svg, d)
	}
	if err := os.MkdirAll(r.svg, 0o777); err != nil {
		return err
	}
	for i, f := range t.history.Firings {
		if r.number > 0 && r.number != i+1 {
			continue
		}
		d, err := firing.Drawing(f)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(r.svg, fmt.Sprintf("%03d-%s.svg", i+1, fileName(f.Rule))), d); err != nil {
			return err
		}
	}
	return nil
}

// fileName returns a rule's name in characters that are safe in a file name.
func fileName(rule string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, rule)
}

// page writes every firing with its formulas, drawing and check.
func (t *traced) page(ctx context.Context, w io.Writer) error {
	type shown struct {
		shownFiring
		MathBefore, MathAfter, Drawing template.HTML
	}
	data := struct {
		Title   string
		Nodes   [2]int
		Rules   []firedRule
		Firings []shown
	}{Title: "Rewriting " + t.model.Builder.Title, Nodes: t.nodes, Rules: t.rules()}
	for i, f := range t.history.Firings {
		d, err := firing.Drawing(f)
		if err != nil {
			return err
		}
		var svg strings.Builder
		if err := d.Figure().SVGContext(ctx, &svg, figure.IDPrefix(fmt.Sprintf("firing%d-", i+1))); err != nil {
			return err
		}
		before, after := firing.Sides(f)
		data.Firings = append(data.Firings, shown{t.shown(i), template.HTML(before.MathML), template.HTML(after.MathML), template.HTML(svg.String())})
	}
	return writePage(w, historyPage, data)
}

var historyPage = template.Must(template.New("history").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.Title}}</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; }
td, th { padding: .25rem 1rem .25rem 0; text-align: left; vertical-align: top; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dt { opacity: .7; }
dd { margin: 0; overflow-x: auto; overflow-y: hidden; padding-bottom: .2rem; }
summary { cursor: pointer; margin-top: .5rem; }
svg { max-width: 100%; height: auto; }
</style>
</head>
<body>
<h1>{{.Title}}</h1>
<p>{{index .Nodes 0}} nodes become {{index .Nodes 1}}.</p>
<table>
<thead><tr><th>times</th><th>pass</th><th>rule</th><th>why</th></tr></thead>
<tbody>
{{range .Rules}}<tr><td>{{.Times}}</td><td>{{.Pass}}</td><td>{{.Rule}}</td><td>{{.Why}}</td></tr>
{{end}}</tbody>
</table>
{{range .Firings}}<section>
<h2 id="firing{{.Number}}">{{.Number}}. {{.Pass}}: {{.Rule}}</h2>
<dl>
<dt>why</dt><dd>{{.Why}}</dd>
{{if .Pos}}<dt>line</dt><dd>{{.Pos}}</dd>
{{end}}<dt>before</dt><dd>{{if .MathBefore}}{{.MathBefore}}{{else}}<code>{{.Before}}</code>{{end}}</dd>
<dt>after</dt><dd>{{if .MathAfter}}{{.MathAfter}}{{else}}<code>{{.After}}</code>{{end}}</dd>
<dt>check</dt><dd>{{.Check}}</dd>
</dl>
<details><summary>Drawing</summary>
{{.Drawing}}
</details>
</section>
{{end}}</body>
</html>
`))

package main

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/viz"
)

// gradOptions says which parts of a derivative to print, and how.
type gradOptions struct {
	wrt    string
	latex  bool
	rules  bool
	format string
	out    string
}

func newGrad(o *options) *cobra.Command {
	var m modelOptions
	var g gradOptions
	cmd := &cobra.Command{
		Use:   "grad MODEL [--wrt NAME] [--rules]",
		Short: "Print the loss and its derivative as formulas",
		Long: `Prints the equations of the loss, the chain of derivatives down to the quantity
named by --wrt, and that derivative in one line. With --rules each equation of the
chain is followed by the rules that justify it.`,
		Example: "  tapestry grad kmeans-softmax --wrt r\n  tapestry grad kmeans-goofy --wrt r --format latex\n  tapestry grad attention-self --rules --format html --out rules.html",
		Args:    oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := g.check(o, cmd.Flags().Changed("format")); err != nil {
				return err
			}
			model, err := m.build(args[0])
			if err != nil {
				return err
			}
			d, err := derivative(model, g.wrt)
			if err != nil {
				return err
			}
			return g.print(cmd, o, model, d)
		},
	}
	m.flags(cmd)
	cmd.Flags().StringVar(&g.wrt, "wrt", "", "input, parameter or named quantity to differentiate by (default: the first parameter)")
	cmd.Flags().BoolVar(&g.rules, "rules", false, "name the rules that justify each equation")
	cmd.Flags().StringVar(&g.format, "format", "text", "text, latex, mathml (a fragment of a page) or html (a page)")
	cmd.Flags().BoolVar(&g.latex, "latex", false, "same as --format latex")
	cmd.Flags().StringVarP(&g.out, "out", "o", "", "file to write (default: standard output)")
	return cmd
}

func (g *gradOptions) check(o *options, formatted bool) error {
	switch g.format {
	case "text", "latex", "mathml", "html":
	default:
		return usagef("--format %q: want text, latex, mathml or html", g.format)
	}
	if g.latex {
		if formatted && g.format != "latex" {
			return usagef("--latex and --format %s: want one of them", g.format)
		}
		g.format = "latex"
	}
	if o.json && g.format != "text" && g.format != "latex" {
		return usagef("--json and --format %s: JSON holds text or LaTeX", g.format)
	}
	return checkOutput(g.out)
}

// derivative returns the derivative of a model's loss by the named quantity, by default its first
// parameter.
func derivative(model *builders.Model, wrt string) (*graph.Node, error) {
	var names []string
	if wrt != "" {
		names = []string{wrt}
	}
	by, err := derivedBy(model, names)
	if err != nil {
		return nil, err
	}
	if len(by) == 0 {
		return nil, usagef("the loss of %s has no derivative by a parameter or an input", model.Builder.Name)
	}
	d := grad.Of(model.Loss, by[0])[0]
	return d, model.Graph.Err()
}

func (g *gradOptions) print(cmd *cobra.Command, o *options, m *builders.Model, d *graph.Node) error {
	derived, err := g.derivation(d)
	if err != nil {
		return err
	}
	return writeOutput(g.out, cmd.OutOrStdout(), func(w io.Writer) error {
		switch {
		case o.json:
			return printJSON(w, g.forMachines(m.Builder.Name, derived))
		case g.format == "html":
			return writePage(w, stepsPage, struct {
				Title string
				Body  template.HTML
			}{"The derivative of " + m.Builder.Title, template.HTML(derived.HTML())})
		}
		_, err := io.WriteString(w, g.text(derived))
		return err
	})
}

// derivation returns the derivative step by step, or as equations only.
func (g *gradOptions) derivation(d *graph.Node) (viz.Derivation, error) {
	if g.rules {
		return viz.Derive(d)
	}
	given, chain, closed := viz.Chain(d)
	out := viz.Derivation{Given: given, Closed: closed}
	for _, e := range chain {
		out.Steps = append(out.Steps, viz.Step{Equation: e})
	}
	return out, nil
}

func (g *gradOptions) text(d viz.Derivation) string {
	switch {
	case g.format == "mathml":
		return d.HTML()
	case g.rules && g.format == "latex":
		return d.LaTeX()
	case g.rules:
		return d.String()
	}
	var chain []viz.Equation
	for _, s := range d.Steps {
		chain = append(chain, s.Equation)
	}
	var parts []string
	for _, list := range [][]viz.Equation{d.Given, chain, d.Closed} {
		parts = append(parts, strings.Join(g.lines(list), "\n")+"\n")
	}
	return strings.Join(parts, "\n")
}

func (g *gradOptions) lines(eqs []viz.Equation) []string {
	var out []string
	for _, e := range eqs {
		if g.format == "latex" {
			out = append(out, e.LaTeX())
		} else {
			out = append(out, e.String())
		}
	}
	return out
}

// gradJSON is a derivative in JSON: the equation of each step and, with --rules, its
// justification.
type gradJSON struct {
	Model      string     `json:"model"`
	Loss       []string   `json:"loss"`
	Chain      []string   `json:"chain"`
	Rules      [][]string `json:"rules,omitempty"` // of each equation in Chain
	Derivative string     `json:"derivative"`
	Where      []string   `json:"where,omitempty"`
}

func (g *gradOptions) forMachines(model string, d viz.Derivation) gradJSON {
	out := gradJSON{Model: model, Loss: g.lines(d.Given)}
	for _, s := range d.Steps {
		out.Chain = append(out.Chain, g.lines([]viz.Equation{s.Equation})...)
		if g.rules {
			out.Rules = append(out.Rules, s.Because())
		}
	}
	closed := g.lines(d.Closed)
	out.Derivative, out.Where = closed[0], closed[1:]
	return out
}

var stepsPage = template.Must(template.New("steps").Parse(fmt.Sprintf(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.Title}}</title>
<style>%s</style>
</head>
<body>
<h1>{{.Title}}</h1>
{{.Body}}</body>
</html>
`, derivationStyle)))

const derivationStyle = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; }
td { padding: .35rem 1rem .35rem 0; vertical-align: middle; }
td + td { font-size: .875rem; opacity: .8; min-width: 16rem; }
td math { display: math; }
tr.given + tr.step td, tr.step + tr.closed td { border-top: 1px solid currentColor; padding-top: .8rem; }
`

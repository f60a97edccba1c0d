package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/viz"
)

func newGrad(o *options) *cobra.Command {
	var m modelOptions
	var wrt string
	var latex bool
	cmd := &cobra.Command{
		Use:   "grad MODEL --wrt NAME",
		Short: "Print the loss and its derivative as formulas",
		Long: `Prints the equations of the loss, the chain of derivatives down to the quantity
named by --wrt, and that derivative in one line.`,
		Example: "  tapestry grad kmeans-softmax --wrt r\n  tapestry grad kmeans-goofy --wrt r --latex",
		Args:    oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			model, err := m.build(args[0])
			if err != nil {
				return err
			}
			w, err := quantity(model, wrt)
			if err != nil {
				return err
			}
			d := grad.Of(model.Loss, w)[0]
			if err := model.Graph.Err(); err != nil {
				return err
			}
			return printGrad(cmd, o, model, d, latex)
		},
	}
	m.flags(cmd)
	cmd.Flags().StringVar(&wrt, "wrt", "r", "input, parameter or named quantity to differentiate by")
	cmd.Flags().BoolVar(&latex, "latex", false, "print LaTeX")
	return cmd
}

// quantity finds an input, parameter or named quantity of a model. The error
// suggests the nearest name.
func quantity(m *builders.Model, name string) (*graph.Node, error) {
	if n := m.Graph.Lookup(name); n != nil {
		return n, nil
	}
	var names []string
	for _, n := range m.Graph.Nodes() {
		if s := n.Name(); s != "" {
			names = append(names, s)
		}
	}
	return nil, usagef("%s has no quantity %q: did you mean %q? (it has %s)", m.Builder.Name, name, builders.Nearest(name, names), strings.Join(names, ", "))
}

func printGrad(cmd *cobra.Command, o *options, m *builders.Model, d *graph.Node, latex bool) error {
	text := func(eqs []viz.Equation) []string {
		var out []string
		for _, e := range eqs {
			if latex {
				out = append(out, e.Latex())
			} else {
				out = append(out, e.String())
			}
		}
		return out
	}
	forward, chain := text(viz.Equations(m.Loss)), text(viz.Equations(d))
	whole := viz.Formula(d)
	if latex {
		whole = viz.Latex(d)
	}
	out := cmd.OutOrStdout()
	if o.json {
		return printJSON(out, struct {
			Model      string   `json:"model"`
			Loss       []string `json:"loss"`
			Chain      []string `json:"chain"`
			Derivative string   `json:"derivative"`
		}{m.Builder.Name, forward, chain, whole})
	}
	for _, s := range forward {
		fmt.Fprintln(out, s)
	}
	fmt.Fprintln(out)
	for _, s := range chain {
		fmt.Fprintln(out, s)
	}
	fmt.Fprintf(out, "\n%s\n", whole)
	return nil
}

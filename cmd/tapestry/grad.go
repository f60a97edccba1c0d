package main

import (
	"fmt"

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
		Use:   "grad MODEL [--wrt NAME]",
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
			var names []string
			if wrt != "" {
				names = []string{wrt}
			}
			by, err := derivedBy(model, names)
			if err != nil {
				return err
			}
			if len(by) == 0 {
				return usagef("the loss of %s has no derivative by a parameter or an input", model.Builder.Name)
			}
			d := grad.Of(model.Loss, by[0])[0]
			if err := model.Graph.Err(); err != nil {
				return err
			}
			return printGrad(cmd, o, model, d, latex)
		},
	}
	m.flags(cmd)
	cmd.Flags().StringVar(&wrt, "wrt", "", "input, parameter or named quantity to differentiate by (default: the first parameter)")
	cmd.Flags().BoolVar(&latex, "latex", false, "print LaTeX")
	return cmd
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

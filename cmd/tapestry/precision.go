package main

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/marks"
	"github.com/tapestry-ml/tapestry/inspect"
)

func newPrecision(o *options) *cobra.Command {
	var at moment
	var svg string
	var top int
	var mixed, int8s bool
	var keep []string
	cmd := &cobra.Command{
		Use:   "precision MODEL",
		Short: "Show where float32 loses digits, beside the same run in float64",
		Long: `Runs a training step as the model is written, and beside it in float64 from the same
numbers. It shows how many of float32's 7.2 digits each result has right as a whole: the
loss, the gradients, and what an update makes of parameters and states. For each node that
itself loses digits, it then shows how many are lost here (the rest is inherited from
operands) and in total, by how much the error of the operands is magnified, why, and the
element with the largest error. Lost digits do no harm if they reach no result: then
nothing computed from the node loses half a digit. With --step the model is first trained
for that many steps.

With --mixed the run rounds the operands of large products and convolutions to
bfloat16, as tape.Mixed does: it shows what that costs before it is used, and by which
rules the model's products and convolutions round their operands or keep them.

With --int8 the products by weights are computed in integers of a byte, as package
infer/quantise does, from the ranges of the step's own batch. It shows the relative error
of each product by itself, and of the output and the loss. Products by weights whose paths
begin as one of --keep says stay float.`,
		Example: "  tapestry precision kmeans-softmax\n  tapestry precision transformer-gpt --step 10 --top 5 --svg precision.svg\n  tapestry precision transformer-gpt --mixed\n  tapestry precision conv-2d --int8 --keep head",
		Args:    oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := positive(counted{"top", top}); err != nil {
				return err
			}
			if err := checkOutput(svg); err != nil {
				return err
			}
			switch {
			case int8s && (mixed || svg != "" || cmd.Flags().Changed("top")):
				return usagef("--int8: want no --mixed, --svg or --top with it")
			case len(keep) > 0 && !int8s:
				return usagef("--keep: want --int8 with it")
			}
			s, err := at.run(cmd.Context(), o, args[0])
			if err != nil {
				return err
			}
			if int8s {
				return printQuantised(cmd, o, args[0], s, keep)
			}
			measure := inspect.MeasurePrecision
			if mixed {
				measure = inspect.MeasureMixedPrecision
			}
			p, err := measure(cmd.Context(), s.feed, s.store, s.roots...)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if o.json {
				err = printPrecision(w, args[0], p, top)
			} else {
				_, err = io.WriteString(w, p.Table(top))
			}
			if err != nil {
				return err
			}
			return drawMarks(cmd.Context(), svg, w, s.withGradient(), marks.Precision(p), marks.PrecisionColours)
		},
	}
	at.flags(cmd)
	cmd.Flags().BoolVar(&mixed, "mixed", false, mixedUsage)
	cmd.Flags().BoolVar(&int8s, "int8", false, "compute products by weights in integers of a byte, and show what that loses")
	cmd.Flags().StringSliceVar(&keep, "keep", nil, "beginnings of paths of weights whose products stay float, with --int8")
	cmd.Flags().IntVar(&top, "top", 20, "largest number of nodes to show")
	cmd.Flags().StringVar(&svg, "svg", "", "draw the digits lost in each node to this file")
	return cmd
}

func printPrecision(w io.Writer, model string, p *inspect.Precision, top int) error {
	type loss struct {
		At      jsonEntry     `json:"at"`
		True    jsonNumber    `json:"float64"`
		Here    float64       `json:"digits_lost_here"`
		Lost    float64       `json:"digits_lost"`
		Local   jsonNumber    `json:"local_error"`
		Total   jsonNumber    `json:"total_error"`
		Times   jsonNumber    `json:"amplification"`
		Flips   int           `json:"flips,omitempty"`
		Cause   string        `json:"cause,omitempty"`
		Reaches bool          `json:"reaches_result"`
		Witness []jsonOperand `json:"witness,omitempty"`
	}
	type result struct {
		Name  string     `json:"name"`
		Error jsonNumber `json:"relative_error"`
		Kept  float64    `json:"digits_kept"`
	}
	type rule struct {
		Operation string `json:"operation"`
		Operands  string `json:"operands"`
		Sums      string `json:"sums"`
		When      string `json:"when"`
		Why       string `json:"why"`
		Nodes     int    `json:"nodes"`
	}
	v := struct {
		Model   string   `json:"model"`
		Step    uint64   `json:"step"`
		Mixed   bool     `json:"mixed,omitempty"`
		Rules   []rule   `json:"rules,omitempty"`
		Results []result `json:"results"`
		Losses  []loss   `json:"losses"`
	}{Model: model, Step: p.Step, Mixed: p.Mixed}
	for _, r := range p.Rules {
		v.Rules = append(v.Rules, rule{r.Operation, r.Operands, r.Sums, r.When, r.Why, r.Nodes})
	}
	for _, r := range p.Results {
		v.Results = append(v.Results, result{r.Name, jsonNumber(r.Error), r.Kept()})
	}
	for _, l := range p.Losses[:min(top, len(p.Losses))] {
		v.Losses = append(v.Losses, loss{newJSONEntry(l.Worst), jsonNumber(l.True), l.Here(), l.Lost(), jsonNumber(l.Local), jsonNumber(l.Total),
			jsonNumber(l.Amplification()), l.Flips, l.Cause, l.Reaches, jsonOperands(l.Witness)})
	}
	return printJSON(w, v)
}

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
	cmd := &cobra.Command{
		Use:   "precision MODEL",
		Short: "Show where float32 loses digits, beside the same run in float64",
		Long: `Runs a training step as the model is written, and beside it in float64 from the same
numbers. For each node that itself loses digits, it shows how many of float32's 7.2 digits
are lost here (the rest is inherited from operands) and in total, by how much the error
of the operands is magnified, why, and the element with the largest error. Lost digits do
no harm if they reach no result (the loss, or an updated parameter or state): then nothing
computed from the node loses half a digit. With --step the model is first trained for
that many steps.`,
		Example: "  tapestry precision kmeans-softmax\n  tapestry precision transformer-gpt --step 10 --top 5 --svg precision.svg",
		Args:    oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := positive(counted{"top", top}); err != nil {
				return err
			}
			if err := checkOutput(svg); err != nil {
				return err
			}
			s, err := at.run(cmd.Context(), o, args[0])
			if err != nil {
				return err
			}
			p, err := inspect.MeasurePrecision(cmd.Context(), s.feed, s.store, s.roots...)
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
	v := struct {
		Model  string `json:"model"`
		Step   uint64 `json:"step"`
		Losses []loss `json:"losses"`
	}{Model: model, Step: p.Step}
	for _, l := range p.Losses[:min(top, len(p.Losses))] {
		v.Losses = append(v.Losses, loss{newJSONEntry(l.Worst), jsonNumber(l.True), l.Here(), l.Lost(), jsonNumber(l.Local), jsonNumber(l.Total),
			jsonNumber(l.Amplification()), l.Flips, l.Cause, l.Reaches, jsonOperands(l.Witness)})
	}
	return printJSON(w, v)
}

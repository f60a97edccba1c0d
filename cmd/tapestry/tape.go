package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

func newTape(o *options) *cobra.Command {
	var m modelOptions
	var forward, asWritten, log bool
	cmd := &cobra.Command{
		Use:     "tape MODEL",
		Short:   "Show the compiled training step: operands, places in memory, FLOPs, bytes, peak",
		Example: "  tapestry tape kmeans-softmax --set n=4096,d=64,k=64 --log",
		Args:    oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			model, err := m.build(args[0])
			if err != nil {
				return err
			}
			prog, err := compileStep(model, train.SGD(0.1), forward, asWritten)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if o.json {
				return tapeJSON(out, model, prog)
			}
			fmt.Fprint(out, prog)
			if log {
				fmt.Fprintln(out, "\nrewrites:")
				for _, e := range prog.Log() {
					fmt.Fprintln(out, "  "+e.String())
				}
			}
			return nil
		},
	}
	m.flags(cmd)
	cmd.Flags().BoolVar(&forward, "forward", false, "the loss alone, without gradient and update")
	cmd.Flags().BoolVar(&asWritten, "as-written", false, "without the rewrite passes")
	cmd.Flags().BoolVar(&log, "log", false, "also show what the passes did")
	return cmd
}

// trainingStep is a model's own update, or the optimiser's.
func trainingStep(m *builders.Model, opt train.Optimiser) graph.Step {
	if len(m.Step) > 0 {
		return m.Step
	}
	return opt.Minimize(m.Loss, m.Centres)
}

func compileStep(m *builders.Model, opt train.Optimiser, forward, asWritten bool) (*tape.Program, error) {
	options := []tape.Option{tape.Fetch(m.Loss)}
	if !forward {
		options = append(options, tape.Do(trainingStep(m, opt)))
	}
	if asWritten {
		options = append(options, tape.Passes())
	}
	return tape.Compile(m.Graph, options...)
}

func tapeJSON(out interface{ Write([]byte) (int, error) }, m *builders.Model, p *tape.Program) error {
	type row struct {
		Op      string   `json:"op"`
		Result  string   `json:"result"`
		In      []string `json:"in"`
		Offset  int      `json:"offset"`
		Bytes   int      `json:"bytes"`
		InPlace bool     `json:"in_place"`
		FLOPs   int64    `json:"flops"`
		Traffic int64    `json:"traffic"`
		Pos     string   `json:"pos"`
	}
	v := struct {
		Model   string `json:"model"`
		Arena   int    `json:"arena_bytes"`
		FLOPs   int64  `json:"flops"`
		Traffic int64  `json:"traffic_bytes"`
		Rows    []row  `json:"instructions"`
		Log     string `json:"rewrites"`
	}{Model: m.Builder.Name, Arena: p.Arena(), FLOPs: p.FLOPs(), Traffic: p.Traffic()}
	for _, r := range p.Rows() {
		v.Rows = append(v.Rows, row{r.Op, r.Result, r.In, r.Offset, r.Bytes, r.InPlace, r.FLOPs, r.Traffic, r.Pos.String()})
	}
	var log strings.Builder
	for _, e := range p.Log() {
		log.WriteString(e.String() + "\n")
	}
	v.Log = log.String()
	return printJSON(out, v)
}

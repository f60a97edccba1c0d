package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

func newTape(o *options) *cobra.Command {
	var m modelOptions
	var profiled profiling
	var budget byteSize
	var forward, asWritten, fastMath, phases, log bool
	cmd := &cobra.Command{
		Use:   "tape MODEL",
		Short: "Show the compiled training step: operands, places in memory, FLOPs, bytes, peak",
		Long: `Shows the compiled training step: an instruction a line, with operands, places in
memory, FLOPs and bytes.

With --profile the step is run on examples of the model's. Each instruction is shown with
its time, its share of the step, operations and bytes per second (outside of scratch
memory, and ~ inside it), and its share of the maximum of a core of this machine (roof),
which is measured first: the rate of multiply-adds, and of streams through memory.
An elementary function counts as one operation. Then times are added up by line of the
model, by scope and by quantity, those of derivatives with their quantities.

With --phases the forms of the program after each phase of the compiler come first, from
instructions that are fused to the calls that the VM makes.`,
		Example: "  tapestry tape kmeans-softmax --set n=4096,d=64,k=64 --log\n" +
			"  tapestry tape kmeans-softmax --set n=4096,d=64,k=64 --profile --trace trace.json\n" +
			"  tapestry tape kmeans-softmax --forward --phases",
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := profiled.check(); err != nil {
				return err
			}
			if asWritten && fastMath {
				return usagef("--as-written and --fast-math exclude each other")
			}
			if err := profiled.unused(cmd); err != nil {
				return err
			}
			options := append(budget.options(), mathOptions(fastMath)...)
			if phases {
				if o.json {
					return usagef("--phases shows text: --json has no use for it")
				}
				options = append(options, tape.Debug(cmd.OutOrStdout()))
			}
			model, err := m.build(args[0])
			if err != nil {
				return err
			}
			prog, err := compileStep(cmd.Context(), model, train.SGD(0.1), forward, asWritten, options...)
			if err != nil {
				return err
			}
			profile, err := profiled.run(cmd.Context(), model, prog, o.seed)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case o.json:
				return tapeJSON(out, model, prog, profile)
			case profile != nil:
				fmt.Fprint(out, profile)
			default:
				fmt.Fprint(out, prog)
			}
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
	profiled.flags(cmd)
	cmd.Flags().BoolVar(&forward, "forward", false, "show the loss or output alone, without gradient and update")
	cmd.Flags().BoolVar(&asWritten, "as-written", false, "leave out the rewrite passes")
	cmd.Flags().BoolVar(&fastMath, "fast-math", false, fastMathUsage)
	cmd.Flags().Var(&budget, "budget", "memory for values, as in 512KiB or 1.5MiB; the rest is computed again")
	cmd.Flags().BoolVar(&log, "log", false, "also show the log of the passes")
	cmd.Flags().BoolVar(&phases, "phases", false, "show the program after each phase of the compiler first")
	return cmd
}

const fastMathUsage = "distances from norms and products, faster and with fewer digits (see tape.FastMath)"

// mathOptions returns the option for fast math, if it is wanted.
func mathOptions(fast bool) []tape.Option {
	if fast {
		return []tape.Option{tape.FastMath()}
	}
	return nil
}

// compileStep compiles a training step. A model without a loss, or without anything to train,
// runs forward.
func compileStep(ctx context.Context, m *builders.Model, opt train.Optimiser, forward, asWritten bool, options ...tape.Option) (*tape.Program, error) {
	options = append(options, tape.Fetch(m.Result()))
	if !forward {
		options = append(options, tape.Do(lab.TrainingStep(m, opt)))
	}
	if asWritten {
		options = append(options, tape.Passes())
	}
	return tape.CompileContext(ctx, m.Graph, options...)
}

func tapeJSON(out interface{ Write([]byte) (int, error) }, m *builders.Model, p *tape.Program, profile *tape.Profile) error {
	type row struct {
		Op      string   `json:"op"`
		Result  string   `json:"result"`
		In      []string `json:"in"`
		Offset  int      `json:"offset"`
		Bytes   int      `json:"bytes"`
		InPlace bool     `json:"in_place"`
		Again   int      `json:"again,omitempty"` // bytes saved
		FLOPs   int64    `json:"flops"`
		Traffic int64    `json:"traffic"`
		Pos     string   `json:"pos"`
	}
	v := struct {
		Model   string       `json:"model"`
		Arena   int          `json:"arena_bytes"`
		FLOPs   int64        `json:"flops"`
		Traffic int64        `json:"traffic_bytes"`
		Rows    []row        `json:"instructions"`
		Log     string       `json:"rewrites"`
		Profile *profileJSON `json:"profile,omitempty"`
	}{Model: m.Builder.Name, Arena: p.Arena(), FLOPs: p.FLOPs(), Traffic: p.Traffic(), Profile: newProfileJSON(p, profile)}
	for _, r := range p.Rows() {
		v.Rows = append(v.Rows, row{r.Op, r.Result, r.In, r.Offset, r.Bytes, r.InPlace, r.Again, r.FLOPs, r.Traffic, r.Pos.String()})
	}
	var log strings.Builder
	for _, e := range p.Log() {
		log.WriteString(e.String() + "\n")
	}
	v.Log = log.String()
	return printJSON(out, v)
}

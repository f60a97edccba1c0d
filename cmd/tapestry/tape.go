package main

import (
	"context"
	"fmt"
	"io"
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
	var inLanes laned
	var forward, asWritten, phases, log bool
	var math arithmetic
	var name string
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
instructions that are fused to the calls that the VM makes.

With --lanes the step is shown as train --lanes runs it: the program of a lane, which has a
part of the rows, the sum over the lanes of all ranks, the program of the update, which is
the same on all, and the memory of a rank. With --profile it has the time of the lanes, of
their sum and of the update, and the profiles of both programs; --trace shows the lanes on
their workers.`,
		Example: "  tapestry tape kmeans-softmax --set n=4096,d=64,k=64 --log\n" +
			"  tapestry tape kmeans-softmax --set n=4096,d=64,k=64 --profile --trace trace.json\n" +
			"  tapestry tape kmeans-softmax --forward --phases\n" +
			"  tapestry tape norm-layer --lanes 8 --of 4 --optimiser adam --shard\n" +
			"  tapestry tape norm-layer --lanes 8 --profile --trace trace.json",
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := profiled.check(); err != nil {
				return err
			}
			if asWritten && math.fast {
				return usagef("--as-written and --fast-math exclude each other")
			}
			if err := inLanes.check(cmd); err != nil {
				return err
			}
			if err := profiled.unused(cmd); err != nil {
				return err
			}
			options := append(budget.options(), math.options()...)
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
			opt, err := optimiser(name, 0.1)
			if err != nil {
				return err
			}
			if inLanes.lanes > 0 {
				step, profile, err := inLanes.step(cmd.Context(), model, opt, &profiled, o.seed)
				if err != nil {
					return err
				}
				return inLanes.print(cmd.OutOrStdout(), o, model, step, profile)
			}
			prog, err := compileStep(cmd.Context(), model, opt, forward, asWritten, options...)
			if err != nil {
				return err
			}
			if math.mixed && prog.Mixed() == 0 {
				return fmt.Errorf("%s: --mixed: %w", args[0], tape.ErrNotMixed)
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
	inLanes.flags(cmd)
	cmd.Flags().StringVar(&name, "optimiser", "sgd", strings.Join(train.Names(), ", "))
	cmd.Flags().BoolVar(&forward, "forward", false, "show the loss or output alone, without gradient and update")
	cmd.Flags().BoolVar(&asWritten, "as-written", false, "leave out the rewrite passes")
	math.flags(cmd)
	cmd.Flags().Var(&budget, "budget", "memory for values, as in 512KiB or 1.5MiB; the rest is computed again")
	cmd.Flags().BoolVar(&log, "log", false, "also show the log of the passes")
	cmd.Flags().BoolVar(&phases, "phases", false, "show the program after each phase of the compiler first")
	return cmd
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

// programJSON is the JSON of a program.
type programJSON struct {
	Arena   int           `json:"arena_bytes"`
	FLOPs   int64         `json:"flops"`
	Traffic int64         `json:"traffic_bytes"`
	Rows    []tapeRowJSON `json:"instructions"`
	Log     string        `json:"rewrites"`
}

type tapeRowJSON struct {
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
	Loop    []string `json:"loop,omitempty"` // the steps, and what they carry, read and give

	Body []tapeRowJSON `json:"body,omitempty"` // what each step of a loop runs; its FLOPs are those of a step
}

// newTapeRowsJSON returns the rows of a program, loops with those of their bodies.
func newTapeRowsJSON(p *tape.Program) (rows []tapeRowJSON) {
	for _, r := range p.Rows() {
		v := tapeRowJSON{r.Op, r.Result, r.In, r.Offset, r.Bytes, r.InPlace, r.Again, r.FLOPs, r.Traffic, r.Pos.String(), r.Head, nil}
		if r.Body != nil {
			v.Body = newTapeRowsJSON(r.Body)
		}
		rows = append(rows, v)
	}
	return rows
}

func newProgramJSON(p *tape.Program) programJSON {
	v := programJSON{Arena: p.Arena(), FLOPs: p.FLOPs(), Traffic: p.Traffic(), Rows: newTapeRowsJSON(p)}
	var log strings.Builder
	for _, e := range p.Log() {
		log.WriteString(e.String() + "\n")
	}
	v.Log = log.String()
	return v
}

func tapeJSON(out io.Writer, m *builders.Model, p *tape.Program, profile *tape.Profile) error {
	return printJSON(out, struct {
		Model string `json:"model"`
		programJSON
		Profile *profileJSON `json:"profile,omitempty"`
	}{m.Builder.Name, newProgramJSON(p), newProfileJSON(p, profile)})
}

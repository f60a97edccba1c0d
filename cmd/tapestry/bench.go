package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime/pprof"
	"time"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/workload"
)

// bench says what to time, for how long, and where to print the figures.
type bench struct {
	workloads, dtypes []string
	threads           int
	seconds           float64
	label             string
	math              arithmetic
	gemm, vec         bool
	instructions      bool   // also time the instructions of a step
	cpu               string // file
	scaling           benchScaling

	out   io.Writer
	json  bool
	types []graph.DType // the parsed dtypes; nil is those of each workload
}

func newBench(o *options) *cobra.Command {
	var b bench
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Time training steps, or single kernels",
		Long: `Times whole training steps (loss, gradient and update) of fixed workloads. After 5
warm-up steps, single steps are timed until --seconds have passed, and at least
until step 20. The losses are those of steps 1 and 20, each before its update.
reprojection and chain are no training steps but evaluations of arrays and their
derivatives; a checksum stands for their losses. Each workload is timed in element
types of its own, float32 or float64 or both, unless --dtypes are given.
bench/pytorch.py times the same steps in PyTorch, bench/cpp some of them in C++, and
both print the same JSON.

With --gemm or --vec it times kernels on one core instead: matrix products, as a
share of the rate of multiply-adds that the core reaches at that moment, or
functions of arrays, in nanoseconds per element for arrays of three sizes.

With --profile, the time of each instruction is shown as by tapestry tape --profile.
In a profile for go tool pprof the instructions of a step are labels.` + scalingLong,
		Example: "  tapestry bench --workloads kmeans_softmax,mlp --dtypes float32 --seconds 2\n  tapestry bench --gemm",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b.out, b.json = cmd.OutOrStdout(), o.json
			if err := b.scaling.validate(cmd); err != nil {
				return err
			}
			if b.scaling.on {
				return b.predictScaling(cmd.Context(), cmd)
			}
			if err := b.check(); err != nil {
				return err
			}
			if b.gemm || b.vec {
				if err := idle(cmd, "--gemm and --vec time kernels on one core, and no steps", "workloads", "threads", "fast-math", "mixed", "profile"); err != nil {
					return err
				}
				if b.types == nil {
					b.types = []graph.DType{graph.F32, graph.F64}
				}
			}
			if b.cpu == "" {
				return b.run(cmd.Context())
			}
			return writeOutput(b.cpu, nil, func(w io.Writer) error {
				if err := pprof.StartCPUProfile(w); err != nil {
					return err
				}
				defer pprof.StopCPUProfile()
				return b.run(cmd.Context())
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&b.workloads, "workloads", workload.Names(), "training steps to time")
	f.StringSliceVar(&b.dtypes, "dtypes", nil, "element types (default those of each workload)")
	f.IntVar(&b.threads, "threads", 1, "cores that a step may use")
	f.Float64Var(&b.seconds, "seconds", 1, "time for each figure")
	b.math.flags(cmd)
	f.StringVar(&b.label, "label", "", "added to the name of the peer in the JSON; unless given, fast or mixed where the flags say so")
	f.BoolVar(&b.gemm, "gemm", false, "time matrix products instead")
	f.BoolVar(&b.vec, "vec", false, "time functions of arrays instead")
	f.BoolVar(&b.instructions, "profile", false, "also show where the time of each step goes")
	f.StringVar(&b.cpu, "cpu-profile", "", "write a profile for go tool pprof to this file")
	b.scaling.flags(cmd)
	return cmd
}

// check returns an error if the options contradict each other.
func (b *bench) check() error {
	switch {
	case b.threads < 1:
		return usagef("--threads %d: want at least 1", b.threads)
	case !(b.seconds >= 0 && b.seconds <= 3600):
		return usagef("--seconds %v: want 0 to 3600", b.seconds)
	case b.cpu == "-":
		return usagef("--cpu-profile -: want a file; the figures go to standard output")
	}
	for _, name := range b.workloads {
		if err := workload.Known(name); err != nil {
			return usagef("--workloads: %w", err)
		}
	}
	for _, s := range b.dtypes {
		dt, err := parseDType(s)
		if err != nil {
			return usagef("--dtypes %q: want float32 or float64", s)
		}
		b.types = append(b.types, dt)
	}
	return checkOutput(b.cpu)
}

// run makes the measurements asked for.
func (b *bench) run(ctx context.Context) error {
	if !b.gemm && !b.vec {
		return b.timeSteps(ctx)
	}
	if b.gemm {
		if err := b.timeProducts(ctx); err != nil {
			return err
		}
	}
	if b.vec {
		return b.timeFunctions(ctx)
	}
	return nil
}

// heading prints the first line of a table for people.
func (b *bench) heading(line string) error {
	if b.json {
		return nil
	}
	_, err := fmt.Fprintln(b.out, line)
	return err
}

// row prints one figure as soon as it is known.
func (b *bench) row(figure fmt.Stringer) error {
	if b.json {
		return printJSON(b.out, figure)
	}
	_, err := fmt.Fprintln(b.out, figure)
	return err
}

// peer returns the name of this program in a table of several.
func (b *bench) peer() string {
	if label := cmp.Or(b.label, b.math.label()); label != "" {
		return "tapestry-" + label
	}
	return "tapestry"
}

func (b *bench) duration() time.Duration { return time.Duration(b.seconds * float64(time.Second)) }

// dtypeName returns NumPy's name of a float type, which the JSON of other programs uses.
func dtypeName(dt graph.DType) string {
	if dt == graph.F64 {
		return "float64"
	}
	return "float32"
}

// Tapestry reads, checks, draws, trains and compares objectives.
//
//	tapestry                       compare soft k-means and its goofy alternative on iris
//	tapestry list                  the models
//	tapestry draw MODEL            the graph as SVG, DOT or text
//	tapestry grad MODEL --wrt r    the loss and its derivative as formulas
//	tapestry tape MODEL            the compiled training step, instruction by instruction
//	tapestry train MODEL           train on a CSV file or an embedded data set
//	tapestry compare A B           train both and write one HTML page on how they differ
//	tapestry check MODEL           derivatives, tape and rewrites against the definitions
//
// Every command has --help with an example, --json for machines and --seed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// usageError is a mistake in the command line itself; its exit code is 2, that
// of everything else that goes wrong is 1.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	root := newRoot(out, errOut)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "tapestry: interrupted")
		return 130
	case errors.As(err, &usage) || isCobraUsage(err):
		fmt.Fprintf(errOut, "tapestry: %s\n", firstLine(err))
		return 2
	}
	fmt.Fprintf(errOut, "tapestry: %s\n", err)
	return 1
}

// isCobraUsage recognises the mistakes that the command-line library finds.
func isCobraUsage(err error) bool {
	for _, s := range []string{"unknown command", "unknown flag", "unknown shorthand", "invalid argument", "flag needs an argument", "accepts ", "requires at least", "requires at most", "required flag"} {
		if strings.HasPrefix(err.Error(), s) {
			return true
		}
	}
	return false
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

func newRoot(out, errOut io.Writer) *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:   "tapestry",
		Short: "Read, check, draw, train and compare objectives",
		Long: `Tapestry writes a model as a graph, differentiates it, compiles it to a tape,
runs it and draws it. Without a command it compares soft k-means with its
"goofy alternative" on the embedded iris data and writes report.html.`,
		Example:           "  tapestry\n  tapestry draw kmeans-softmax --grad -o soft.svg\n  tapestry compare kmeans-softmax kmeans-goofy --data flowers.csv --out report.html",
		Args:              cobra.NoArgs,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetOut(out)
	root.SetErr(errOut)
	root.PersistentFlags().BoolVar(&o.json, "json", false, "print JSON for machines")
	root.PersistentFlags().Uint64Var(&o.seed, "seed", 0, "seed of everything random")
	compare := newCompare(&o)
	root.RunE = func(cmd *cobra.Command, _ []string) error { return compare.RunE(cmd, nil) }
	root.AddCommand(newList(&o), newDraw(&o), newGrad(&o), newTape(&o), newTrain(&o), compare, newCheck(&o))
	for _, c := range root.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return root
}

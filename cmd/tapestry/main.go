// Tapestry reads, checks, draws, trains and compares objectives.
//
//	tapestry                       compare soft k-means and its goofy alternative on iris
//	tapestry list                  the models, by family
//	tapestry draw MODEL            the graph as SVG, DOT or text
//	tapestry grad MODEL --wrt r    the loss and its derivative as formulas
//	tapestry tape MODEL            the compiled training step, instruction by instruction
//	tapestry rewrite MODEL         the rewrite rules that fire, before and after, each checked
//	tapestry train MODEL           train on examples of the model's own, or a clustering on a CSV file
//	tapestry predict CHECKPOINT    use a trained model: predict for rows of data, or go on with a text
//	tapestry step MODEL            the training program, forwards and back in time, with every value
//	tapestry compare A B           train both and write one HTML page on how they differ
//	tapestry check MODEL           derivatives, tape and rewrites against the definitions
//	tapestry autopsy MODEL         the first value that is not finite, and why
//	tapestry precision MODEL       the digits that float32 loses, and where
//	tapestry serve                 the page in the browser: read, step, train, compare
//	tapestry geometry MODEL...     curvature, symmetries, angles, collapse, surfaces and fields of losses
//	tapestry bench                 the time of training steps, or of kernels
//	tapestry new NAME              write an objective of your own to start from
//	tapestry checkpoint show FILE  what a checkpoint is of, and its arrays; verify, diff
//	tapestry fmt FILE              print a file in the notation in its canonical form
//
// A MODEL is a name that list shows, or a file in the notation, NAME.tapestry.
// Every command has --help with an example, --json for machines and --seed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tapestry-ml/tapestry/internal/spelling"
	"github.com/tapestry-ml/tapestry/lab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what does not look at the context
	saves := new(atomic.Bool)
	ended := make(chan int, 1)
	go func() { ended <- run(context.WithValue(ctx, savesKey{}, saves), os.Args[1:], os.Stdout, os.Stderr) }()
	os.Exit(untilEnd(ctx, ended, saves))
}

// patience is how long a command that was interrupted has to end by itself.
const patience = 1500 * time.Millisecond

// untilEnd waits for the exit code of a command. One that does not look at its context, or
// waits for a file that never comes, ends soon after the interruption; one that has a training
// to save does that first.
func untilEnd(ctx context.Context, ended <-chan int, saves *atomic.Bool) int {
	select {
	case code := <-ended:
		return code
	case <-ctx.Done():
	}
	select {
	case code := <-ended:
		return code
	case <-time.After(patience):
	}
	if saves.Load() {
		return <-ended
	}
	fmt.Fprintln(os.Stderr, "tapestry: interrupted")
	return 130
}

// savesKey is that of a context's mark that an interrupted command has something to save.
type savesKey struct{}

// saving marks that from here on an interruption is to be waited for.
func saving(ctx context.Context) {
	if saves, is := ctx.Value(savesKey{}).(*atomic.Bool); is {
		saves.Store(true)
	}
}

// usageError is a mistake in the command line itself; its exit code is 2, that
// of everything else that goes wrong is 1.
type usageError struct{ error }

// exitError is an error with an exit code of its own.
type exitError struct {
	error
	code  int
	quiet bool // the output says it
}

func (e exitError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	checked := &checkedWriter{Writer: out}
	plain, complaints := newPlainWriter(checked), newPlainWriter(errOut)
	errOut = complaints
	defer func() { _ = complaints.Flush() }() // nothing can be said of an error there
	root := newRoot(args, plain, errOut)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if flushed := plain.Flush(); err == nil {
		err = flushed
	}
	if err == nil {
		err = checked.failed()
	}
	var usage usageError
	var kept *keptError
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &kept):
		fmt.Fprintf(errOut, "tapestry: %s\n", kept)
		return 130
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(errOut, "tapestry: interrupted")
		return 130
	case errors.As(err, &usage) || strings.HasPrefix(err.Error(), "unknown command"):
		fmt.Fprintf(errOut, "tapestry: %s\n", firstLine(err))
		return 2
	case errors.As(err, &exit):
		if !exit.quiet {
			fmt.Fprintf(errOut, "tapestry: %s\n", err)
		}
		return exit.code
	}
	hint := ""
	if errors.Is(err, lab.ErrNoLoss) {
		if i := slices.IndexFunc(args, func(a string) bool {
			return strings.HasPrefix(err.Error(), a) || isFile(a) && strings.HasPrefix(err.Error(), filepath.Base(a))
		}); i >= 0 {
			hint = lossHint(args[i])
		}
	}
	fmt.Fprintf(errOut, "tapestry: %s%s\n", err, hint)
	return 1
}

// flagError makes what the command-line library says of a flag a usage error,
// without the name of the function that failed to parse a number, but with the flag that
// an unknown one is likely a slip for.
func flagError(cmd *cobra.Command, err error) error {
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := spelling.Near(name, names); near != "" {
			return usagef("%w: did you mean --%s?", err, near)
		}
	}
	var number *strconv.NumError
	if errors.As(err, &number) {
		return usagef("%s: %w", strings.TrimSuffix(err.Error(), ": "+number.Error()), number.Err)
	}
	return usageError{err}
}

// oneModel wants the name of a model as the only argument.
func oneModel(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s: want one model, got %d (tapestry list shows the models)", cmd.Name(), len(args))
	}
	return nil
}

// knownCommand refuses what follows the name of the program and is no command.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if s := root.SuggestionsFor(args[0]); len(s) > 0 {
		hint = fmt.Sprintf(": did you mean %q?", s[0])
	}
	return usagef("unknown command %q for %q%s", args[0], root.Name(), hint)
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return knownCommand(cmd.Root(), args)
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}

// newRoot makes the command line; args are only shown, in the report.
func newRoot(args []string, out, errOut io.Writer) *cobra.Command {
	o := options{args: args}
	root := &cobra.Command{
		Use:   "tapestry",
		Short: "Read, check, draw, train and compare objectives",
		Long: `Tapestry writes a model as a graph, differentiates it, compiles it to a tape,
runs it and draws it. Without a command it compares soft k-means with its
"goofy alternative" on the embedded iris data and writes report.html, or
report-2.html and so on where that is a file of others.

A MODEL is a name that tapestry list shows, or a file of yours, NAME.tapestry:
tapestry new NAME writes one to start from.`,
		Example:           "  tapestry\n  tapestry draw kmeans-softmax --grad -o soft.svg\n  tapestry compare kmeans-softmax kmeans-goofy --data flowers.csv --out report.html",
		Args:              knownCommand,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetOut(out)
	root.SetErr(errOut)
	root.SetVersionTemplate(versionText())
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.SuggestionsMinimumDistance = 2
	root.PersistentFlags().BoolVar(&o.json, "json", false, "print JSON for machines")
	root.PersistentFlags().Uint64Var(&o.seed, "seed", 0, "seed of everything random")
	compare := newCompare(&o)
	root.RunE = func(cmd *cobra.Command, _ []string) error { return compare.RunE(cmd, nil) }
	root.AddCommand(newList(&o), newDraw(&o), newGrad(&o), newRewrite(&o), newTape(&o), newStep(&o), newTrain(&o), newPredict(&o), compare, newServe(&o), newCheck(&o), newAutopsy(&o), newPrecision(&o), newGeometry(&o),
		newCheckpoint(&o), newNew(), newFormat(), newBench(&o), newDocs())
	for _, c := range root.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return root
}

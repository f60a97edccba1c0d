// Tapestry reads, checks, draws, trains and compares objectives.
//
//	tapestry                       compare soft k-means and its goofy alternative on iris
//	tapestry list                  list the models, by family
//	tapestry draw MODEL            draw the graph as SVG, DOT or text
//	tapestry grad MODEL --wrt r    print the loss and its derivative as formulas
//	tapestry tape MODEL            show the compiled training step, instruction by instruction
//	tapestry rewrite MODEL         show the rewrite rules that fire, before and after, and check each
//	tapestry train MODEL           train on examples of the model's own, or on data of yours
//	tapestry predict CHECKPOINT    use a trained model: predict rows of data, or continue a text
//	tapestry step MODEL            step through training, forwards and back in time, with every value
//	tapestry look MODEL             draw what there is to see in a trained model
//	tapestry compare A B           train both and write an HTML page about how they differ
//	tapestry check MODEL           check derivatives, tape and rewrites against the definitions
//	tapestry autopsy MODEL         find the first value that is not finite, and why
//	tapestry precision MODEL       show which digits float32 loses, and where
//	tapestry serve                 serve the page in the browser: read, step, train, compare
//	tapestry page --static DIR     write that page as files that need no server
//	tapestry geometry MODEL...     curvature, symmetries, angles, collapse, surfaces, fields of losses
//	tapestry bench                 time training steps, or kernels
//	tapestry new NAME              write an objective of your own to start from
//	tapestry checkpoint show FILE  describe a checkpoint and its arrays; also verify, diff
//	tapestry fmt FILE              print a file in the notation in its canonical form
//
// A MODEL is a name that list shows, a file in the notation, NAME.tapestry, or an ONNX model,
// NAME.onnx; each may have settings in braces, as 'init{weights=he}'. Every command has --help with
// an example, --json for machine-readable output, and --seed.
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
	"github.com/tapestry-ml/tapestry/internal/terminal"
	"github.com/tapestry-ml/tapestry/lab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what ignores the context
	saves := new(atomic.Bool)
	ended := make(chan int, 1)
	go func() { ended <- run(context.WithValue(ctx, savesKey{}, saves), os.Args[1:], os.Stdout, os.Stderr) }()
	os.Exit(untilEnd(ctx, ended, saves))
}

// patience is how long an interrupted command may take to end by itself.
const patience = 1500 * time.Millisecond

// untilEnd waits for the exit code of a command. After an interruption, a command that does not
// look at its context, or waits for a file that never comes, is ended soon; a command with a
// training to save may do that first.
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

// savesKey marks a context whose command has something to save when interrupted.
type savesKey struct{}

// saving marks that from now on an interruption must wait for the command to save.
func saving(ctx context.Context) {
	if saves, is := ctx.Value(savesKey{}).(*atomic.Bool); is {
		saves.Store(true)
	}
}

// usageError is a mistake in the command line itself, with exit code 2; all other errors have
// exit code 1.
type usageError struct{ error }

// exitError is an error with an exit code of its own.
type exitError struct {
	error
	code  int
	quiet bool // the output says it already
}

func (e exitError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the whole program except for the process around it.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	checked := &checkedWriter{Writer: out}
	plain, complaints := newPlainWriter(checked), newFoldedWriter(errOut, terminal.Width(errOut))
	if folds(args) {
		plain = newFoldedWriter(checked, terminal.Width(out))
	}
	errOut = complaints
	defer func() { _ = complaints.Flush() }() // an error here cannot be reported anywhere
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

// flagError turns an error of the command-line library about a flag into a usage error, without
// the name of the function that failed to parse a number, and suggests the flag that an unknown
// one is likely a slip for.
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

// oneModel requires the name of a model as the only argument.
func oneModel(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s: want one model, got %d (tapestry list shows the models)", cmd.Name(), len(args))
	}
	return nil
}

// knownCommand returns an error if the first argument is not a command.
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

// newRoot returns the command line. The args are only shown in the report.
func newRoot(args []string, out, errOut io.Writer) *cobra.Command {
	o := options{args: args}
	root := &cobra.Command{
		Use:   "tapestry",
		Short: "Read, check, draw, train and compare objectives",
		Long: `Tapestry writes a model as a graph, differentiates it, compiles it to a tape,
runs it and draws it. Without a command it compares soft k-means with its
"goofy alternative" on the embedded iris data and writes report.html, or
report-2.html and so on if that file was not written by Tapestry.

A MODEL is a name that tapestry list shows, or a file of yours, NAME.tapestry:
tapestry new NAME writes one to start from. It may be an ONNX model, NAME.onnx,
too: its weights are trained from where they are, and a setting gives it a loss,
'net.onnx{loss=crossentropy}'. Each may have settings in braces, quoted for the
shell: 'init{weights=he,d=16}', 'mine.tapestry{h=8}'. A setting in braces is that
of one model, --set is for all.`,
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
	root.AddCommand(newList(&o), newDraw(&o), newGrad(&o), newRewrite(&o), newTape(&o), newStep(&o), newTrain(&o), newPredict(&o), newExport(&o), compare, newServe(&o), newStatic(&o), newCheck(&o), newEval(&o), newLook(&o), newAutopsy(&o), newPrecision(&o), newGeometry(&o),
		newCheckpoint(&o), newNew(), newFormat(), newBench(&o), newDocs())
	for _, c := range root.Commands() {
		c.DisableFlagsInUseLine = true
	}
	return root
}

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/marks"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz"
)

// watching has the flags of a training that is watched for values that are not finite.
type watching struct {
	on  bool
	svg string
}

func (w *watching) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.on, "watch-nan", false, "stop at the first step whose loss or update is NaN or infinite, and say why (see autopsy)")
	cmd.Flags().StringVar(&w.svg, "svg", "", "with --watch-nan: draw how the bad values spread to this file")
}

// engine returns the engine for training: the given one, or one that watches.
func (w *watching) engine(given train.NewEngine) (train.NewEngine, error) {
	switch {
	case w.svg != "" && !w.on:
		return nil, usagef("--svg needs --watch-nan")
	case !w.on:
		return given, nil
	case given != nil:
		return nil, usagef("--watch-nan is for the native engine")
	}
	return newWatched, checkOutput(w.svg)
}

// report prints the finding that ended a watched training, if the error is one.
func (w *watching) report(cmd *cobra.Command, o *options, model string, err error) error {
	var d *diverged
	var wild *tape.NotFinite
	switch {
	case errors.As(err, &d):
	case errors.As(err, &wild):
		return fmt.Errorf("%w (--watch-nan says why)", err)
	default:
		return err
	}
	out := cmd.OutOrStdout()
	if d.compiled && !o.json {
		fmt.Fprintln(out, "as written every value is finite; what follows is of the graph that the tape runs, after its rewrites")
	}
	if err := printFinding(out, o, model, d.finding); err != nil {
		return err
	}
	if err := drawMarks(cmd.Context(), w.svg, out, d.drawn, marks.Autopsy(d.finding), marks.AutopsyColours); err != nil {
		return err
	}
	return err
}

// diverged is the error of a step that was not finite, with the finding of its autopsy.
type diverged struct {
	finding  *inspect.Finding
	compiled bool // the finding is in the graph that the tape runs
	drawn    []*graph.Node
	err      error
}

func (d *diverged) Error() string { return fmt.Sprintf("%s: %s", d.finding.Cause, d.err) }
func (d *diverged) Unwrap() error { return d.err }

// watched trains on the tape, checks the loss and the updates of every step before they are
// committed, and makes an autopsy of a step that fails.
type watched struct {
	*tape.VM
	prog  *tape.Program
	store *tape.Store
	loss  *graph.Node
	roots []*graph.Node
}

func newWatched(ctx context.Context, g *graph.Graph, loss *graph.Node, step graph.Step, store *tape.Store) (train.Engine, error) {
	finite := []*graph.Node{loss}
	for _, u := range step {
		if u.Value.DType().IsFloat() {
			finite = append(finite, ops.Sum(u.Value)) // a sum is finite if its terms are, unless they are close to overflow themselves
		}
	}
	p, err := tape.CompileContext(ctx, g, tape.Fetch(loss), tape.Do(step), tape.CheckFinite(finite...))
	if err != nil {
		return nil, err
	}
	vm, err := p.NewVM(store)
	if err != nil {
		return nil, err
	}
	return &watched{vm, p, store, loss, stepRoots(loss, step)}, nil
}

func (w *watched) Run(ctx context.Context, feed tape.Feed) error {
	err := w.VM.Run(ctx, feed)
	if bad := new(tape.NotFinite); !errors.As(err, &bad) {
		return err
	}
	f, failed := inspect.Autopsy(ctx, feed, w.store, w.roots...)
	compiled := failed == nil && (f == nil || f.Harmless())
	if compiled {
		f, failed = w.compiled(ctx, feed)
	}
	if failed != nil || f == nil {
		return errors.Join(err, failed)
	}
	return &diverged{f, compiled, w.drawn(f), err}
}

// compiled looks for the fault in the graph that the tape runs.
func (w *watched) compiled(ctx context.Context, feed tape.Feed) (*inspect.Finding, error) {
	g := w.prog.Graph()
	var roots []*graph.Node
	for _, u := range g.Updates() {
		roots = append(roots, u.Value)
	}
	if len(roots) == 0 {
		return nil, nil
	}
	return inspect.Autopsy(ctx, inspect.Feed(feed, g), w.store, roots...)
}

// drawn returns the nodes to draw so that a finding is visible, without the optimiser if
// possible.
func (w *watched) drawn(f *inspect.Finding) []*graph.Node {
	if f.At.Node.Graph() != w.loss.Graph() {
		return viz.Roots(f.At.Node.Graph())
	}
	out := []*graph.Node{w.loss}
	if w.loss.DependsOn(f.At.Node) {
		return out
	}
	var params []*graph.Node
	for _, d := range w.loss.Graph().Derivations() {
		if d.Loss == w.loss {
			params = append(params, d.Wrt)
		}
	}
	for _, d := range grad.OrZero(w.loss, params...) {
		if out = append(out, d); d.DependsOn(f.At.Node) {
			return out
		}
	}
	return w.roots
}

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/marks"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/match"
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

// check returns an error for flags that contradict each other.
func (w *watching) check(engine train.NewEngine) error {
	switch {
	case w.svg != "" && !w.on:
		return usagef("--svg needs --watch-nan")
	case w.on && engine != nil:
		return usagef("--watch-nan is for the native engine")
	}
	return checkOutput(w.svg)
}

// report prints the finding that ended a watched training, if the error has one.
func (w *watching) report(cmd *cobra.Command, o *options, model string, err error) error {
	var d *train.Diverged
	switch {
	case !w.on && errors.As(err, new(*tape.NotFinite)):
		return fmt.Errorf("%w (--watch-nan says why)", err)
	case !w.on || !errors.As(err, &d) || d.Finding == nil:
		return err
	}
	out := cmd.OutOrStdout()
	if d.Lane != "" && !o.json {
		fmt.Fprintln(out, d.Lane)
	}
	if d.Compiled && !o.json {
		why := "as written every value is finite"
		if slices.ContainsFunc(graph.Reachable(d.Roots...), match.SumsOverLanes) {
			why = "lanes meet inside of the loss"
		}
		fmt.Fprintf(out, "%s; what follows is of the graph that the tape runs, after its rewrites\n", why)
	}
	if err := printFinding(out, o, model, d.Lane, d.Finding); err != nil {
		return err
	}
	if err := drawMarks(cmd.Context(), w.svg, out, w.drawn(d), marks.Autopsy(d.Finding), marks.AutopsyColours); err != nil {
		return err
	}
	return err
}

// drawn returns the nodes to draw so that a finding is visible, without the optimiser if
// possible.
func (w *watching) drawn(d *train.Diverged) []*graph.Node {
	at, loss := d.Finding.At.Node, d.Roots[0]
	if at.Graph() != loss.Graph() {
		return viz.Roots(at.Graph())
	}
	out := []*graph.Node{loss}
	if loss.DependsOn(at) {
		return out
	}
	var params []*graph.Node
	for _, d := range loss.Graph().Derivations() {
		if d.Loss == loss {
			params = append(params, d.Wrt)
		}
	}
	for _, d := range grad.OrZero(loss, params...) {
		if out = append(out, d); d.DependsOn(at) {
			return out
		}
	}
	return d.Roots
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// drawing has the flags of draw.
type drawing struct {
	model                        modelOptions
	level, format, engine, theme string
	params                       string
	grad, noSaved, unfold        bool
	noLines                      bool
	wrt, expand                  []string
	against, out                 string
	sentence, summary            string // of the comparison
	loop                         int    // number of the loop; 0 for the model itself
	figure                       bool
	apart                        string
	lanes                        int    // 0 for a step on a whole batch
	optimiser                    string // of the step; "" to draw none
	rate                         float64
	keep                         keeping // what is done to gradients and parameters
	fed                          map[*graph.Node]float64
}

func newDraw(o *options) *cobra.Command {
	var d drawing
	cmd := &cobra.Command{
		Use:   "draw MODEL",
		Short: "Draw the graph of a model as SVG or DOT, or print its text form",
		Long: `Draws the loss of a model, or the output of a model without one, at one of four levels:
notes (as a lecture draws it: named quantities only), ops (every operation, scopes as
boxes), primitive (every node) and compiled (after the rewrite passes). With --grad the
gradient by all trained parameters is drawn beside the values, each derivative in the row
of its value. In a large graph, numbered blocks of equal structure, such as the layers of
a transformer or the steps of a recurrence, are drawn once ("block1 … 12 × 12"; --unfold
draws each), and scopes are closed if more than 300 boxes would be left (--expand opens
them). A loop is a module with the quantities of one step; a long one is closed until it
is expanded. A drawing of more than 30 boxes is dense, with parameters inside the
operations that use them (--params). With --figure it is drawn as a lecture draws: from
left to right, what a softmax or a sum runs over apart (r₁, r₂, r₃; --apart names another
axis), a loop as a cell with its gates inside, a net whose maps shrink and grow as a U;
with --grad the derivatives are arrows that lead back. With --against the drawing is the
aligned comparison with a second model, in which nodes are matched by what they compute
and where they stand, whatever they are called; a sentence says what is the same and what
differs.

With --optimiser the training step is drawn: loss, gradients, what is done to them, and the
updates of parameters and of the optimiser's states. With --lanes it is the step as
train --lanes runs it, on the rows of a lane: the sums over all lanes stand between the
gradients and the optimiser.`,
		Example: "  tapestry draw kmeans-softmax -o soft.svg\n  tapestry draw kmeans-softmax --grad --level ops -o soft.svg\n  tapestry draw kmeans-softmax --against kmeans-goofy --grad -o diff.svg\n  tapestry draw kmeans-goofy --figure -o figure.svg\n  tapestry draw norm-layer --lanes 8 --optimiser momentum --clip-norm 1 -o step.svg\n  tapestry draw kmeans-goofy --format dot",
		Args:    oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			return d.run(cmd, o, args[0])
		},
	}
	d.model.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&d.level, "level", "notes", "notes, ops, primitive or compiled")
	f.StringVar(&d.format, "format", "svg", "svg, dot or text")
	f.StringVar(&d.engine, "engine", "own", "layout of SVG: own, or dot for an installed Graphviz")
	f.StringVar(&d.theme, "theme", "auto", "auto (follows the reader's setting), light or dark")
	f.BoolVar(&d.grad, "grad", false, "also draw the derivatives of the loss by the trained parameters")
	f.StringSliceVar(&d.wrt, "wrt", nil, "draw the derivatives by these alone: parameters, inputs or named quantities")
	f.IntVar(&d.loop, "loop", 0, "draw a step of the loop with this number by itself; with --grad its derivative is a loop too")
	f.BoolVar(&d.noSaved, "no-saved", false, "leave out the edges from values to the derivatives that use them")
	f.StringSliceVar(&d.expand, "expand", nil, "scopes to draw open in a large graph, or repeated blocks to draw by themselves")
	f.BoolVar(&d.unfold, "unfold", false, "draw each of the blocks that repeat")
	f.StringVar(&d.params, "params", "auto", "parameters: inside the operation that uses them, apart in boxes of their own, or auto: inside in drawings of more than 30 boxes")
	f.BoolVar(&d.figure, "figure", false, "draw from left to right, as a lecture draws")
	f.StringVar(&d.apart, "apart", "", "with --figure, the axis whose parts are drawn apart")
	f.StringVar(&d.against, "against", "", "a second model to compare with")
	f.BoolVar(&d.noLines, "no-lines", false, "leave out the lines of source, for a drawing that is kept in a repository")
	f.StringVar(&d.optimiser, "optimiser", "", "draw the training step by this optimiser, with its updates: "+strings.Join(train.Names(), ", "))
	f.Float64Var(&d.rate, "rate", ownRate, "learning rate of --optimiser")
	d.keep.gradientFlags(cmd)
	f.IntVar(&d.lanes, "lanes", 0, "draw a step in so many lanes, as train --lanes has it: on the rows of a lane, with the sums over lanes")
	f.StringVarP(&d.out, "out", "o", "", "write to a file instead of standard output")
	return cmd
}

func (d *drawing) run(cmd *cobra.Command, o *options, name string) error {
	if d.out == "" && d.format != "text" && !o.json && onTerminal(cmd.OutOrStdout()) {
		return usagef("draw: a terminal shows no drawing: want --out FILE.%s (--out - prints its source here; --format text lists the graph)", d.format)
	}
	level, err := parseLevel(d.level)
	if err != nil {
		return err
	}
	params, ok := map[string]viz.Params{"auto": viz.ParamsAuto, "inside": viz.ParamsInside, "apart": viz.ParamsApart}[d.params]
	if !ok {
		return usagef("--params %q: want auto, inside or apart", d.params)
	}
	theme, ok := map[string]figure.Theme{"auto": figure.Auto, "light": figure.Light, "dark": figure.Dark}[d.theme]
	switch {
	case !ok:
		return usagef("--theme %q: want auto, light or dark", d.theme)
	case d.format != "svg" && d.format != "dot" && d.format != "text":
		return usagef("--format %q: want svg, dot or text", d.format)
	case d.engine != "own" && d.engine != "dot":
		return usagef("--engine %q: want own or dot", d.engine)
	case cmd.Flags().Changed("lanes") && (d.lanes < 1 || d.lanes > parallel.MaxLanes):
		return usagef("--lanes %d: want 1 to %d", d.lanes, parallel.MaxLanes)
	}
	if err := d.unused(cmd); err != nil {
		return err
	}
	if err := d.unusedFigure(cmd); err != nil {
		return err
	}
	if err := d.unusedStep(cmd); err != nil {
		return err
	}
	m, err := d.model.build(name)
	if err != nil {
		return err
	}
	if d.optimiser != "" && m.OwnStep() {
		if err := idle(cmd, ownStep(name), "optimiser"); err != nil {
			return err
		}
	}
	d.fed = map[*graph.Node]float64{}
	roots, err := d.roots(cmd.Context(), m, level)
	if err != nil {
		return err
	}
	if d.format == "text" && d.against == "" && !d.figure {
		return d.write(cmd, o, name, roots[0].Graph().Dump)
	}
	if d.figure {
		return d.sketch(cmd, o, name, roots, theme)
	}
	options := []viz.Option{viz.At(level), viz.Parameters(params), viz.Fed(d.fed)}
	if d.noSaved {
		options = append(options, viz.WithoutSaved())
	}
	if d.noLines {
		options = append(options, viz.WithoutLines())
	}
	if d.unfold {
		options = append(options, viz.Unfolded())
	}
	for _, path := range d.expand {
		options = append(options, viz.Expand(path))
	}
	var f *figure.Figure
	if d.against == "" {
		if f, err = viz.Draw(roots, options...); err != nil {
			return err
		}
	} else {
		other, err := d.model.build(d.against)
		if err != nil {
			return err
		}
		with, err := d.roots(cmd.Context(), other, level)
		if err != nil {
			return err
		}
		diff, err := viz.Diff(roots, with, options...)
		if err != nil {
			return err
		}
		d.sentence, d.summary = diff.Sentence(), diff.Summary()
		if d.format == "text" {
			return d.write(cmd, o, name, func(w io.Writer) error {
				_, err := io.WriteString(w, diff.Text())
				return err
			})
		}
		f = diff.Figure()
	}
	return d.write(cmd, o, name, func(w io.Writer) error {
		switch {
		case d.format == "dot":
			return f.DOT(w)
		case d.engine == "dot":
			return graphviz(cmd.Context(), f, w)
		}
		return f.SVGContext(cmd.Context(), w, figure.WithTheme(theme))
	})
}

// unused returns an error if a flag has no effect on the format.
func (d *drawing) unused(cmd *cobra.Command) error {
	if d.format != "svg" {
		if err := idle(cmd, "--format "+d.format+" leaves it to whoever draws: want --format svg", "theme", "engine"); err != nil {
			return err
		}
	}
	if d.against != "" {
		if err := idle(cmd, "a comparison draws parameters apart: want no --against", "params"); err != nil {
			return err
		}
	}
	if d.engine == "dot" {
		if err := idle(cmd, "--engine dot draws in light colours: want --engine own", "theme"); err != nil {
			return err
		}
	}
	if d.format == "text" && d.against == "" {
		if err := idle(cmd, "the text form has every node: want --format svg or dot", "no-saved", "no-lines", "unfold", "expand", "params"); err != nil {
			return err
		}
		if cmd.Flags().Changed("level") && (d.level == viz.Notes.String() || d.level == viz.Ops.String()) {
			return usagef("--level %s: the text form has every node: want primitive or compiled, or --format svg or dot", d.level)
		}
	}
	return nil
}

func parseLevel(s string) (viz.Level, error) {
	for _, l := range []viz.Level{viz.Notes, viz.Ops, viz.Primitive, viz.Compiled} {
		if l.String() == s {
			return l, nil
		}
	}
	return 0, usagef("--level %q: want notes, ops, primitive or compiled", s)
}

// unusedStep returns an error if a flag has no effect together with --optimiser, or without it.
func (d *drawing) unusedStep(cmd *cobra.Command) error {
	if d.optimiser == "" {
		return idle(cmd, "want --optimiser, too", "rate", "clip-norm", "weight-decay", "l1", "ema")
	}
	if d.figure {
		if err := idle(cmd, "--figure has arrows for derivatives, and none for updates: want no --figure", "optimiser"); err != nil {
			return err
		}
	}
	if err := idle(cmd, "a step has the derivatives by all trained parameters in it: want no --optimiser", "grad", "wrt"); err != nil {
		return err
	}
	return d.keep.checkGradients()
}

// courses has the first and the last value that training feeds to scalars.
type courses = map[*graph.Node][2]float64

// write writes the drawing; with --json, as an object with the drawing as text.
func (d *drawing) write(cmd *cobra.Command, o *options, model string, draw func(io.Writer) error) error {
	return writeOutput(d.out, cmd.OutOrStdout(), func(w io.Writer) error {
		if !o.json {
			return draw(w)
		}
		var text strings.Builder
		if err := draw(&text); err != nil {
			return err
		}
		return printJSON(w, struct {
			Model    string `json:"model"`
			Against  string `json:"against,omitempty"`
			Sentence string `json:"sentence,omitempty"` // what is the same and what differs
			Summary  string `json:"summary,omitempty"`  // in numbers
			Format   string `json:"format"`
			Drawing  string `json:"drawing"`
		}{model, d.against, d.sentence, d.summary, d.format, text.String()})
	})
}

// graphvizTime limits a run of dot, whose spline routing can take minutes.
const graphvizTime = 60 * time.Second

// graphviz lays out the figure with an installed dot.
func graphviz(ctx context.Context, f *figure.Figure, w io.Writer) error {
	path, err := exec.LookPath("dot")
	if err != nil {
		return errors.New("--engine dot: Graphviz's dot is not installed; --engine own needs nothing")
	}
	var dot, svg, complaint bytes.Buffer
	if err := f.DOT(&dot); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, graphvizTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-Tsvg")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &dot, &svg, &complaint
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("dot: %w", ctx.Err())
		}
		return fmt.Errorf("dot: %w: %s", err, strings.TrimSpace(complaint.String()))
	}
	_, err = w.Write(svg.Bytes())
	return err
}

package main

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// sketch writes the drawing of --figure.
func (d *drawing) sketch(cmd *cobra.Command, o *options, name string, roots []*graph.Node, theme figure.Theme) error {
	options := []viz.Option{viz.Fed(d.fed)}
	if d.apart != "" {
		options = append(options, viz.Apart(d.apart))
	}
	s, err := viz.Sketch(roots, options...)
	if err != nil {
		return err
	}
	return d.write(cmd, o, name, func(w io.Writer) error {
		if d.format == "dot" {
			return s.DOT(w)
		}
		return s.SVGContext(cmd.Context(), w, figure.WithTheme(theme))
	})
}

// unusedFigure returns an error if a flag has no effect together with --figure, or without it.
func (d *drawing) unusedFigure(cmd *cobra.Command) error {
	if !d.figure {
		return idle(cmd, "want --figure", "apart")
	}
	if d.format == "text" {
		return usagef("--format text: --figure is a drawing: want --format svg or dot")
	}
	return idle(cmd, "--figure has a layout and a level of its own, for one model", "level", "engine", "no-saved", "unfold", "expand", "against")
}

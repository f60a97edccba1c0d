package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// geometryCommand is the geometry command.
type geometryCommand struct {
	*options
	fitting
	model                      modelOptions
	k, steps, prototype, cells int
	gamma, rate, reach         float64
	opt, directions            string
	surface, field             string
	taken                      [][]string  // of the notes, by model; nil without --as-notes
	config                     *data.Table // of clusterings; nil for other models
	bar                        *progress
	part, parts                int // parts of the work: begun, and in all
}

func newGeometry(o *options) *cobra.Command {
	c := &geometryCommand{options: o}
	cmd := &cobra.Command{
		Use:   "geometry MODEL...",
		Short: "Look at the shape of losses: curvature, symmetries, angles, collapse, surfaces, fields",
		Long: `Trains each model from a common start on one batch of its own examples, or a
clustering on all points of a data set at a constant temperature, and prints

  curvature   the largest and smallest eigenvalue of the second derivatives at the end
  symmetries  how the loss and its gradients respond when data and parameters are
              translated, rotated, permuted and scaled
  angles      between the gradients of models with equal parameters, along the training
              of the first
  collapse    of the centres of a clustering: how many are still distinct, used, alive

With --surface it draws the losses over a plane of the parameters, and with --field,
for clusterings, where each objective pulls one centre from every place of the data's
plane: one file with a chart for each model, in common colours.`,
		Example: "  tapestry geometry kmeans-softmax kmeans-goofy --field field.svg --surface surface.svg\n  tapestry geometry attention-self --steps 50",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("geometry: want a model (tapestry list shows the models)")
			}
			return nil
		},
		RunE: c.run,
	}
	f := cmd.Flags()
	c.fitting.flags(cmd, "iris")
	c.cutFlags(cmd)
	c.model.rows = &c.fitting
	f.IntVar(&c.k, "k", 0, "clusters (default: the number of classes; without labels what a file says, otherwise 3)")
	f.Float64Var(&c.gamma, "gamma", 0, "temperature γ of clusterings (default: 5·k/s², s being the scale of the data)")
	f.StringSliceVar(&c.model.set, "set", nil, "sizes and settings of models that are no clusterings: h=8,act=relu; those of one model may stand behind its name, 'MODEL{h=8}'")
	f.StringVar(&c.model.dtype, "dtype", "f64", trainingDType)
	c.model.notes.trainingFlags(cmd)
	f.IntVar(&c.steps, "steps", 100, "training steps to take first")
	f.StringVar(&c.opt, "optimiser", "adam", strings.Join(train.Names(), ", "))
	f.Float64Var(&c.rate, "rate", 0, "learning rate (default: 0.01; of a clustering, from the scale of the data)")
	f.StringVar(&c.surface, "surface", "", "draw the losses over two directions of the parameters to this SVG file")
	f.StringVar(&c.directions, "directions", "path", "of the surface: path (principal directions of the trainings) or random")
	f.Float64Var(&c.reach, "reach", 0, "how far the surface goes to either side (default: around the trainings, or 1)")
	f.StringVar(&c.field, "field", "", "draw where each clustering pulls one of its centres to this SVG file")
	f.IntVar(&c.prototype, "prototype", 1, "the centre that --field moves, from 1")
	f.IntVar(&c.cells, "cells", 0, "cells along each side of a drawing (default: 41, of fields 37)")
	return cmd
}

func (c *geometryCommand) run(cmd *cobra.Command, names []string) error {
	if err := c.check(names); err != nil {
		return err
	}
	if err := c.unused(cmd); err != nil {
		return err
	}
	ctx := cmd.Context()
	c.bar = newProgress(cmd.ErrOrStderr())
	defer c.bar.end()
	c.part, c.parts = 0, partsOfEach*len(names)+1 // and the angles
	for _, drawn := range []string{c.surface, c.field} {
		if drawn != "" {
			c.parts++
		}
	}
	c.several = len(names) > 1
	var trained []*geometry.Trajectory
	for _, name := range names {
		s, o, err := c.site(cmd, name)
		if err != nil {
			return err
		}
		c.begin(name)
		t, err := s.Train(ctx, o, c.steps)
		if err != nil {
			return err
		}
		if isFile(name) {
			t.Site.Name = filepath.Base(name)
		}
		trained = append(trained, t)
	}
	if c.prototype < 1 || c.field != "" && trained[0].Site.Model.Centres() != nil && c.prototype > trained[0].Site.Model.Centres().Dim(0) {
		return usagef("--prototype %d: want one of the centres, from 1", c.prototype)
	}
	if err := c.allMet(); err != nil {
		return err
	}
	report, err := newGeometryReport(ctx, trained, c.begin)
	if err != nil {
		return err
	}
	report.Taken = c.taken
	if c.surface != "" {
		c.begin("surface")
		if report.Surface, err = c.drawSurface(cmd, trained); err != nil {
			return err
		}
	}
	if c.field != "" {
		c.begin("field")
		if report.Field, err = c.drawField(cmd, trained); err != nil {
			return err
		}
	}
	c.bar.end()
	w := cmd.OutOrStdout()
	if c.json {
		return printJSON(w, report.machine())
	}
	_, err = io.WriteString(w, report.String())
	return err
}

// partsOfEach counts the parts of the work on each model: training, curvature, symmetries and
// collapse.
const partsOfEach = 4

// begin shows that the next part of the work begins.
func (c *geometryCommand) begin(what string) {
	c.bar.at(c.part, c.parts, what)
	c.part++
}

// unused returns an error for a flag of a drawing that is not made.
func (c *geometryCommand) unused(cmd *cobra.Command) error {
	if c.surface == "" {
		if err := idle(cmd, "want --surface, too", "directions", "reach"); err != nil {
			return err
		}
	}
	if c.field == "" {
		if err := idle(cmd, "want --field, too", "prototype"); err != nil {
			return err
		}
	}
	if c.surface == "" && c.field == "" {
		return idle(cmd, "want --surface or --field, too", "cells")
	}
	return nil
}

// check validates the flags before anything is trained.
func (c *geometryCommand) check(names []string) error {
	if err := c.model.notes.check(names...); err != nil {
		return err
	}
	var known []builders.Builder
	for _, name := range names {
		b, err := lookup(name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(known, func(other builders.Builder) bool { return sameModel(other, b) }) {
			return usagef("geometry: %s is named twice", name)
		}
		known = append(known, b)
	}
	if c.gamma != 0 && !slices.ContainsFunc(known, func(b builders.Builder) bool { return !fixesTemperature(b) }) {
		return usagef("--gamma: %s has one in braces", names[0])
	}
	switch {
	case c.steps < 0:
		return usagef("--steps %d: want 0 or more", c.steps)
	case c.k < 0:
		return usagef("--k %d: want at least 1", c.k)
	case !(c.gamma >= 0):
		return usagef("--gamma %v: want a positive temperature", c.gamma)
	case c.directions != "path" && c.directions != "random":
		return usagef("--directions %q: want path or random", c.directions)
	case c.cells != 0 && (c.cells < 5 || c.cells > 400):
		return usagef("--cells %d: want 5 to 400", c.cells)
	case !(c.reach >= 0 && c.reach < 1e9):
		return usagef("--reach %v: want a positive number", c.reach)
	case (c.surface == "-" || c.field == "-"):
		return usagef("geometry: the tables go to standard output: want a file for drawings")
	}
	for _, path := range []string{c.surface, c.field} {
		if err := checkOutput(path); err != nil {
			return err
		}
	}
	return nil
}

// site returns a model at its start and the optimiser that trains it.
func (c *geometryCommand) site(cmd *cobra.Command, name string) (geometry.Site, train.Optimiser, error) {
	s, usual, err := c.start(cmd, name)
	if err != nil {
		return s, train.Optimiser{}, err
	}
	s.Stepped = c.bar.steps()
	config := lab.Config{Steps: max(1, c.steps), AsNotes: c.model.notes.on, OneBatch: true, Table: c.config}
	if s.Model.Centres() == nil {
		config.Table = nil
	} else {
		config.Batch = c.config.Rows()
		if c.gamma != 0 {
			config.Scheduled = map[string]train.Schedule{"γ": train.Constant(c.gamma)}
		}
	}
	t := training{fitting: c.fitting, opt: c.opt, rate: c.rate, notes: c.model.notes}
	if err := t.chosen(&config, s.Model, usual); err != nil {
		return s, train.Optimiser{}, err
	}
	config.Rate = train.Schedule{} // which a site does not change
	if taken := c.model.notes.taken(s.Model, &config); taken != nil {
		c.taken = append(c.taken, taken)
	}
	return s, config.Optimisers[0], nil
}

// start returns a model at its start and a learning rate that suits it.
func (c *geometryCommand) start(cmd *cobra.Command, name string) (geometry.Site, float64, error) {
	b, err := c.model.notes.lookup(name)
	if err != nil {
		return geometry.Site{}, 0, err
	}
	if err := foreign(cmd, b); err != nil {
		return geometry.Site{}, 0, err
	}
	if !isClustering(b) {
		c.model.seed = c.seed
		m, err := c.model.runnable(name, false)
		if err != nil {
			return geometry.Site{}, 0, err
		}
		if m.Loss == nil {
			return geometry.Site{}, 0, usagef("%s has no loss to look at", name)
		}
		s, err := geometry.NewSite(m, c.seed)
		return s, ownRate, err
	}
	if err := idle(cmd, "a clustering is trained on all points at once", "batch"); err != nil {
		return geometry.Site{}, 0, err
	}
	dt, err := parseDType(c.model.dtype)
	if err != nil {
		return geometry.Site{}, 0, err
	}
	if c.config == nil {
		if c.config, err = c.rows(c.seed); err != nil {
			return geometry.Site{}, 0, err
		}
	}
	k := c.k
	if k == 0 {
		if k = statedClusters([]string{name}); k == 0 {
			k = 3
		}
		if classes := len(c.config.Classes()); classes > 1 {
			k = classes
		}
	}
	if err := lab.InRange(c.config); err != nil {
		return geometry.Site{}, 0, err
	}
	γ := c.gamma
	if v, fixed := b.Fixed["gamma"]; fixed {
		γ = v
	}
	s, err := geometry.ClusterSite(c.config, b, k, γ, c.seed, dt)
	if how := b.AsNotes.Start; err == nil && c.model.notes.on && how != "" {
		err = startAs(s, c.config, how, c.seed)
	}
	return s, lab.DefaultRate(c.config), err
}

// startAs moves the centres of a clustering to where a way of starting puts them.
func startAs(s geometry.Site, t *data.Table, how string, seed uint64) error {
	start, err := lab.ParseStart(how)
	if err != nil {
		return err
	}
	r := s.Model.Centres()
	return s.Store.Set(r.Path(), tape.Tensor(graph.Value{Type: r.Type(), Data: lab.Centres(t, r.Dim(0), start, seed)}))
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/internal/sparkline"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// ownRate is the learning rate of models that are trained on examples of their own.
const ownRate = 0.01

// learning holds the flags of training models that are not clusterings.
type learning struct {
	set     []string
	batches string
}

func (l *learning) flags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&l.set, "set", nil, "sizes and settings of models that are no clusterings: h=8,act=relu; those of one model may stand behind its name, 'MODEL{h=8}'")
	cmd.Flags().StringVar(&l.batches, "batches", "fresh", "examples of a model that is no clustering: fresh in every step, or one batch for all")
}

// The flags that only one kind of model has.
var (
	clusteringFlags = []string{"k", "gamma", "start", "centres", "restarts", "predict", "choose-k"}
	learningFlags   = []string{"set", "batches"}
)

// clustersSet takes --set k=3 of a clustering as --k 3, the one size that does not follow from the
// data.
func clustersSet(cmd *cobra.Command) error {
	set, k := cmd.Flags().Lookup("set"), cmd.Flags().Lookup("k")
	if set == nil || k == nil || !set.Changed {
		return nil
	}
	list, ok := set.Value.(pflag.SliceValue)
	if !ok || len(list.GetSlice()) != 1 {
		return nil
	}
	name, value, _ := strings.Cut(list.GetSlice()[0], "=")
	if name != "k" {
		return nil
	}
	if k.Changed && k.Value.String() != value {
		return usagef("--set k=%s: --k says %s", value, k.Value)
	}
	if err := cmd.Flags().Set("k", value); err != nil {
		return usagef("--set k=%s: want a whole number", value)
	}
	set.Changed = false
	return list.Replace(nil)
}

// foreign returns an error for a flag that does not apply to the model.
func foreign(cmd *cobra.Command, b builders.Builder) error {
	if f := cmd.Flags().Lookup("rate"); f != nil && f.Changed && f.Value.String() == "0" {
		return usagef("--rate 0: want a positive number")
	}
	if isClustering(b) {
		if err := clustersSet(cmd); err != nil {
			return err
		}
		if name := changed(cmd, learningFlags); name != "" {
			return usagef("--%s: %s is a clustering, which takes its sizes and its points from the data", name, b.Name)
		}
		return ofRows(cmd, b)
	}
	if name := changed(cmd, clusteringFlags); name != "" {
		hint := ""
		if isFile(b.Name) && !isONNX(b.Name) {
			hint = ": in a file, centres that start at rows of the only input make one, param r[j=3, d] ~ rows(x)"
		}
		return usagef("--%s is for clusterings, and %s is none%s", name, b.Name, hint)
	}
	if changed(cmd, []string{"data"}) == "" {
		return idle(cmd, "want --data, too: "+b.Name+" is trained on examples of its own", append([]string{"epochs", "patience"}, dataFlags...)...)
	}
	return idle(cmd, "the rows of the data are the examples", "batches")
}

// ofRows returns an error for a setting in the braces of a clustering's name that is found from the
// data that it is trained on, or given by a flag.
func ofRows(cmd *cobra.Command, b builders.Builder) error {
	m, err := b.Build(nil, graph.F32)
	if err != nil {
		return err
	}
	if err := sizedByRows(b); err != nil {
		return err
	}
	n, _, k := lab.SizeNames(m)
	if v, fixed := b.Fixed[n]; fixed {
		return usagef("%s: want --batch %v", b.Name, v)
	}
	if _, fixed := b.Fixed[k]; fixed {
		return usagef("%s: the data have one number of clusters for all: want --k %d", b.Name, m.Centres().Dim(0))
	}
	return nil
}

// sizedByRows returns an error for a size in the braces of a clustering's name that its data have.
func sizedByRows(b builders.Builder) error {
	m, err := b.Build(nil, graph.F32)
	if err != nil {
		return err
	}
	n, d, _ := lab.SizeNames(m)
	for _, name := range []string{n, d} {
		if _, fixed := b.Fixed[name]; fixed && !(name == n && b.Batched()) {
			return usagef("%s: a clustering takes %s from the data", b.Name, name)
		}
	}
	return nil
}

// fixesTemperature reports whether the braces of a clustering's name give it a constant temperature.
func fixesTemperature(b builders.Builder) bool {
	_, fixed := b.Fixed["gamma"]
	return fixed
}

// changed returns the first of the named flags that is set, or "".
func changed(cmd *cobra.Command, names []string) string {
	for _, name := range allChanged(cmd, names) {
		return name
	}
	return ""
}

// allChanged returns those of the named flags that are set.
func allChanged(cmd *cobra.Command, names []string) (set []string) {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			set = append(set, name)
		}
	}
	return set
}

// isClustering reports whether a model has the quantities of a clustering, which
// is trained on data.
func isClustering(b builders.Builder) bool {
	m, err := b.Build(nil, graph.F32)
	return err == nil && m.Centres() != nil
}

// config builds the configuration of a training from the flags, without an optimiser.
func (l *learning) config(o *options, t *training) (c lab.Config, err error) {
	c = lab.Config{Seeds: t.seeds, Seed: o.seed, Steps: t.stepsOr(lab.OwnSteps), AsNotes: t.notes.on}
	if err := positive(counted{"steps", c.Steps}, counted{"seeds", t.seeds}); err != nil {
		return c, err
	}
	switch l.batches {
	case "fresh", "one":
		c.OneBatch = l.batches == "one"
	default:
		return c, usagef("--batches %q: want fresh or one", l.batches)
	}
	return c, nil
}

// chosen fills in how a model is trained: by the flags, by its builder, or by the notes.
func (l *learning) chosen(c *lab.Config, t *training, m *builders.Model) error {
	if err := t.chosen(c, m, ownRate); err != nil {
		return err
	}
	if !t.cmd.Flags().Changed("batches") {
		resolved, err := c.For(m)
		if err != nil {
			return err
		}
		*c = resolved
	}
	if c.OneBatch || m.Settings["sample"] > 0 && m.Builder.Descent != nil && m.Rows == nil {
		l.batches = "one" // its own examples are one data set
		c.OneBatch = true
	}
	t.taken = t.notes.taken(m, c)
	return nil
}

// build returns a function that makes the named model with the flags' settings, and with the sizes
// of the data if some are given.
func (l *learning) build(t *training, name string, seed uint64) func() (*builders.Model, error) {
	return func() (*builders.Model, error) {
		m := modelOptions{set: l.set, dtype: t.dtype, notes: t.notes, rows: &t.fitting, seed: seed}
		return m.runnable(name, false)
	}
}

// ways say how steps are run.
type ways struct {
	engine  train.NewEngine // nil for the tape
	watched bool            // their updates are checked
	mixed   bool            // large products round their operands
}

// train trains the named model and prints the course of its loss.
func (l *learning) train(cmd *cobra.Command, o *options, t *training, keep *keeping, name, out string, w ways) error {
	c, err := l.config(o, t)
	if err != nil {
		return err
	}
	var j *job
	if t.hasData() {
		if j, err = l.fitted(t, name, o.seed); err != nil {
			return err
		}
		if keep.epochs > 0 {
			rows, _ := j.fitted.Rows()
			c.Steps = keep.stepsOf(rows, j.fitted.Batch())
		}
	}
	if j == nil {
		if j, err = ownJob(l.build(t, name, o.seed)); err != nil {
			return err
		}
	}
	if err := l.chosen(&c, t, j.model); err != nil {
		return err
	}
	j.about = t.notes.text(t.taken)
	c.Engine, c.Ranks, c.CheckUpdates, c.Mixed = w.engine, keep.shared.ranks, w.watched, w.mixed
	asked := c.Steps
	learned, err := keep.learn(cmd, j, c)
	if err != nil {
		return err
	}
	if c.Steps = len(learned.Runs[0].Loss); c.Steps == 0 { // the checkpoint was of the last step
		return writeOutput(out, cmd.OutOrStdout(), func(w io.Writer) error {
			return printDone(w, o, name, keep.dir, asked)
		})
	}
	return writeOutput(out, cmd.OutOrStdout(), func(w io.Writer) error {
		return printLearning(w, o, c, l, t, learned, j)
	})
}

// printDone says that the training to be resumed has already done all of its steps.
func printDone(w io.Writer, o *options, name, dir string, steps int) error {
	if o.json {
		return printJSON(w, map[string]any{"model": name, "steps": 0})
	}
	_, err := fmt.Fprintf(w, "%s: %s has %s already\n", name, dir, plural.Count(steps, "step"))
	return err
}

// fitted joins a model to the data.
func (l *learning) fitted(t *training, name string, seed uint64) (*job, error) {
	b, err := t.notes.lookup(name)
	if err != nil {
		return nil, err
	}
	m := modelOptions{set: l.set, dtype: t.dtype}
	s, dt, err := m.settings(b)
	if err != nil {
		return nil, err
	}
	f, err := t.to(b, s, dt, seed)
	if err != nil {
		return nil, err
	}
	return dataJob(f)
}

// milestones returns the steps before the last whose losses the table shows.
func milestones(steps int) []int { return []int{0, steps / 4, steps / 2, 3 * steps / 4} }

func printLearning(w io.Writer, o *options, c lab.Config, l *learning, t *training, learned *lab.Learned, j *job) error {
	if o.json {
		type run struct {
			Seed      uint64       `json:"seed"`
			End       jsonNumber   `json:"end"`
			Converged bool         `json:"converged"`
			Rest      restJSON     `json:"rest"`
			Loss      []jsonNumber `json:"loss"`
			Held      scoresJSON   `json:"validation,omitempty"`
			Best      int          `json:"best_step,omitempty"` // which patience returned to
		}
		v := struct {
			Model     string     `json:"model"`
			Steps     int        `json:"steps"`
			Optimiser string     `json:"optimiser"`
			Batches   string     `json:"batches"`
			Taken     []string   `json:"as_notes,omitzero"` // what is as the notes have it, and not by default
			Data      string     `json:"data,omitempty"`
			Rows      int        `json:"rows,omitempty"` // to train on
			Batch     int        `json:"batch,omitempty"`
			Lanes     int        `json:"lanes,omitempty"` // into which a batch is cut
			Params    int        `json:"params"`
			Median    jsonNumber `json:"median_end"`
			Settled   int        `json:"converged_runs"`
			Test      string     `json:"convergence_test"`
			Runs      []run      `json:"runs"`
		}{learned.Model.Builder.Name, c.Steps, c.Optimisers[0].Under(c.Rate), l.batches, t.taken, "", 0, 0, lanes(c.Ranks), learned.Params, jsonNumber(lab.Median(learned.Ends())), len(learned.Runs) - learned.Moving(), oneLine(lab.ConvergenceTest(false)), nil}
		if j.fitted != nil {
			v.Batches, v.Data, v.Batch = "rows", j.fitted.Name(), j.fitted.Batch()
			v.Rows, _ = j.fitted.Rows()
		}
		for i, r := range learned.Runs {
			line := run{r.Seed, jsonNumber(r.End()), r.Rest.Converged(), newRestJSON(r.Rest), jsonNumbers(r.Loss), nil, 0}
			if i < len(j.measured) {
				line.Held, line.Best = newScoresJSON(j.measured[i]), j.stopped[i].Step
			}
			v.Runs = append(v.Runs, line)
		}
		return printJSON(w, v)
	}
	examples := "fresh examples"
	if c.OneBatch {
		examples = "one batch of examples"
	}
	if j.fitted != nil {
		examples = j.on()
	}
	steps := plural.Count(c.Steps, "step")
	if slices.ContainsFunc(learned.Runs, func(r lab.History) bool { return len(r.Loss) != c.Steps }) {
		steps = "a different number of steps for each seed" // patience ended some
	}
	fmt.Fprintf(w, "%s: %s in %s trained on %s, %s of %s\n", learned.Model.Builder.Name, plural.Count(learned.Params, "number"),
		plural.Count(len(learned.Trained), "parameter"), examples, steps, c.Optimisers[0].Under(c.Rate))
	if idle := idleParams(learned); len(idle) > 0 {
		fmt.Fprintf(w, "not trained, because the loss does not depend on it: %s\n", strings.Join(idle, ", "))
	}
	printLanes(w, c.Ranks)
	t.notes.print(w, t.taken)
	if j.begins != "" {
		fmt.Fprintln(w, j.begins)
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "%6s %12s %12s %12s %12s %12s  loss\n", "seed", "start", "¼", "½", "¾", "end")
	var starts []float64
	for _, r := range learned.Runs {
		fmt.Fprintf(w, "%6d", r.Seed)
		for _, t := range milestones(len(r.Loss)) {
			fmt.Fprintf(w, " %12s", chart.Format(r.Loss[t]))
		}
		fmt.Fprintf(w, " %12s  %s\n", chart.Format(r.End()), sparkline.Curve(r.Loss, sparkWidth))
		starts = append(starts, r.Loss[0])
	}
	if len(j.measured) > 0 {
		j.printMeasured(w, learned)
	}
	_, err := fmt.Fprintf(w, "\nmedian loss from %s to %s (end: mean of the last tenth of the steps)\n%s\n",
		chart.Format(lab.Median(starts)), chart.Format(lab.Median(learned.Ends())), restText(typicalRest(learned), len(learned.Runs)-learned.Moving(), len(learned.Runs), false))
	return err
}

// typicalRest says why the first unconverged run has not converged, or returns "converged" if all
// have.
func typicalRest(learned *lab.Learned) string {
	for _, r := range learned.Runs {
		if !r.Rest.Converged() {
			return fmt.Sprintf("seed %d %v", r.Seed, r.Rest)
		}
	}
	return "converged"
}

// idleParams returns the parameters that training does not change. Often a formula leaves them
// out by mistake.
func idleParams(l *lab.Learned) []string {
	var out []string
	for _, p := range l.Model.Graph.Leaves(graph.RoleParam) {
		updated := slices.ContainsFunc(l.Model.Step, func(u graph.Update) bool { return u.Target == p })
		if !updated && !slices.Contains(l.Trained, p) {
			out = append(out, p.Path())
		}
	}
	return out
}

// sparkWidth is the number of columns of a sparkline.
const sparkWidth = 24

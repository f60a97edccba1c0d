package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/look"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// looking holds the flags of look.
type looking struct {
	training
	learning
	params, out string
	query       string
	ks          []int
}

func newLook(o *options) *cobra.Command {
	var l looking
	cmd := &cobra.Command{
		Use:   "look MODEL",
		Short: "Draw what there is to see in a trained model",
		Long: `Trains a model, or takes the values of --params, and writes the pictures that suit it, with
the numbers behind them. What a model has is found in its graph:

  centres.svg     of a clustering: the data with the centres, for 2, 3 and 4 clusters
  attention.svg   of a softmax that weighs something: which keys each query attends to
  units.svg       of ReLUs: on how many inputs each unit is active, and which are dead
  elbows.svg      of ReLUs of one number: where the kinks are, and how they move
  cauchy.svg      of the same: where the kinks of fresh parameters are, beside the Cauchy distribution
  directions.svg  of a loss that is quadratic: gradient descent and ridge regression along the
                  singular directions, and where to stop early
  receptive.svg   of convolutions and pooling: which places of the input a unit sees
  graph.svg       of a model that reads a graph: the eigenbasis, and whether its filters share it
  layers.svg      of a deep net: values and gradients by layer, at the start and at the end

A model with a loss that is quadratic is trained by gradient descent on one batch, unless an
optimiser is named. Any other is trained as the command train does it, from one seed.`,
		Example: "  tapestry look kmeans-softmax --k 2,3,4 --out pictures\n  tapestry look transformer-gpt --data constitution --steps 500 --rate 0.003\n  tapestry look 'regression-relu{h=16}' --steps 2000 --json",
		Args:    oneModel,
		RunE:    func(cmd *cobra.Command, args []string) error { return l.run(cmd, o, args[0]) },
	}
	f := cmd.Flags()
	l.training.flagsButClusters(cmd)
	l.learning.flags(cmd)
	f.IntSliceVar(&l.ks, "k", []int{2, 3, 4}, "numbers of clusters, drawn side by side")
	f.IntVar(&l.seeds, "seeds", 3, "runs of a clustering with each number of clusters, of which the best is drawn")
	f.StringVar(&l.params, "params", "", "parameters and states instead of training: .json, .npz, .safetensors, or a folder of checkpoints")
	f.StringVar(&l.query, "query", "", "print what this token attends to; in a text of characters, the place where this text ends")
	f.StringVar(&l.out, "out", "look", "the folder for the pictures, which is made if it is missing")
	return cmd
}

// picture is a file of charts, with the numbers behind it.
type picture struct {
	file    string
	columns int
	charts  []drawn
	text    string
	numbers any
}

// drawn is a chart.
type drawn = interface{ SVG(w io.Writer) error }

func (l *looking) run(cmd *cobra.Command, o *options, name string) error {
	if err := errors.Join(l.notes.check(name), l.parseRate()); err != nil {
		return err
	}
	b, err := l.notes.lookup(name)
	if err != nil {
		return err
	}
	if err := foreign(cmd, b); err != nil {
		return err
	}
	if isClustering(b) {
		if err := idle(cmd, name+" has no attention", "query"); err != nil {
			return err
		}
	} else {
		if err := idle(cmd, "it counts the runs of a clustering, and "+name+" is none", "seeds"); err != nil {
			return err
		}
	}
	if l.params != "" {
		if err := idle(cmd, "--params has the values, and nothing is trained", "steps", "rate", "optimiser", "batches", "seeds", "start", "centres", "gamma", "restarts", "k"); err != nil {
			return err
		}
	}
	if err := l.checkFolder(); err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr())
	defer bar.end()
	var says string
	var pictures []picture
	if isClustering(b) {
		says, pictures, err = l.clusters(cmd, o, b, name, bar)
	} else {
		says, pictures, err = l.model(cmd, o, b, name, bar)
	}
	bar.end()
	if err != nil {
		return err
	}
	if len(pictures) == 0 {
		return fmt.Errorf("%s has nothing that look draws: no centres, no attention, no ReLUs, no loss that is quadratic in its parameters, no convolution or pooling, no graph, and no three layers of weights in a row", name)
	}
	return l.write(cmd, o, name, says, pictures)
}

// checkFolder returns an error if the pictures cannot be written.
func (l *looking) checkFolder() error {
	info, err := os.Stat(l.out)
	switch {
	case l.out == "":
		return usagef("--out \"\": want a folder")
	case err == nil && !info.IsDir():
		return usagef("--out %s: this is a file: want a folder", l.out)
	case err != nil && !os.IsNotExist(err):
		return fmt.Errorf("%s: %w", l.out, cause(err))
	}
	return nil
}

// write writes the pictures, and prints the numbers.
func (l *looking) write(cmd *cobra.Command, o *options, name, says string, pictures []picture) error {
	if err := os.MkdirAll(l.out, 0o777); err != nil {
		return fmt.Errorf("%s: %w", l.out, cause(err))
	}
	type shown struct {
		File    string `json:"file"`
		Numbers any    `json:"numbers"`
	}
	machine := struct {
		Model    string  `json:"model"`
		Says     string  `json:"says"`
		Pictures []shown `json:"pictures"`
	}{Model: name, Says: says}
	w := cmd.OutOrStdout()
	if !o.json {
		fmt.Fprintln(w, says)
	}
	for _, p := range pictures {
		path := filepath.Join(l.out, p.file)
		err := writeOutput(path, w, func(w io.Writer) error { return chart.Sheet(w, says, p.columns, p.charts...) })
		if err != nil {
			return err
		}
		machine.Pictures = append(machine.Pictures, shown{path, p.numbers})
		if !o.json {
			fmt.Fprintf(w, "\n%s\n%s", path, p.text)
		}
	}
	if o.json {
		return printJSON(w, machine)
	}
	return nil
}

// model looks at a model that is no clustering.
func (l *looking) model(cmd *cobra.Command, o *options, b builders.Builder, name string, bar *progress) (says string, pictures []picture, err error) {
	ctx := cmd.Context()
	run, says, tokens, err := l.subject(cmd, o, b, name, bar)
	if err != nil {
		return "", nil, err
	}
	for _, draw := range []func(context.Context, *look.Run) ([]picture, error){
		func(ctx context.Context, r *look.Run) ([]picture, error) {
			return attentionPictures(ctx, r, tokens, l.query)
		},
		unitPictures, elbowPictures, cauchyPictures,
		func(ctx context.Context, r *look.Run) ([]picture, error) { return directionPictures(ctx, r, l.rate) },
		receptivePictures, spectrumPictures, layerPictures,
	} {
		more, err := draw(ctx, run)
		if err != nil {
			return "", nil, err
		}
		pictures = append(pictures, more...)
	}
	if l.query != "" && !slices.ContainsFunc(pictures, func(p picture) bool { return p.file == "attention.svg" }) {
		return "", nil, usagef("--query: %s has no attention", name)
	}
	return says, pictures, nil
}

// subject returns a model with the values that are looked at, a line that says what they are of, and
// the tokens of each input.
func (l *looking) subject(cmd *cobra.Command, o *options, b builders.Builder, name string, bar *progress) (*look.Run, string, map[string][]string, error) {
	fail := func(err error) (*look.Run, string, map[string][]string, error) { return nil, "", nil, err }
	var j *job
	var err error
	var file *arraysFile
	switch {
	case l.hasData():
		j, err = l.fitted(&l.training, name, o.seed)
	case l.params != "":
		if file, err = readArrays(l.params); err != nil {
			return fail(err)
		}
		m := modelOptions{set: l.set, dtype: l.dtype, notes: l.notes}
		settings, dt, serr := m.settings(b)
		if serr != nil {
			return fail(serr)
		}
		model, serr := sizedBy(b, settings, dt, file, &arraysFile{})
		if serr != nil {
			return fail(serr)
		}
		j, err = &job{model: model}, model.Room()
	default:
		var m *builders.Model
		if m, err = l.build(&l.training, name, o.seed)(); err == nil {
			j = &job{model: m}
		}
	}
	if err != nil {
		return fail(err)
	}
	m := j.model
	on, tokens := "examples of its own", map[string][]string{}
	if j.fitted != nil {
		on = j.on()
		for _, binding := range j.fitted.Bindings() {
			for _, names := range binding.Classes {
				tokens[binding.Input] = names
			}
		}
	}
	about := func(how string) string { return fmt.Sprintf("%s on %s, seed %d: %s", name, on, o.seed, how) }
	if l.params != "" {
		if file == nil {
			if file, err = readArrays(l.params); err != nil {
				return fail(err)
			}
		}
		v := &evaluated{model: m}
		store, err := v.store(file, o.seed)
		if err != nil {
			return fail(err)
		}
		if names := file.unused(); len(names) > 0 {
			return fail(fmt.Errorf("%s: %s has no %s: it has %s", file.name, b.Name, strings.Join(names, ", "), strings.Join(leafPaths(m, false), ", ")))
		}
		how := "the values of " + l.params
		if len(v.begun) > 0 {
			how += "; as training begins: " + strings.Join(v.begun, ", ")
		}
		run, err := look.At(m, store, o.seed)
		return run, about(how), tokens, err
	}
	store, err := lab.NewStore(m, o.seed)
	if err != nil {
		return fail(err)
	}
	run, err := look.At(m, store, o.seed)
	if err != nil {
		return fail(err)
	}
	if m.Loss == nil || len(lab.Trained(m)) == 0 && len(m.Step) == 0 {
		if err := idle(cmd, name+" has nothing to train", "steps", "rate", "optimiser", "batches"); err != nil {
			return fail(err)
		}
		return run, about("it has nothing to train"), tokens, nil
	}
	l.seeds = 1
	c, err := l.learning.config(o, &l.training)
	if err == nil {
		err = l.learning.chosen(&c, &l.training, m)
	}
	if err == nil {
		err = l.suit(cmd, run, &c)
	}
	if err != nil {
		return fail(err)
	}
	if j.fitted != nil {
		c.OneBatch = false
	}
	c.Stepped = bar.steps()
	run, err = look.Train(cmd.Context(), m, c, look.Spaced(c.Steps))
	if err != nil {
		return fail(err)
	}
	how := fmt.Sprintf("%s of %s", plural.Count(c.Steps, "step"), c.Optimisers[0].Under(c.Rate))
	if j.fitted == nil {
		if c.OneBatch {
			on = "one batch of " + on
		} else {
			on = "fresh " + on
		}
	}
	if run.Trained.Rest.Converged() {
		how += ", converged"
	} else {
		how += ", not converged"
	}
	if l.notes.on {
		how += "; " + l.notes.text(l.taken)
	}
	l.rate = rateOf(c.Optimisers[0], m)
	return run, about(how), tokens, nil
}

// suit chooses gradient descent on one batch for a loss that is quadratic, where neither the flags nor
// the model say otherwise.
func (l *looking) suit(cmd *cobra.Command, run *look.Run, c *lab.Config) error {
	if cmd.Flags().Changed("optimiser") {
		return nil
	}
	q, err := run.Quadratic(cmd.Context())
	if q == nil || err != nil {
		return err
	}
	if !l.schedule.IsZero() {
		return usagef("--rate %s: what descent does to a loss that is quadratic is predicted for a constant rate: want a number", l.rateText)
	}
	own, _, err := c.Own(run.Model)
	if err == nil && own.IsZero() {
		own, err = optimiser("sgd", cmp.Or(l.rate, q.Rate()))
		c.Optimisers = []train.Optimiser{own}
	}
	if !cmd.Flags().Changed("batches") {
		c.OneBatch = true
	}
	return err
}

// rateOf returns the rate of an optimiser of a model.
func rateOf(o train.Optimiser, m *builders.Model) float64 {
	n := o.Rate(m.Graph)
	if n == nil {
		return 0
	}
	v, _ := n.Default()
	return v
}

// errNoK is the error of an empty list of numbers of clusters.
var errNoK = errors.New("want numbers of clusters, as in 2,3,4")

// checkKs returns an error for impossible numbers of clusters.
func (l *looking) checkKs() error {
	if len(l.ks) == 0 {
		return usagef("--k: %w", errNoK)
	}
	for i, k := range l.ks {
		if k < 1 {
			return usagef("--k %d: want at least 1", k)
		}
		if slices.Contains(l.ks[:i], k) {
			return usagef("--k: %d is given twice", k)
		}
	}
	return nil
}

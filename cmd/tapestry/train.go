package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// training holds the flags that train, compare and step share.
type training struct {
	fitting
	k, steps, seeds int
	opt             string
	rateText        string
	rate            float64        // at the first step; 0 for what suits the model
	schedule        train.Schedule // of the rate; zero for a constant one
	notes           asNotes
	gamma           string
	start, given    string
	dtype           string
	restarts        int
	options         []train.Option // of the optimiser
	taken           []string       // of the notes; nil without --as-notes
	stopped         []train.Best   // by run of a clustering: where patience went back to; zero where it did not
	stepsFlag       *pflag.Flag    // tells whether steps were given
}

// The default numbers of steps. Clusterings converge within theirs.
const (
	ownSteps        = 200
	clusteringSteps = 1000
)

// stepsOr returns the value of --steps, or the usual number if the flag was not given.
func (t *training) stepsOr(usual int) int {
	if t.stepsFlag == nil || !t.stepsFlag.Changed {
		return usual
	}
	return t.steps
}

const rateUsage = "learning rate (default: 0.01; of a clustering, from the scale of the data). That of a clustering falls to 0 from a quarter of the steps on"

func (t *training) flags(cmd *cobra.Command) {
	t.flagsButClusters(cmd)
	cmd.Flags().IntVar(&t.k, "k", 0, "clusters (default: the number of classes; without labels what a file says, otherwise 3)")
}

// flagsButClusters leaves out --k, of which look reads several.
func (t *training) flagsButClusters(cmd *cobra.Command) {
	f := cmd.Flags()
	t.fitting.flags(cmd, "iris")
	t.cutFlags(cmd)
	f.IntVar(&t.steps, "steps", 0, fmt.Sprintf("training steps (default: %d; of a clustering %d)", ownSteps, clusteringSteps))
	t.stepsFlag = f.Lookup("steps")
	f.StringVar(&t.opt, "optimiser", "adam", strings.Join(train.Names(), ", "))
	f.StringVar(&t.rateText, "rate", "", rateUsage+", or a schedule of it: warmup(10,cosine(0.01,190))")
	t.notes.trainingFlags(cmd)
	f.StringVar(&t.gamma, "gamma", "", "γ, the inverse temperature: 2 for a constant, 0.1..50 to anneal (default: annealed in the first quarter of the steps, from the scale of the data)")
	f.StringVar(&t.start, "start", "plusplus", "start centres: plusplus, points, groups (means of a random assignment) or given")
	f.StringVar(&t.given, "centres", "", "CSV file with the start centres, for --start given")
	f.StringVar(&t.dtype, "dtype", "f64", trainingDType)
	f.IntVar(&t.restarts, "restarts", 50, "restarts of Lloyd's algorithm")
}

// parseRate reads --rate, a number or a schedule.
func (t *training) parseRate() error {
	if t.rateText == "" {
		return nil
	}
	v, err := strconv.ParseFloat(t.rateText, 64)
	if err != nil {
		if t.schedule, err = train.ParseSchedule(t.rateText); err != nil {
			return usagef("--rate: %w", err)
		}
		v = t.schedule.At(0, t.stepsOr(ownSteps))
	}
	if !(v > 0) {
		return usagef("--rate %s: want a positive number", t.rateText)
	}
	t.rate = v
	return nil
}

// chosen fills in how one model is trained: by the optimiser that is named, or else by that of the
// model itself, or else by Adam at a usual rate.
func (t *training) chosen(c *lab.Config, m *builders.Model, usual float64) error {
	own, rate, err := c.Own(m, t.options...)
	if err != nil {
		return err
	}
	named := t.cmd.Flags().Changed("optimiser")
	switch {
	case own.IsZero() || named && own.Name() != t.notes.named(t.opt):
		if own, err = optimiser(t.notes.named(t.opt), cmp.Or(t.rate, usual), t.options...); err != nil {
			return err
		}
		rate = train.Schedule{}
	case t.rate != 0:
		own, rate = own.WithRate(t.rate), train.Schedule{}
	}
	c.Optimisers = []train.Optimiser{own}
	if c.Rate = t.schedule; c.Rate.IsZero() {
		c.Rate = rate
	}
	return nil
}

// config checks the flags and reads the data for the named clusterings.
func (t *training) config(o *options, names ...string) (lab.Config, error) {
	c := lab.Config{Find: t.notes.lookup, AsNotes: t.notes.on, K: t.k, Seeds: t.seeds, Seed: o.seed, Steps: t.stepsOr(clusteringSteps), Restarts: t.restarts, Batch: t.batch}
	if t.k < 0 {
		return c, usagef("--k %d: want at least 1", t.k)
	}
	err := positive(counted{"steps", c.Steps}, counted{"seeds", t.seeds}, counted{"restarts", t.restarts})
	if err == nil && t.cmd.Flags().Changed("batch") {
		err = positive(counted{"batch", t.batch})
	}
	if err != nil {
		return c, err
	}
	if c.DType, err = parseDType(t.dtype); err != nil {
		return c, err
	}
	if c.Start, err = lab.ParseStart(t.start); err != nil {
		return c, usagef("--start: %w", err)
	}
	if t.notes.on && !t.cmd.Flags().Changed("start") {
		c.Start = lab.StartDefault
	}
	if t.gamma != "" {
		γ, err := train.ParseSchedule(t.gamma)
		if err != nil {
			return c, usagef("--gamma: %w", err)
		}
		if γ.At(0, 2) <= 0 {
			return c, usagef("--gamma %s: want a positive temperature", t.gamma)
		}
		c.Scheduled = map[string]train.Schedule{"γ": γ}
	}
	if t.given != "" && c.Start != lab.StartGiven {
		return c, usagef("--centres: want --start given, too")
	}
	if c.Table, err = t.rows(o.seed); err != nil {
		return c, err
	}
	c.Held = t.held
	if err := lab.InRange(c.Table); err != nil {
		return c, err
	}
	if c.K == 0 && len(c.Table.Classes()) < 2 {
		c.K = statedClusters(names)
	}
	if c.Start == lab.StartGiven {
		if err := t.readCentres(&c); err != nil {
			return c, err
		}
	}
	if c.Rate = t.schedule; t.notes.on && !t.cmd.Flags().Changed("optimiser") { // each has its own
		if c.Rate.IsZero() && t.rate != 0 {
			c.Rate = train.Constant(t.rate)
		}
		return c, nil
	}
	opt, err := optimiser(t.notes.named(t.opt), cmp.Or(t.rate, lab.DefaultRate(c.Table)), t.options...)
	c.Optimisers = []train.Optimiser{opt}
	return c, err
}

// statedClusters returns the number of centres that the first file among the models states, or 0
// if none does.
func statedClusters(names []string) int {
	for _, name := range names {
		if !isFile(name) {
			continue
		}
		if b, err := lookup(name); err == nil {
			if m, err := b.Build(nil, graph.F32); err == nil && m.Centres() != nil {
				return m.Centres().Dim(0)
			}
		}
	}
	return 0
}

// counted is a flag whose value is a number of things, at least 1.
type counted struct {
	flag string
	v    int
}

// positive returns an error for the first count below 1.
func positive(counts ...counted) error {
	for _, c := range counts {
		if c.v < 1 {
			return usagef("--%s %d: want at least 1", c.flag, c.v)
		}
	}
	return nil
}

// readCentres reads the start centres, whose number is k.
func (t *training) readCentres(c *lab.Config) error {
	if t.given == "" {
		return usagef("--start given: want --centres FILE")
	}
	centres, err := data.Open(t.given, data.NoLabel())
	if err != nil {
		return flagged(err, "")
	}
	if err := sameColumns(centres, c.Table); err != nil {
		return err
	}
	if c.K != 0 && c.K != centres.Rows() {
		return usagef("--k %d: %s has %d centres", c.K, t.given, centres.Rows())
	}
	c.Given, c.K = centres.X, centres.Rows()
	return nil
}

// sameColumns returns an error unless the second table has the features of the first, in the same
// order.
func sameColumns(second, first *data.Table) error {
	a, b := second.Columns, first.Columns
	if len(a) != len(b) {
		return fmt.Errorf("%s: %s, %s has %d", second.Name, plural.Count(len(a), "feature"), first.Name, len(b))
	}
	for i := range a {
		if a[i] != b[i] && slices.Contains(b, a[i]) {
			return fmt.Errorf("%s: feature %d is %q, in %s it is %q", second.Name, i+1, a[i], first.Name, b[i])
		}
	}
	return nil
}

func newTrain(o *options) *cobra.Command {
	var t training
	var l learning
	var keep keeping
	var watched watching
	var predict, out, engine, choose string
	cmd := &cobra.Command{
		Use:   "train MODEL",
		Short: "Train a model on data, or on examples of its own",
		Long: `Trains a clustering on a CSV file or an embedded data set from several seeds, keeps
the best by the inertia of the hard assignment, and prints its centres. With
--predict the trained centres assign the rows of a second file.

Any other model that has a loss is trained on the rows of --data, and the course of its
loss is printed. --bind says which columns an input reads; without it the label, columns
of the inputs' names and what is left are found, and it says what each input reads. The
sizes of the model follow from the data: how wide an input is, how many classes there
are. Without --data the model has a small task of its own, from which every step draws
fresh examples. Examples and initial values depend on the seed alone. A model that
shows what plain gradient descent does, as regression-minimum-norm, is trained by it on one
data set, unless an optimiser is named.

With --validation rows are held out and measured, and with --standardise what a model
predicts from, or what is clustered, has mean 0 and deviation 1, by the rows to train on.
docs/crossing.md has what works with what.

With --checkpoint what was trained is kept, with the model: first after a second, then every
ten, and at the end; of several runs of a clustering the centres of the best one, when all are
done. tapestry predict uses it, and with --resume the same command goes on as if it had never
stopped. With --from another model begins with what was learnt, to keep it or to go on from it.`,
		Example: "  tapestry train mine.tapestry --data houses.csv --bind x=area,rooms --bind y=price --validation 0.2 --standardise\n" +
			"  tapestry train kmeans-softmax --data flowers.csv --k 3 --gamma 0.5..60 --seeds 10\n" +
			"  tapestry train kmeans-lloyd --data digits --k 10\n" +
			"  tapestry train kmeans-lloyd --data wine --choose-k 2..8 --start groups\n" +
			"  tapestry train transformer-gpt --steps 500 --rate 0.003 --batches one\n" +
			"  tapestry train transformer-gpt --steps 2000 --rate 'warmup(50,cosine(0.003,1950))' --clip-norm 1 --checkpoint runs/gpt --resume",
		Args: oneModel,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.notes.check(args[0]); err != nil {
				return err
			}
			b, err := t.notes.lookup(args[0])
			if err != nil {
				return err
			}
			if err := foreign(cmd, b); err != nil {
				return err
			}
			if isClustering(b) {
				if err := unusedInTraining(cmd, b, choose); err != nil {
					return err
				}
			}
			makeEngine, err := engineNamed(engine)
			if err != nil {
				return err
			}
			if makeEngine, err = watched.engine(makeEngine); err != nil {
				return err
			}
			if err := checkOutput(out); err != nil {
				return err
			}
			if err := keep.parse(&t); err != nil {
				return err
			}
			t.options = keep.options()
			clustering := isClustering(b)
			if !cmd.Flags().Changed("seeds") {
				switch {
				case keep.log != "", keep.resume, keep.dir != "" && !clustering:
					t.seeds = 1
				case !clustering:
					t.seeds = 3
				}
			}
			if err := keep.check(clustering, t.seeds); err != nil {
				return err
			}
			if !clustering {
				return watched.report(cmd, o, args[0], l.train(cmd, o, &t, &keep, args[0], out, makeEngine))
			}
			one := t.seeds == 1 && choose == "" && !movesItself(b)
			if !one {
				release, err := keep.openEmpty()
				if err != nil {
					return err
				}
				defer release()
			}
			c, err := t.config(o, args[0])
			if err != nil {
				return err
			}
			c.Engine = makeEngine
			m, err := c.Variant(args[0]).Build(c.DType)
			if err != nil {
				return err
			}
			if t.notes.on {
				if err := t.chosen(&c, m, lab.DefaultRate(c.Table)); err != nil {
					return err
				}
			}
			t.taken = t.notes.taken(m, &c)
			ended, err := keep.clustering(cmd.Context(), &c, &t, args[0], one)
			if err != nil {
				return err
			}
			if one {
				saving(cmd.Context())
			}
			var fresh *data.Table
			if predict != "" {
				if fresh, err = t.alike(predict, c.Table).open(); err != nil {
					return err
				}
				if err := t.scale(fresh); err != nil {
					return err
				}
			}
			bar := newProgress(cmd.ErrOrStderr())
			c.Progress, c.Stepped = bar.report(), bar.steps()
			var v lab.Clustering
			var tried []lab.Trial
			if choose != "" {
				var choice lab.Choice
				choice, err = chooseK(cmd.Context(), c, args[0], choose)
				v, tried = choice.Clustering, choice.Tried
			} else {
				v, err = c.Repeat(cmd.Context(), args[0])
			}
			bar.end()
			if err = ended(err); err != nil {
				return watched.report(cmd, o, args[0], err)
			}
			if !one {
				if err := keep.centres(c, v, &t); err != nil {
					return err
				}
			}
			if best := v.Best(); len(best.Loss) == 0 { // the checkpoint was of the last step
				return writeOutput(out, cmd.OutOrStdout(), func(w io.Writer) error {
					return printDone(w, o, args[0], keep.dir, best.Steps)
				})
			}
			return writeOutput(out, cmd.OutOrStdout(), func(w io.Writer) error {
				if err := printTrials(w, o, tried); err != nil {
					return err
				}
				return printTraining(cmd.Context(), w, o, c, v, &t, fresh)
			})
		},
	}
	t.flags(cmd)
	l.flags(cmd)
	keep.flags(cmd)
	watched.flags(cmd)
	cmd.Flags().IntVar(&t.seeds, "seeds", 10, "runs, of which the best is kept; 3 of a model that is no clustering, unless given")
	cmd.Flags().StringVar(&predict, "predict", "", "CSV file whose rows the trained centres assign")
	cmd.Flags().StringVar(&choose, "choose-k", "", "numbers of clusters to try, as in 2..8: the one with the best mean silhouette is kept")
	cmd.Flags().StringVarP(&out, "out", "o", "", "write to a file instead of standard output")
	cmd.Flags().StringVar(&engine, "engine", "native", "native, or gorgonia: run the same graph on gorgonia's TapeMachine")
	return cmd
}

// unusedInTraining returns an error for a flag that does not affect the training of a clustering.
func unusedInTraining(cmd *cobra.Command, b builders.Builder, choose string) error {
	lloyd := movesItself(b)
	if lloyd {
		if err := idle(cmd, "it is of one training, and Lloyd's algorithm begins --restarts times", "log", "resume"); err != nil {
			return err
		}
		if err := idle(cmd, "Lloyd's algorithm begins --restarts times, and goes on until nothing moves", "seeds", "steps", "epochs", "patience"); err != nil {
			return err
		}
	}
	if choose != "" {
		if err := idle(cmd, "--choose-k says which are tried", "k"); err != nil {
			return err
		}
		if err := idle(cmd, "it is of one training, and --choose-k trains for each number of clusters", "log", "resume", "patience"); err != nil {
			return err
		}
	}
	return unused(cmd, lloyd, false, b)
}

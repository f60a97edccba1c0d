package main

import (
	"cmp"
	"fmt"
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
	f.IntVar(&t.steps, "steps", 0, fmt.Sprintf("training steps (default: %d; of a clustering %d)", lab.OwnSteps, lab.ClusteringSteps))
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
		v = t.schedule.At(0, t.stepsOr(lab.OwnSteps))
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
		if rate = (train.Schedule{}); t.rate != 0 {
			own = own.WithRate(t.rate)
		}
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
	c := lab.Config{Find: t.notes.lookup, AsNotes: t.notes.on, K: t.k, Seeds: t.seeds, Seed: o.seed, Steps: t.stepsOr(lab.ClusteringSteps), Restarts: t.restarts, Batch: t.batch}
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

package lab

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// Config says what [Learn], [Compare] and [Cluster] train, and how. Unless they say otherwise, its
// methods train clusterings as Cluster does. A field that is zero stands for its default. Setting a
// field that the function does not take is an error.
//
// Trainings from the same seed have their random numbers in common: the examples of a step depend
// on the seed and the step, initial values on the seed and the path, other random draws on the
// seed, the step and the key.
type Config struct {
	// What every training takes.

	Seeds int    // runs of each objective at each setting; default 10, for Learn 3
	Seed  uint64 // the first seed; the others follow it
	Steps int    // of each run; default 200, for clusterings on a Table 1000
	// Optimisers has one optimiser at most, except for Compare, which trains by each. The default is
	// that of the model ([Config.Own]) if it has one, and otherwise Adam(0.01) or, for clusterings on
	// a Table, Adam with [DefaultRate].
	Optimisers []train.Optimiser
	// Rate is the schedule of the learning rate of every optimiser. Without it rates are constant or,
	// with Falling and by default for clusterings on a Table, fall as [Falling] says.
	Rate    train.Schedule
	Falling bool
	// AsNotes trains models as the lecture notes have them ([builders.AsNotes]) where no other field
	// says how: by which optimiser, from which start centres, on how many rows, at a γ that stays as
	// it is. Rates then do not fall by default. The settings of a model are those that it is built
	// with: [builders.Builder.ByNotes] has those of the notes.
	AsNotes bool
	// Scheduled has the schedules of scalar inputs by path; a path that no model has is an error.
	// Trained models are measured with the last value. Cluster takes only γ, the inverse temperature.
	// For clusterings on a Table γ by default follows [DefaultGamma] in the first quarter of the
	// steps, and then stays as it is; with AsNotes it is [SteadyGamma] where the notes leave it
	// unchanged.
	Scheduled map[string]train.Schedule
	// Progress is called whenever a part of the work is done: a run or, in Cluster, a baseline or a
	// point of a sweep. Calls do not overlap.
	Progress func(done, of int, what string)
	// Stepped is called after every step of a run, with the number of steps done, by the goroutine
	// that trains. In Compare, calls from several runs overlap.
	Stepped func(done, of int, what string)

	// What Learn and Compare take.

	// Examples draws values for the inputs, by path, in place of the models' own examples. Compare
	// calls it from several goroutines at a time.
	Examples func(rng *rand.Rand) map[string]graph.Value
	OneBatch bool // the same examples in every step, not fresh ones

	// What Learn and Cluster take.

	Engine train.NewEngine // default: the native tape
	// Build makes nets for evaluation and for other numbers of rows, which checkpoints and validation
	// need; fit.Nets returns one. Without it there is the net of the model alone.
	Build train.Build
	// Plan changes the plan of each training before it begins, say to add checkpoints, validation or
	// observers. The trainer has the store of the seed. In Cluster, where trainings may diverge, only
	// the data, steps, schedules and observers of the plan count; [Config.Train] heeds all of it.
	Plan func(t *train.Trainer, p *train.Plan) error
	// Ranks shares out every step in lanes over the ranks of a job, each of which makes the same calls
	// with the same fields and gets the same result. Learn wants Build with it, for the rows of a lane.
	// A model whose batches cannot be cut is an error ([Divisible]), and so is an Engine.
	Ranks *parallel.Ranks
	// CheckUpdates ends a training that would make a parameter NaN or infinite, as one whose loss is:
	// see [train.Trainer.CheckUpdates].
	CheckUpdates bool
	// Mixed trains with the arithmetic of [train.Trainer.Mixed]. A model without a product or
	// convolution that this rounds is an error, tape.ErrNotMixed.
	Mixed bool

	// What Compare and Cluster take.

	// Table has the data, in place of examples. Compare feeds its rows to the input named x, or to the
	// only input of two axes that is as wide as the table. An input with fewer rows is fed batches, in
	// an order that depends on the seed alone. Variants must have no other input without a default.
	Table *data.Table
	// Held has rows with the columns of Table that are not trained on. Compare measures the losses of
	// trained models on them, or without them on Table; for Cluster see [Clustering.Held].
	Held  *data.Table
	DType graph.DType // element type of models that leave it open; default F64

	// What Cluster takes, and Compare where there is a Table and a variant is a clustering.

	K     int       // number of clusters; default: that of the first clustering of Compare, or [DefaultK]
	Start Start     // how start centres are chosen
	Given []float64 // the start centres, row-major [k d], if Start is StartGiven
	// Batch is the number of rows that a step of a clustering takes, in Cluster and [Config.Variant].
	// The default is 16 for SGD on the nearest centre, and for others all rows. Lloyd's algorithm
	// always takes all.
	Batch int
	// Find returns the builder of a name, for Cluster and [Config.Variant]; default: builders.Lookup.
	Find func(name string) (builders.Builder, error)

	// What Compare takes.

	// Rates are schedules of the learning rate, by each of which every optimiser trains, in place of
	// Rate. A zero value among them stands for the rates that there are without Rates.
	Rates []train.Schedule
	// Starts are the start values to train from. The default is one start, at which models begin as
	// their initialisers say. Where Compare trains a clustering on a Table, all centres begin as Start
	// says, except at a start with Values or Init of its own.
	Starts []Initial
	// Probes are metrics besides every variant's loss. A clustering on a Table adds inertia, on Table
	// and on Held, the adjusted Rand index if there are labels and, for up to 2000 rows, the
	// silhouette.
	Probes []Probe
	// Level is the loss that [Outcome].Steps counts the steps to; for the default see
	// [Comparison.Level].
	Level   float64
	Workers int // trainings at a time; default: runtime.GOMAXPROCS(0)

	// What Cluster takes.

	Objectives []string  // names of builders; default: kmeans-softmax, kmeans-goofy
	Alone      bool      // without baselines
	Restarts   int       // runs of Lloyd's algorithm; default 50
	SweepGamma []float64 // values of γ; default: 0.1 to 100 times K/s², with s the [Scale] of Table
	SweepK     []int     // numbers of clusters; default: 2 to K+2
	// SweepSeeds is the number of runs at each point of a sweep; default 3, or 1 for a Table of more
	// than 10⁵ numbers. It is never more than Seeds.
	SweepSeeds int

	goesOn  bool // with the next run where one diverges
	unnamed bool // the optimiser is the default, and gives way to that of a model
}

// ofClusterings lists the fields that only clusterings on a Table take.
const ofClusterings = "K Start Given Batch Find"

// takers lists the fields that only some functions take, and those functions.
var takers = []struct{ fields, by string }{
	{"Examples OneBatch", "Learn and Compare"},
	{"Engine Build Plan Ranks CheckUpdates Mixed", "Learn and Cluster"},
	{"Table Held DType " + ofClusterings, "Compare and Cluster"},
	{"Rates Starts Probes Level Workers", "Compare"},
	{"Objectives Alone Restarts SweepGamma SweepK SweepSeeds", "Cluster"},
}

// given returns the first of the named fields that is not zero, or "".
func (c Config) given(fields string) string {
	for name := range strings.FieldsSeq(fields) {
		if !reflect.ValueOf(c).FieldByName(name).IsZero() {
			return name
		}
	}
	return ""
}

// check returns an error if a field is set that the function does not take, or to a value that no
// function takes.
func (c Config) check(function string) error {
	says := strings.ToLower(function)
	for _, t := range takers {
		if name := c.given(t.fields); name != "" && !strings.Contains(t.by, function) {
			return fmt.Errorf("%s: %s is for %s", says, name, t.by)
		}
	}
	switch {
	case len(c.Optimisers) > 1 && function != "Compare":
		return fmt.Errorf("%s: %d optimisers: want one; Compare takes several", says, len(c.Optimisers))
	case slices.ContainsFunc(c.Optimisers, train.Optimiser.IsZero):
		return fmt.Errorf("%s: an optimiser is the zero value, which does nothing", says)
	case c.Held != nil && (c.Table == nil || c.Held.Rows() == 0 || len(c.Held.Columns) != len(c.Table.Columns)):
		return fmt.Errorf("%s: Held: want rows with the columns of Table", says)
	case c.Falling && !c.Rate.IsZero():
		return fmt.Errorf("%s: there is a Rate, and Falling: want one of them", says)
	case len(c.Rates) > 0 && (c.Falling || !c.Rate.IsZero()):
		return fmt.Errorf("%s: there are Rates, and Rate or Falling: want one of them", says)
	case c.Start != StartGiven && c.Given != nil:
		return fmt.Errorf("%s: Given is for Start StartGiven", says)
	case min(c.Seeds, c.Steps, c.Workers, c.Batch, c.Restarts, c.SweepSeeds) < 0:
		return fmt.Errorf("%s: numbers of seeds, steps, workers, restarts and rows must not be negative", says)
	}
	return nil
}

// forCluster checks the configuration of [Cluster] and fills in its defaults.
func (c Config) forCluster() (Config, error) {
	if err := c.check("Cluster"); err != nil {
		return c, err
	}
	for _, path := range slices.Sorted(maps.Keys(c.Scheduled)) {
		if path != gammaPath {
			return c, fmt.Errorf("cluster: Scheduled has %q: want %s alone", path, gammaPath)
		}
	}
	if len(c.Objectives) == 0 {
		c.Objectives = []string{"kmeans-softmax", "kmeans-goofy"}
	}
	find := c.Find
	if find == nil {
		find = builders.Lookup
	}
	var known []builders.Builder
	for _, name := range c.Objectives {
		b, err := find(name)
		if err != nil {
			return c, err
		}
		known = append(known, b)
	}
	c, err := c.clustering(known...)
	if err != nil {
		return c, err
	}
	setDefault(&c.Restarts, 50)
	n, s := c.Table.Rows(), Scale(c.Table)
	if n*len(c.Table.Columns) > 100_000 {
		setDefault(&c.SweepSeeds, 1)
	}
	setDefault(&c.SweepSeeds, 3)
	c.SweepSeeds = min(c.SweepSeeds, c.Seeds)
	if c.SweepGamma == nil {
		for _, f := range []float64{0.1, 0.3, 1, 3, 10, 30, 100} {
			c.SweepGamma = append(c.SweepGamma, f*(float64(c.K)/(s*s)))
		}
	}
	if c.SweepK == nil {
		for k := 2; k <= min(c.K+2, n); k++ {
			c.SweepK = append(c.SweepK, k)
		}
	}
	return c, nil
}

// clustering checks the configuration of clusterings on a table and fills in its defaults.
func (c Config) clustering(known ...builders.Builder) (Config, error) {
	if c.Table == nil || c.Table.Rows() == 0 {
		return c, errors.New("no data: Table has no rows")
	}
	n, d := c.Table.Rows(), len(c.Table.Columns)
	if c.K == 0 {
		c.K = DefaultK(c.Table)
	}
	switch {
	case c.K < 1:
		return c, fmt.Errorf("k = %d: want at least 1", c.K)
	case c.K > n:
		return c, fmt.Errorf("%s: k = %d clusters, but the file has only %s", c.Table.Name, c.K, plural.Count(n, "row"))
	case distinct(c.Table, c.K) == 1 && c.K > 1:
		return c, fmt.Errorf("%s: every column is constant (%q is %v in all %d rows): k = %d clusters want %d different rows", c.Table.Name, c.Table.Columns[0], c.Table.X[0], n, c.K, c.K)
	case distinct(c.Table, c.K) < c.K:
		return c, fmt.Errorf("%s: k = %d clusters, but the file has only %s", c.Table.Name, c.K, plural.Count(distinct(c.Table, c.K), "different row"))
	case c.Start == StartGiven && len(c.Given) != c.K*d:
		return c, fmt.Errorf("%d numbers for %d start centres of %d features: want %d", len(c.Given), c.K, d, c.K*d)
	}
	if err := InRange(c.Table); err != nil {
		return c, err
	}
	if c.Find == nil {
		c.Find = builders.Lookup
	}
	setDefault(&c.Seeds, 10)
	setDefault(&c.Steps, ClusteringSteps)
	if c.DType == graph.InvalidDType {
		c.DType = graph.F64
	}
	if c.gamma().IsZero() {
		c.Scheduled = maps.Clone(c.Scheduled)
		if c.Scheduled == nil {
			c.Scheduled = map[string]train.Schedule{}
		}
		c.Scheduled[gammaPath] = Annealing(c.Table, c.K, c.Steps)
		if c.steady(known) {
			c.Scheduled[gammaPath] = train.Constant(SteadyGamma(c.Table, c.K))
		}
	}
	if len(c.Optimisers) == 0 {
		c.Optimisers, c.unnamed = []train.Optimiser{train.Adam(DefaultRate(c.Table))}, true
	}
	c.Falling = c.Falling || c.Rate.IsZero() && len(c.Rates) == 0 && !c.AsNotes
	var err error
	c.Start, err = c.startOf(known)
	return c, err
}

// gammaPath is the path of the input for the inverse temperature of a clustering.
const gammaPath = "γ"

// gamma returns the schedule of γ; the zero value if none is given.
func (c Config) gamma() train.Schedule { return c.Scheduled[gammaPath] }

// gammaOf returns the schedule of γ in a clustering: that of [Config.Scheduled] or, where
// [builders.Builder.With] has fixed it, that constant.
func (c Config) gammaOf(m *builders.Model) train.Schedule {
	if _, fixed := m.Builder.Fixed["gamma"]; fixed && m.Gamma() != nil {
		v, _ := m.Gamma().Default()
		return train.Constant(v)
	}
	return c.gamma()
}

package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// Config says what [Learn], [Compare] and [Cluster] train, and how; its methods train clusterings
// as Cluster does. Zero values stand for the defaults. To set a field that the function does not
// take is an error, which says what the field is for.
//
// Numbers are common to all trainings of the same seed. The examples of a step depend on seed and
// step, initial values on seed and path, random draws on seed, step and key.
type Config struct {
	// What every training takes.

	Seeds int    // runs of each objective, at each setting; default 10, of Learn 3
	Seed  uint64 // the first
	Steps int    // default 200; of clusterings on a Table 1000
	// Optimisers has one at most, except for Compare, which trains by each. The default is
	// Adam(0.01), of clusterings on a Table Adam with [DefaultRate].
	Optimisers []train.Optimiser
	// Rate is the schedule of every optimiser's rate. Without one the rates are constant or, with
	// Falling and always for clusterings on a Table, fall as [Falling] says.
	Rate    train.Schedule
	Falling bool
	// Scheduled gives scalar inputs by path their value in each step, in the models that have
	// them. Judges measure with the last value. Cluster takes γ alone, the temperature. For
	// clusterings on a Table it is by default annealed in the first quarter of the steps, as
	// [DefaultGamma] says.
	Scheduled map[string]train.Schedule
	// Progress is called as runs end, by one goroutine at a time.
	Progress func(done, of int, what string)
	// Stepped is called after every step of a run, with the number of steps done, from the
	// goroutine that runs it: of several runs at a time in Compare.
	Stepped func(done, of int, what string)

	// What Learn and Compare take.

	// Examples draws the inputs by path, in place of the models' own examples. Compare calls it
	// from several goroutines.
	Examples func(rng *rand.Rand) map[string]graph.Value
	OneBatch bool // the same examples in every step, instead of fresh ones

	// What Learn and Cluster take.

	Engine train.NewEngine // default: the native tape
	// Build makes the nets for other numbers of rows, and for evaluating, which checkpoints and
	// validation want; see fit.Nets. Without it there is the model alone.
	Build train.Build
	// Plan changes the plan of each training before it begins: data of another cut, checkpoints,
	// validation, observers. The trainer is that of the seed.
	Plan func(t *train.Trainer, p *train.Plan) error

	// What Compare and Cluster take.

	// Table gives the data in place of examples. Compare feeds its rows to the input named
	// x, or to the only input of two axes that is as wide as the table. An input with
	// fewer rows gets batches, in an order that depends on the seed alone. The variants
	// must have no other input without a default.
	Table *data.Table
	// Held has rows that are not trained on, with the columns of Table: on them the losses of trained
	// models are measured. Without it that is done on Table.
	Held  *data.Table
	DType graph.DType // of models that leave it open; default F64

	// What Cluster takes, and Compare where there is a Table and a variant is a clustering.

	K     int       // clusters; default: as many as the first clustering of Compare has, or [DefaultK]
	Start Start     // where centres begin; default: PlusPlus
	Given []float64 // centres, row-major [k d], for Start StartGiven
	// Batch is the number of rows that clusterings take at a time, in Cluster and [Config.Variant]; 0
	// is all of them, and 16 of SGD on the nearest centre. Lloyd's algorithm takes all in any case.
	Batch int
	// Find finds builders by name, for Cluster and [Config.Variant]; default: builders.Lookup.
	Find func(name string) (builders.Builder, error)

	// What Compare takes.

	// Starts are the start values, by default one: models begin by themselves, and beside a
	// clustering on a Table all centres begin as Start says.
	Starts []Initial
	// Probes are measures besides every variant's loss. Clusterings on a Table add inertia,
	// adjusted Rand index and silhouette.
	Probes []Probe
	// Level is a loss whose reaching is counted in steps; 0 stands for nine tenths of the
	// way from the start to the end of a variant's best setting.
	Level   float64
	Workers int // trainings at a time; default: as many as Go uses cores

	// What Cluster takes.

	Objectives []string  // names of builders; default: kmeans-softmax, kmeans-goofy
	Alone      bool      // only the objectives, without baselines
	Restarts   int       // of Lloyd's algorithm; default 50
	SweepGamma []float64 // default: around the data's scale
	SweepK     []int     // default: 2 to K+2
	// SweepSeeds is the number of runs at each setting of a sweep, at most Seeds; default 3, or 1
	// for a Table of more than 10⁵ numbers.
	SweepSeeds int

	goesOn bool // where a run diverges, with the others
}

// ofClusterings names the fields that only clusterings on a Table take.
const ofClusterings = "K Start Given Batch Find"

// takers lists the fields that not all functions take, and which do.
var takers = []struct{ fields, by string }{
	{"Examples OneBatch", "Learn and Compare"},
	{"Engine Build Plan", "Learn and Cluster"},
	{"Table Held DType " + ofClusterings, "Compare and Cluster"},
	{"Starts Probes Level Workers", "Compare"},
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

// check complains about what the function does not take, and about what nothing takes.
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
	case c.Start != StartGiven && c.Given != nil:
		return fmt.Errorf("%s: Given is for Start StartGiven", says)
	case min(c.Seeds, c.Steps, c.Workers, c.Batch, c.Restarts, c.SweepSeeds) < 0:
		return fmt.Errorf("%s: numbers of seeds, steps, workers, restarts and rows must not be negative", says)
	}
	return nil
}

// forCluster fills in what is not given of the experiment on clusterings.
func (c Config) forCluster() (Config, error) {
	if err := c.check("Cluster"); err != nil {
		return c, err
	}
	for _, path := range slices.Sorted(maps.Keys(c.Scheduled)) {
		if path != temperature {
			return c, fmt.Errorf("cluster: Scheduled has %q: want %s alone", path, temperature)
		}
	}
	if len(c.Objectives) == 0 {
		c.Objectives = []string{"kmeans-softmax", "kmeans-goofy"}
	}
	c, err := c.clustering()
	if err != nil {
		return c, err
	}
	for _, name := range c.Objectives {
		if _, err := c.Find(name); err != nil {
			return c, err
		}
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

// clustering fills in what is not given of trainings of centres on a table. The scale of the data
// is s² = mean squared distance of a point from the mean; temperatures are in units of 1/s²,
// so that the same default fits centimetres and pixel counts. In the first quarter
// of the steps γ is annealed from 0.5·k/s² to 100·k/s²: from centres that all pull
// together to a choice that is all but hard. The optimiser is Adam with a rate of
// 0.05·s/√d, which falls when γ has come to its end: see [Falling].
func (c Config) clustering() (Config, error) {
	if c.Table == nil || c.Table.Rows() == 0 {
		return c, errors.New("no data")
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
	setDefault(&c.Steps, 1000)
	if c.DType == graph.InvalidDType {
		c.DType = graph.F64
	}
	if c.gamma().IsZero() {
		c.Scheduled = maps.Clone(c.Scheduled)
		if c.Scheduled == nil {
			c.Scheduled = map[string]train.Schedule{}
		}
		c.Scheduled[temperature] = train.Within(c.Steps/4, DefaultGamma(c.Table, c.K))
	}
	if len(c.Optimisers) == 0 {
		c.Optimisers = []train.Optimiser{train.Adam(DefaultRate(c.Table))}
	}
	c.Falling = c.Falling || c.Rate.IsZero()
	return c, nil
}

// temperature is the path of the input that clusterings soften their choice by.
const temperature = "γ"

func (c Config) gamma() train.Schedule { return c.Scheduled[temperature] }

// DefaultK returns the number of clusters to look for in a table: as many as its labels have
// classes, or 3 where there are fewer than two.
func DefaultK(t *data.Table) int {
	if t != nil {
		if classes := len(t.Classes()); classes > 1 {
			return classes
		}
	}
	return 3
}

// InRange complains about a table between whose rows there are no squared distances, because
// they overflow or vanish: no clustering can be trained on it, and it has no [DefaultRate].
func InRange(t *data.Table) error {
	if t == nil || t.Rows() == 0 {
		return nil
	}
	if s := Scale(t); math.IsInf(s, 0) || math.IsNaN(s) {
		return fmt.Errorf("%s: squared distances overflow: rescale numbers as large as %.3g", t.Name, largest(t.X))
	}
	if most := largest(t.X); most < 1e-140 && distinct(t, 2) > 1 {
		return fmt.Errorf("%s: squared distances vanish: rescale numbers as small as %.3g", t.Name, most)
	}
	return nil
}

func setDefault(v *int, to int) {
	if *v == 0 {
		*v = to
	}
}

// DefaultRate is the learning rate that suits Adam on the data: 0.05·s/√d, a
// twentieth of the scale per feature.
func DefaultRate(t *data.Table) float64 {
	if t.Rows() == 0 {
		return 0
	}
	return 0.05 * Scale(t) / math.Sqrt(float64(len(t.Columns)))
}

// Falling is the default course of a learning rate over so many steps: a quarter of them
// as it is, and then down to 0 along half a cosine. A constant rate keeps Adam from coming
// to rest where a loss is steep.
func Falling(rate float64, steps int) train.Schedule {
	hold := steps / 4
	return train.Hold(hold, train.Cosine(rate, steps-hold))
}

// rate returns the schedule of the rate of a step that the optimiser added to a graph: Rate, or
// [Falling] from the rate of the optimiser; the zero value where the rate is constant, or there is
// none.
func (c Config) rate(g *graph.Graph, o train.Optimiser, steps int) train.Schedule {
	rate := o.Rate(g)
	switch {
	case rate == nil || c.Rate.IsZero() && !c.Falling:
		return train.Schedule{}
	case !c.Rate.IsZero():
		return c.Rate
	}
	v, _ := rate.Default()
	return Falling(v, steps)
}

// DefaultGamma is the course of the temperature for k clusters of the data: annealed
// from 0.5·k/s² to 100·k/s² with s the scale of the data. Training by default goes through it in
// the first quarter of its steps, so that the objective stays the same for the others.
func DefaultGamma(t *data.Table, k int) train.Schedule {
	s := Scale(t)
	unit := float64(k) / (s * s)
	return train.Geometric(0.5*unit, 100*unit)
}

// distinct counts different rows, up to enough.
func distinct(t *data.Table, enough int) int {
	seen := map[string]bool{}
	var key []byte
	for i := 0; i < t.Rows() && len(seen) < enough; i++ {
		key = key[:0]
		for _, v := range row(t, i) {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0)) // −0 is 0
		}
		seen[string(key)] = true
	}
	return len(seen)
}

func largest(v []float64) (most float64) {
	for _, x := range v {
		most = math.Max(most, math.Abs(x))
	}
	return most
}

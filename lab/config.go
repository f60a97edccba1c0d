package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// ClusterConfig is an experiment. The zero values of most fields stand for the
// defaults that [ClusterConfig.withDefaults] documents.
type ClusterConfig struct {
	Table      *data.Table
	K          int      // clusters; default: the number of classes, or 3 without labels
	Objectives []string // names of builders; default: kmeans-softmax, kmeans-goofy
	// Find finds the builders of the names; default: builders.Lookup.
	Find       func(name string) (builders.Builder, error)
	Seeds      int    // runs of each objective; default 10
	Seed       uint64 // the first seed
	Steps      int    // default 1000
	Optimiser  train.Optimiser
	Rate       train.Schedule  // of the optimiser's rate; default: [Falling] from that
	Gamma      train.Schedule  // default: annealed in the first quarter of the steps, from the data's scale
	Start      Start           // default: PlusPlus
	Given      []float64       // centres, row-major [k d], for Start Given
	DType      graph.DType     // default F64
	Restarts   int             // of Lloyd's algorithm; default 50
	Batch      int             // of SGD on the nearest centre; default 16
	Engine     train.NewEngine // default: the native tape
	SweepGamma []float64       // default: around the data's scale
	SweepK     []int           // default: 2 to K+2
	SweepSeeds int             // runs at each setting of a sweep, at most Seeds; default 3, 1 for more than 10⁵ numbers
	Alone      bool            // only the objectives, without baselines
	// Progress is called as runs end, from one goroutine.
	Progress func(done, of int, what string)
	// Stepped is called after every step of a run, with the number of steps done, from the
	// goroutine that runs it.
	Stepped func(done, of int, what string)

	// Build makes the nets for evaluating, which checkpoints want, and Plan changes the plan of
	// each training before it begins: see [LearnConfig].
	Build train.Build
	Plan  func(t *train.Trainer, p *train.Plan) error

	goesOn bool // where a run diverges, with the others
}

// withDefaults fills in what is not given. The scale of the data is s² = mean
// squared distance of a point from the mean; temperatures are in units of 1/s²,
// so that the same default fits centimetres and pixel counts. In the first quarter
// of the steps γ is annealed from 0.5·k/s² to 100·k/s²: from centres that all pull
// together to a choice that is all but hard. The optimiser is Adam with a rate of
// 0.05·s/√d, which falls when γ has come to its end: see [Falling].
func (c ClusterConfig) withDefaults() (ClusterConfig, error) {
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
	case c.Seeds < 0 || c.Steps < 0 || c.Restarts < 0 || c.Batch < 0:
		return c, errors.New("seeds, steps, restarts and batch must not be negative")
	case c.SweepSeeds < 0:
		return c, errors.New("seeds of the sweeps must not be negative")
	}
	if len(c.Objectives) == 0 {
		c.Objectives = []string{"kmeans-softmax", "kmeans-goofy"}
	}
	if c.Find == nil {
		c.Find = builders.Lookup
	}
	for _, name := range c.Objectives {
		if _, err := c.Find(name); err != nil {
			return c, err
		}
	}
	s := Scale(c.Table)
	if err := InRange(c.Table); err != nil {
		return c, err
	}
	setDefault(&c.Seeds, 10)
	setDefault(&c.Steps, 1000)
	setDefault(&c.Restarts, 50)
	if n*d > 100_000 {
		setDefault(&c.SweepSeeds, 1)
	}
	setDefault(&c.SweepSeeds, 3)
	c.SweepSeeds = min(c.SweepSeeds, c.Seeds)
	setDefault(&c.Batch, min(16, n))
	c.Batch = min(c.Batch, n)
	if c.DType == graph.InvalidDType {
		c.DType = graph.F64
	}
	unit := float64(c.K) / (s * s)
	if c.Gamma.IsZero() {
		c.Gamma = train.Within(c.Steps/4, DefaultGamma(c.Table, c.K))
	}
	if c.Optimiser.IsZero() {
		c.Optimiser = train.Adam(DefaultRate(c.Table))
	}
	if c.SweepGamma == nil {
		for _, f := range []float64{0.1, 0.3, 1, 3, 10, 30, 100} {
			c.SweepGamma = append(c.SweepGamma, f*unit)
		}
	}
	if c.SweepK == nil {
		for k := 2; k <= min(c.K+2, n); k++ {
			c.SweepK = append(c.SweepK, k)
		}
	}
	if c.Start == StartGiven && len(c.Given) != c.K*d {
		return c, fmt.Errorf("%d numbers for %d start centres of %d features: want %d", len(c.Given), c.K, d, c.K*d)
	}
	return c, nil
}

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

// falls returns the schedule of the rate of a step that the optimiser added to a graph: the one
// that is given, or [Falling] from the rate of the optimiser; the zero value where there is no
// rate.
func falls(g *graph.Graph, o train.Optimiser, given train.Schedule, steps int) train.Schedule {
	rate := o.Rate(g)
	if rate == nil {
		return train.Schedule{}
	}
	if !given.IsZero() {
		return given
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

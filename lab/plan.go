package lab

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// CompareConfig says how [Compare] trains variants: every one by every optimiser, from every
// kind of start, from every seed. Zero values stand for the defaults.
//
// Numbers are common to all that has the same seed. The examples of a step depend on
// seed and step, initial values on seed and path, random draws on seed, step and key.
type CompareConfig struct {
	Optimisers []train.Optimiser // default Adam(0.01)
	Starts     []Initial         // default: as the models begin by themselves
	Seeds      int               // default 10
	Seed       uint64            // the first
	Steps      int               // default 200
	DType      graph.DType       // of variants that leave it open; default F64

	// Table gives the data in place of examples: its rows are fed to the input named
	// x, or to the only input of two axes that is as wide as the table. An input with
	// fewer rows gets batches, in an order that depends on the seed alone. The variants
	// must have no other input without a default.
	Table *data.Table
	// Examples draws the inputs by path, in place of the models' own examples. It is
	// called from several goroutines.
	Examples func(rng *rand.Rand) map[string]graph.Value
	OneBatch bool // the same examples in every step, instead of fresh ones

	// Scheduled gives scalar inputs by path their value in each step, in the models that
	// have them. Judges measure with the last value.
	Scheduled map[string]train.Schedule
	Rate      train.Schedule // of every optimiser's rate; default: constant
	Falling   bool           // without Rate, every rate falls as [Falling] says
	Probes    []Probe        // measures besides every variant's loss
	// Level is a loss whose reaching is counted in steps; 0 stands for nine tenths of the
	// way from the start to the end of a variant's best setting.
	Level   float64
	Workers int // trainings at a time; default: as many as Go uses cores
	// Progress is called as trainings end, by one goroutine at a time.
	Progress func(done, of int, what string)
	// Stepped is called after every step of a run, with the number of steps done, from the
	// goroutine that runs it: of several runs at a time.
	Stepped func(done, of int, what string)
}

// withDefaults fills in what is not given.
func (p CompareConfig) withDefaults() (CompareConfig, error) {
	switch {
	case p.Seeds < 0 || p.Steps < 0 || p.Workers < 0:
		return p, errors.New("seeds, steps and workers must not be negative")
	case p.Table != nil && p.Examples != nil:
		return p, errors.New("compare: there is a table, and a function that draws examples: want one of them")
	case p.Table != nil && p.Table.Rows() == 0:
		return p, errors.New("no data")
	}
	setDefault(&p.Seeds, 10)
	setDefault(&p.Steps, 200)
	setDefault(&p.Workers, runtime.GOMAXPROCS(0))
	if p.DType == graph.InvalidDType {
		p.DType = graph.F64
	}
	if len(p.Optimisers) == 0 {
		p.Optimisers = []train.Optimiser{train.Adam(0.01)}
	}
	for _, o := range p.Optimisers {
		if o.IsZero() {
			return p, errors.New("compare: an optimiser is the zero value, which does nothing")
		}
	}
	if len(p.Starts) == 0 {
		p.Starts = []Initial{{}}
	}
	if name, twice := twiceNamed(p.Optimisers, train.Optimiser.String); twice {
		return p, fmt.Errorf("compare: the optimiser %s is there twice", name)
	}
	if name, twice := twiceNamed(p.Starts, Initial.String); twice {
		return p, fmt.Errorf("compare: the start %s is there twice", name)
	}
	return p, nil
}

// size is that of what training a model must bring to rest: known of centres among rows,
// else 0.
func (p CompareConfig) size(m *builders.Model) float64 {
	if m.Centres() == nil || p.Table == nil {
		return 0
	}
	return math.Sqrt(float64(m.Centres().Dim(0))) * Scale(p.Table)
}

// twiceNamed finds the first name that two of the list have.
func twiceNamed[T any](list []T, name func(T) string) (string, bool) {
	seen := map[string]bool{}
	for _, v := range list {
		n := name(v)
		if seen[n] {
			return n, true
		}
		seen[n] = true
	}
	return "", false
}

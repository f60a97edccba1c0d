package lab

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// forModels checks the configuration of [Compare] with its models, and fills in its defaults.
func (c Config) forModels(names []string, models []*builders.Model) (Config, error) {
	switch {
	case c.Table != nil && c.Examples != nil:
		return c, errors.New("compare: there is a table, and a function that draws examples: want one of them")
	case c.Table != nil && c.OneBatch:
		return c, errors.New("compare: OneBatch is for examples, and there is a table")
	case c.Table != nil && c.Table.Rows() == 0:
		return c, errors.New("no data: Table has no rows")
	}
	setDefault(&c.Workers, runtime.GOMAXPROCS(0))
	if len(c.Starts) == 0 {
		c.Starts = []Initial{{}}
	}
	first := slices.IndexFunc(models, func(m *builders.Model) bool { return c.size(m) != 0 })
	switch name := c.given(ofClusterings); {
	case first >= 0:
		if r := centresOf(models[first], len(c.Table.Columns)); r != nil {
			setDefault(&c.K, r.Dim(0))
		}
		var err error
		if c, err = c.besideCentres(names, models); err != nil {
			return c, err
		}
	case name != "" && c.Table == nil:
		return c, fmt.Errorf("%s is for clusterings on a Table, and there is no Table", name)
	case name != "":
		return c, fmt.Errorf("%s is for clusterings on a Table, and no model here is one", name)
	}
	setDefault(&c.Seeds, 10)
	setDefault(&c.Steps, OwnSteps)
	if len(c.Optimisers) == 0 {
		c.Optimisers, c.unnamed = []train.Optimiser{train.Adam(0.01)}, true
	}
	open := func(m *builders.Model) bool { return !c.oneDataSet(m) }
	c.OneBatch = c.OneBatch || !slices.ContainsFunc(models, open) // all have the same examples
	if name, twice := twiceNamed(c.Rates, train.Schedule.String); twice {
		return c, fmt.Errorf("compare: the rate %s is there twice", cmp.Or(name, "of the optimiser"))
	}
	if name, twice := twiceNamed(c.Optimisers, train.Optimiser.String); twice {
		return c, fmt.Errorf("compare: the optimiser %s is there twice", name)
	}
	if name, twice := twiceNamed(c.Starts, Initial.String); twice {
		return c, fmt.Errorf("compare: the start %s is there twice", name)
	}
	return c, nil
}

// besideCentres checks and fills in what concerns the centres of clusterings on a table: where they
// start, by what they are measured, and how all models are trained.
func (c Config) besideCentres(names []string, models []*builders.Model) (Config, error) {
	var known []builders.Builder
	for _, m := range models {
		if m.Centres() != nil {
			known = append(known, m.Builder)
		}
	}
	c, err := c.clustering(known...)
	if err != nil {
		return c, err
	}
	for i, m := range models {
		switch r := centresOf(m, len(c.Table.Columns)); {
		case r == nil:
		case c.Start == StartGiven && r.Dim(0) != c.K:
			return c, fmt.Errorf("%s: %d start centres are given for %v", names[i], c.K, r)
		case r.Dim(0) > c.Table.Rows():
			return c, fmt.Errorf("%s: %s has only %s to start %v from", names[i], c.Table.Name, plural.Count(c.Table.Rows(), "row"), r)
		}
	}
	c.Starts = slices.Clone(c.Starts)
	for i := range c.Starts {
		c.Starts[i].centresFrom(c)
	}
	for _, p := range c.probes() {
		if !slices.ContainsFunc(c.Probes, func(own Probe) bool { return own.Name == p.Name }) {
			c.Probes = append(slices.Clip(c.Probes), p)
		}
	}
	return c, nil
}

// size returns the size that [Convergence] is relative to: for clusterings on a table that of k
// centres, and 0 for other models.
func (c Config) size(m *builders.Model) float64 {
	if m.Centres() == nil || c.Table == nil {
		return 0
	}
	return sizeOf(m.Centres().Dim(0), c.Table)
}

// sizeOf returns the size of k centres among the rows of a table.
func sizeOf(k int, t *data.Table) float64 { return math.Sqrt(float64(k)) * Scale(t) }

// twiceNamed returns the first name that occurs twice in the list.
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

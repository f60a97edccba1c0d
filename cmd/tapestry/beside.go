package main

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/spelling"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// matrixFlags holds the flags that extend a comparison to a matrix of settings.
type matrixFlags struct {
	optimisers, rates, starts string
	level                     float64
	pair                      []string
	drawn                     [][2]int // the places of the pair among the models
}

func (m *matrixFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.optimisers, "optimisers", "", "a matrix of settings: optimisers with their rates, as adam:0.01,sgd:0.1")
	f.StringVar(&m.rates, "rates", "", "a matrix of settings: rates and schedules of the rate, of every optimiser, as '0.01,cosine(0.01,600),warmup(100,cosine(1e-3,500))'")
	f.StringVar(&m.starts, "starts", "", "a matrix of settings: factors on the initial values, or other initialisers, as 0.5,1,2,glorot,normal(0,0.1)")
	f.Float64Var(&m.level, "level", 0, "the loss whose reaching is counted in steps (default: nine tenths of each objective's way down)")
	f.StringSliceVar(&m.pair, "pair", nil, "the two objectives to draw side by side (default: each beside the first)")
}

// asked reports whether a flag was given that calls for a matrix.
func (m *matrixFlags) asked(cmd *cobra.Command) bool {
	return changed(cmd, []string{"optimisers", "rates", "starts", "level"}) != ""
}

// parseRates reads a list of schedules such as 0.01,cosine(0.01,600).
func parseRates(text string) ([]train.Schedule, error) {
	var out []train.Schedule
	for _, part := range commas(text) {
		s, err := train.ParseSchedule(part)
		if err != nil {
			return nil, usagef("--rates: %w", err)
		}
		if !(s.At(0, 2) > 0) {
			return nil, usagef("--rates %s: want a positive rate", part)
		}
		if slices.ContainsFunc(out, func(other train.Schedule) bool { return other.String() == s.String() }) {
			return nil, usagef("--rates: %v is there twice", s)
		}
		out = append(out, s)
	}
	return out, nil
}

// parseOptimisers reads a list such as adam:0.01,sgd:0.1. The rate is the default of those that
// leave it out.
func parseOptimisers(text string, rate float64, named func(string) string) ([]train.Optimiser, error) {
	var out []train.Optimiser
	for _, part := range commas(text) {
		name, number, given := strings.Cut(part, ":")
		r := rate
		if given {
			var err error
			if r, err = strconv.ParseFloat(number, 64); err != nil || !(r > 0) || math.IsInf(r, 0) {
				return nil, usagef("--optimisers %s: want NAME or NAME:RATE with a positive rate, as adam:0.01", part)
			}
		}
		o, err := train.Named(named(name), r)
		if err != nil {
			return nil, usagef("--optimisers %w", err)
		}
		if given {
			o = o.WithRate(r)
		}
		if slices.ContainsFunc(out, func(other train.Optimiser) bool { return other.String() == o.String() }) {
			return nil, usagef("--optimisers: %v is there twice", o)
		}
		out = append(out, o)
	}
	return out, nil
}

// parseStarts reads a list of factors and initialisers such as 0.5,1,normal(0,0.1).
func parseStarts(text string) ([]lab.Initial, error) {
	var out []lab.Initial
	for _, part := range commas(text) {
		var s lab.Initial
		if f, err := strconv.ParseFloat(part, 64); err == nil {
			if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, usagef("--starts %s: want a finite factor other than 0", part)
			}
			s.Scale = f
		} else {
			var init initial.Init
			err := init.UnmarshalText([]byte(part))
			if _, _, custom := init.Custom(); err != nil || custom { // a text has no function
				return nil, usagef("--starts %q: want a factor on the initial values, or an initialiser such as glorot or normal(0,0.1)", part)
			}
			s = lab.Initial{Init: &init}
		}
		if slices.ContainsFunc(out, func(other lab.Initial) bool { return other.String() == s.String() }) {
			return nil, usagef("--starts: %s is there twice", part)
		}
		out = append(out, s)
	}
	return out, nil
}

// commas splits a list at the commas outside brackets and braces.
func commas(text string) []string {
	depth := 0
	parts := []string{""}
	for _, r := range text {
		switch r {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, "")
				continue
			}
		}
		parts[len(parts)-1] += string(r)
	}
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	return parts
}

// beside trains objectives at every setting and compares them. With rows they are trained on a
// table, otherwise on examples of their own.
func (c *comparison) beside(cmd *cobra.Command, names []string, rows bool) error {
	if c.optimisers != "" && changed(cmd, []string{"optimiser"}) != "" {
		return usagef("--optimisers: the optimisers of the matrix take the place of --optimiser")
	}
	if c.rates != "" && changed(cmd, []string{"rate"}) != "" {
		return usagef("--rates: the rates of the matrix take the place of --rate")
	}
	plan, variants, err := c.plan(cmd, names, rows)
	if err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr())
	plan.Progress, plan.Stepped = bar.report(), bar.steps()
	res, err := lab.Compare(cmd.Context(), plan, variants...)
	bar.end()
	if err != nil {
		return err
	}
	page, err := c.besidePage(cmd.Context(), res)
	page.Live = c.live.inside
	if err == nil {
		err = c.gradients(cmd.Context(), plan, variants, res, &page)
	}
	if err != nil {
		return err
	}
	if err := writeOutput(c.out, cmd.OutOrStdout(), c.writes(page)); err != nil {
		return err
	}
	if toStdout(c.out) {
		return nil
	}
	return c.besideSummary(cmd.OutOrStdout(), res)
}

// checkPair finds the pair to be drawn among the models compared. It is an error if it is not there.
func (c *comparison) checkPair(names []string) error {
	if c.pair == nil {
		return nil
	}
	c.pair = commas(strings.Join(c.pair, ",")) // the flag splits what stands in braces, too
	if len(c.pair) != 2 || c.pair[0] == c.pair[1] {
		return usagef("--pair %s: want two of %s", strings.Join(c.pair, ","), strings.Join(names, ", "))
	}
	for _, name := range c.pair {
		if !slices.Contains(names, name) {
			return usagef("--pair: %q is not compared: did you mean %q?", name, spelling.Nearest(name, names))
		}
	}
	c.drawn = [][2]int{{slices.Index(names, c.pair[0]), slices.Index(names, c.pair[1])}}
	return nil
}

// plan builds the configuration of the comparison and its variants from the flags.
func (c *comparison) plan(cmd *cobra.Command, names []string, rows bool) (p lab.Config, variants []lab.Variant, err error) {
	others := slices.Clone(names)
	if rows {
		others = slices.DeleteFunc(others, isClusteringName)
	}
	builds, err := c.builds(others, rows)
	if err != nil {
		return p, nil, err
	}
	if p, err = c.learning.config(c.options, &c.training); err == nil && rows {
		p, err = c.training.config(c.options, names...)
	}
	if err != nil {
		return p, nil, err
	}
	p.Restarts = 0 // which a matrix has none of
	if p.DType, err = parseDType(c.dtype); err != nil {
		return p, nil, err
	}
	if err := c.trainedBy(cmd, &p, names, rows); err != nil {
		return p, nil, err
	}
	if c.starts != "" {
		if p.Starts, err = parseStarts(c.starts); err != nil {
			return p, nil, err
		}
	}
	p.Level = c.level
	for _, name := range names {
		if i := slices.Index(others, name); i >= 0 {
			variants = append(variants, lab.Objective(name, builds[i]))
		} else {
			variants = append(variants, p.Variant(name))
		}
	}
	if !rows && c.hasData() {
		for _, build := range builds { // find errors before anything is trained
			if _, err := build(); err != nil {
				return p, nil, err
			}
		}
		if err := c.allMet(); err != nil {
			return p, nil, err
		}
	}
	for i, name := range shortNames(names) {
		variants[i].Name = name
	}
	return p, variants, nil
}

// trainedBy fills in the optimisers and the rates. Without flags each model is trained by that of its
// own, if it has one.
func (c *comparison) trainedBy(cmd *cobra.Command, p *lab.Config, names []string, rows bool) (err error) {
	usual := ownRate
	if rows {
		usual = lab.DefaultRate(p.Table)
	}
	own := c.notes.on || slices.ContainsFunc(names, func(name string) bool {
		b, err := lookup(name)
		return err == nil && b.Descent != nil
	})
	p.Rate = c.schedule
	switch {
	case c.optimisers != "":
		p.Optimisers, err = parseOptimisers(c.optimisers, cmp.Or(c.rate, usual), c.notes.named)
	case changed(cmd, []string{"optimiser"}) != "" || !own:
		var o train.Optimiser
		o, err = optimiser(c.notes.named(c.opt), cmp.Or(c.rate, usual))
		p.Optimisers = []train.Optimiser{o}
	case p.Rate.IsZero() && c.rate != 0:
		p.Rate = train.Constant(c.rate)
	}
	if err == nil && c.rates != "" {
		p.Rates, err = parseRates(c.rates)
	}
	return err
}

// sized makes a model that is trained on the rows that clusterings read. Where its inputs are not as
// wide as these, it gets the sizes that fit, if there are such: those of its only input, or those of
// attention over so many rows as there are centres.
func (c *comparison) sized(own learning, name string) (*builders.Model, error) {
	m := modelOptions{set: own.set, dtype: c.dtype, notes: c.notes}
	first, err := m.runnable(name, false)
	if err != nil {
		return nil, err
	}
	table, err := c.rows(c.seed)
	in := first.Inputs()
	if err != nil || len(in) == 1 && lab.TakesRows(first, table) == nil {
		return first, err
	}
	if len(in) > 1 {
		given, dt, err := m.settings(first.Builder)
		if err != nil {
			return nil, err
		}
		k := cmp.Or(c.k, lab.DefaultK(table))
		if stated := statedClusters(c.named); c.k == 0 && len(table.Classes()) < 2 && stated > 0 {
			k = stated
		}
		if s, ok := lab.AttentionSettings(first.Builder, given, table.Rows(), len(table.Columns), k, dt); ok {
			return first.Builder.Build(s, dt)
		}
		return first, nil
	}
	if in[0].Rank() != 2 {
		return first, nil
	}
	columns, err := c.read()
	if err != nil {
		return nil, err
	}
	b := first.Builder
	settings, dt, err := m.settings(b)
	if err != nil {
		return nil, err
	}
	f, err := fit.To(b, settings, dt, columns, fit.Options{
		Bind:  []fit.Binding{{Input: in[0].Path(), Columns: table.Columns}},
		Batch: cmp.Or(c.batch, min(in[0].Dim(0), table.Rows())), Validation: c.validation, Missing: c.missing, Seed: c.seed,
	})
	if err != nil {
		return first, nil // which says itself what it cannot read
	}
	return b.Build(f.Settings(), dt)
}

// shortNames removes the directories of files from names, where the names stay distinct.
func shortNames(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = filepath.Base(name)
		if j := slices.Index(out[:i], out[i]); j >= 0 {
			return names
		}
	}
	return out
}

// isClusteringName reports whether the named model is a clustering.
func isClusteringName(name string) bool {
	b, err := lookup(name)
	return err == nil && isClustering(b)
}

// builds returns the functions that make the models, each with the settings that apply to it. A
// setting that applies to none is an error. With rows, the models are trained on the rows of a
// table beside clusterings; otherwise on the data, if some are given.
func (c *comparison) builds(names []string, rows bool) ([]func() (*builders.Model, error), error) {
	known, closed := map[string]bool{}, map[string]string{} // closed: the model whose braces say the setting
	var out []func() (*builders.Model, error)
	for _, name := range names {
		b, err := lookup(name)
		if err != nil {
			return nil, err
		}
		own := learning{}
		for _, kv := range c.learning.set {
			key, _, _ := strings.Cut(kv, "=")
			if _, fixed := b.Fixed[key]; fixed {
				closed[kv] = name
				continue
			}
			if slices.ContainsFunc(b.Hyperparameters, func(z builders.Hyperparameter) bool { return z.Name == key }) {
				known[kv] = true
				own.set = append(own.set, kv)
			}
		}
		if rows {
			out = append(out, func() (*builders.Model, error) { return c.sized(own, name) })
			continue
		}
		out = append(out, own.build(&c.training, name, c.seed))
	}
	for _, kv := range c.learning.set {
		switch {
		case known[kv]:
		case closed[kv] != "":
			return nil, usagef("--set %s: %s says it in braces, and no other model has it", kv, closed[kv])
		default:
			return nil, usagef("--set %s: none of %s has it", kv, strings.Join(names, ", "))
		}
	}
	return out, nil
}

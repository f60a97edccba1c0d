package report

import (
	"errors"
	"fmt"
	"html/template"
	"slices"
)

// check returns an error for the first part that contradicts the rest of the page.
func (p Page) check() error {
	if len(p.Variants) == 0 {
		return errors.New("no variant to report on")
	}
	if p.Data.Rows < 0 || p.Setup.K < 0 || p.Setup.Steps < 0 {
		return errors.New("rows, k and steps must not be negative")
	}
	named := map[string]bool{}
	for _, m := range p.methods() {
		switch {
		case m.Name == "":
			return errors.New("a method has no name")
		case named[m.Name]:
			return fmt.Errorf("two methods are named %q", m.Name)
		}
		named[m.Name] = true
		if err := m.check(p); err != nil {
			return fmt.Errorf("method %q: %w", m.Name, err)
		}
	}
	if err := checkPairs(p.Pairs, len(p.Variants)); err != nil {
		return err
	}
	if err := p.Matrix.check(len(p.Variants)); err != nil {
		return fmt.Errorf("matrix: %w", err)
	}
	for i, g := range p.Gradients {
		if err := g.check(len(p.Variants)); err != nil {
			return fmt.Errorf("gradients %d: %w", i, err)
		}
	}
	for i, s := range p.Weights {
		if err := s.check(len(p.Variants)); err != nil {
			return fmt.Errorf("weights %d: %w", i, err)
		}
	}
	for i, s := range p.Stationary {
		if err := s.check(len(p.Variants)); err != nil {
			return fmt.Errorf("stationary points %d: %w", i, err)
		}
	}
	for i, s := range p.Sweeps {
		if err := s.check(len(p.Variants), len(p.Plane.Points)); err != nil {
			return fmt.Errorf("sweep %d %q: %w", i, s.Name, err)
		}
	}
	if err := p.Plane.check(len(p.Data.Classes)); err != nil {
		return fmt.Errorf("plane: %w", err)
	}
	if p.Between != nil {
		if err := grid(p.Between, len(p.methods()), len(p.methods()), "methods", "methods"); err != nil {
			return fmt.Errorf("agreement between methods: %w", err)
		}
	}
	return p.checkMarkup()
}

func checkPairs(pairs []Pair, variants int) error {
	for i, d := range pairs {
		if min(d.A, d.B) < 0 || max(d.A, d.B) >= variants || d.A == d.B {
			return fmt.Errorf("pair %d: variants %d and %d of %d", i, d.A, d.B, variants)
		}
	}
	return nil
}

// methods returns the variants and then the baselines.
func (p Page) methods() []Method {
	return append(p.Variants[:len(p.Variants):len(p.Variants)], p.Baselines...)
}

func (m Method) check(p Page) error {
	if len(m.Runs) == 0 {
		return errors.New("no runs")
	}
	seeds := map[uint64]bool{}
	for _, r := range m.Runs {
		switch {
		case seeds[r.Seed]:
			return fmt.Errorf("two runs of seed %d", r.Seed)
		case len(r.Inertia) == 0 && !p.byLoss():
			return fmt.Errorf("seed %d: no inertia", r.Seed)
		case len(r.Inertia) == 0 && len(r.Loss) == 0:
			return fmt.Errorf("seed %d: no inertia and no loss", r.Seed)
		case r.At != nil && (len(r.At) != len(r.Inertia) || !slices.IsSortedFunc(r.At, func(a, b int) int { return a - b })):
			return fmt.Errorf("seed %d: the steps %d of %d inertias: want as many, ascending", r.Seed, r.At, len(r.Inertia))
		}
		seeds[r.Seed] = true
	}
	if m.Centres != nil {
		if err := grid(m.Centres, p.Setup.K, len(p.Data.Features), "centres", "features"); err != nil {
			return err
		}
	}
	for _, a := range m.Assigned {
		if err := checkNearest(a.Nearest, len(p.Plane.Points), len(m.Paths)); err != nil {
			return fmt.Errorf("step %d: %w", a.Step, err)
		}
	}
	if m.Counts != nil {
		if err := grid(m.Counts, len(p.Data.Classes), p.Setup.K, "classes", "centres"); err != nil {
			return err
		}
		for _, row := range m.Counts {
			for _, n := range row {
				if n < 0 {
					return fmt.Errorf("a negative count of points: %d", n)
				}
			}
		}
	}
	return nil
}

// checkNearest returns an error if points are assigned to what is not there.
func checkNearest(nearest []int, points, centres int) error {
	if len(nearest) != points {
		return fmt.Errorf("%d assignments of %d points", len(nearest), points)
	}
	for i, j := range nearest {
		if j < 0 || j >= centres {
			return fmt.Errorf("point %d: the centre %d is not one of %d", i, j, centres)
		}
	}
	return nil
}

func (s Sweep) check(variants, points int) error {
	if s.Name == "" {
		return errors.New("the setting has no name")
	}
	if s.Ends != nil {
		if err := grid(s.Ends, variants, len(s.Values), "variants", "values"); err != nil {
			return fmt.Errorf("ends: %w", err)
		}
	}
	for _, row := range s.Ends {
		for i, e := range row {
			if len(e.At) != len(row[0].At) {
				return fmt.Errorf("ends: %d centres at value %d, and %d before", len(e.At), i, len(row[0].At))
			}
			if e.Nearest != nil {
				if err := checkNearest(e.Nearest, points, len(e.At)); err != nil {
					return fmt.Errorf("ends: value %d: %w", i, err)
				}
			}
		}
	}
	for _, c := range []struct {
		what   string
		curves [][]float64
	}{{"inertia", s.Inertia}, {"loss", s.Loss}, {"ari", s.ARI}, {"spread", s.Spread}, {"entropy", s.Entropy}, {"reach", s.Reach}, {"minima", s.Minima}} {
		if c.curves == nil {
			continue
		}
		if err := grid(c.curves, variants, len(s.Values), "variants", "values"); err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
	}
	return nil
}

func (p Plane) check(classes int) error {
	if p.Class != nil && len(p.Class) != len(p.Points) {
		return fmt.Errorf("%d classes for %d points", len(p.Class), len(p.Points))
	}
	for i, c := range p.Class {
		if c < 0 || c >= classes {
			return fmt.Errorf("point %d: the class %d is not one of %d", i, c, classes)
		}
	}
	return nil
}

// grid returns an error if a matrix is not [rows columns].
func grid[T any](m [][]T, rows, columns int, rowName, columnName string) error {
	if len(m) != rows {
		return fmt.Errorf("%d rows for %d %s", len(m), rows, rowName)
	}
	for i, row := range m {
		if len(row) != columns {
			return fmt.Errorf("row %d: %d numbers for %d %s", i, len(row), columns, columnName)
		}
	}
	return nil
}

// checkMarkup returns an error if given markup could break the page.
func (p Page) checkMarkup() error {
	for _, v := range p.Variants {
		if err := checkInline(string(v.Formula)); err != nil {
			return fmt.Errorf("formula of %q: %w", v.Name, err)
		}
		for i, e := range v.Chain {
			if err := checkInline(string(e.Math)); err != nil {
				return fmt.Errorf("equation %d of %q: %w", i, v.Name, err)
			}
		}
	}
	if err := checkInline(string(p.Difference.Identity)); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	inline := func(what string, math template.HTML, lines []Equation) error {
		for _, e := range append([]Equation{{Math: math}}, lines...) {
			if err := checkInline(string(e.Math)); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
		return nil
	}
	for i, g := range p.Gradients {
		if err := inline(fmt.Sprint("gradients ", i), g.Identity, g.Lines); err != nil {
			return err
		}
	}
	for i, s := range p.Weights {
		if err := inline(fmt.Sprint("weights ", i), s.Held, []Equation{{Math: s.Through}}); err != nil {
			return err
		}
	}
	for _, d := range p.drawings() {
		if _, err := drawing(d.SVG); err != nil {
			return fmt.Errorf("drawing: %w", err)
		}
	}
	return nil
}

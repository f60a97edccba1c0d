package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/train/data"
)

// source says which table to read, and how.
type source struct {
	name, label string
	ignore      []string
	missing     string // how to treat missing values, one of ways; "" for not at all
	ways        []string

	like   *data.Table      // whose columns the table must have; nil for any, and so for a Table without columns
	filled *filling         // what to fill missing values with; nil to compute it from the table
	stderr func() io.Writer // where to say what was filled or dropped
	told   bool
}

// filling has the numbers that the missing values of a table were filled with.
type filling struct {
	By     string    `json:"by"`     // mean or median
	Values []float64 `json:"values"` // by column
}

// csvFlags adds the flags that say how to read a CSV file.
func (s *source) csvFlags(cmd *cobra.Command) {
	s.ways, s.stderr = []string{"mean", "median", "drop"}, cmd.ErrOrStderr
	f := cmd.Flags()
	f.StringVar(&s.label, "label", "", "name of the label column (default: found by its name or content)")
	f.StringArrayVar(&s.ignore, "ignore", nil, "name of a column to leave out; may be given several times")
	f.StringVar(&s.missing, "missing", "", "mean or median: fill cells that are empty, NA, ? or NaN with that of their column; drop: drop their rows (default: an error)")
}

// open reads the table, and fills its missing values.
func (s *source) open() (*data.Table, error) {
	table, err := s.unsettled()
	if err != nil {
		return nil, err
	}
	return s.settle(table)
}

// unsettled reads the table, missing values and all.
func (s *source) unsettled() (*data.Table, error) {
	embedded := slices.Contains([]string{"iris", "digits", "wine", "clusters"}, s.name)
	switch {
	case s.name == "":
		return nil, usagef("--data \"\": want a CSV file, or iris, digits, wine or clusters")
	case s.missing != "" && !slices.Contains(s.ways, s.missing):
		return nil, usagef("--missing %s: want %s", s.missing, orList(s.ways))
	case embedded && s.asksCSV():
		return nil, usagef("--label, --ignore and --missing are for CSV files; %s is embedded and has its labels", s.name)
	}
	table, err := s.read(embedded)
	if err != nil {
		return nil, err
	}
	if s.like != nil && s.like.Columns != nil {
		if err := sameColumns(table, s.like); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// alike returns the source of a second table that is read like the first: its missing values are
// filled with the same numbers, but none of its rows is dropped.
func (s *source) alike(name string, first *data.Table) *source {
	second := *s
	second.name, second.like, second.told = name, first, false
	if second.ways = []string{"mean", "median"}; s.missing == "drop" {
		second.missing = ""
	}
	return &second
}

// asksCSV reports whether any of csvFlags is set.
func (s *source) asksCSV() bool { return s.label != "" || len(s.ignore) > 0 || s.missing != "" }

func (s *source) read(embedded bool) (*data.Table, error) {
	if embedded {
		return data.Builtin(s.name)
	}
	table, err := data.Open(s.name, s.csvOptions()...)
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(s.name) == s.name && filepath.Ext(s.name) == "" { // probably the name of a data set
		err = fmt.Errorf("%w: want a CSV file, or iris, digits, wine or clusters", err)
	}
	return table, flagged(err, fmt.Sprintf("; --missing %s allows for missing values", orList(s.ways)))
}

// flagged replaces the hint of package data on missing values in an error by one about flags.
func flagged(err error, hint string) error {
	if at := (*data.Error)(nil); errors.As(err, &at) && at.Missing {
		own := *at
		own.Missing, own.Msg = false, own.Msg+hint
		return &own
	}
	return err
}

// settle fills the missing values of a table, or drops their rows, and reports that.
func (s *source) settle(table *data.Table) (settled *data.Table, err error) {
	if s.missing == "" {
		return table, nil
	}
	gaps, rows := 0, table.Rows()
	for _, v := range table.X {
		if math.IsNaN(v) {
			gaps++
		}
	}
	settled, done := table, ""
	switch {
	case s.missing == "drop":
		if settled, err = table.DropMissing(); err == nil && settled.Rows() == 0 {
			err = fmt.Errorf("%s: every row has a missing value", table.Name)
		} else if err == nil {
			done = fmt.Sprintf("%d of %s dropped for missing values", rows-settled.Rows(), plural.Count(rows, "row"))
		}
	case s.filled != nil && s.filled.By == s.missing:
		err = data.Fill(table, s.filled.Values)
		done = fmt.Sprintf("%s filled with the %s in training", plural.Count(gaps, "missing value"), s.missing)
	default:
		s.filled = &filling{By: s.missing}
		if s.missing == "mean" {
			s.filled.Values, err = data.FillMean(table)
		} else {
			s.filled.Values, err = data.FillMedian(table)
		}
		done = fmt.Sprintf("%s filled with the %s of the column", plural.Count(gaps, "missing value"), s.missing)
	}
	if err != nil {
		return nil, err
	}
	if gaps > 0 && !s.told {
		fmt.Fprintf(s.stderr(), "tapestry: %s: %s\n", table.Name, done)
		s.told = true
	}
	return settled, nil
}

// orList returns "a, b or c".
func orList(words []string) string {
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " or " + words[n]
}

package input

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Role is the part that a column of a file plays.
type Role int

// Roles of columns.
const (
	Feature Role = iota
	Label
	Target
	Ignored
)

// Schema holds the name and role of each column of a file.
type Schema struct {
	Names      []string
	unnamed    bool // in the file: the names are x1, x2, …
	Role       []Role
	Place      []int // of each column of targets, its index among them
	TextLabels bool  // the label column was found because its first cell is not a number
	Doubtful   bool  // and that cell may be a missing value
}

// Begin reads the first one or two rows and returns what the columns are, and those of the rows
// that are not the header.
func (r *Rows) Begin() (*Schema, []Row, error) {
	known, err := r.Start()
	if err != nil {
		return nil, nil, err
	}
	first := known[0]
	var second Row
	if len(known) > 1 {
		second = known[1]
	}
	header := r.Config.hasHeader(first, second)
	if header {
		known = known[1:]
	}
	if len(known) == 0 {
		return nil, nil, &Error{File: r.File, Line: first.Line, Msg: "no rows follow the header"}
	}
	s, err := newSchema(r.File, &r.Config, first, header, known[0])
	if err != nil {
		return nil, nil, err
	}
	return s, known, nil
}

// hasHeader reports whether the first row holds the names of columns.
func (c *Config) hasHeader(first, second Row) bool {
	if c.Header != nil {
		return *c.Header
	}
	for j := range second.Cells {
		if c.IsText(first.Cells[j]) && !c.IsText(second.Cells[j]) {
			return true
		}
	}
	// A row without any number cannot be data, because a table has features.
	return !slices.ContainsFunc(first.Cells, func(s string) bool { return !c.IsText(s) })
}

// newSchema takes the names of the columns from the first row, if that is the header, and finds the
// role of each; sample is the first row of data.
func newSchema(file string, cfg *Config, first Row, header bool, sample Row) (*Schema, error) {
	s := &Schema{unnamed: !header, Role: make([]Role, len(first.Cells)), Place: make([]int, len(first.Cells))}
	line := 0
	if header {
		s.Names, line = first.Cells, first.Line
	} else {
		for j := range first.Cells {
			s.Names = append(s.Names, "x"+strconv.Itoa(j+1))
		}
	}
	msg := s.Ignore(cfg.Ignore)
	if msg == "" {
		msg = s.CheckNames()
	}
	if msg == "" && cfg.LabelMode == NamedLabel {
		msg = s.take("label", cfg.Label, Label)
	}
	for k, name := range cfg.Targets {
		if msg == "" && cfg.LabelMode == NamedLabel {
			msg = fmt.Sprintf("label %s and target %s: a table has labels or targets", Quote(cfg.Label), Quote(name))
		}
		if msg != "" {
			break
		}
		if msg = s.take("target", name, Target); msg == "" {
			s.Place[slices.Index(s.Names, name)] = k
		}
	}
	if msg == "" && cfg.LabelMode == detectLabel && cfg.Targets == nil {
		s.detectLabel(cfg, sample)
	}
	if msg == "" && !slices.Contains(s.Role, Feature) {
		msg = "no column of features"
	}
	if msg != "" {
		return nil, &Error{File: file, Line: line, Msg: msg}
	}
	return s, nil
}

// Ignore gives the named columns the role Ignored. Like CheckNames and take, it returns what is
// wrong, or "".
func (s *Schema) Ignore(names []string) string {
	for _, name := range names {
		found := false
		for j := range s.Names {
			if s.Names[j] == name {
				s.Role[j], found = Ignored, true
			}
		}
		if !found {
			return s.missing("ignore", name)
		}
	}
	return ""
}

// CheckNames finds columns without a name and names that recur.
func (s *Schema) CheckNames() string {
	seen := make(map[string]int)
	for j, name := range s.Names {
		if s.Role[j] == Ignored {
			continue
		}
		if name == "" {
			return fmt.Sprintf(`column %d has no name; ignore "" to leave it out`, j+1)
		}
		if first, ok := seen[name]; ok {
			return fmt.Sprintf("columns %d and %d are both named %s", first+1, j+1, Quote(name))
		}
		seen[name] = j
	}
	return ""
}

// take gives the named column a role.
func (s *Schema) take(option, name string, as Role) string {
	j := slices.Index(s.Names, name)
	switch {
	case j < 0:
		return s.missing(option, name)
	case s.Role[j] == Ignored:
		return fmt.Sprintf("%s %s: this column is ignored", option, Quote(name))
	case s.Role[j] == as:
		return fmt.Sprintf("%s %s: this column is named twice", option, Quote(name))
	}
	s.Role[j] = as
	return ""
}

func (s *Schema) missing(option, name string) string {
	msg := fmt.Sprintf("%s %s: no such column%s", option, Quote(name), DidYouMean(name, s.Names))
	if s.unnamed {
		msg += fmt.Sprintf("; the file has no header, so x1 is the first and x%d the last", len(s.Names))
	}
	return msg
}

// detectLabel makes the last column the label if its name or its first cell says so.
func (s *Schema) detectLabel(cfg *Config, sample Row) {
	last, kept := -1, 0
	for j, r := range s.Role {
		if r != Ignored {
			last, kept = j, kept+1
		}
	}
	if kept < 2 {
		return
	}
	name := strings.ToLower(s.Names[last])
	named := slices.Contains([]string{"label", "class", "target", "species", "digit", "cultivar", "y"}, name)
	if v, ok := Number(sample.Cells[last]); ok && math.Abs(v-math.Trunc(v)) > 0 {
		named = false // a measurement
	} else if name == "y" && slices.ContainsFunc(s.Names, func(n string) bool { return strings.EqualFold(n, "x") }) {
		named = false // a coordinate
	}
	if named || cfg.IsText(sample.Cells[last]) {
		s.Role[last], s.TextLabels = Label, !named
		s.Doubtful = s.TextLabels && IsUsuallyMissing(sample.Cells[last])
	}
}

// Features returns the names of the features, and of the label or "".
func (s *Schema) Features() (names []string, labelName string) {
	for j, name := range s.Names {
		switch s.Role[j] {
		case Feature:
			names = append(names, name)
		case Label:
			labelName = name
		}
	}
	return names, labelName
}

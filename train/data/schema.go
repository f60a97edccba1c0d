package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// role is what a column of the file becomes in the table.
type role int

const (
	feature role = iota
	label
	target
	ignored
)

// schema says what each column of a file is.
type schema struct {
	names      []string
	unnamed    bool // in the file: the names are x1, x2, …
	role       []role
	place      []int // of a column of targets, among them
	textLabels bool  // labels were taken for such because the first is no number
	doubtful   bool  // and that may be a missing value
}

// newSchema names the columns after the first row, if that is the header, and
// finds the role of each; sample is the first row of data.
func newSchema(file string, cfg *config, first row, header bool, sample row) (*schema, error) {
	s := &schema{unnamed: !header, role: make([]role, len(first.cells)), place: make([]int, len(first.cells))}
	line := 0
	if header {
		s.names, line = first.cells, first.line
	} else {
		for j := range first.cells {
			s.names = append(s.names, "x"+strconv.Itoa(j+1))
		}
	}
	msg := s.ignore(cfg.ignore)
	if msg == "" {
		msg = s.checkNames()
	}
	if msg == "" && cfg.labelMode == namedLabel {
		msg = s.take("label", cfg.label, label)
	}
	for k, name := range cfg.targets {
		if msg == "" && cfg.labelMode == namedLabel {
			msg = fmt.Sprintf("label %s and target %s: a table has labels or targets", quote(cfg.label), quote(name))
		}
		if msg != "" {
			break
		}
		if msg = s.take("target", name, target); msg == "" {
			s.place[slices.Index(s.names, name)] = k
		}
	}
	if msg == "" && cfg.labelMode == detectLabel && cfg.targets == nil {
		s.detectLabel(cfg, sample)
	}
	if msg == "" && !slices.Contains(s.role, feature) {
		msg = "no column of features"
	}
	if msg != "" {
		return nil, &Error{File: file, Line: line, Msg: msg}
	}
	return s, nil
}

// ignore, checkNames and take return what is wrong, or "".
func (s *schema) ignore(names []string) string {
	for _, name := range names {
		found := false
		for j := range s.names {
			if s.names[j] == name {
				s.role[j], found = ignored, true
			}
		}
		if !found {
			return s.missing("ignore", name)
		}
	}
	return ""
}

func (s *schema) checkNames() string {
	seen := make(map[string]int)
	for j, name := range s.names {
		if s.role[j] == ignored {
			continue
		}
		if name == "" {
			return fmt.Sprintf(`column %d has no name; ignore "" to leave it out`, j+1)
		}
		if first, ok := seen[name]; ok {
			return fmt.Sprintf("columns %d and %d are both named %s", first+1, j+1, quote(name))
		}
		seen[name] = j
	}
	return ""
}

// take gives the named column a role.
func (s *schema) take(option, name string, as role) string {
	j := slices.Index(s.names, name)
	switch {
	case j < 0:
		return s.missing(option, name)
	case s.role[j] == ignored:
		return fmt.Sprintf("%s %s: this column is ignored", option, quote(name))
	case s.role[j] == as:
		return fmt.Sprintf("%s %s: this column is named twice", option, quote(name))
	}
	s.role[j] = as
	return ""
}

func (s *schema) missing(option, name string) string {
	msg := fmt.Sprintf("%s %s: no such column%s", option, quote(name), didYouMean(name, s.names))
	if s.unnamed {
		msg += fmt.Sprintf("; the file has no header, so x1 is the first and x%d the last", len(s.names))
	}
	return msg
}

// detectLabel takes the last column for labels if its name or its cells say so.
func (s *schema) detectLabel(cfg *config, sample row) {
	last, kept := -1, 0
	for j, r := range s.role {
		if r != ignored {
			last, kept = j, kept+1
		}
	}
	if kept < 2 {
		return
	}
	name := strings.ToLower(s.names[last])
	named := slices.Contains([]string{"label", "class", "target", "species", "digit", "cultivar", "y"}, name)
	if v, ok := number(sample.cells[last]); ok && math.Abs(v-math.Trunc(v)) > 0 {
		named = false // a measurement
	} else if name == "y" && slices.ContainsFunc(s.names, func(n string) bool { return strings.EqualFold(n, "x") }) {
		named = false // a coordinate
	}
	if named || cfg.isText(sample.cells[last]) {
		s.role[last], s.textLabels = label, !named
		s.doubtful = s.textLabels && isUsuallyMissing(sample.cells[last])
	}
}

// features returns the names of the features and of the label, if there is one.
func (s *schema) features() (names []string, labelName string) {
	for j, name := range s.names {
		switch s.role[j] {
		case feature:
			names = append(names, name)
		case label:
			labelName = name
		}
	}
	return names, labelName
}

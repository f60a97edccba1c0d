package page

import (
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
)

// schedule says what a scalar is fed from step to step.
type schedule struct {
	train.Schedule
	over  int  // the steps that a schedule without steps of its own goes over
	first int  // the step of the schedule that step 0 of the page is, where that goes on from a checkpoint
	usual bool // a rate that falls, because nothing else is asked for
}

// steps returns how many steps the schedule takes before the scalar stays as it is; 0 if that is not known.
func (s schedule) steps() int {
	text, over := s.String(), s.over
	if inner, is := strings.CutPrefix(text, "within("); is {
		number, rest, _ := strings.Cut(inner, ",")
		n, err := strconv.Atoi(number)
		if err != nil {
			return 0
		}
		text, over = rest, min(n, over)
	}
	if !strings.Contains(text, "..") || strings.ContainsAny(text, "(,") {
		return 0
	}
	return max(1, over-s.first)
}

// at returns what is fed in a step.
func (s schedule) at(t int) float64 {
	if n := s.steps(); n > 0 {
		t = min(t, n-1)
	}
	return s.At(s.first+t, s.over)
}

// moves reports whether the scalar changes at all.
func (s schedule) moves() bool {
	_, err := strconv.ParseFloat(s.String(), 64)
	return err != nil
}

// view describes the schedule of the scalar with this path.
func (s schedule) view(path string) courseView {
	return courseView{path, s.String(), number(s.at(0)), number(s.at(max(0, s.steps()-1))), s.steps(), s.usual}
}

// readRate reads the schedule of a rate over so many steps, which begins above 0.
func readRate(text string, over int) (schedule, error) {
	read, err := train.ParseSchedule(text)
	if err != nil {
		return schedule{}, badf("rate: %w", err)
	}
	s := schedule{Schedule: read, over: over}
	if !(s.at(0) > 0) {
		return s, badf("rate %s: want a positive number", text)
	}
	return s, nil
}

// schedule feeds inputs that have a default by the given schedules, from step to step.
func (f *feeder) schedule(courses map[string]string) error {
	for name, text := range courses {
		n, err := f.scalar(name)
		if err != nil {
			return err
		}
		read, err := train.ParseSchedule(text)
		if err != nil {
			return badf("%s: %w", name, err)
		}
		s := schedule{Schedule: read, over: f.usualSteps()}
		if n == f.model.Gamma() && !(s.at(0) > 0) {
			return badf("%s %s: want a positive temperature", name, text)
		}
		f.courses[n] = s
		delete(f.scalars, n)
	}
	return nil
}

// fix feeds the given numbers to inputs that have a default, in every step.
func (f *feeder) fix(scalars map[string]float64) error {
	for name, v := range scalars {
		n, err := f.scalar(name)
		if err != nil {
			return err
		}
		f.scalars[n] = v
		delete(f.courses, n)
	}
	return nil
}

// scalar finds an input that has a default.
func (f *feeder) scalar(name string) (*graph.Node, error) {
	n := f.model.Graph.Lookup(name)
	if n == nil {
		return nil, badf("there is no scalar %q", name)
	}
	if _, has := n.Default(); !has {
		return nil, badf("%q is not an input with a default", name)
	}
	return n, nil
}

// objectiveMoves reports whether something besides the rate changes while the model is trained.
func (f *feeder) objectiveMoves() bool {
	for n, p := range f.courses {
		if n != f.rate && p.moves() {
			return true
		}
	}
	return false
}

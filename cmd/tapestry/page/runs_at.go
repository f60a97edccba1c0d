package page

import (
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// stillness is the share of its size by which a quantity may move and still be told in words.
const stillness = 1e-9

// mostSaid is the number of runs of which it is said what never moves in them.
const mostSaid = 20

// still says in words what a quantity is in all runs, if it never moves in any of them, and otherwise
// nothing.
func (s *Service) still(all []*run, kind string) string {
	var said []string
	for _, one := range all {
		one.mu.Lock()
		drawn := one.course.drawn(kind)
		y, name := drawn.y, one.name
		one.mu.Unlock()
		if len(y) == 0 {
			continue
		}
		if lo, hi := slices.Min(y), slices.Max(y); len(y) < 2 || !(hi-lo <= stillness*max(math.Abs(lo), math.Abs(hi))) {
			return ""
		}
		said = append(said, chart.Format(y[0])+" in "+name)
	}
	if len(said) > 1 {
		first, _, _ := strings.Cut(said[0], " in ")
		if !slices.ContainsFunc(said, func(x string) bool { return !strings.HasPrefix(x, first+" in ") }) {
			return first + " at every step of all runs"
		}
	}
	switch {
	case len(said) == 0:
		return ""
	case len(said) > mostSaid:
		said = append(said[:mostSaid], plural.Count(len(said)-mostSaid, "other"))
	}
	return "at every step " + strings.Join(said, ", ")
}

// atView has the values of all runs at a step, for the pointer over a chart.
type atView struct {
	Step int        `json:"step"`
	Runs []runPoint `json:"runs"`
}

// runPoint is the value of a run that was logged last at or before a step.
type runPoint struct {
	Name     string `json:"name"`
	Group    int    `json:"group"` // of the chart's colours
	Step     int    `json:"step"`
	Value    number `json:"value"`
	Smoothed number `json:"smoothed"`
}

// runsAt answers what a quantity is in every run at a step.
func (s *Service) runsAt(r *request) (any, error) {
	kind := r.query.Get("kind")
	if aboutChart(kind).Title == "" {
		return nil, badf("kind=%.40s: want loss, rate, pace or score:NAME", kind)
	}
	step, err := whole(r, "step", 0, 0, math.MaxInt)
	if err != nil {
		return nil, err
	}
	smooth, err := whole(r, "smooth", 100*usualSmoothing, 0, 99)
	if err != nil {
		return nil, err
	}
	drawn := s.drawn(r)
	out := &atView{Step: step, Runs: []runPoint{}}
	return out, s.inTurn(r.ctx, func() error {
		for _, d := range drawn {
			if p, has := d.at(kind, step, float64(smooth)/100); has {
				p.Group = d.group
				out.Runs = append(out.Runs, p)
			}
		}
		return nil
	})
}

// at returns the point of a quantity at or before a step.
func (r *run) at(kind string, step int, smooth float64) (p runPoint, has bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	drawn := r.course.drawn(kind)
	i, found := slices.BinarySearch(drawn.x, float64(step))
	if !found {
		i--
	}
	if i < 0 || step > r.course.step {
		return p, false
	}
	y := drawn.y
	if kind == "loss" {
		y = drawn.smooth(smooth)
	}
	return runPoint{Name: r.name, Step: int(drawn.x[i]), Value: number(drawn.y[i]), Smoothed: number(y[i])}, true
}

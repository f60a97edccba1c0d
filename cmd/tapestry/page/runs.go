package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// usualSmoothing is the weight of the past in smoothed losses.
const usualSmoothing = 0.9

// runsView describes all runs.
type runsView struct {
	Version int         `json:"version"` // grows when something is new
	Runs    []runView   `json:"runs"`
	Charts  []chartView `json:"charts"`         // that can be asked for
	Left    int         `json:"left,omitempty"` // logs in folders that are too many to be followed
}

type runView struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	State    runState          `json:"state"`
	Trouble  string            `json:"trouble,omitempty"` // with the file
	Failure  string            `json:"failure,omitempty"` // of the training
	Step     int               `json:"step"`
	Steps    int               `json:"steps"` // 0 if it is not known
	Epoch    int               `json:"epoch"` // that were finished
	Epochs   int               `json:"epochs"`
	Loss     number            `json:"loss"` // smoothed
	Rate     number            `json:"rate"`
	Pace     number            `json:"pace"` // steps in a second
	Left     number            `json:"left"` // seconds; 0 if it is not known
	Scores   []scoreView       `json:"scores"`
	Settings map[string]string `json:"settings,omitempty"` // that its log begins with
	Saved    string            `json:"saved,omitempty"`    // the newest checkpoint
	Changed  int64             `json:"changed,omitempty"`  // when the file was written last, in ms since the epoch
	Problems []problem         `json:"problems,omitempty"`
	Wrong    int               `json:"wrong,omitempty"` // lines that could not be read
}

type scoreView struct {
	Name  string `json:"name"`
	Value number `json:"value"`
}

type chartView struct {
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Still string `json:"still,omitempty"` // in words, where nothing moves: there is nothing to draw
}

// scoreKind begins the kind of a score's chart.
const scoreKind = "score:"

// runs reads what is new in the logs.
func (s *Service) runs(r *request) (any, error) {
	v := &runsView{Runs: []runView{}, Charts: []chartView{}}
	var kinds []string
	all, left := s.logs.all()
	v.Left = left
	room := recordsAtOnce
	err := s.inTurn(r.ctx, func() error {
		for _, one := range all {
			view, drawn, version := one.view(&room)
			v.Runs = append(v.Runs, view)
			v.Version += version
			for _, kind := range drawn {
				if !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
			}
		}
		return r.ctx.Err()
	})
	// Losses come first, then scores in the order in which they were met.
	order := map[string]int{"loss": 0, "rate": 2, "pace": 3}
	slices.SortStableFunc(kinds, func(a, b string) int {
		place := func(kind string) int {
			if at, is := order[kind]; is {
				return at
			}
			return 1
		}
		return place(a) - place(b)
	})
	for _, kind := range kinds {
		v.Charts = append(v.Charts, chartView{kind, aboutChart(kind).Title, s.still(all, kind)})
	}
	return v, err
}

// view refreshes a run by as many records as there is room for, and returns its description and the
// kinds of its charts.
func (r *run) view(room *int) (v runView, kinds []string, version int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refresh(room)
	c := &r.course
	if r.told.ID != "" && r.toldAt == r.version {
		if !r.changed.IsZero() {
			r.told.Changed = r.changed.UnixMilli()
		}
		return r.told, c.kinds(), r.version
	}
	pace, smoothed := c.pace(), series{y: c.loss.smooth(usualSmoothing)}
	v = runView{ID: r.id, Name: r.name, State: r.state, Trouble: r.trouble, Failure: c.failure, Step: c.step, Steps: c.steps, Epoch: c.epoch, Epochs: c.epochs,
		Loss: number(smoothed.last()), Rate: number(c.rate.last()), Pace: number(pace.last()), Left: number(c.left(pace.last())),
		Scores: []scoreView{}, Saved: c.saved, Settings: c.settings, Problems: c.problems, Wrong: c.wrong}
	for _, s := range c.last {
		v.Scores = append(v.Scores, scoreView{s.Name, number(s.Value)})
	}
	if !r.changed.IsZero() {
		v.Changed = r.changed.UnixMilli()
	}
	r.told, r.toldAt = v, r.version
	return v, c.kinds(), r.version
}

// runsChart draws one quantity of all runs over each other.
func (s *Service) runsChart(r *request) (f any, err error) {
	kind := r.query.Get("kind")
	smooth, err := whole(r, "smooth", 100*usualSmoothing, 0, 99)
	if err != nil {
		return nil, err
	}
	log, err := yesNo(r, "log")
	if err != nil {
		return nil, err
	}
	drawn := s.drawn(r)
	l := aboutChart(kind)
	if l.Title == "" {
		return nil, badf("kind=%.40s: want loss, rate, pace or score:NAME", kind)
	}
	l.LogY = log && kind != "pace" && kind != "rate"
	l.FitY = !log
	if l.LogX, err = yesNo(r, "logx"); err != nil {
		return nil, err
	}
	err = s.inTurn(r.ctx, func() error {
		for _, d := range drawn {
			l.Series = append(l.Series, d.lines(kind, float64(smooth)/100, d.group)...)
		}
		if (kind == "rate" || kind == "pace") && len(l.Series) > 0 { // from 0, so that small differences look small
			l.Covers = [][2]float64{{l.Series[0].X[len(l.Series[0].X)-1], 0}}
		}
		f, err = chartFile(r, l)
		return err
	})
	return f, err
}

// drawnRun is a run that is drawn, and its colour.
type drawnRun struct {
	*run
	group int
}

// drawn returns the runs that a request asks for: those that it names, or all but those that it hides.
func (s *Service) drawn(r *request) (out []drawnRun) {
	hidden, only := list(r, "hide"), list(r, "only")
	all, _ := s.logs.all()
	for i, one := range all {
		switch {
		case len(only) > 0 && !slices.Contains(only, one.id), slices.Contains(hidden, one.id):
			continue
		case len(only) > 0:
			i = slices.Index(only, one.id)
		}
		out = append(out, drawnRun{one, i})
	}
	return out
}

// aboutChart returns the chart of a kind without its lines, untitled if there is no such kind.
func aboutChart(kind string) chart.Lines {
	l := chart.Lines{X: "step", Y: kind, Frame: chart.Frame{ID: "runs-" + kind}}
	score, isScore := strings.CutPrefix(kind, scoreKind)
	switch {
	case kind == "loss":
		l.Title, l.Desc = "Loss of the batches", "The loss of each step that was logged, before its update: faint as it was, and smoothed."
	case isScore:
		l.ID, l.Y = fmt.Sprintf("runs-score-%x", score), score
		l.Title, l.Desc = "Measured: "+score, "What was measured between steps."
	case kind == "rate":
		l.Title, l.Desc = "Learning rate", "The learning rate of each step."
	case kind == "pace":
		l.Title, l.Y, l.Desc = "Steps per second", "steps/s", "How fast training went on."
	}
	return l
}

// lines returns the lines of a run in a chart of a kind. Lines of a loss are smoothed, with smooth
// as the weight of the past.
func (r *run) lines(kind string, smooth float64, group int) []chart.Series {
	r.mu.Lock()
	defer r.mu.Unlock()
	drawn := r.course.drawn(kind)
	if drawn.len() == 0 {
		return nil
	}
	line := chart.Series{Name: r.name, X: slices.Clone(drawn.x), Y: slices.Clone(drawn.y), Group: group}
	if kind != "loss" || smooth == 0 {
		return []chart.Series{line}
	}
	faint := line
	faint.Faint = true
	line.Y = drawn.smooth(smooth)
	return []chart.Series{faint, line}
}

package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/train/watch"
)

// Limits on the records kept of a log.
const (
	maxPoints   = 1 << 16 // of a series, fewer if there are many runs; of more, every second is dropped
	maxProblems = 20      // lines that could not be read, listed one by one
	maxScores   = 32      // names of scores
)

// course is the history of a training, as its log gives it.
type course struct {
	most         int // points of a series; 0 for maxPoints
	begun, ended bool
	failure      string // why it ended, if not well
	step, steps  int
	epoch        int
	epochs       int
	loss, rate   series
	times        series // seconds since the epoch of Unix; NaN where training was resumed
	scores       []scoreSeries
	last         metric.Scores
	saved        string
	savedAt      int // the step of that checkpoint
	settings     map[string]string
	folder       string // where it ran, as the log has it
	changed      string // how it was set up before it was resumed, in words
	length       string // how long it was to be before, in words
	problems     []problem
	wrong        int // lines that could not be read
}

type scoreSeries struct {
	name string
	series
}

// problem is a line that could not be read.
type problem struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// add adds a record to the history.
func (c *course) add(r watch.Record) {
	c.step, c.epoch = r.Step, r.Position.Epoch
	c.loss.most, c.rate.most, c.times.most = c.most, c.most, c.most
	at := float64(r.Step)
	if r.Kind == train.Begun && c.begun {
		c.resume(at)
	}
	if !r.Time.IsZero() && r.Kind == train.Stepped { // before the first step the model is compiled
		c.times.add(at, float64(r.Time.UnixMicro())/1e6)
	}
	switch r.Kind {
	case train.Begun:
		c.begun, c.ended, c.failure = true, false, ""
		c.steps, c.epochs = r.Steps, r.Epochs
		if r.Settings != nil {
			if r.Step == 0 || c.settings == nil {
				c.changed, c.length = "", ""
			} else {
				changed, length := changedSettings(c.settings, r.Settings)
				c.changed, c.length = cmp.Or(changed, c.changed), cmp.Or(length, c.length)
			}
			c.settings, c.folder = r.Settings, r.Folder
		}
		if c.saved, c.savedAt = r.Path, r.Step; r.Step == 0 {
			c.last = nil
		}
	case train.Stepped:
		c.loss.add(at, r.Loss)
		c.rate.add(at, r.Rate)
	case train.Validated:
		c.last = r.Scores
		for _, s := range r.Scores {
			if one := c.score(s.Name); one != nil {
				one.add(at, s.Value)
			}
		}
	case train.Saved:
		c.saved, c.savedAt = r.Path, r.Step
	case train.Ended:
		c.ended = true
		if r.Err != nil {
			c.failure = r.Err.Error()
		}
	}
}

// resume drops all points beyond the step at which training resumes.
func (c *course) resume(step float64) {
	for _, s := range []*series{&c.loss, &c.rate, &c.times} {
		s.cut(step)
	}
	for i := range c.scores {
		c.scores[i].cut(step)
	}
	if c.times.len() > 0 {
		c.times.x, c.times.y = append(c.times.x, step), append(c.times.y, math.NaN())
	}
}

// score returns the series of a score, or nil if there are too many.
func (c *course) score(name string) *scoreSeries {
	i := slices.IndexFunc(c.scores, func(s scoreSeries) bool { return s.name == name })
	if i < 0 && len(c.scores) < maxScores {
		i = len(c.scores)
		c.scores = append(c.scores, scoreSeries{name, series{most: c.most}})
	}
	if i < 0 {
		return nil
	}
	return &c.scores[i]
}

func (c *course) complain(e *watch.Error) {
	c.wrong++
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, problem{e.Line, e.Err.Error()})
	}
}

// left returns how many seconds remain at a pace, or 0 if unknown.
func (c *course) left(pace float64) float64 {
	if c.ended || c.steps <= c.step || !(pace > 0) {
		return 0
	}
	return float64(c.steps-c.step) / pace
}

// kinds lists the charts that can be drawn.
func (c *course) kinds() (out []string) {
	if c.loss.len() > 0 {
		out = append(out, "loss")
	}
	for _, s := range c.scores {
		out = append(out, scoreKind+s.name)
	}
	if c.loss.len() > 0 {
		out = append(out, "rate")
	}
	if c.times.len() > 1 {
		out = append(out, "pace")
	}
	return out
}

// drawn returns the series that a chart of a kind shows, empty if there is none.
func (c *course) drawn(kind string) series {
	switch kind {
	case "loss":
		return c.loss
	case "rate":
		return c.rate
	case "pace":
		return c.pace()
	}
	for _, s := range c.scores {
		if scoreKind+s.name == kind {
			return s.series
		}
	}
	return series{}
}

// pace returns the steps per second, over windows of a second, of a tenth of a short training, or
// of a hundredth of a long one.
func (c *course) pace() (out series) {
	x, t := c.times.x, c.times.y
	if len(t) == 0 {
		return out
	}
	all := t[len(t)-1] - t[0]
	window := max(all/100, min(1, all/10))
	if !(window > 0) {
		window = 1
	}
	for first, i := 0, 0; i < len(t); i++ {
		if math.IsNaN(t[i]) || t[i] < t[first] {
			first = i + 1
			if !math.IsNaN(t[i]) {
				first = i // a clock that was set back
			}
			continue
		}
		if t[i]-t[first] < window {
			continue
		}
		for first+1 < i && t[i]-t[first+1] >= window {
			first++
		}
		if x[i] > x[first] {
			out.add(x[i], (x[i]-x[first])/(t[i]-t[first]))
		}
	}
	return out
}

// series holds values at steps, at most maxPoints of them.
type series struct {
	x, y         []float64
	stride, seen int // every stride-th of those seen is kept
	most         int // of them; 0 for maxPoints
}

func (s *series) len() int { return len(s.x) }

func (s *series) add(x, y float64) {
	s.stride = max(1, s.stride)
	if s.seen++; (s.seen-1)%s.stride != 0 {
		return
	}
	s.x, s.y = append(s.x, x), append(s.y, y)
	if len(s.x) <= cmp.Or(s.most, maxPoints) {
		return
	}
	n := 0
	for i := 0; i < len(s.x); i += 2 {
		s.x[n], s.y[n] = s.x[i], s.y[i]
		n++
	}
	s.x, s.y, s.stride = s.x[:n], s.y[:n], 2*s.stride
}

// cut drops the values beyond a step.
func (s *series) cut(step float64) {
	n := len(s.x)
	for n > 0 && s.x[n-1] > step {
		n--
	}
	s.x, s.y = s.x[:n], s.y[:n]
}

// last returns the last value, or NaN if there is none.
func (s *series) last() float64 {
	if len(s.y) == 0 {
		return math.NaN()
	}
	return s.y[len(s.y)-1]
}

// smooth returns the exponential average with weight β for the past. It corrects the bias towards
// the start, so that a constant stays constant. Values that are not finite are left out of the
// average and break the line.
func (s *series) smooth(β float64) []float64 {
	out := make([]float64, len(s.y))
	sum, weight := 0.0, 0.0
	for i, v := range s.y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			out[i] = math.NaN()
			continue
		}
		sum, weight = β*sum+(1-β)*v, β*weight+(1-β)
		out[i] = sum / weight
	}
	return out
}

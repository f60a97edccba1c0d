package page

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// turnTime is how long a training session keeps its document before other requests have their turn.
const turnTime = 25 * time.Millisecond

// stepLine is a line of the stream: a step that was done.
type stepLine struct {
	Step int    `json:"step"` // steps done with it
	Loss number `json:"loss"` // before its update
}

// lastLine ends the stream.
type lastLine struct {
	Done  bool   `json:"done"`
	Steps int    `json:"steps"`
	Error string `json:"error,omitempty"` // why there are no more
}

// train does steps and answers with a line for each. The first turn decides whether there are lines
// or an error. A client that goes away stops it after the current step; the steps done remain.
func (s *Service) train(r *request) (any, error) {
	var q struct {
		Steps int `json:"steps"`
	}
	if err := body(r, &q); err != nil {
		return nil, err
	}
	if q.Steps < 1 || q.Steps > maxSteps {
		return nil, badf("steps %d: want from 1 to %d", q.Steps, maxSteps)
	}
	d, err := s.shelf.find(r.place("doc"))
	if err != nil {
		return nil, err
	}
	first, err := s.advance(r.ctx, d, q.Steps)
	// A loss that is not finite is an outcome of training, and not an error in the request.
	if bad := new(tape.NotFinite); err != nil && len(first) == 0 && !errors.As(err, &bad) {
		return nil, err
	}
	return lines(func(ctx context.Context, write func(...any) error) {
		whole, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(d.gone, cancel)()
		done, turn := 0, first
		for {
			if write(turn...) != nil {
				return
			}
			if done += len(turn); done == q.Steps || err != nil {
				break
			}
			turn, err = s.advance(whole, d, q.Steps-done)
		}
		_ = write(s.last(whole, d, err))
	}), nil
}

// advance does steps, at most so many, for a turn's time, and returns a line for each that was done.
func (s *Service) advance(ctx context.Context, d *document, most int) (done []any, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.gone, cancel)()
	err = s.use(ctx, func() error {
		for since := time.Now(); len(done) < most && time.Since(since) < turnTime; {
			loss, err := d.session.advance(ctx)
			if err != nil {
				return err
			}
			d.done.Store(int64(d.session.steps()))
			done = append(done, stepLine{d.session.steps(), number(loss)})
		}
		return nil
	}, d)
	return done, err
}

// last returns the line after the last step, when training ended with err.
func (s *Service) last(ctx context.Context, d *document, err error) lastLine {
	l := lastLine{Done: err == nil}
	switch {
	case d.gone.Err() != nil:
		l.Error = "the document was closed"
	case errors.Is(err, context.Canceled):
		l.Error = "interrupted"
	case err != nil:
		l.Error = err.Error()
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), AnswerTime)
	defer stop()
	_ = s.use(grace, func() error { l.Steps = d.session.steps(); return nil }, d) // of a closed document it is 0
	return l
}

// fedView holds the values fed to a scalar that training changes.
type fedView struct {
	Name   string   `json:"name"`
	Values []number `json:"values"` // from state to state while it changes
}

// historyView is the course of a session.
type historyView struct {
	Steps   int            `json:"steps"`
	Loss    []number       `json:"loss"`              // of every step, before its update
	Fed     []fedView      `json:"fed"`               // scalars that training changes
	Centres [][][2]float64 `json:"centres,omitempty"` // of every state, in the plane of the data
	Points  [][2]float64   `json:"points,omitempty"`
	Labels  []string       `json:"labels,omitempty"` // of the points
	Axes    []string       `json:"axes,omitempty"`   // what the plane's axes are
}

func (s *Service) history(_ *request, d *document) (any, error) {
	v := &historyView{Steps: d.session.steps(), Loss: numbers(d.session.losses), Fed: []fedView{}, Centres: d.session.centres}
	for n, course := range d.session.feeder.courses {
		at := fedView{Name: n.Path()}
		most := v.Steps + 1
		if n := course.steps(); n > 0 {
			most = min(most, n)
		}
		for t := range most {
			at.Values = append(at.Values, number(course.at(t)))
		}
		v.Fed = append(v.Fed, at)
	}
	slices.SortFunc(v.Fed, func(a, b fedView) int { return strings.Compare(a.Name, b.Name) })
	if f := d.session.feeder; f.plane != nil {
		v.Points, v.Labels = f.plane.Points(f.table.X), f.table.Labels
		v.Axes = planeAxes(f.plane)
	}
	return v, nil
}

// stateLoss is the loss at a state.
type stateLoss struct {
	Step int    `json:"step"`
	Loss number `json:"loss"`
}

// loss answers with the loss at a state: of a step that was done, as training had it, and at the last
// state that of the step which would come next.
func (s *Service) loss(r *request, d *document) (any, error) {
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	loss, err := d.lossAt(r.ctx, step)
	if err != nil {
		return nil, err
	}
	return &stateLoss{step, number(loss)}, nil
}

func (d *document) lossAt(ctx context.Context, step int) (float64, error) {
	if step < d.session.steps() {
		return d.session.losses[step], nil
	}
	if !d.session.trains {
		return 0, failf(notFound, "%s has no loss that is trained", d.model.Builder.Name)
	}
	record, err := d.record(ctx, d.asWritten, step)
	if err != nil {
		return 0, err
	}
	return record.Value(d.model.Loss).At(0), nil
}

// classes returns the classes of the points and their names, for a chart.
func (f *feeder) classes() ([]int, []string) {
	if len(f.table.Labels) == 0 {
		return nil, nil
	}
	return data.Codes(f.table.Labels)
}

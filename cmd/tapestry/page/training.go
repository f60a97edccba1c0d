package page

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
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

// train does steps and streams a line for each. A client that goes away stops it after the current
// step; the steps done remain.
func (s *Server) train(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Steps int `json:"steps"`
	}
	err := body(r, &q)
	if err == nil && (q.Steps < 1 || q.Steps > maxSteps) {
		err = badf("steps %d: want from 1 to %d", q.Steps, maxSteps)
	}
	d, missing := s.shelf.find(r.PathValue("doc"))
	if err == nil {
		err = missing
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(d.gone, cancel)()
	control := http.NewResponseController(w)
	done, begun := 0, false
	for done < q.Steps && err == nil {
		var lines []stepLine
		err = s.use(ctx, func() error {
			for since := time.Now(); done < q.Steps && time.Since(since) < turnTime; done++ {
				loss, err := d.session.advance(ctx)
				if err != nil {
					return err
				}
				lines = append(lines, stepLine{d.session.steps(), number(loss)})
			}
			return nil
		}, d)
		// A loss that is not finite is an outcome of training, and not an error in the request.
		if bad := new(tape.NotFinite); !begun && len(lines) == 0 && !errors.As(err, &bad) {
			s.fail(w, r, err)
			return
		}
		if !begun {
			w.Header().Set("Content-Type", "application/x-ndjson")
			begun = true
		}
		if !stream(w, control, lines) {
			return
		}
	}
	last := lastLine{Done: err == nil}
	switch {
	case d.gone.Err() != nil:
		last.Error = "the document was closed"
	case errors.Is(err, context.Canceled):
		last.Error = "interrupted"
	case err != nil:
		last.Error = err.Error()
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer stop()
	_ = s.use(grace, func() error { last.Steps = d.session.steps(); return nil }, d) // of a closed document it is 0
	stream(w, control, []lastLine{last})
}

// stream writes a line for each value and pushes the deadline of the connection back.
// It reports whether the client is still there.
func stream[T any](w http.ResponseWriter, control *http.ResponseController, lines []T) bool {
	_ = control.SetWriteDeadline(time.Now().Add(writeTime)) // without it, the server's own holds
	e := json.NewEncoder(w)
	for _, l := range lines {
		if e.Encode(l) != nil {
			return false
		}
	}
	return control.Flush() == nil
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

func (s *Server) history(_ *http.Request, d *document) (any, error) {
	v := &historyView{Steps: d.session.steps(), Loss: numbers(d.session.losses), Fed: []fedView{}, Centres: d.session.centres}
	for n, course := range d.session.feeder.courses {
		at := fedView{Name: n.Path()}
		for t := range min(v.Steps+1, annealed) {
			at.Values = append(at.Values, number(course.At(t, annealed)))
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

// classes returns the classes of the points and their names, for a chart.
func (f *feeder) classes() ([]int, []string) {
	if len(f.table.Labels) == 0 {
		return nil, nil
	}
	return data.Codes(f.table.Labels)
}

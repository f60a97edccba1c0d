package page

import (
	"github.com/tapestry-ml/tapestry/inspect"
)

// breakView is the place where a run to a break stopped.
type breakView struct {
	Hit  string `json:"hit"` // the break that held; "" if none did, and the run came to an end
	Step int    `json:"step"`
	I    int    `json:"i"`
}

// runToBreak goes forwards or backwards from an instruction of a step to the next place where one
// of some breaks holds, within the steps that were trained.
func (s *Service) runToBreak(r *request, d *document) (any, error) {
	step, err := stepOf(r, d)
	if err != nil {
		return nil, err
	}
	back, err := yesNo(r, "back")
	if err != nil {
		return nil, err
	}
	w := d.session.walk
	at, err := whole(r, "at", 0, 0, w.Len()-1)
	if err != nil {
		return nil, err
	}
	var breaks []inspect.Break
	for _, text := range list(r, "break") {
		b, err := w.ParseBreak(text)
		if err != nil {
			return nil, badf("%w", err)
		}
		breaks = append(breaks, b)
	}
	if len(breaks) == 0 {
		return nil, badf("break: want where to stop, such as %s", inspect.Wants)
	}
	if err := w.Rewind(r.ctx, step); err != nil {
		return nil, err
	}
	if err := w.Seek(at); err != nil {
		return nil, err
	}
	var hit inspect.Break
	var ok bool
	if back {
		hit, ok, err = w.ContinueBack(r.ctx, breaks...)
	} else {
		hit, ok, err = w.Continue(r.ctx, d.session.steps(), breaks...)
	}
	if err != nil {
		return nil, err
	}
	out := &breakView{Step: w.Step(), I: w.At()}
	if ok {
		out.Hit = hit.String()
	}
	return out, nil
}

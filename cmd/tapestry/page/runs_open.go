package page

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// openedRun is the model of a run, opened, and what of the run the page does not have.
type openedRun struct {
	Doc   *docView `json:"doc"`
	Notes []string `json:"notes"`
	Steps int      `json:"steps"` // of the run, to train anew; 0 where it goes on from its checkpoint
}

// openRun opens the model of a run to go on with its training from its newest checkpoint. Where there
// is none, or it cannot be used, the training begins anew; and where its settings cannot be read
// wholly, by those that the page has.
func (s *Service) openRun(r *request) (any, error) {
	of, err := s.tells(r.place("run"))
	if err != nil {
		return nil, err
	}
	settings, saved := of.settings, Within(of.folder, of.saved)
	q := opening{Model: settings["model"], DType: settings["dtype"], AsNotes: settings["as-notes"] == "true", Run: of.name}
	q.Seed, _ = strconv.ParseUint(settings["seed"], 10, 64) // of what is no number: 0
	out := &openedRun{Steps: of.step, Notes: []string{}}
	if of.failure != "" {
		out.Steps++ // the one that failed
		out.Notes = append(out.Notes, fmt.Sprintf("The run stopped: %s.", of.failure))
	}
	if saved != "" {
		if out.Doc, err = s.openDocument(r.ctx, q); err == nil {
			out.Steps = 0
			out.Notes = append(out.Notes, fmt.Sprintf("It goes on from its checkpoint %s: step 0 here is step %d of the run.", saved, out.Doc.Resumed.Step))
			out.Notes = append(out.Notes, out.Doc.Resumed.Differs...)
			return out, nil
		}
		out.Notes = append(out.Notes, fmt.Sprintf("Its checkpoint cannot be used: %v. The model is as it begins: Train, and it is trained anew with the run's settings, as far as they are known.", err))
	} else {
		out.Notes = append(out.Notes, "The run has no checkpoint: the model is as it begins. Train, and it is trained anew with the run's settings.")
	}
	if r.ctx.Err() != nil {
		return nil, err
	}
	q.Anew = true
	var cause error
	if out.Doc, cause = s.openDocument(r.ctx, q); cause == nil {
		out.Notes = append(out.Notes, out.Doc.Resumed.Differs...)
		return out, nil
	}
	if err == nil {
		out.Notes = append(out.Notes, fmt.Sprintf("Its training cannot be made again: %v.", cause))
	}
	q, notes := s.openingOf(settings)
	out.Notes = append(out.Notes, notes...)
	if out.Doc, err = s.openDocument(r.ctx, q); err == nil || r.ctx.Err() != nil {
		return out, err
	}
	if s.options.Trained == nil { // the model alone was tried
		cause = err
	}
	where := ""
	if of.folder == "" {
		where = "; its log does not say in which folder it ran, so that its paths are read from the one in which the page runs"
	}
	return nil, failf(unprocessable, "%s cannot be opened: %w%s", of.name, cause, where)
}

// openingOf returns what opens the model of a training with these settings, and what of them the page
// does not have.
func (s *Service) openingOf(settings map[string]string) (q opening, notes []string) {
	q = opening{Model: settings["model"], Settings: map[string]any{}, DType: settings["dtype"], Optimiser: settings["optimiser"], Data: settings["data"], AsNotes: settings["as-notes"] == "true"}
	q.Seed, _ = strconv.ParseUint(settings["seed"], 10, 64) // of what is no number: 0
	var left []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := settings[name]
		own, isSet := strings.CutPrefix(name, "set ")
		switch {
		case isSet:
			q.Settings[own] = value
		case name == "k":
			q.Settings["k"] = value
		case name == "rate":
			rate, err := strconv.ParseFloat(value, 64)
			if err != nil {
				left = append(left, "the schedule "+value)
			}
			q.Rate = rate
		case name == "data":
			if _, err := s.clusterData(value); err != nil {
				q.Data = ""
				left = append(left, "the data "+value)
			}
		case !slices.Contains([]string{"model", "dtype", "optimiser", "seed", "as-notes", "steps", "epochs", "validation", "patience"}, name):
			left = append(left, "--"+name+" "+value)
		}
	}
	if len(left) > 0 {
		notes = append(notes, "The page trains without "+strings.Join(left, ", ")+".")
	}
	return q, notes
}

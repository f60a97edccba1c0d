package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// identify returns a digest of what the numbers of a document depend on besides the step: its
// model, or its text in canonical form, with settings, numbers, training and data. Documents with
// one identity have the same values at the same step, on any machine.
func (d *document) identify() string {
	q, h := d.asked, sha256.New()
	name := d.model.Builder.Name
	if d.source != "" {
		name = "" // a file's name changes no number
	}
	fmt.Fprintf(h, "%q %q %v %s %q %v %d %v %t %q", name, d.source, d.settings, q.DType, q.Optimiser, q.Rate, q.Seed, q.Scalars, q.AsNotes, q.Data)
	if run := d.session.feeder.gone; run != nil {
		fmt.Fprintf(h, " %q %q %d", run.settings, run.from, run.first)
	}
	courses := map[string]string{}
	for n, course := range d.session.feeder.courses {
		courses[n.Path()] = course.String()
	}
	if len(courses) > 0 {
		fmt.Fprintf(h, " %q", courses)
	}
	if t := d.session.feeder.table; t != nil {
		fmt.Fprintf(h, " %q %v", t.Columns, t.X)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// standingView is how far a document is.
type standingView struct {
	ID    string `json:"id"`
	Steps int    `json:"steps"`
}

// standing answers, without waiting for anything, with the documents that are open and how far
// each is: by it, windows on one server know what the others do.
func (s *Service) standing(*request) (any, error) {
	out := []standingView{}
	for _, d := range s.shelf.all() {
		out = append(out, standingView{d.id, int(d.done.Load())})
	}
	return out, nil
}

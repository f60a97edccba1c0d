package report

import "html/template"

// Live is another page inside a report, in which a reader changes the objectives, trains them and
// steps through their numbers. It opens at the press of a button.
type Live struct {
	Page    string // one HTML file, sealed by the policy of a program (internal/csp)
	Address string // what follows # in its address: what it shows first
	Note    string // in words: what it does otherwise than the report
}

// live offers the page inside.
func (w *writer) live(p Page) section {
	s := section{ID: "live", Title: "Try it"}
	if p.Live.Page == "" {
		return s
	}
	s.Lead = []string{"Change the objectives, train them, and step through every number, here: what computes is inside this file and runs in the browser, without a network.", p.Live.Note}
	s.Body = []template.HTML{w.part("live", p.Live)}
	return s
}

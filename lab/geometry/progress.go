package geometry

import "sync/atomic"

// progress counts pieces of work and reports each to [Site.Stepped]. Several goroutines may step.
type progress struct {
	report func(done, of int, what string)
	of     int
	what   string
	done   atomic.Int64
}

func (s Site) progress(of int, what string) *progress {
	return &progress{report: s.Stepped, of: of, what: what}
}

// step reports that one more piece is done.
func (p *progress) step() {
	if p.report != nil {
		p.report(int(p.done.Add(1)), p.of, p.what)
	}
}

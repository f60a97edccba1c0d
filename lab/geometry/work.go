package geometry

import "sync/atomic"

// work tells [Site.Stepped] how much of something is done.
type work struct {
	tell func(done, of int, what string)
	of   int
	what string
	done atomic.Int64
}

// work is that many pieces of something to do at the site.
func (s Site) work(of int, what string) *work { return &work{tell: s.Stepped, of: of, what: what} }

// piece says that one more is done.
func (w *work) piece() {
	if w.tell != nil {
		w.tell(int(w.done.Add(1)), w.of, w.what)
	}
}

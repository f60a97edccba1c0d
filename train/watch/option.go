package watch

import (
	"io"
	"os"
	"time"
)

// Option is a setting of [Bar] and [JSONLines].
type Option func(*settings)

type settings struct {
	every    int
	timed    bool
	terminal bool
	clock    func() time.Time
}

func settle(w io.Writer, options []Option) settings {
	s := settings{every: 1, clock: time.Now, terminal: IsTerminal(w)}
	for _, o := range options {
		if o != nil {
			o(&s)
		}
	}
	return s
}

// Every logs only the steps whose number n divides, of a long run; other events all. A
// number below 1 is 1.
func Every(n int) Option { return func(s *settings) { s.every = max(1, n) } }

// Timed logs the time of every event.
func Timed() Option { return func(s *settings) { s.timed = true } }

// Terminal says whether the writer of a bar is a terminal, instead of finding out.
func Terminal(is bool) Option { return func(s *settings) { s.terminal = is } }

// Clock tells the time instead of time.Now.
func Clock(now func() time.Time) Option {
	return func(s *settings) {
		if now != nil {
			s.clock = now
		}
	}
}

// IsTerminal reports whether w is a character device other than the null device: what a
// [Bar] takes for a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}

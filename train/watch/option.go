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
	about    string
	chosen   map[string]string
	folder   string
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

// Every makes [JSONLines] log only steps whose number is a multiple of n, for long runs, and all
// other events. An n below 1 means 1.
func Every(n int) Option { return func(s *settings) { s.every = max(1, n) } }

// Timed makes [JSONLines] log the time of every event, in UTC.
func Timed() Option { return func(s *settings) { s.timed = true } }

// About adds a text to the line with which a log begins, under "about": what is not in the events, such
// as why the training is set up as it is.
func About(text string) Option { return func(s *settings) { s.about = text } }

// With adds the settings of a training to the line with which a log begins, under "settings", as an
// object of texts: what a reader needs to tell runs apart and to begin one like it.
func With(chosen map[string]string) Option { return func(s *settings) { s.chosen = chosen } }

// In adds a folder to the line with which a log begins, under "folder": the one from which the relative
// paths in the log are read. Where it is relative itself, it is so to the folder of the log, so that a
// log which is moved together with its files still leads to them.
func In(folder string) Option { return func(s *settings) { s.folder = folder } }

// Terminal tells a [Bar] whether its writer is a terminal. Without it, [IsTerminal] decides.
func Terminal(is bool) Option { return func(s *settings) { s.terminal = is } }

// Clock sets the function that returns the time. The default is time.Now.
func Clock(now func() time.Time) Option {
	return func(s *settings) {
		if now != nil {
			s.clock = now
		}
	}
}

// IsTerminal reports whether a [Bar] takes w for a terminal: whether it is a character device other
// than the null device.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}

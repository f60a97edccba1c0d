package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/tapestry-ml/tapestry/internal/terminal"
)

// progress shows a bar on a terminal, and nothing elsewhere. It shows none for short work, and
// does not slow down fast work.
type progress struct {
	w        io.Writer
	terminal bool
	bar      *progressbar.ProgressBar

	mu       sync.Mutex
	next     time.Time // when to draw again
	runs, of int       // those done, of those known
	most     int       // the largest share shown
}

// perRun is the number of parts of a run that the bar shows.
const perRun = 1000

// The bar appears after progressAfter and is then redrawn every progressEvery.
const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

func newProgress(w io.Writer) *progress {
	w = raw(w)
	return &progress{w: w, terminal: isTerminal(w), next: time.Now().Add(progressAfter)}
}

// report returns at for a terminal, and nil elsewhere, so that callers need not count.
func (p *progress) report() func(done, of int, what string) {
	if !p.terminal {
		return nil
	}
	return p.at
}

// steps returns within for a terminal, and nil elsewhere.
func (p *progress) steps() func(done, of int, what string) {
	if !p.terminal {
		return nil
	}
	return p.within
}

// at shows that done of the known runs are done.
func (p *progress) at(done, of int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done < p.runs { // another series begins
		p.most = 0
	}
	p.runs, p.of = done, of
	p.show(done*perRun, what)
}

// within shows that done of the steps of a run are done; several runs may be under way.
func (p *progress) within(done, of int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(p.runs*perRun+done*perRun/max(1, of), what)
}

// show draws the bar, but not too often.
func (p *progress) show(at int, what string) {
	now := time.Now()
	if !p.terminal || now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	of := max(1, p.of) * perRun
	if p.bar == nil {
		p.bar = progressbar.NewOptions(of, progressbar.OptionSetWriter(p.w), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(true))
	}
	p.bar.ChangeMax(of)
	p.bar.Describe(terminal.Clean(what))
	p.most = min(max(p.most, at), of-1)
	_ = p.bar.Set(p.most) // a bar that cannot be drawn is no reason to stop
}

// end removes the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

// isTerminal reports whether w is a character device.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}

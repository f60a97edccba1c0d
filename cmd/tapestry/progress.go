package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/tapestry-ml/tapestry/internal/terminal"
)

// progress shows a bar where w is a terminal and nothing elsewhere. What is over soon needs
// none, and what is fast is not held up by it.
type progress struct {
	w        io.Writer
	terminal bool
	bar      *progressbar.ProgressBar

	mu       sync.Mutex
	next     time.Time // when there is something to see again
	runs, of int       // done, of all that are known of
	most     int       // the farthest that was shown
}

// perRun is how finely the bar shows the steps of a run.
const perRun = 1000

// The bar appears after progressAfter and then changes every progressEvery.
const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

func newProgress(w io.Writer) *progress {
	w = raw(w)
	return &progress{w: w, terminal: isTerminal(w), next: time.Now().Add(progressAfter)}
}

// report is at where there is a terminal, and nil elsewhere: who has nobody to tell need not
// count.
func (p *progress) report() func(done, of int, what string) {
	if !p.terminal {
		return nil
	}
	return p.at
}

// steps is within where there is a terminal, and nil elsewhere.
func (p *progress) steps() func(done, of int, what string) {
	if !p.terminal {
		return nil
	}
	return p.within
}

// at shows that done of so many runs are done.
func (p *progress) at(done, of int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done < p.runs { // another series begins
		p.most = 0
	}
	p.runs, p.of = done, of
	p.show(done*perRun, what)
}

// within shows that done of so many steps of a run are done, which may be one of several at a
// time.
func (p *progress) within(done, of int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(p.runs*perRun+done*perRun/max(1, of), what)
}

// show draws the bar, now and then.
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

// say tells a terminal what is of no use elsewhere, such as a time.
func (p *progress) say(format string, args ...any) {
	if p.terminal {
		fmt.Fprintln(p.w, terminal.Clean(fmt.Sprintf(format, args...)))
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

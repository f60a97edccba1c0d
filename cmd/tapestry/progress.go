package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
)

// progress shows a bar where w is a terminal and nothing elsewhere.
type progress struct {
	w   io.Writer
	bar *progressbar.ProgressBar
}

func newProgress(w io.Writer) *progress { return &progress{w: w} }

// at shows that done of so many parts are done.
func (p *progress) at(done, of int, what string) {
	if !isTerminal(p.w) {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(of, progressbar.OptionSetWriter(p.w), progressbar.OptionClearOnFinish(),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(true))
	}
	p.bar.Describe(what)
	_ = p.bar.Set(done) // a bar that cannot be drawn is no reason to stop
}

// end removes the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// say tells a terminal what is of no use elsewhere, such as a time.
func (p *progress) say(format string, args ...any) {
	if isTerminal(p.w) {
		fmt.Fprintf(p.w, format+"\n", args...)
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

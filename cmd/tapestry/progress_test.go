package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestProgressWithinARun: one long run shows how far it is, on a terminal and nowhere else.
func TestProgressWithinARun(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, terminal: true}
	for done := range 200_000 {
		p.steps()(done+1, 200_000, "model")
		if done%50_000 == 0 {
			p.next = time.Time{} // as if time had gone by
		}
	}
	if got := b.String(); !strings.Contains(got, "model") || !strings.Contains(got, "25%") || !strings.Contains(got, "75%") {
		t.Errorf("the bar shows %q", got)
	}
	p = newProgress(&b)
	if p.steps() != nil || p.report() != nil {
		t.Error("a buffer is told of progress as a terminal is")
	}
}

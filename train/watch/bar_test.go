package watch_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/metric"
	"github.com/tapestry-ml/tapestry/train/watch"
)

// TestBar compares the line with what a terminal is sent.
func TestBar(t *testing.T) {
	var b bytes.Buffer
	o := watch.Bar(&b, watch.Terminal(true), ticking(60*time.Millisecond))
	observe(t, o, course(6)...)
	got := strings.ReplaceAll(strings.ReplaceAll(b.String(), "\r\x1b[?7l", ""), "\x1b[K\x1b[?7h", "\n")
	const want = `epoch 1 of 2 ━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 2 of 6, 16.7 steps/s, 0:00 left, loss 0.75
epoch 2 of 2 ━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌ 3 of 6, 12.5 steps/s, 0:00 left, loss 0.3333; measured: loss 0.5, R² 0.1111
epoch 2 of 2 ━━━━━━━━━━━━━━━━╌╌╌╌ 5 of 6, 13.9 steps/s, 0:00 left, loss 0.225; measured: loss 0.5, R² 0.1111
epoch 2 of 2 ━━━━━━━━━━━━━━━━━━━━ 6 of 6, 12.5 steps/s, loss 0.1667; measured: loss 0.5, R² 0.05556
` + "\r\x1b[K"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	b.Reset() // not more often where measurements follow each other
	for range 1000 {
		observe(t, o, train.Event{Kind: train.Validated, Steps: 6})
	}
	if n := strings.Count(b.String(), "\r"); n != 500 {
		t.Errorf("drawn %d times in a minute of measurements 60 ms apart", n)
	}
	b.Reset() // without a number of steps there is no end to show
	observe(t, o, train.Event{Kind: train.Begun, Step: 7}, train.Event{Kind: train.Stepped, Step: 8, Loss: 2}, train.Event{Kind: train.Stepped, Step: 9, Loss: 4})
	if got := b.String(); got != "\r\x1b[?7lstep 9, 16.7 steps/s, loss 3\x1b[K\x1b[?7h" {
		t.Errorf("%q", got)
	}
}

// TestBarOfLate: the rate is that of the last seconds, not of the whole training.
func TestBarOfLate(t *testing.T) {
	var b bytes.Buffer
	pace, at := 10*time.Millisecond, time.Time{}
	o := watch.Bar(&b, watch.Terminal(true), watch.Clock(func() time.Time { at = at.Add(pace); return at }))
	observe(t, o, train.Event{Kind: train.Begun, Steps: 100_000})
	for step := 1; step <= 20_000; step++ {
		if step == 2000 {
			pace = time.Millisecond
		}
		if step == 19_000 {
			b.Reset()
		}
		observe(t, o, train.Event{Kind: train.Stepped, Step: step, Steps: 100_000})
	}
	if got := b.String(); strings.Count(got, " 1000 steps/s, 1:2") != strings.Count(got, "\r") || strings.Count(got, "\r") != 10 {
		t.Errorf("%q", got)
	}
}

// TestBarElsewhere: without a terminal, a line is printed for each measurement.
func TestBarElsewhere(t *testing.T) {
	var b bytes.Buffer
	observe(t, watch.Bar(&b), course(6)...)
	const want = "step 3, after 1 epoch: loss 0.5, R² 0.1111\nstep 6, after 2 epochs: loss 0.5, R² 0.05556\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	observe(t, watch.Bar(file), course(6)...)
	if text, err := os.ReadFile(file.Name()); err != nil || string(text) != want {
		t.Errorf("a file gets %q, %v", text, err)
	}
}

// TestBegunFromCheckpoint: bar and log say from which checkpoint training resumes, and which ones
// are damaged.
func TestBegunFromCheckpoint(t *testing.T) {
	begun := train.Event{Kind: train.Begun, Step: 7, Steps: 9, Path: "run/step-00000007.safetensors", Err: errors.Join(errors.New("run/c: cut off"), errors.New("run/b: wrong checksum"))}
	var b, log bytes.Buffer
	observe(t, watch.Bar(&b), begun)
	if want := "step 7: goes on from run/step-00000007.safetensors\npassed over: run/c: cut off\npassed over: run/b: wrong checksum\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	observe(t, watch.JSONLines(&log), begun)
	if want := `{"event":"begun","version":1,"step":7,"epoch":0,"batch":0,"steps":9,"epochs":0,"path":"run/step-00000007.safetensors","error":"run/c: cut off\nrun/b: wrong checksum"}`; strings.TrimSpace(log.String()) != want {
		t.Errorf("%s, want %s", log.String(), want)
	}
}

// TestBarShowsNoOrders: names of metrics and files and the texts of errors neither control a
// terminal nor break the line.
func TestBarShowsNoOrders(t *testing.T) {
	const foreign = "a\x1b[2Jb\r\x07c\u202ed\ne"
	for _, terminal := range []bool{false, true} {
		var b bytes.Buffer
		o := watch.Bar(&b, watch.Terminal(terminal), ticking(time.Second))
		observe(t, o, train.Event{Kind: train.Begun, Path: foreign, Err: errors.New(foreign)},
			train.Event{Kind: train.Validated, Scores: metric.Scores{{Name: foreign, Value: 1}}})
		// What the bar itself orders is no part of the text.
		got := strings.NewReplacer("\r\x1b[?7l", "", "\x1b[K\x1b[?7h", "\n").Replace(b.String())
		const shown = "a\ufffd[2Jb\ufffd\ufffdc\ufffdd"
		if n := strings.Count(got, shown); n != 3 || strings.ContainsAny(got, "\x1b\r\x07\u202e") {
			t.Errorf("terminal %v: %d times %q in %q", terminal, n, shown, got)
		}
		for line := range strings.Lines(got) {
			if strings.HasPrefix(line, "e") && !strings.HasPrefix(line, "epoch") {
				t.Errorf("terminal %v: %q is a line", terminal, line)
			}
		}
	}
}

// TestNoWriter: an observer without a writer returns an error.
func TestNoWriter(t *testing.T) {
	for _, o := range []train.Observer{watch.Bar(nil), watch.JSONLines(nil)} {
		if err := o.Observe(train.Event{Kind: train.Begun}); err == nil {
			t.Errorf("%T writes to nil", o)
		}
	}
}

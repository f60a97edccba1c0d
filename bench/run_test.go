package main

import (
	"context"
	"math"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// TestReadFits: a training's time is that of its steps, the first one's compilation
// included; measuring the model and writing checkpoints are no part of it.
func TestReadFits(t *testing.T) {
	const log = `{"event":"begun","version":1,"step":0,"time":"2026-11-22T10:00:00.000000Z"}
{"event":"stepped","step":1,"loss":2,"rate":0.1,"time":"2026-11-22T10:00:02.000000Z"}
{"event":"validated","step":1,"scores":{},"time":"2026-11-22T10:00:12.000000Z"}
{"event":"saved","step":1,"path":"p","time":"2026-11-22T10:01:12.000000Z"}
{"event":"stepped","step":2,"loss":"NaN","rate":0.1,"time":"2026-11-22T10:01:12.250000Z"}
{"event":"ended","step":2,"time":"2026-11-22T10:01:12.500000Z"}
{"event":"begun","version":1,"step":0,"time":"2026-11-22T11:00:00.000000Z"}
{"event":"ended","step":0,"time":"2026-11-22T11:00:01.000000Z"}
`
	got, err := readFits(strings.NewReader(log))
	if want := []fit{{2, 2.5, 72.5}, {0, 1, 1}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for log, want := range map[string]string{
		`{"event":"stepped","step":1}`:                                      "stepped after 1 steps: ",
		`{"event":"begun"}{"event":"ended","step":3,"error":"loss is NaN"}`: "ended after 3 steps: loss is NaN",
		`{"event":"begun"`:                                                  "unexpected EOF",
	} {
		if _, err := readFits(strings.NewReader(log)); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", log, err, want)
		}
	}
}

// TestMeasure: a process that works has the time counted, one that fails says why.
func TestMeasure(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	p, err := measure(context.Background(), 1, []string{"WHO=you"}, sh, "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo $WHO")
	if err != nil || string(p.printed) != "you\n" || !(p.cpu > 0) || !(p.whole > 0) || p.others < 0 || math.IsNaN(p.others) {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = measure(context.Background(), 1, nil, sh, "-c", "echo it began >&2; echo no such data >&2; exit 3")
	if err == nil || !strings.HasSuffix(err.Error(), "exit 3: exit status 3: no such data") {
		t.Errorf("error %v", err)
	}
}

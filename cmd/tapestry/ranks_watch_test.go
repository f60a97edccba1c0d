package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// sumsOfRows is a net on rows of two numbers, whose loss is the mean of a function of their sum.
func sumsOfRows(function string) string {
	return `objective "sums"
input x[i=12, p=2]
param W[p] ~ fill(1)

z[i] = dot(x, W, p)
loss = mean(` + function + `, i)
output z
`
}

// TestWatchNaNInLanes: a training in lanes stops at the step whose loss or update is not finite, and
// rank 0 says why, as one rank does.
func TestWatchNaNInLanes(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := "a,b\n"
	for i := range 24 {
		if i == 17 {
			rows += "0,0\n"
		} else {
			rows += "1,2\n"
		}
	}
	for name, text := range map[string]string{"rows.csv": rows, "log.tapestry": sumsOfRows("log(z)"), "root.tapestry": sumsOfRows("sqrt(z)"), "steep.tapestry": sumsOfRows("10*z")} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ flags, out, errOut string }{
		{"log.tapestry", "lane 2RANK, rows 12–17 of the batch\n−∞ at step 0: log of zero: log(0) is −∞\n",
			"tapestry: log.tapestry, seed 0: step 1: lane 2RANK, rows 12–17 of the batch: log of zero: log(0) is −∞: x[i=5 p=0] = 0, row 17: loss[] is -Inf: nothing was committed\n"},
		{"root.tapestry", "the gradient of W in lane 2RANK, rows 12–17 of the batch\n",
			"tapestry: root.tapestry, seed 0: step 1: the gradient of W in lane 2RANK, rows 12–17 of the batch: "},
		{"steep.tapestry --optimiser sgd --rate 1e308", "in the update, after the sums over lanes\n",
			"tapestry: steep.tapestry, seed 0: step 1: in the update, after the sums over lanes: overflow: "},
	} {
		line := "train " + c.flags + " --data rows.csv --lanes 4 --steps 3 --watch-nan"
		code, out, errOut := tapestry(t, strings.Fields(line+" --svg alone.svg")...)
		alone := strings.NewReplacer("RANK", "")
		if code != 1 || !strings.HasPrefix(out, alone.Replace(c.out)) || !strings.Contains(errOut, alone.Replace(c.errOut)) {
			t.Errorf("%s: exit code %d, %s%s", line, code, out, errOut)
		}
		job := start(t, line, 2, "--svg first.svg", "--svg second.svg")
		for r, p := range job {
			if code := p.end(t, time.Minute); code != 1 || r > 0 && p.out.Len() > 0 {
				t.Errorf("%s, rank %d: exit code %d, %s%s", line, r, code, &p.out, &p.errOut)
			}
		}
		ranked := strings.NewReplacer("RANK", " on rank 1")
		if got, want := job[0].out.String(), strings.Replace(out, alone.Replace(c.out), ranked.Replace(c.out), 1); got != want {
			t.Errorf("%s: rank 0 prints\n%swant\n%s", line, got, want)
		}
		for r, p := range job {
			want := ranked.Replace(c.errOut)
			if r > 0 {
				want = strings.Replace(want, "tapestry: ", "tapestry: rank 1: ", 1)
			}
			if !strings.Contains(p.errOut.String(), want) {
				t.Errorf("%s: rank %d says %s, want %s", line, r, &p.errOut, want)
			}
		}
		first, err := os.ReadFile("first.svg")
		if err != nil {
			t.Error(err)
		}
		if want, err := os.ReadFile("alone.svg"); err != nil || string(first) != string(want) {
			t.Errorf("%s: another drawing, %v", line, err)
		}
		if _, err := os.Stat("second.svg"); err == nil {
			t.Errorf("%s: rank 1 draws", line)
		}
	}
	_, out, _ := tapestry(t, strings.Fields("train log.tapestry --data rows.csv --lanes 4 --steps 3 --watch-nan --json")...)
	var got struct {
		Lane string
		At   jsonEntry
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Lane != "lane 2, rows 12–17 of the batch" || got.At.Op != "Log" {
		t.Errorf("%s: %v", out, err)
	}
	_, out, _ = tapestry(t, strings.Fields("train norm-batch{global=1} --lanes 4 --optimiser sgd --rate 1e200 --steps 5 --watch-nan")...)
	if want := `lane 0, rows 0–1 of the batch, from where sums over lanes inside of the loss carry it to lanes 0–3
lanes meet inside of the loss; what follows is of the graph that the tape runs, after its rewrites
∞ at step 1: overflow: Square of numbers up to `; !strings.HasPrefix(out, want) || !strings.Contains(out, "  (Sub h sum over lanes 1, nn/norm_lanes.go:") {
		t.Errorf("lanes that meet: %s", out)
	}
	// A training that is finite is the same if it is watched.
	line := "train dropout --data iris --batch 24 --steps 5 --lanes 4 --json"
	if plain, watched := ok1(t, line), ok1(t, line+" --watch-nan"); watched != plain {
		t.Errorf("watched: %s\nnot watched: %s", watched, plain)
	}
}

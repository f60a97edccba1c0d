package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProfile(t *testing.T) {
	out := ok(t, "tape", "kmeans-softmax", "--profile", "--steps", "3", "--threads", "1")
	for _, part := range []string{
		`profile of "soft k-means": a run takes `, " on 1 core, ", "roof", " SqDist x[i=150 d=4], panels(r)[j=3 d=4]  · builders/kmeans.go:",
		"in all", "gradient  line", "gradient  quantity",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("no %q in\n%s", part, out)
		}
	}
}

func TestProfileJSON(t *testing.T) {
	for _, model := range []string{"kmeans-lloyd", "kmeans-goofy"} {
		var got struct {
			FLOPs        int64
			Instructions []struct{ Op, Result string }
			Profile      struct {
				Runs, Workers int
				NS            int64
				Outside       int64 `json:"ns_outside_instructions"`
				Instructions  []struct {
					Op, Result string
					NS, FLOPs  int64
				}
				Lines, Scopes, Quantities []struct{ NS, FLOPs int64 }
				Roofline                  struct{ Streams []struct{ Bytes int } }
			}
		}
		if err := json.Unmarshal([]byte(ok(t, "tape", model, "--profile", "--steps", "2", "--json")), &got); err != nil {
			t.Fatal(err)
		}
		p := got.Profile
		if p.Runs != 2 || p.Workers < 1 || p.NS <= 0 || len(p.Instructions) != len(got.Instructions) || len(p.Roofline.Streams) == 0 {
			t.Errorf("%s: profile %+v of %d instructions", model, p, len(got.Instructions))
		}
		flops, time := int64(0), p.Outside
		for i, r := range p.Instructions {
			flops, time = flops+r.FLOPs, time+r.NS
			if r.Op != got.Instructions[i].Op || r.Result != got.Instructions[i].Result {
				t.Errorf("%s: instruction %d is %+v in the profile, %+v in the listing", model, i, r, got.Instructions[i])
			}
		}
		if time != p.NS || flops != got.FLOPs {
			t.Errorf("%s: the instructions take %d ns for %d FLOP, the step %d for %d", model, time, flops, p.NS, got.FLOPs)
		}
		for _, parts := range [][]struct{ NS, FLOPs int64 }{p.Lines, p.Scopes, p.Quantities} {
			flops, time := int64(0), p.Outside
			for _, r := range parts {
				flops, time = flops+r.FLOPs, time+r.NS
			}
			if time != p.NS || flops != got.FLOPs {
				t.Errorf("%s: %+v take %d ns for %d FLOP, the step %d for %d", model, parts, time, flops, p.NS, got.FLOPs)
			}
		}
	}
}

func TestTraceFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.json")
	out := ok(t, "tape", "kmeans-softmax", "--trace", file)
	if plain := ok(t, "tape", "kmeans-softmax"); out != plain {
		t.Errorf("with --trace the listing is\n%s\nwithout\n%s", out, plain)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct{ TraceEvents []struct{ Cat string } }
	if err := json.Unmarshal(data, &trace); err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, e := range trace.TraceEvents {
		if e.Cat == "run" {
			runs++
		}
	}
	if runs != tracedSteps {
		t.Errorf("%d runs in the trace: want %d", runs, tracedSteps)
	}
}

func TestProfileBadUse(t *testing.T) {
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"--profile --steps 0", "--steps 0: want at least 1", 2},
		{"--profile --threads -1", "--threads -1: want at least 1, or 0 for all", 2},
		{"--trace -", "--trace -: want a file; the table goes to standard output", 2},
		{"--trace absent/t.json", "absent/t.json: no such file or directory", 1},
	} {
		code, out, errOut := tapestry(t, append([]string{"tape", "kmeans-goofy"}, strings.Fields(c.args)...)...)
		if code != c.code || out != "" || errOut != "tapestry: "+c.want+"\n" {
			t.Errorf("tape %s: exit code %d, printed %q and %q, want %q", c.args, code, out, errOut, c.want)
		}
	}
}

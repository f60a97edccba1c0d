package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTapeInLanes: the listing of a step in lanes has the rows of a lane, the sum, the update, and
// what a rank keeps of the optimiser's states; its JSON has the same numbers.
func TestTapeInLanes(t *testing.T) {
	text := ok(t, "tape", "transformer-gpt", "--set", "b=6", "--lanes", "4", "--of", "2", "--optimiser", "adam")
	for _, part := range []string{"4 lanes of 2 or 1 row on 2 ranks: lanes 0 to 1 on rank 0", "\neach lane: program ", "\nsum over lanes and ranks: ", "\nupdate: program ", "adam", " lane-loss[] ", " ∂lane-loss/∂w[", " gradient/decoder/block1/feed-forward/up/w[", "\nmemory of this rank: "} {
		if !strings.Contains(text, part) {
			t.Errorf("the listing has no %q:\n%.300s", part, text)
		}
	}
	type listing struct {
		Rows        []int
		Ranks, Sums int
		Memory      struct{ Parameters, States int }
		Lane        struct{ Instructions []any }
	}
	of := func(more ...string) (v listing) {
		if err := json.Unmarshal([]byte(ok(t, append(strings.Fields("tape transformer-gpt --set b=6 --lanes 4 --optimiser adam --json"), more...)...)), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	one, two := of(), of("--of", "2", "--shard")
	if len(one.Rows) != 4 || one.Rows[0] != 2 || one.Rows[3] != 1 || one.Ranks != 1 || two.Ranks != 2 || one.Sums == 0 || len(one.Lane.Instructions) == 0 {
		t.Errorf("%+v, %+v", one, two)
	}
	if s := float64(two.Memory.States) / float64(one.Memory.States); two.Memory.Parameters != one.Memory.Parameters || s < 0.3 || s > 0.7 {
		t.Errorf("of two ranks one keeps %d bytes of states, of %d", two.Memory.States, one.Memory.States)
	}
	for line, want := range map[string]string{
		"--of 2": "--of: want --lanes, too", "--shard": "--shard: want --lanes, too", "--lanes 0": "--lanes 0: want 1 to 1024",
		"--lanes 8 --shard":   "--shard: want --of, too: one rank keeps all states",
		"--lanes 8 --of 3":    "--of 3: want a number of ranks that divides 8 lanes",
		"--lanes 8 --forward": "--forward: a step in lanes is shown as training compiles it: want no --lanes",
		"--lanes 8 --steps 3": "--steps: want --profile, too", "--lanes 8 --threads 1": "--threads: want --profile or --trace, too",
		"--lanes 8 --of 2 --profile":   "--profile: a step in lanes is measured on one rank: want no --of",
		"--lanes 8 --of 2 --trace t.x": "--trace: a step in lanes is measured on one rank: want no --of",
	} {
		if code, _, errOut := tapestry(t, append([]string{"tape", "kmeans-softmax"}, strings.Fields(line)...)...); code != 2 || errOut != "tapestry: "+want+"\n" {
			t.Errorf("%s: exit code %d, %s", line, code, errOut)
		}
	}
}

// TestProfileInLanes: the profile of a step in lanes has the times of the lanes, of their sum and of
// the update, which are those of the step together, and the profiles of both programs; the trace has
// each lane of each run, and the sum with its bytes.
func TestProfileInLanes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.json")
	step := strings.Fields("tape norm-layer --lanes 4 --optimiser adam")
	text := ok(t, append(step, "--profile", "--steps", "3", "--threads", "1", "--trace", file)...)
	for _, part := range []string{"a step takes ", "; medians of 3 runs\n", "%  4 lanes\n", "%  sum over lanes: ", "%  update\n", "\neach lane: profile of ", "\nupdate: profile of "} {
		if !strings.Contains(text, part) {
			t.Errorf("the profile has no %q:\n%.400s", part, text)
		}
	}
	var v struct {
		Sums         int
		Bytes        int `json:"sum_bytes"`
		Lane, Update struct{ Instructions []any }
		Profile      struct {
			Runs                            int
			NS, NS_Lanes, NS_Sum, NS_Update int64
			Lane, Update                    struct {
				Runs, Workers int
				Instructions  []any
			}
		}
	}
	if err := json.Unmarshal([]byte(ok(t, append(step, "--profile", "--steps", "3", "--json")...)), &v); err != nil {
		t.Fatal(err)
	}
	p := v.Profile
	if p.Runs != 3 || p.NS_Lanes <= 0 || p.NS_Sum <= 0 || p.NS_Update <= 0 || p.NS != p.NS_Lanes+p.NS_Sum+p.NS_Update || p.Lane.Workers != 1 || p.Update.Runs != 3 ||
		len(p.Lane.Instructions) == 0 || len(p.Lane.Instructions) != len(v.Lane.Instructions) || len(p.Update.Instructions) != len(v.Update.Instructions) {
		t.Errorf("%+v", p)
	}
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Name, Cat string
			Args      struct{ Bytes, Arrays int }
		}
	}
	if err := json.Unmarshal(saved, &trace); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range trace.TraceEvents {
		count[e.Cat]++
		if e.Name == "sum over lanes" && (e.Args.Bytes != v.Bytes || e.Args.Arrays != v.Sums) {
			t.Errorf("%+v in the trace, %d bytes of %d arrays in the listing", e, v.Bytes, v.Sums)
		}
	}
	if count["run"] != tracedSteps || count["lane"] != 4*tracedSteps || count["sum over lanes"] != 5*tracedSteps || count["update"] != tracedSteps {
		t.Errorf("the trace has %v", count)
	}
	if plain := ok(t, step...); plain != ok(t, append(step, "--trace", file)...) {
		t.Error("with --trace the listing is another")
	}
}

package main

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// lines reads JSON objects, one a line.
func lines(t *testing.T, text string) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out = append(out, v)
	}
	return out
}

// The keys are those of the other programs of the comparison.
func TestBenchSteps(t *testing.T) {
	rows := lines(t, ok(t, "bench", "--workloads", "small", "--json", "--seconds", "0", "--label", "x"))
	if len(rows) != 1 {
		t.Fatalf("%d lines, want 1: small has one element type", len(rows))
	}
	r := rows[0]
	want := []string{"alloc_bytes_per_step", "allocs_per_step", "arena_bytes", "checksum", "dtype", "loss_first", "loss_last",
		"ms_min", "ms_per_step_median", "peer", "steps_timed", "threads", "workload"}
	if got := slices.Sorted(maps.Keys(r)); !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	for key, want := range map[string]any{"peer": "tapestry-x", "workload": "small", "dtype": "float32", "threads": 1.0,
		"steps_timed": 15.0, "allocs_per_step": 0.0} {
		if r[key] != want {
			t.Errorf("%s is %v, want %v", key, r[key], want)
		}
	}
	for key, want := range map[string]float64{"loss_first": 1.350053, "loss_last": 0.4947753, "checksum": -0.6565024} {
		if got := r[key].(float64); math.Abs(got-want) > 1e-5*math.Abs(want) {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if median, least := r["ms_per_step_median"].(float64), r["ms_min"].(float64); !(0 < least && least <= median) {
		t.Errorf("median %v, least %v", median, least)
	}
}

// An evaluation has a checksum for its losses, and is timed in its own type or in another.
func TestBenchEvaluation(t *testing.T) {
	for dtypes, want := range map[string]string{"": "float64", "f32": "float32"} {
		args := []string{"bench", "--workloads", "chain", "--json", "--seconds", "0"}
		if dtypes != "" {
			args = append(args, "--dtypes", dtypes)
		}
		rows := lines(t, ok(t, args...))
		if len(rows) != 1 || rows[0]["dtype"] != want || rows[0]["allocs_per_step"] != 0.0 {
			t.Fatalf("--dtypes %q prints %v", dtypes, rows)
		}
		for _, key := range []string{"loss_first", "loss_last", "checksum"} {
			if got := rows[0][key].(float64); math.Abs(got-61.945872199) > 1e-4 {
				t.Errorf("%s is %v", key, got)
			}
		}
	}
}

// With fast math the peer has another name, which is the label's where there is one.
func TestBenchFastMath(t *testing.T) {
	for label, want := range map[string]string{"": "tapestry-fast", "x": "tapestry-x"} {
		rows := lines(t, ok(t, "bench", "--workloads", "small", "--json", "--seconds", "0", "--label", label, "--fast-math"))
		if len(rows) != 1 || rows[0]["peer"] != want {
			t.Errorf("--label %q prints %v, want the peer %s", label, rows, want)
		}
	}
	text := ok(t, "bench", "--workloads", "kmeans_softmax", "--dtypes", "f32", "--seconds", "0", "--fast-math", "--profile")
	if strings.Contains(text, "SqDist") || !strings.Contains(text, "MatMul") {
		t.Errorf("printed:\n%s", text)
	}
}

func TestBenchTable(t *testing.T) {
	text := ok(t, "bench", "--workloads", "small", "--dtypes", "f32", "--seconds", "0")
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, "loss 20") || !strings.Contains(text, "0.494775") {
		t.Errorf("printed:\n%s", text)
	}
}

// The instructions of a step, for people and as JSON.
func TestBenchInstructions(t *testing.T) {
	args := []string{"bench", "--workloads", "small", "--dtypes", "f32", "--seconds", "0", "--profile"}
	if text := ok(t, args...); !strings.Contains(text, "loss 20") || !strings.Contains(text, "roof") {
		t.Errorf("printed:\n%s", text)
	}
	rows := lines(t, ok(t, append(args, "--json")...))
	if profile, is := rows[0]["profile"].(map[string]any); !is || len(profile["instructions"].([]any)) < 3 {
		t.Errorf("profile: %v", rows[0]["profile"])
	}
}

func TestBenchProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpu.pprof")
	ok(t, "bench", "--workloads", "small", "--seconds", "0", "--cpu-profile", file)
	if data, err := os.ReadFile(file); err != nil || len(data) < 2 || data[0] != 0x1f || data[1] != 0x8b {
		t.Errorf("%d bytes that are not gzip's (%v)", len(data), err)
	}
}

func TestBenchKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("products of 1024³ are not short")
	}
	rows := lines(t, ok(t, "bench", "--gemm", "--vec", "--json", "--seconds", "0", "--dtypes", "float32"))
	if want := len(products) + len(functionSizes)*len(functions); len(rows) != want {
		t.Errorf("%d lines, want %d", len(rows), want)
	}
	for _, r := range rows {
		if r["kernel"] != "gemm" {
			if v := r["ns_per_element"].(float64); !(v > 0) {
				t.Errorf("%v", r)
			}
			continue
		}
		rate, peak, share := r["gflops"].(float64), r["peak_gflops"].(float64), r["share_of_peak"].(float64)
		if !(rate > 0 && peak > 0 && math.Abs(share-rate/peak) < 0.01) {
			t.Errorf("%v", r)
		}
	}
}

// A transposed operand holds the elements of its own order.
func TestTransposedOperand(t *testing.T) {
	a := filled(kernel.F64, 0, 1, 1, 2, 3)
	b := a.transposed()
	c := filled(kernel.F64, 0, 0, 1, 3, 2)
	run, _ := bound(kernel.Copy{}, c, b)
	run()
	from, to := kernel.As[float64](a.mem), kernel.As[float64](c.mem)
	for i := range 2 {
		for j := range 3 {
			if from[3*i+j] != to[2*j+i] || from[3*i+j] == 0 {
				t.Errorf("element %d %d is %v, transposed %v", i, j, from[3*i+j], to[2*j+i])
			}
		}
	}
}

// Each function is timed by its own calls.
func TestPerCall(t *testing.T) {
	calls := [2]int{}
	got, err := perCall(context.Background(), 0,
		func() { calls[0]++; time.Sleep(4 * time.Millisecond) }, func() { calls[1]++; time.Sleep(time.Millisecond) })
	if err != nil || got[0] < 4e-3 || got[1] < 1e-3 || calls[0] < 4 || calls[1] < 4 {
		t.Errorf("%v seconds a call after %v calls (%v)", got, calls, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := perCall(ctx, time.Hour, func() { time.Sleep(time.Millisecond) }); err != context.Canceled {
		t.Errorf("interrupted: %v", err)
	}
}

func TestBenchBadUse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--workloads mpl", `--workloads: unknown workload "mpl": did you mean "mlp"?`},
		{"--dtypes f16", `--dtypes "f16": want float32 or float64`},
		{"--threads 0", "--threads 0: want at least 1"},
		{"--seconds -1", "--seconds -1: want 0 to 3600"},
		{"--seconds NaN", "--seconds NaN: want 0 to 3600"},
		{"--cpu-profile -", "--cpu-profile -: want a file; the figures go to standard output"},
	} {
		code, out, errOut := tapestry(t, append([]string{"bench"}, strings.Fields(c.args)...)...)
		if code != 2 || out != "" || errOut != "tapestry: "+c.want+"\n" {
			t.Errorf("bench %s: exit code %d, printed %q and %q, want %q", c.args, code, out, errOut, c.want)
		}
	}
	if code, _, errOut := tapestry(t, "bench", "--workloads", "small", "--cpu-profile", "absent/cpu"); code != 1 || errOut == "" {
		t.Errorf("a profile in no directory: exit code %d, %q", code, errOut)
	}
}

func TestDTypeName(t *testing.T) {
	for dt, want := range map[graph.DType]string{graph.F32: "float32", graph.F64: "float64"} {
		if got := dtypeName(dt); got != want {
			t.Errorf("%v is %s, want %s", dt, got, want)
		}
	}
}

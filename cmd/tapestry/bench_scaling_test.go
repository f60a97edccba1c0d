package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/scaling"
)

// checkScaling measures a net, trains it on 1 to 4 processes and returns what is printed.
func checkScaling(t *testing.T, args ...string) []map[string]any {
	t.Helper()
	t.Setenv(child, "command") // the processes are this test's program
	return lines(t, ok(t, append([]string{"bench", "--scaling", "--check", "--json"}, args...)...))
}

// TestBenchScalingCheck: trainings on ranks of this machine take about as long as is predicted. The
// bound is wide, since other tests run beside this one.
func TestBenchScalingCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "parts.json")
	rows := checkScaling(t, "--workloads", "chars-gpt", "--quick", "--keep", file)
	if len(rows) != len(checkedRanks) {
		t.Fatalf("%d trainings, want %d", len(rows), len(checkedRanks))
	}
	for _, r := range rows {
		if p, m := r["predicted_s"].(float64), r["measured_s"].(float64); !(p > 0 && m > 0 && p < 30*m && m < 30*p) {
			t.Errorf("%v ranks of %v lanes: %v s, predicted %v s", r["ranks"], r["lanes"], m, p)
		}
	}
	out := ok(t, "bench", "--scaling", "--measured", file, "--workloads", "chars-gpt", "--ranks", "1,64")
	if n := strings.Count(out, "\n"); n != 4 {
		t.Errorf("%d lines from what was measured:\n%s", n, out)
	}
}

// TestBenchScalingCloselyPredicts holds trainings to within 15 % of their predictions, on a machine
// that has nothing else to do.
func TestBenchScalingCloselyPredicts(t *testing.T) {
	if os.Getenv("TAPESTRY_LONG") == "" {
		t.Skip("it wants a machine of its own and TAPESTRY_LONG=1")
	}
	for _, r := range checkScaling(t, "--workloads", "mlp,chars-gpt,resnet18", "--seconds", "0.3") {
		if p, m := r["predicted_s"].(float64), r["measured_s"].(float64); math.Abs(p/m-1) > 0.15 {
			t.Errorf("%v on %v ranks of %v lanes: %v s, predicted %v s", r["net"], r["ranks"], r["lanes"], m, p)
		}
	}
}

// TestBenchScalingMeasurement: what docs/scaling.md is made of was predicted as it says.
func TestBenchScalingMeasurement(t *testing.T) {
	f, err := os.Open("../../bench/scaling.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := scaling.ReadMeasurement(f)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := scaling.ScheduleOf("tree")
	if err != nil {
		t.Fatal(err)
	}
	nets := map[string]bool{}
	for _, c := range m.Checks {
		nets[c.Net] = true
		if math.Abs(c.Off()) > 0.15 {
			t.Errorf("%s on %d ranks of %d lanes is off by %.1f %%", c.Net, c.Ranks, c.Lanes, 100*c.Off())
		}
		// Each net was measured with a loopback and additions of its own, so the parts of one say the
		// others' predictions only about.
		net, err := m.Net(c.Net)
		if err != nil {
			t.Fatal(err)
		}
		j := scaling.Job{Net: net, Network: m.Network(), Schedule: tree, Ranks: c.Ranks, Lanes: c.Lanes, Rows: c.Rows, Shard: c.Shard,
			Cache: m.Cache, Add: m.Add}
		if step, err := j.Step(); err != nil || math.Abs(step.Total/c.Predicted-1) > 0.05 {
			t.Errorf("%s on %d ranks of %d lanes: %v s (%v), kept are %v s", c.Net, c.Ranks, c.Lanes, step.Total, err, c.Predicted)
		}
	}
	if len(nets) < 3 {
		t.Errorf("trainings of %v alone", nets)
	}
}

func TestBenchScalingJSON(t *testing.T) {
	const file = "../../bench/scaling.json"
	rows := lines(t, ok(t, "bench", "--scaling", "--measured", file, "--workloads", "mlp", "--ranks", "1,8,2048", "--batch", "1024", "--json",
		"--node-failure", "1000h", "--critical-batch", "100"))
	if len(rows) != 2 { // 2048 ranks have no rows
		t.Fatalf("%d lines, want 2", len(rows))
	}
	for key, want := range map[string]any{"workload": "mlp", "network": "ethernet-10", "schedule": "tree", "ranks": 8.0, "lanes": 8.0, "rows": 1024.0} {
		if got := rows[1][key]; got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	sum := 0.0
	for _, key := range []string{"compute_s", "exchange_s", "wait_s", "update_s"} {
		sum += rows[1][key].(float64)
	}
	if total := rows[1]["step_s"].(float64); math.Abs(sum/total-1) > 0.01 {
		t.Errorf("parts of %v s, step of %v s", sum, total)
	}
	if e := rows[0]["efficiency"]; e != 1.0 {
		t.Errorf("efficiency of one rank is %v", e)
	}
	slower := lines(t, ok(t, "bench", "--scaling", "--measured", file, "--workloads", "mlp", "--ranks", "8", "--batch", "1024", "--json",
		"--latency", "1ms", "--bandwidth", "1"))
	if a, b := rows[1]["exchange_s"].(float64), slower[0]["exchange_s"].(float64); b < 5*a {
		t.Errorf("exchange takes %v s at 10 Gb/s and %v s at 1", a, b)
	}
}

func TestBenchScalingMistakes(t *testing.T) {
	const measured = "bench --scaling --measured ../../bench/scaling.json "
	for line, want := range map[string]string{
		"bench --ranks 2":                         "--ranks: it wants --scaling",
		"bench --scaling --gemm":                  "--gemm: --scaling predicts steps",
		"bench --scaling --workloads lstm":        `unknown net "lstm"`,
		measured + "--workloads chars":            `unknown net "chars": did you mean "chars-gpt"?`,
		measured + "--network ethernet":           `unknown network "ethernet": did you mean "ethernet-10"?`,
		measured + "--schedule star":              `unknown schedule "star"`,
		measured + "--lanes 8 --ranks 3":          "3 ranks do not divide 8 lanes",
		measured + "--batch 4":                    "8 lanes have no more than 4 rows",
		measured + "--ranks 0":                    "--ranks 0: want 1 to 65536",
		measured + "--keep x":                     "--measured and --keep",
		measured + "--oversubscription 2":         "--oversubscription wants --pod",
		measured + "--pod 4 --oversubscription 0": "oversubscription 0: want at least 1",
		measured + "--delay 1 --delay-index 1":    "delays of mean 1 and index 1",
		measured + "--speed 0":                    "--speed 0: want above 0",
		measured + "--schedule doubling --shard":  "schedule doubling cannot be sharded",
		"bench --scaling --measured none":         "none: no such file",
		"bench --scaling --measured bench.go":     "bench.go: this is no measurement",
	} {
		if code, _, errOut := tapestry(t, strings.Fields(line)...); code == 0 || !strings.Contains(errOut, want) {
			t.Errorf("%s: exit code %d, %s, want %s", line, code, errOut, want)
		}
	}
}

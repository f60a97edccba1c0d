package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
)

// testSinks is trained until the logarithm in its loss is undefined: w decreases by a tenth in
// every step, from 0.35.
var testSinks = plain("test-sinks", nil, func(x *graph.Node, m *builders.Model) {
	w := m.Graph.Param("w", x.DType()).Init(initial.Fill(0.35))
	m.Output = ops.Log(w).As("y")
	m.Loss = ops.Add(w, ops.Mul(ops.StopGradient(m.Output), ops.Lit(x, 1e-3))).As("loss")
})

// testEdge has a finite loss, whose derivative is infinite where w is 0.
var testEdge = plain("test-edge", nil, func(x *graph.Node, m *builders.Model) {
	w := m.Graph.Param("w", x.DType())
	m.Output = ops.Sqrt(w).As("y")
	m.Loss = ops.Add(m.Output, ops.Mul(ops.Mean(x), ops.Lit(x, 0))).As("loss")
})

// testTiny is finite as written in float32; the tape multiplies by the reciprocal of
// d, which is infinite.
var testTiny = plain("test-tiny", nil, func(x *graph.Node, m *builders.Model) {
	w, d := m.Graph.Param("w", x.DType()).Init(initial.Fill(1e-10)), m.Graph.Scalar("d", 1e-39, x.DType())
	m.Output = ops.Div(ops.Mul(w, x), d).As("y")
	m.Loss = ops.Mean(ops.Scale(m.Output, 1e-30)).As("loss")
})

// testWrongRule has an operation whose derivative is twice the right one.
var testWrongRule = plain("test-wrong-rule", nil, func(x *graph.Node, m *builders.Model) {
	w := m.Graph.Param("w", x.DType()).Init(initial.Fill(2))
	m.Output = ops.Elementwise(doubled{}, ops.Mul(x, w)).As("y")
	m.Loss = ops.Mean(ops.Square(m.Output)).As("loss")
})

// doubled is the sine, and its rule twice the cosine.
type doubled struct{}

func (doubled) Name() string { return "Doubled" }
func (doubled) Infer(in []*graph.Node) (graph.Type, error) {
	return in[0].Type(), nil
}
func (doubled) Scalar(x ...float64) float64 { return sine.Scalar(x...) }
func (doubled) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return ops.Mul(dy, ops.Scale(ops.Cos(y.In(0)), 2))
}

// sine is the definition of ops.Sin.
var sine = ops.Sin(graph.New("sine").Input("x", graph.F64)).Op().(interface{ Scalar(...float64) float64 })

// TestWatchNaN: a training is stopped at the step whose loss is no number, with the
// element, its line and where it came from; the drawing is there.
func TestWatchNaN(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "a.svg")
	code, out, errOut := tapestry(t, "train", "test-sinks", "--optimiser", "sgd", "--rate", "0.1", "--seeds", "1", "--watch-nan", "--svg", svg)
	// 0.35, 0.25, 0.15, 0.05: the fifth step is at −0.05
	if code != 1 || !strings.HasPrefix(errOut, "tapestry: test-sinks, seed 0: step 5: log of a negative: log(−0.05") {
		t.Errorf("exit code %d, %s", code, errOut)
	}
	for _, part := range []string{"NaN at step 4: log of a negative: log(−0.05", "first     y = NaN", "y = Log w", "autopsy_test.go:", "suspect   w = −0.05", "loss = NaN"} {
		if !strings.Contains(out, part) {
			t.Errorf("the report lacks %q:\n%s", part, out)
		}
	}
	if b, err := os.ReadFile(svg); err != nil || !strings.Contains(string(b), "<svg") {
		t.Errorf("no drawing: %v", err)
	}
	// The loss is finite, the update is not: the step is stopped all the same, before it is taken.
	code, out, errOut = tapestry(t, "train", "test-edge", "--optimiser", "sgd", "--seeds", "1", "--watch-nan")
	if code != 1 || !strings.HasPrefix(errOut, "tapestry: test-edge, seed 0: step 1: division by zero") || !strings.Contains(out, "part of the derivative of y = 0") {
		t.Errorf("an update: exit code %d, %s%s", code, errOut, out)
	}
	code, out, errOut = tapestry(t, "train", "test-tiny", "--dtype", "f32", "--optimiser", "sgd", "--seeds", "1", "--watch-nan")
	if code != 1 || !strings.HasPrefix(out, "as written every value is finite") || !strings.Contains(out, "divide by a repeated") {
		t.Errorf("as compiled: exit code %d, %s%s", code, errOut, out)
	}
	// Without the flag the error alone; a training that is finite is the same with it.
	if code, out, _ := tapestry(t, "train", "test-sinks", "--optimiser", "sgd", "--rate", "0.1", "--seeds", "1"); code != 1 || out != "" {
		t.Errorf("unwatched: exit code %d, %s", code, out)
	}
	for _, model := range []string{"test-perceptron", "kmeans-softmax"} {
		args := []string{"train", model, "--steps", "20", "--seeds", "2", "--json"}
		plain := ok(t, args...)
		if watched := ok(t, append(args, "--watch-nan")...); watched != plain {
			t.Errorf("%s, watched: %s\nnot watched: %s", model, watched, plain)
		}
	}
}

// TestAutopsyAtStep: the step that is asked for is looked at, finite or not.
func TestAutopsyAtStep(t *testing.T) {
	args := []string{"autopsy", "test-sinks", "--optimiser", "sgd", "--rate", "0.1", "--step"}
	if out := ok(t, append(args, "3")...); !strings.Contains(out, "step 3: every value of") {
		t.Errorf("step 3: %s", out)
	}
	code, out, errOut := tapestry(t, append(args, "4", "--json")...)
	var got struct {
		Step   uint64
		Finite bool
		Cause  string
		At     jsonEntry
		Path   []jsonEntry
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err, out)
	}
	if code != 1 || !strings.Contains(errOut, "log of a negative") || got.Step != 4 || got.At.Node != "y" || got.At.Op != "Log" || got.Path[len(got.Path)-1].Node != "w" {
		t.Errorf("exit code %d, %s: %+v", code, errOut, got)
	}
	code, out, _ = tapestry(t, "autopsy", "test-explodes")
	if code != 1 || !strings.Contains(out, "overflow of exp") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestPrecision: the table names causes, and is JSON for machines.
func TestPrecision(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "p.svg")
	out := ok(t, "precision", "kmeans-softmax", "--top", "2", "--svg", svg)
	if !strings.Contains(out, "cancellation: ") || strings.Count(out, "in float64 ") != 2 {
		t.Errorf("got %s", out)
	}
	if _, err := os.Stat(svg); err != nil {
		t.Error(err)
	}
	var got struct {
		Losses []struct {
			At    jsonEntry
			Here  float64 `json:"digits_lost_here"`
			Lost  float64 `json:"digits_lost"`
			Cause string
		}
	}
	if err := json.Unmarshal([]byte(ok(t, "precision", "kmeans-softmax", "--json", "--top", "3")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Losses) != 3 || got.Losses[0].Here < got.Losses[1].Here || got.Losses[0].Lost < got.Losses[0].Here || got.Losses[0].Cause == "" {
		t.Errorf("got %+v", got)
	}
}

// TestBlame: the wrong rule is named, with its line; a right model has none.
func TestBlame(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "b.svg")
	code, out, errOut := tapestry(t, "check", "test-wrong-rule", "--blame", "--svg", svg)
	if code != 1 || errOut != "tapestry: test-wrong-rule: 1 wrong rule\n" {
		t.Errorf("exit code %d, %s", code, errOut)
	}
	for _, part := range []string{"WRONG     y[", " = Doubled  cmd/tapestry/autopsy_test.go:", "operand 0, element ", "1 wrong, ", "inherited by 4 nodes, of them x, w"} {
		if !strings.Contains(out, part) {
			t.Errorf("the report lacks %q:\n%s", part, out)
		}
	}
	if _, err := os.Stat(svg); err != nil {
		t.Error(err)
	}
	if out := ok(t, "check", "kmeans-softmax", "--blame"); strings.Count(out, "\n") != 1 || !strings.Contains(out, " 0 wrong, 0 undecided") {
		t.Errorf("got %s", out)
	}
	_, out, _ = tapestry(t, "check", "test-wrong-rule", "--blame", "--json")
	var got map[string]any
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if v["state"] == "wrong" {
			got = v
		}
	}
	if got["node"] != "y" || math.Abs(got["got"].(float64)/got["want"].(float64)-2) > 1e-5 {
		t.Errorf("got %v", got)
	}
}

// TestInspectionMistakes: each is told at once.
func TestInspectionMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"train test-sinks --svg a.svg":                   "--svg needs --watch-nan",
		"train test-sinks --watch-nan --engine gorgonia": "--watch-nan is for the native engine",
		"check --all --blame":                            "--blame is for one model, --all for every",
		"check test-sinks --svg a.svg":                   "--svg needs --blame",
		"autopsy test-sinks --step -1":                   "--step -1: want 0 or more",
		"autopsy test-huber --step 1":                    "--step: test-huber is not trained, so there is no step but the first",
		"precision test-sinks --top 0":                   "--top 0: want at least 1",
		"precision test-sinks --optimiser sgd --rate -1": "--rate -1: want a positive number",
		"autopsy": "autopsy: want one model, got 0 (tapestry list shows the models)",
	} {
		if code, _, errOut := tapestry(t, strings.Fields(line)...); code != 2 || errOut != "tapestry: "+want+"\n" {
			t.Errorf("%s: exit code %d, %s", line, code, errOut)
		}
	}
	if code, _, errOut := tapestry(t, "precision", "kmeans-softmax", "--dtype", "f64"); code != 1 || !strings.Contains(errOut, "no value is computed in float32") {
		t.Errorf("in float64: exit code %d, %s", code, errOut)
	}
}

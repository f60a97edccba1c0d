package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
)

// TestONNXRuntimeAbsent: a program that was built without ONNX Runtime, or does not find it, says what to do in one
// line.
func TestONNXRuntimeAbsent(t *testing.T) {
	t.Setenv(onnxruntime.Variable, "elsewhere.so")
	for _, args := range []string{"train kmeans-softmax --steps 1 --engine onnxruntime", "check kmeans-softmax --engine onnxruntime"} {
		code, _, errOut := tapestry(t, strings.Fields(args)...)
		_, err := onnxruntime.Open("")
		if want := "tapestry: --engine: " + err.Error() + "\n"; code != 1 || errOut != want {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, errOut, want)
		}
	}
}

// needRuntime skips a test where ONNX Runtime is not there.
func needRuntime(t *testing.T) *onnxruntime.Runtime {
	t.Helper()
	rt, err := onnxruntime.Open("")
	if err != nil {
		t.Skip(err)
	}
	return rt
}

// TestONNXRuntimeTrainsAlike: models of several kinds end a training with the loss that they have on the tape.
func TestONNXRuntimeTrainsAlike(t *testing.T) {
	needRuntime(t)
	for _, model := range []string{"kmeans-softmax", "transformer-gpt", "conv-2d", "rnn-lstm", "dropout", "norm-batch", "word2vec-negative", "graph-gat"} {
		type result struct {
			Loss float64
			Runs []struct{ End float64 }
		}
		loss := func(more ...string) float64 {
			var r result
			args := append([]string{"train", model, "--steps", "20", "--seeds", "1", "--dtype", "f32", "--json"}, more...)
			line, _, _ := strings.Cut(ok(t, args...), "\n")
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if len(r.Runs) > 0 {
				return r.Runs[0].End
			}
			return r.Loss
		}
		native, there := loss(), loss("--engine", "onnxruntime")
		if !(math.Abs(native-there) <= 1e-3*math.Abs(native)) || native == 0 {
			t.Errorf("%s: the loss is %v, on the tape %v", model, there, native)
		}
	}
}

// TestONNXRuntimeChecksAll: result, derivatives and a step of every model agree with the definition.
func TestONNXRuntimeChecksAll(t *testing.T) {
	o := onRuntime{needRuntime(t)}
	for _, name := range builders.Names() {
		m := modelOptions{dtype: "f32"}
		model, err := m.runnable(name, true)
		if err != nil {
			t.Fatal(err)
		}
		verdicts, err := checkOnRuntime(context.Background(), o, model, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range verdicts {
			if v.Skipped {
				v.Err = errors.Join(errors.New("not applicable"), v.Err)
			}
			if v.Err != nil {
				t.Errorf("%s: %v", name, v.Err)
			}
		}
		if len(verdicts) != 1 {
			t.Errorf("%s: %d verdicts", name, len(verdicts))
		}
	}
	out := ok(t, "check", "kmeans-softmax", "--engine", "onnxruntime")
	if !strings.Contains(out, "kmeans-softmax   gorgonia    ok ") || !strings.Contains(out, "kmeans-softmax   onnxruntime ok     difference ") || !strings.HasSuffix(out, "1 model: 11 checks ok, 0 not applicable, 0 failed\n") {
		t.Error(out)
	}
}

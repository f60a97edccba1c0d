//go:build onnxruntime && (linux || darwin || windows) && (amd64 || arm64)

package onnxruntime_test

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
)

// opened loads the library, or skips the test where there is none.
func opened(t *testing.T) *onnxruntime.Runtime {
	t.Helper()
	rt, err := onnxruntime.Open("")
	if err != nil {
		t.Skip(err)
	}
	return rt
}

// loaded makes a model of testdata ready.
func loaded(t *testing.T, name string) *onnxruntime.Session {
	t.Helper()
	rt := opened(t)
	model, err := os.ReadFile(filepath.Join("testdata", name+".onnx"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := rt.Load(model, onnxruntime.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var linearInputs = map[string]onnxruntime.Array{"x": onnxruntime.Of([]float32{1, 0, 0, 1, 1, 1}, 2, 3)}

func floats(t *testing.T, a onnxruntime.Array) []float64 {
	t.Helper()
	f, err := a.Floats()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRun: names, types and sizes are those of the file; a default may be left out or given; outputs
// are all or those that are named; and many goroutines run one session.
func TestRun(t *testing.T) {
	s := loaded(t, "linear")
	var got []string
	for _, v := range append(s.Inputs(), s.Outputs()...) {
		got = append(got, v.String())
	}
	if want := []string{"x float32[N 3]", "b float32[2]", "y float32[N 2]", "p float32[N 2]"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the model's values are %q, want %q", got, want)
	}
	if in := s.Inputs(); in[0].Optional || !in[1].Optional {
		t.Errorf("inputs %+v: want a default of the second", in)
	}
	ctx := context.Background()
	out, err := s.Run(ctx, linearInputs)
	if err != nil {
		t.Fatal(err)
	}
	if y := out["y"]; len(out) != 2 || !reflect.DeepEqual(y.Shape, []int{2, 2}) || !reflect.DeepEqual(floats(t, y), []float64{1.5, 1.5, 9.5, 11.5}) {
		t.Errorf("got %v", out)
	}
	other, err := s.Run(ctx, map[string]onnxruntime.Array{"x": linearInputs["x"], "b": onnxruntime.Of([]float32{10, 20}, 2)}, "y")
	if err != nil {
		t.Fatal(err)
	}
	if len(other) != 1 || !reflect.DeepEqual(floats(t, other["y"]), []float64{11, 22, 19, 32}) {
		t.Errorf("with b: %v", other)
	}
	for key, want := range map[string]string{"about": "linear", "empty": "", "none": ""} {
		if got, err := s.Metadata(key); err != nil || got != want {
			t.Errorf("metadata %s: %q, %v; want %q", key, got, err, want)
		}
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				out, err := s.Run(ctx, linearInputs, "y")
				runtime.GC()
				if f, _ := out["y"].Floats(); err != nil || !reflect.DeepEqual(f, []float64{1.5, 1.5, 9.5, 11.5}) {
					t.Error(out, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// TestBind: a bound model reads and writes the memory of its arrays, and says what does not fit.
func TestBind(t *testing.T) {
	s := loaded(t, "linear")
	ctx := context.Background()
	x, y := []float32{1, 0, 0, 1, 1, 1}, make([]float32, 4)
	in := map[string]onnxruntime.Array{"x": onnxruntime.Of(x, 2, 3)}
	b, err := s.Bind(in, map[string]onnxruntime.Array{"y": onnxruntime.Of(y, 2, 2)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		x[0] = float32(i)
		if err := b.Run(ctx); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		if y[0] != float32(i)+0.5 || y[1] != 2*float32(i)-0.5 || y[3] != 11.5 {
			t.Fatalf("run %d: %v", i, y)
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Run(ctx); err == nil {
		t.Error("a closed one runs")
	}
	narrow, err := s.Bind(in, map[string]onnxruntime.Array{"y": onnxruntime.Of(y[:2], 1, 2)})
	if err != nil {
		t.Fatal(err)
	}
	defer narrow.Close()
	if err := narrow.Run(ctx); err == nil || !strings.Contains(err.Error(), "{1,2}") {
		t.Errorf("error %v, want one about the sizes", err)
	}
	for _, c := range []struct {
		out  map[string]onnxruntime.Array
		want string
	}{
		{nil, "onnxruntime: no outputs are bound"},
		{map[string]onnxruntime.Array{"z": {}}, `onnxruntime: the model has no output "z": want one of ["y" "p"]`},
		{map[string]onnxruntime.Array{"y": onnxruntime.Of([]float64{1}, 1)}, "onnxruntime: output y float32[N 2]: got elements of float64"},
	} {
		if _, err := s.Bind(in, c.out); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
	b, err = s.Bind(in, map[string]onnxruntime.Array{"y": onnxruntime.Of(y, 2, 2)})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s.Close()
	if err := b.Run(ctx); err == nil || err.Error() != "onnxruntime: the session is closed" {
		t.Errorf("error %v", err)
	}
}

// TestTypes: elements of every type go in and come out as they are, none and many.
func TestTypes(t *testing.T) {
	s := loaded(t, "types")
	for _, n := range []int{0, 1, 7} {
		in := map[string]onnxruntime.Array{}
		for _, v := range s.Inputs() {
			a := onnxruntime.Array{Type: v.Type, Shape: []int{n}, Data: make([]byte, n*v.Type.Size())}
			for i := range a.Data {
				a.Data[i] = byte(i % 2)
			}
			in[v.Name] = a
		}
		out, err := s.Run(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		for name, a := range in {
			b := out["y"+name[1:]]
			if len(in) != 13 || b.Type != a.Type || !reflect.DeepEqual(b.Shape, a.Shape) || string(b.Data) != string(a.Data) {
				t.Errorf("%v: %v became %v", a.Type, a, b)
			}
		}
	}
}

// TestExternalData: a file finds its weights beside it.
func TestExternalData(t *testing.T) {
	s, err := opened(t).LoadFile(filepath.Join("testdata", "external.onnx"), onnxruntime.Options{AsWritten: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(context.Background(), linearInputs)
	if err != nil || !reflect.DeepEqual(floats(t, out["y"]), []float64{1.5, 1.5, 9.5, 11.5}) {
		t.Error(out, err)
	}
}

// TestCancelled: a run that would never end does when its context ends, and the next one works.
func TestCancelled(t *testing.T) {
	s := loaded(t, "endless")
	in := map[string]onnxruntime.Array{"x": onnxruntime.Of([]float32{1}), "go": onnxruntime.Of([]bool{true})}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Run(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if _, err := s.Run(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("once it has ended: error %v", err)
	}
	in["go"] = onnxruntime.Of([]bool{false})
	ctx, cancel = context.WithCancel(context.Background())
	out, err := s.Run(ctx, in)
	cancel()
	if err != nil || !reflect.DeepEqual(floats(t, out["y"]), []float64{1}) {
		t.Error(out, err)
	}
}

// TestMistakes: each is a line that says where it is, in our words or in ONNX Runtime's.
func TestMistakes(t *testing.T) {
	rt := opened(t)
	s := loaded(t, "linear")
	closed := loaded(t, "linear")
	closed.Close()
	ctx := context.Background()
	run := func(s *onnxruntime.Session, in map[string]onnxruntime.Array, out ...string) func() error {
		return func() error { _, err := s.Run(ctx, in, out...); return err }
	}
	x := linearInputs["x"]
	for _, c := range []struct {
		do   func() error
		want string // the beginning
	}{
		{run(closed, linearInputs), "onnxruntime: the session is closed"},
		{run(s, nil), "onnxruntime: input x float32[N 3] is not given"},
		{run(s, map[string]onnxruntime.Array{"x": onnxruntime.Of([]float64{1, 2, 3}, 1, 3)}), "onnxruntime: input x float32[N 3]: got elements of float64"},
		{run(s, map[string]onnxruntime.Array{"x": onnxruntime.Of([]float32{1, 2}, 1, 3)}), "onnxruntime: input x: 8 bytes: want 12, for shape [1 3] of float32"},
		{run(s, map[string]onnxruntime.Array{"x": onnxruntime.Of([]float32{1, 2}, 1, math.MaxInt)}), "onnxruntime: input x: shape [1 9223372036854775807]: want sizes from 0, and fewer elements than fit memory"},
		{run(s, map[string]onnxruntime.Array{"x": {Type: 8}}), "onnxruntime: input x: elements of string: want float32, float64, float16, bfloat16, bool or integers"},
		{run(s, map[string]onnxruntime.Array{"x": x, "bias": x}), `onnxruntime: the model has no input "bias": want one of ["x" "b"]`},
		{run(s, linearInputs, "Y"), `onnxruntime: the model has no output "Y": did you mean "y"?`},
		{run(s, map[string]onnxruntime.Array{"x": onnxruntime.Of([]float32{1, 2}, 1, 2)}), "onnxruntime: Got invalid dimensions for input: x for the following indices index: 1 Got: 2 Expected: 3"},
		{run(loaded(t, "reshaped"), map[string]onnxruntime.Array{"x": onnxruntime.Of(make([]float32, 6), 6), "shape": onnxruntime.Of([]int64{4, 2}, 2)}),
			"onnxruntime: Non-zero status code returned while running Reshape node. Name:'net/Reshape' Status Message:"},
		{run(loaded(t, "sequence"), map[string]onnxruntime.Array{"x": onnxruntime.Of(make([]float32, 2), 2)}), "onnxruntime: the value is no array (output s)"},
		{func() error { _, err := rt.Load(nil, onnxruntime.Options{}); return err }, "onnxruntime: the model is empty"},
		{func() error { _, err := rt.Load([]byte("garbage"), onnxruntime.Options{}); return err }, "onnxruntime: "},
		{func() error { _, err := rt.Load([]byte("garbage"), onnxruntime.Options{Threads: -1}); return err }, "onnxruntime: -1 threads: want 1 or more, or 0 for a thread a core"},
		{func() error { _, err := rt.LoadFile("none.onnx", onnxruntime.Options{}); return err }, "onnxruntime: Load model from none.onnx failed"},
		{func() error { _, err := rt.LoadFile("", onnxruntime.Options{}); return err }, `onnxruntime: "" is no name of a file`},
		{func() error { _, err := onnxruntime.Open("testdata"); return err }, "onnxruntime: testdata: the folder has no "},
		{func() error { _, err := onnxruntime.Open("testdata/none.so"); return err }, "onnxruntime: testdata/none.so: "},
		{func() error { _, err := onnxruntime.Open("testdata/linear.onnx"); return err }, "onnxruntime: testdata/linear.onnx: "},
	} {
		err := c.do()
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v\nwant  %s", err, c.want)
		}
	}
}

// TestOpen: the library says its name and version, and is found by its folder, too.
func TestOpen(t *testing.T) {
	rt := opened(t)
	if v := rt.Version(); !strings.HasPrefix(v, "1.") || rt.File() == "" {
		t.Errorf("version %q of %q", v, rt.File())
	}
	if dir := filepath.Dir(rt.File()); dir != "." {
		if again, err := onnxruntime.Open(dir); err != nil || again.Version() != rt.Version() {
			t.Errorf("in %s: %v, %v", dir, again, err)
		}
	}
}

// TestNoLibrary: where the loader finds none, the error says what to do. The loader finds what this
// process has loaded, so that another one runs the test, with an empty variable.
func TestNoLibrary(t *testing.T) {
	if v, set := os.LookupEnv(onnxruntime.Variable); !set || v != "" {
		again := exec.Command(os.Args[0], "-test.run=^TestNoLibrary$", "-test.v")
		again.Env = append(os.Environ(), onnxruntime.Variable+"=")
		out, err := again.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(string(out), "SKIP") {
			t.Skip("the loader finds one here")
		}
		return
	}
	_, err := onnxruntime.Open("")
	if err == nil {
		t.Skip("the loader finds one here")
	}
	if !strings.HasPrefix(err.Error(), "onnxruntime: found no ") || !strings.HasSuffix(err.Error(), ": set TAPESTRY_ONNXRUNTIME to the library's file (npm's package onnxruntime-node has it)") {
		t.Errorf("error %v", err)
	}
	t.Setenv(onnxruntime.Variable, "elsewhere.so")
	if _, err := onnxruntime.Open(""); err == nil || !strings.HasPrefix(err.Error(), "onnxruntime: TAPESTRY_ONNXRUNTIME=elsewhere.so: ") {
		t.Errorf("error %v", err)
	}
}

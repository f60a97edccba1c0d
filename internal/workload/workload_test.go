package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
)

// The first states of the generator, shifted, from Python's unbounded integers.
func TestUniform(t *testing.T) {
	for seed, want := range map[uint64][]float64{
		0:  {2943726, 11174005, 11781264, 12347855},
		10: {2482536, 5188541, 11260289, 1404634},
	} {
		got := Uniform(seed, len(want))
		for i, u := range got {
			if u*(1<<24) != want[i] {
				t.Errorf("seed %d: number %d is %v·2⁻²⁴, want %v", seed, i, u*(1<<24), want[i])
			}
			if v := values(seed, len(want), 3)[i]; v != (2*u-1)*3 {
				t.Errorf("seed %d: value %d is %v for %v", seed, i, v, u)
			}
			if l := labels(seed, len(want), 10)[i]; l != math.Floor(10*u) {
				t.Errorf("seed %d: label %d is %v for %v", seed, i, l, u)
			}
		}
	}
}

// losses are those of steps 1 and 20 and the checksum, in another program: lines of bench/pytorch.py
// --seconds 0 (PyTorch 1.13) and of bench/cpp with these keys alone. Some of PyTorch have no checksum.
type losses struct {
	Workload string
	DType    graph.DType
	First    float64 `json:"loss_first"`
	Last     float64 `json:"loss_last"`
	Checksum float64
}

func lossesIn(t *testing.T, file string) (out []losses) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := json.NewDecoder(f); d.More(); {
		var line struct {
			losses
			DType string
		}
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		line.losses.DType = map[string]graph.DType{"float32": graph.F32, "float64": graph.F64}[line.DType]
		out = append(out, line.losses)
	}
	return out
}

// large are the workloads whose 20 steps take minutes without vector kernels, or gigabytes.
var large = []string{"kmeans_large", "mixture", "embedding", "resnet18", "gpt2-small"}

// tiny are those of them that no small one stands for, at sizes that a test can afford.
var tiny = map[string]build{
	"mixture":    mixture(50, 8, 5),
	"embedding":  embedding(1000, 8, 32, 4),
	"resnet18":   resNet18Step(resNet18{64, 10}, 2),
	"gpt2-small": gpt2Step(gpt2{8, 50, 16, 2, 2}),
}

// TestLosses: values and derivatives are those of PyTorch and of the derivatives that are written by
// hand in C++.
func TestLosses(t *testing.T) {
	tested := map[string]bool{}
	for _, program := range []string{"torch", "cpp"} {
		for _, want := range lossesIn(t, "testdata/"+program+".jsonl") {
			tested[program+want.Workload] = true
			t.Run(program+" "+want.Workload+" "+want.DType.String(), func(t *testing.T) {
				switch {
				case want.Workload != "small" && testing.Short():
					t.Skip("a full-sized step is not short")
				case slices.Contains(large, want.Workload) && os.Getenv("TAPESTRY_LONG") == "":
					t.Skip("want TAPESTRY_LONG=1")
				}
				w, err := Build(want.Workload, want.DType)
				if err != nil {
					t.Fatal(err)
				}
				want.hold(t, w)
			})
		}
	}
	for _, name := range Names() {
		if !tested["torch"+name] && tiny[name] == nil {
			t.Errorf("PyTorch's losses of %s are missing", name)
		}
	}
	sources, err := filepath.Glob("../../bench/cpp/*.cpp")
	if err != nil || len(sources) == 0 {
		t.Fatal("there is no C++", err)
	}
	for _, file := range sources {
		if name := strings.TrimSuffix(filepath.Base(file), ".cpp"); !tested["cpp"+name] {
			t.Errorf("the losses of %s in C++ are missing", name)
		}
	}
}

// TestTinyLosses: so they are at other sizes, of which tiny.jsonl has those of PyTorch: lines of
// bench/pytorch.py --tiny --dtypes float64.
func TestTinyLosses(t *testing.T) {
	tested := 0
	for _, want := range lossesIn(t, "testdata/tiny.jsonl") {
		t.Run(want.Workload, func(t *testing.T) {
			w, err := made(want.Workload, want.DType, tiny[want.Workload])
			if err != nil {
				t.Fatal(err)
			}
			want.hold(t, w)
			tested++
		})
	}
	if tested != len(tiny) {
		t.Errorf("%d workloads are tested, want %d", tested, len(tiny))
	}
}

// hold makes 20 steps, whose losses and checksum must be these.
func (want losses) hold(t *testing.T, w *Workload) {
	t.Helper()
	vm := readied(t, w)
	tolerance := 1e-5
	if want.DType == graph.F64 {
		tolerance = 1e-11
	}
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
			t.Errorf("%s is %.16g, want %.16g", what, got, want)
		}
	}
	for step := 1; step <= 20; step++ {
		if err := vm.Run(context.Background(), w.Feed); err != nil {
			t.Fatal(err)
		}
		if expected, at := map[int]float64{1: want.First, 20: want.Last}[step]; at {
			near(fmt.Sprint("the loss of step ", step), float(t, w.Float, vm), expected)
		}
	}
	if want.DType == graph.F64 && want.Checksum != 0 {
		near("the checksum", float(t, w.Checksum, vm), want.Checksum)
	}
}

func float(t *testing.T, of func(*tape.VM) (float64, error), vm *tape.VM) float64 {
	t.Helper()
	x, err := of(vm)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestTypes: every workload is timed in some type, and no other has any.
func TestTypes(t *testing.T) {
	for _, name := range Names() {
		if len(Types(name)) == 0 {
			t.Errorf("%s has no element type", name)
		}
	}
	if got := Types("mpl"); got != nil {
		t.Errorf("mpl has element types %v", got)
	}
}

func ready(t *testing.T, name string, dt graph.DType, options ...tape.Option) (*Workload, *tape.VM) {
	t.Helper()
	w, err := Build(name, dt)
	if err != nil {
		t.Fatal(err)
	}
	return w, readied(t, w, options...)
}

func readied(t *testing.T, w *Workload, options ...tape.Option) *tape.VM {
	t.Helper()
	p, err := w.Compile(options...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Store()
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, p, s)
	t.Cleanup(vm.Close)
	return vm
}

func TestStepsAllocateNothing(t *testing.T) {
	for _, name := range Names() {
		if slices.Contains(large, name) || name != "small" && testing.Short() {
			continue
		}
		w, vm := ready(t, name, graph.F32)
		wantNoAllocations(t, w, vm)
	}
}

func wantNoAllocations(t *testing.T, w *Workload, vm *tape.VM) {
	t.Helper()
	if n := testing.AllocsPerRun(20, func() { // so many that what the runtime makes once does not count
		if err := vm.Run(context.Background(), w.Feed); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%s: %v allocations a step", w.Name, n)
	}
}

// With fast math clustering takes the same way, without differences, and allocates as little.
func TestFastMath(t *testing.T) {
	for _, name := range []string{"kmeans_softmax", "kmeans_goofy", "kmeans_large"} {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			if slices.Contains(large, name) && os.Getenv("TAPESTRY_LONG") == "" || testing.Short() {
				continue
			}
			usual, direct := ready(t, name, dt)
			w, vm := ready(t, name, dt, tape.FastMath())
			p, err := w.Compile(tape.FastMath())
			if err != nil {
				t.Fatal(err)
			}
			if text := p.String(); strings.Contains(text, "SqDist") || strings.Contains(text, "WeightedDiff") {
				t.Errorf("%s %v: there are differences left\n%s", name, dt, text)
			}
			for step := 1; step <= 20; step++ {
				for vm, w := range map[*tape.VM]*Workload{direct: usual, vm: w} {
					if err := vm.Run(context.Background(), w.Feed); err != nil {
						t.Fatal(err)
					}
				}
				if got, want := tapetest.Float(t, vm, w.Loss), tapetest.Float(t, direct, usual.Loss); !(math.Abs(got-want) <= 1e-4*want) {
					t.Errorf("%s %v: the loss of step %d is %v with fast math, %v without", name, dt, step, got, want)
				}
			}
			wantNoAllocations(t, w, vm)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		dt   graph.DType
		want string
	}{
		{"mpl", graph.F32, `unknown workload "mpl": did you mean "mlp"?`},
		{"small", graph.I64, "small: element type i64: want f32 or f64"},
	} {
		if _, err := Build(c.name, c.dt); err == nil || err.Error() != c.want {
			t.Errorf("Build(%q, %v): %v, want %s", c.name, c.dt, err, c.want)
		}
	}
}

package importer

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/tape"
)

// suite is where Debian's package libonnx-testdata has the tests of ONNX.
const suite = "/usr/share/libonnx-testdata/data"

// TestSuite runs the tests of ONNX: each is a model with inputs and the outputs to expect. None may
// give a wrong value, and as many must pass as say the numbers below. TAPESTRY_ONNX_REFUSED=1 lists
// the others with the reasons.
func TestSuite(t *testing.T) {
	floor := map[string]int{"node": 0, "pytorch-converted": 0, "pytorch-operator": 0, "simple": 0}
	for _, part := range []string{"node", "pytorch-converted", "pytorch-operator", "simple"} {
		t.Run(part, func(t *testing.T) {
			folders, _ := filepath.Glob(filepath.Join(suite, part, "*", "test_data_set_*"))
			if len(folders) == 0 {
				t.Skip("the tests of ONNX are not here (Debian: libonnx-testdata)")
			}
			passed := map[string]bool{}
			refused := map[string]string{}
			for _, dir := range folders {
				name := filepath.Base(filepath.Dir(dir))
				wrong, reason := example(dir)
				switch {
				case wrong != nil:
					t.Errorf("%s: %v", name, wrong)
				case reason != nil:
					refused[name] = strings.Split(reason.Error(), "\n")[0]
				default:
					passed[name] = true
				}
			}
			for name := range refused {
				delete(passed, name)
			}
			t.Logf("%d of %d", len(passed), len(passed)+len(refused))
			if os.Getenv("TAPESTRY_ONNX_REFUSED") != "" {
				for _, name := range slices.Sorted(maps.Keys(refused)) {
					t.Logf("%s: %s", name, refused[name])
				}
			}
			if len(passed) < floor[part] {
				t.Errorf("%d pass: want at least %d", len(passed), floor[part])
			}
		})
	}
}

// example runs one test. It returns what is wrong with the values, or why there are none.
func example(dir string) (wrong, refused error) {
	model, err := readModel(filepath.Join(filepath.Dir(dir), "model.onnx"))
	if err != nil {
		return nil, err
	}
	fed := map[string]*format.Tensor{}
	initialised := map[string]bool{}
	for _, t := range model.Graph.Init {
		initialised[t.Name] = true
	}
	i := 0
	for _, v := range model.Graph.Inputs {
		if initialised[v.Name] {
			continue
		}
		t, err := readTensor(filepath.Join(dir, fmt.Sprintf("input_%d.pb", i)))
		if err != nil {
			return nil, err
		}
		fed[v.Name] = t
		i++
	}
	// What must be known while the graph is built, such as a shape, is fed as well in these tests.
	wrong, refused = compute(model, dir, fed, nil)
	if refused != nil {
		wrong, refused = compute(model, dir, nil, fed)
	}
	return wrong, refused
}

func compute(model *format.Model, dir string, fed, known map[string]*format.Tensor) (wrong, refused error) {
	g := graph.New("test")
	r, err := Import(g, model, Options{Float: graph.F32, Known: known})
	if err != nil {
		return nil, err
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	var fetched []*graph.Node
	for _, o := range model.Graph.Outputs {
		if n := r.Values[o.Name]; n != nil {
			fetched = append(fetched, n)
		} else {
			return nil, fmt.Errorf("output %q is no tensor of numbers", o.Name)
		}
	}
	values := graph.Values{}
	for name, t := range fed {
		data, err := t.Floats()
		if err != nil {
			return nil, err
		}
		n := r.Values[name]
		values[n] = graph.Value{Type: n.Type(), Data: data}
	}
	p, err := tape.Compile(g, tape.Fetch(fetched...))
	if err != nil {
		return nil, err
	}
	vm, err := p.NewVM(tape.NewStore(g))
	if err != nil {
		return nil, err
	}
	if err := vm.Run(context.Background(), tape.Tensors(values)); err != nil {
		return nil, err
	}
	for i, n := range fetched {
		want, err := readTensor(filepath.Join(dir, fmt.Sprintf("output_%d.pb", i)))
		if err != nil {
			return nil, err
		}
		data, err := want.Floats()
		if err != nil {
			return nil, err
		}
		got, err := vm.Value(n)
		if err != nil {
			return nil, err
		}
		if err := same(n, got.Data(), want, data); err != nil {
			return fmt.Errorf("output %q: %w", model.Graph.Outputs[i].Name, err), nil
		}
	}
	return nil, nil
}

// same compares a result with what is expected, as ONNX's own runner does.
func same(n *graph.Node, data any, want *format.Tensor, expected []float64) error {
	sizes := n.Shape().Sizes()
	dims := make([]int, len(want.Dims))
	for i, d := range want.Dims {
		dims[i] = int(d)
	}
	if !slices.Equal(sizes, dims) {
		return fmt.Errorf("shape %v: want %v", sizes, dims)
	}
	got := floats(data)
	if len(got) < len(expected) {
		return fmt.Errorf("%d elements: want %d", len(got), len(expected))
	}
	for i, w := range expected {
		if v := got[i]; v != w && !(math.IsNaN(v) && math.IsNaN(w)) && !(math.Abs(v-w) <= 1e-7+1e-3*math.Abs(w)) {
			return fmt.Errorf("element %d is %v: want %v", i, v, w)
		}
	}
	return nil
}

func floats(data any) []float64 {
	switch d := data.(type) {
	case []float64:
		return d
	case []float32:
		return widen(d)
	case []int64:
		return widen(d)
	case []int32:
		return widen(d)
	case []int8:
		return widen(d)
	case []uint8:
		return widen(d)
	case []bool:
		out := make([]float64, len(d))
		for i, v := range d {
			if v {
				out[i] = 1
			}
		}
		return out
	case float64:
		return []float64{d}
	case float32:
		return []float64{float64(d)}
	case int64:
		return []float64{float64(d)}
	case int32:
		return []float64{float64(d)}
	case bool:
		return floats([]bool{d})
	}
	panic(fmt.Sprintf("elements %T", data))
}

func widen[T float32 | int64 | int32 | int8 | uint8](d []T) []float64 {
	out := make([]float64, len(d))
	for i, v := range d {
		out[i] = float64(v)
	}
	return out
}

func readModel(name string) (*format.Model, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return format.Read(bytes.NewReader(b), int64(len(b)), format.Limits{})
}

func readTensor(name string) (*format.Tensor, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return format.ReadTensor(b)
}

package importer

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/tape"
)

// suite is where Debian's package libonnx-testdata has the tests of ONNX.
const suite = "/usr/share/libonnx-testdata/data"

var update = flag.Bool("update", false, "write the list of the tests of ONNX that do not pass")

// TestSuite runs the tests of ONNX: each is a model with inputs and the outputs to expect. None may
// give a wrong value. Those that do not pass are listed with the reasons in testdata/suite.txt.
func TestSuite(t *testing.T) {
	var list strings.Builder
	tests := 0
	for _, part := range []string{"node", "pytorch-converted", "pytorch-operator", "simple"} {
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
			case wrong != nil && mistaken[name] != "":
				refused[name] = mistaken[name]
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
		tests += len(passed) + len(refused)
		fmt.Fprintf(&list, "%s: %d of %d\n", part, len(passed), len(passed)+len(refused))
		for _, name := range slices.Sorted(maps.Keys(refused)) {
			fmt.Fprintf(&list, "  %s: %s\n", name, refused[name])
		}
	}
	if tests != 1072 {
		t.Skipf("%d tests, of another version of ONNX than 1.12, whose list is kept:\n%s", tests, &list)
	}
	const golden = "testdata/suite.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if list.String() != string(want) {
		t.Errorf("the tests that pass, and those that do not:\n%s\nwant, as %s has it (-update writes it):\n%s", list.String(), golden, want)
	}
}

// mistaken lists tests that expect what is not right, with the reason.
var mistaken = map[string]string{
	"test_cast_FLOAT_to_BFLOAT16":              truncated,
	"test_castlike_FLOAT_to_BFLOAT16":          truncated,
	"test_castlike_FLOAT_to_BFLOAT16_expanded": truncated,
	"test_adam_multiple":                       "the test computes with ε = 0.01, and its model says none, which is 10⁻⁶",
	"test_bernoulli":                           numpy,
	"test_bernoulli_double":                    numpy,
	"test_bernoulli_double_expanded":           numpy,
	"test_bernoulli_expanded":                  numpy,
	"test_bernoulli_seed":                      numpy,
	"test_bernoulli_seed_expanded":             numpy,
	"test_training_dropout":                    numpy,
	"test_training_dropout_default":            numpy,
	"test_training_dropout_default_mask":       numpy,
	"test_training_dropout_mask":               numpy,
}

const numpy = "the test expects the random numbers of NumPy"

const truncated = "the test expects bfloat16 without its lower bits; ONNX since 1.13 and ONNX Runtime round to the nearest, as is done here"

// example runs one test. It returns what is wrong with the values, or why there are none.
func example(dir string) (wrong, refused error) {
	model, err := readModel(filepath.Join(filepath.Dir(dir), "model.onnx"))
	if err != nil {
		return nil, err
	}
	fed := map[string]*format.Tensor{}
	lists := map[string][]*format.Tensor{}
	initialised := map[string]bool{}
	for _, t := range model.Graph.Init {
		initialised[t.Name] = true
	}
	i := 0
	for _, v := range model.Graph.Inputs {
		if initialised[v.Name] {
			continue
		}
		list, err := readData(filepath.Join(dir, fmt.Sprintf("input_%d.pb", i)), v.Type)
		if err != nil {
			return nil, err
		}
		if t := v.Type; t.Kind == format.KindTensor || t.Kind == format.KindOptional && t.Of.Kind == format.KindTensor && list != nil {
			fed[v.Name] = retyped(list[0], v)
		} else {
			lists[v.Name] = list
		}
		i++
	}
	// What must be known while the graph is built, such as a shape, is fed as well in these tests.
	wrong, refused = compute(model, dir, fed, Options{Float: graph.F32, Lists: lists})
	if refused != nil {
		wrong, refused = compute(model, dir, nil, Options{Float: graph.F32, Known: fed, Lists: lists})
	}
	return wrong, refused
}

func compute(model *format.Model, dir string, fed map[string]*format.Tensor, o Options) (wrong, refused error) {
	got, texts, err := outputs(model, fed, o)
	if err != nil {
		return nil, err
	}
	for i, o := range model.Graph.Outputs {
		list, err := readData(filepath.Join(dir, fmt.Sprintf("output_%d.pb", i)), o.Type)
		if err != nil {
			return nil, err
		}
		if text, ok := texts[o.Name]; ok {
			if want := list[0]; !slices.Equal(text.Strings, want.Strings) || !slices.Equal(text.Dims, want.Dims) {
				return fmt.Errorf("output %q is %q%d: want %q%d", o.Name, text.Strings, text.Dims, want.Strings, want.Dims), nil
			}
			continue
		}
		if len(list) != len(got[i]) {
			return fmt.Errorf("output %q has %d tensors: want %d", o.Name, len(got[i]), len(list)), nil
		}
		for j, want := range list {
			data, err := retyped(want, o).Floats()
			if err != nil {
				return nil, err
			}
			if err := same(got[i][j], want, data); err != nil {
				return fmt.Errorf("output %q: %w", o.Name, err), nil
			}
		}
	}
	return nil, nil
}

// evaluate runs a model with some inputs fed and others known. It returns the outputs, which are
// tensors, or why there are none.
func evaluate(model *format.Model, fed, known map[string]*format.Tensor, float graph.DType) ([]graph.Value, error) {
	lists, _, err := outputs(model, fed, Options{Float: float, Known: known})
	return slices.Concat(lists...), err
}

// outputs runs a model with some inputs fed. It returns the tensors of each output and those
// of text, or why there are none.
func outputs(model *format.Model, fed map[string]*format.Tensor, o Options) ([][]graph.Value, map[string]*format.Tensor, error) {
	g := graph.New("test")
	r, err := Import(g, model, o)
	if err != nil {
		return nil, nil, err
	}
	if err := g.Err(); err != nil {
		return nil, nil, err
	}
	lists := make([][]*graph.Node, len(model.Graph.Outputs))
	for i, o := range model.Graph.Outputs {
		if n := r.Values[o.Name]; n != nil {
			lists[i] = []*graph.Node{n}
		} else if list, ok := r.Lists[o.Name]; ok {
			lists[i] = list
		} else if r.Texts[o.Name] == nil {
			return nil, nil, fmt.Errorf("output %q is no tensor of numbers", o.Name)
		}
	}
	fetched := slices.Concat(lists...)
	if len(fetched) == 0 {
		return make([][]graph.Value, len(lists)), r.Texts, nil
	}
	values := graph.Values{}
	for name, t := range fed {
		data, err := t.Floats()
		if err != nil {
			return nil, nil, err
		}
		n := r.Values[name]
		values[n] = graph.Value{Type: n.Type(), Data: data}
	}
	p, err := tape.Compile(g, tape.Fetch(fetched...))
	if err != nil {
		return nil, nil, err
	}
	vm, err := p.NewVM(tape.NewStore(g))
	if err != nil {
		return nil, nil, err
	}
	defer vm.Close()
	if err := vm.Run(context.Background(), tape.Tensors(values)); err != nil {
		return nil, nil, err
	}
	out := make([][]graph.Value, len(lists))
	for i, list := range lists {
		for _, n := range list {
			v, err := vm.Value(n)
			if err != nil {
				return nil, nil, err
			}
			out[i] = append(out[i], graph.Value{Type: n.Type(), Data: floats(n.DType(), v.Data())[:n.Shape().Len()]})
		}
	}
	return out, r.Texts, nil
}

// same compares a result with what is expected, as ONNX's own runner does.
func same(v graph.Value, want *format.Tensor, expected []float64) error {
	sizes := v.Type.Shape.Sizes()
	dims := make([]int, len(want.Dims))
	for i, d := range want.Dims {
		dims[i] = int(d)
	}
	if !slices.Equal(sizes, dims) {
		return fmt.Errorf("shape %v: want %v", sizes, dims)
	}
	got := v.Data
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

// retyped returns a tensor with elements of the type that the model says: NumPy has no bfloat16, and
// the tests have its bits as uint16.
func retyped(t *format.Tensor, v *format.Value) *format.Tensor {
	if v.Type != nil && v.Type.Elem == format.BFloat16 && t.Type == format.Uint16 {
		t.Type = format.BFloat16
	}
	return t
}

// floats returns the elements of an array of a type.
func floats(dt graph.DType, data any) []float64 {
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
	case []uint16:
		out := make([]float64, len(d))
		for i, v := range d {
			if dt == graph.F16 {
				out[i] = float64(half.Float32(v))
			} else {
				out[i] = float64(half.Brain(v))
			}
		}
		return out
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
	case uint16:
		return floats(dt, []uint16{d})
	case int8:
		return []float64{float64(d)}
	case uint8:
		return []float64{float64(d)}
	case bool:
		return floats(dt, []bool{d})
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

func readData(name string, t *format.Type) ([]*format.Tensor, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return format.ReadData(b, t)
}

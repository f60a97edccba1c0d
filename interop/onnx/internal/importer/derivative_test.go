package importer

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestSuiteDerivatives: the results of ONNX's tests that are floats have the derivatives by inputs
// that are floats which difference quotients have, and agree with their definitions otherwise.
func TestSuiteDerivatives(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes ten seconds")
	}
	folders, _ := filepath.Glob(filepath.Join(suite, "node", "*", "test_data_set_0"))
	if len(folders) == 0 {
		t.Skip("the tests of ONNX are not here (Debian: libonnx-testdata)")
	}
	infinite := []string{"test_acosh_example"} // a derivative, at 1
	long := os.Getenv("TAPESTRY_LONG") == "1"
	checked, seen := 0, map[string]int{}
	for _, dir := range folders {
		name := filepath.Base(filepath.Dir(dir))
		model, err := readModel(filepath.Join(filepath.Dir(dir), "model.onnx"))
		if err != nil {
			t.Fatal(err)
		}
		op := model.Graph.Nodes[0].Op
		if seen[op]++; !long && seen[op] > 1 || slices.Contains(infinite, name) {
			continue
		}
		for i, o := range model.Graph.Outputs {
			if o.Type == nil || o.Type.Elem != format.Float && o.Type.Elem != format.Double {
				continue
			}
			y, feed, err := differentiable(dir, i)
			if err != nil || len(feed) == 0 {
				break
			}
			if err := check.Failed(check.Graph(context.Background(), y, check.Feed(feed))); err != nil {
				t.Errorf("%s: output %q: %v", name, o.Name, err)
			}
			checked++
		}
	}
	t.Logf("%d results checked", checked)
	if checked < 100 {
		t.Errorf("%d results were checked: want at least 100", checked)
	}
}

// TestSampleDerivatives: so have those of models of one node with drawn operands and attributes.
func TestSampleDerivatives(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes ten seconds")
	}
	samples := 1
	if os.Getenv("TAPESTRY_LONG") == "1" {
		samples = 12
	}
	for _, op := range slices.Sorted(maps.Keys(generators)) {
		checked := 0
		for seed := 0; checked < samples && seed < 20*samples; seed++ {
			s := &sample{Rand: rand.New(rand.NewPCG(uint64(seed), 2)), node: &format.Node{Op: op}, plain: true}
			s.version = one(s, versions...)
			generators[op](s)
			model, fed := s.model()
			g := graph.New("test")
			r, err := Import(g, model, Options{Float: graph.F64})
			if err != nil {
				continue
			}
			values := graph.Values{}
			for _, n := range g.Inputs() {
				values[n] = graph.Value{Type: n.Type(), Data: must(fed[n.Name()].Floats())}
			}
			y := r.Values["y0"]
			if y.Shape().Len() == 0 || !y.DType().IsFloat() || !slices.ContainsFunc(g.Inputs(), func(x *graph.Node) bool { return x.DType().IsFloat() && y.DependsOn(x) }) {
				continue
			}
			if err := check.Failed(check.Graph(context.Background(), y, check.Feed(tape.Tensors(values)))); err != nil {
				t.Errorf("seed %d: %v\n%s", seed, err, describe(s))
			}
			checked++
		}
	}
}

// differentiable returns output i of a test's model in float64, and what it is fed. Inputs that are
// no floats are known where they must be.
func differentiable(dir string, i int) (*graph.Node, tape.Feed, error) {
	model, err := readModel(filepath.Join(filepath.Dir(dir), "model.onnx"))
	if err != nil {
		return nil, nil, err
	}
	fed, known := map[string]*format.Tensor{}, map[string]*format.Tensor{}
	for k, v := range model.Graph.Inputs {
		if v.Type.Kind != format.KindTensor {
			return nil, nil, fmt.Errorf("input %q is no tensor", v.Name)
		}
		x, err := readData(filepath.Join(dir, fmt.Sprintf("input_%d.pb", k)), v.Type)
		if err != nil {
			return nil, nil, err
		}
		fed[v.Name] = retyped(x[0], v)
		if !v.Type.Elem.IsFloat() {
			known[v.Name] = fed[v.Name]
		}
	}
	for _, known := range []map[string]*format.Tensor{nil, known} {
		g := graph.New("test")
		var r *Result
		if r, err = Import(g, model, Options{Float: graph.F64, Known: known}); err != nil {
			continue
		}
		values := graph.Values{}
		floats := 0
		for _, n := range g.Inputs() {
			data, err := fed[n.Name()].Floats()
			if err != nil {
				return nil, nil, err
			}
			values[n] = graph.Value{Type: n.Type(), Data: data}
			if n.DType().IsHalf() || len(data) != n.Shape().Len() {
				return nil, nil, fmt.Errorf("a float of two bytes, or a tensor of another shape")
			}
			if n.DType().IsFloat() {
				floats++
			}
		}
		y := r.Values[model.Graph.Outputs[i].Name]
		if y == nil || floats == 0 || !slices.ContainsFunc(g.Inputs(), func(x *graph.Node) bool { return x.DType().IsFloat() && y.DependsOn(x) }) {
			return nil, nil, fmt.Errorf("no floats")
		}
		return y, tape.Tensors(values), nil
	}
	return nil, nil, err
}

package importer

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
)

// TestRuntimeOperators: models of one node, with drawn operands and attributes, give what ONNX Runtime
// gives, of every version that it has.
func TestRuntimeOperators(t *testing.T) {
	rt, err := onnxruntime.Open("")
	if err != nil {
		t.Skip(err)
	}
	samples := 20
	if os.Getenv("TAPESTRY_LONG") == "1" {
		samples = 400
	}
	for _, op := range slices.Sorted(maps.Keys(generators)) {
		t.Run(op, func(t *testing.T) {
			ran, theirs, ours := 0, map[string]int{}, map[string]int{}
			for seed := range samples {
				s := &sample{Rand: rand.New(rand.NewPCG(uint64(seed), 1)), node: &format.Node{Op: op}}
				s.version = one(s, versions...)
				generators[op](s)
				model, fed := s.model()
				want, err := byRuntime(rt, model, fed)
				if err != nil {
					theirs[brief(err)]++
					continue
				}
				got, err := evaluate(model, fed, nil, graph.F32)
				if err != nil {
					ours[brief(err)]++
					if ours[brief(err)] == 1 {
						t.Logf("seed %d refused here: %s\n%s", seed, err, describe(s))
					}
					continue
				}
				ran++
				for i, w := range want {
					if err := agree(got[i], w, loose[op]); err != nil {
						t.Errorf("seed %d: output %d: %v\n%s\nwant %v\ngot  %v", seed, i, err, describe(s), must(w.Floats()), got[i].Data)
						break
					}
				}
			}
			t.Logf("%d agree or differ; ONNX Runtime refuses %v; refused here %v", ran, theirs, ours)
			if ran == 0 {
				t.Errorf("no sample ran")
			}
			for reason := range ours {
				if !slices.ContainsFunc(limits, func(l string) bool { return strings.Contains(reason, l) }) {
					t.Errorf("refused here, and not by ONNX Runtime: %s", reason)
				}
			}
		})
	}
}

// versions are those whose operators ONNX Runtime has.
var versions = []int64{7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}

// limits are parts of the reasons for which operators are refused that ONNX Runtime runs.
var limits = []string{
	"must be known when the graph is built",
	"known only when the program runs",
	"with ceil_mode a window lies in the padding",
}

// loose are tolerances of operators for which ONNX Runtime takes the variance as a difference of
// squares, of which little is left where the numbers are few and near to each other.
var loose = map[string]float64{"InstanceNormalization": 1e-2, "LayerNormalization": 1e-2}

func byRuntime(rt *onnxruntime.Runtime, m *format.Model, fed map[string]*format.Tensor) ([]onnxruntime.Array, error) {
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		return nil, err
	}
	s, err := rt.Load(b.Bytes(), onnxruntime.Options{Threads: 1})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	in := map[string]onnxruntime.Array{}
	for name, t := range fed {
		data, err := t.Raw.Read()
		if err != nil {
			return nil, err
		}
		a := onnxruntime.Array{Type: onnxruntime.ElementType(t.Type), Data: data, Shape: []int{}}
		for _, d := range t.Dims {
			a.Shape = append(a.Shape, int(d))
		}
		in[name] = a
	}
	out, err := s.Run(context.Background(), in)
	if err != nil {
		return nil, err
	}
	var list []onnxruntime.Array
	for _, o := range m.Graph.Outputs {
		list = append(list, out[o.Name])
	}
	return list, nil
}

// agree compares a result with that of ONNX Runtime: integers are equal, floats within what their
// rounding leaves of sums.
func agree(got graph.Value, want onnxruntime.Array, loose float64) error {
	if !slices.Equal(got.Type.Shape.Sizes(), want.Shape) {
		return fmt.Errorf("shape %v: want %v", got.Type.Shape.Sizes(), want.Shape)
	}
	data, err := want.Floats()
	if err != nil {
		return err
	}
	tol := map[onnxruntime.ElementType]float64{onnxruntime.Float32: 2e-5, onnxruntime.Float64: 1e-9, onnxruntime.Float16: 4e-3, onnxruntime.BFloat16: 3e-2}[want.Type]
	tol = max(tol, loose)
	largest := 0.0
	for _, w := range data {
		if !math.IsInf(w, 0) && !math.IsNaN(w) {
			largest = max(largest, math.Abs(w))
		}
	}
	for i, w := range data {
		v := got.Data[i]
		if want.Type == onnxruntime.Uint64 && v < 0 { // beyond 2⁶³ it is the same bits
			v += 1 << 64
		}
		if v != w && !(math.IsNaN(v) && math.IsNaN(w)) && !(math.Abs(v-w) <= tol*math.Abs(w)+tol*0.1*max(1, min(largest, 10))) {
			return fmt.Errorf("element %d is %v: want %v", i, v, w)
		}
	}
	return nil
}

// brief returns a message without its numbers.
func brief(err error) string {
	text := err.Error()
	if len(text) > 160 {
		text = text[len(text)-160:]
	}
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '#'
		}
		return r
	}, text)
}

// describe prints a sample.
func describe(s *sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s version %d", s.node.Op, s.version)
	for _, a := range s.node.Attrs {
		fmt.Fprintf(&b, " %s=%v", a.Name, map[format.AttrType]any{format.AttrInt: a.Int, format.AttrFloat: a.Float, format.AttrString: a.String, format.AttrInts: a.Ints}[a.Type])
	}
	for i, t := range s.in {
		if t != nil {
			data, _ := t.Floats()
			fmt.Fprintf(&b, "\n  %d %v%v fixed=%v %v", i, t.Type, t.Dims, s.fixed[i], data)
		}
	}
	return b.String()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

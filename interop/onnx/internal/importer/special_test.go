package importer

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// of returns a model of one node on operands, which are fed, and what they are.
func of(op string, version int64, outputs int, in []*format.Tensor, attrs ...*format.Attr) (*format.Model, map[string]*format.Tensor) {
	s := &sample{node: &format.Node{Op: op, Attrs: attrs}, version: version, outs: outputs, in: in, fixed: make([]bool, len(in))}
	if version == 1 {
		s.version, s.node.Domain = 17, "com.microsoft"
	}
	return s.model()
}

func numbersOf(elem format.DataType, sizes []int, v ...float64) *format.Tensor {
	return tensorOf(elem, sizes, v)
}

func attrInt(name string, v int64) *format.Attr {
	return &format.Attr{Name: name, Type: format.AttrInt, Int: v}
}

func attrText(name, v string) *format.Attr {
	return &format.Attr{Name: name, Type: format.AttrString, String: v}
}

// What quantised, fused and other special operators give is known by hand.
func TestSpecialValues(t *testing.T) {
	f := func(sizes []int, v ...float64) *format.Tensor { return numbersOf(f32, sizes, v...) }
	b := func(sizes []int, v ...float64) *format.Tensor { return numbersOf(u8, sizes, v...) }
	for _, c := range []struct {
		op      string
		version int64 // 1 for ONNX Runtime's own domain
		in      []*format.Tensor
		attrs   []*format.Attr
		want    []float64
	}{
		{"QuantizeLinear", 13, []*format.Tensor{f([]int{5}, -1, 0.25, 0.75, 1.25, 1000), f(nil, 0.5), b(nil, 1)}, nil, []float64{0, 1, 3, 3, 255}}, // to the even one of two
		{"DequantizeLinear", 13, []*format.Tensor{b([]int{2, 2}, 1, 2, 3, 4), f([]int{2}, 0.5, 2), b([]int{2}, 1, 4)}, []*format.Attr{attrInt("axis", 1)}, []float64{0, -4, 1, 0}},
		{"MatMulInteger", 13, []*format.Tensor{b([]int{1, 2}, 255, 3), b([]int{2, 1}, 255, 2), b(nil, 1), b(nil, 2)}, nil, []float64{254 * 253}},
		{"MatMulNBits", 1, []*format.Tensor{f([]int{1, 3}, 1, 10, 100), b([]int{1, 1, 8}, 0x98, 0x0a, 0, 0, 0, 0, 0, 0), f([]int{1}, 0.5)}, []*format.Attr{attrInt("K", 3), attrInt("N", 1), attrInt("bits", 4), attrInt("block_size", 16)}, []float64{0.5 * (0 + 10 + 200)}},
		{"RotaryEmbedding", 1, []*format.Tensor{f([]int{1, 2, 2}, 1, 2, 3, 4), numbersOf(i64, []int{1}, 0), f([]int{2, 1}, 1, 0), f([]int{2, 1}, 0, 1)}, nil, []float64{1, 2, -4, 3}},
		{"FusedMatMul", 1, []*format.Tensor{f([]int{2, 1}, 1, 2), f([]int{2, 1}, 3, 4)}, []*format.Attr{attrInt("transA", 1), {Name: "alpha", Type: format.AttrFloat, Float: 2}}, []float64{22}},
		{"Gelu", 1, []*format.Tensor{f([]int{2}, 1, 0)}, nil, []float64{0.8413447460685429, 0}},
		{"SkipLayerNormalization", 1, []*format.Tensor{f([]int{1, 1, 2}, 1, 2), f([]int{1, 1, 2}, 0, 3), f([]int{2}, 1, 2), f([]int{2}, 0, 5)}, nil, []float64{-1, 7}},
		{"SkipSimplifiedLayerNormalization", 1, []*format.Tensor{f([]int{1, 1, 2}, 3, 4), f([]int{1, 1, 2}, 0, 0), f([]int{2}, math.Sqrt(12.5), math.Sqrt(12.5))}, nil, []float64{3, 4}},
		{"MultiHeadAttention", 1, []*format.Tensor{f([]int{1, 1, 1}, 2), f([]int{1, 2, 1}, 0, math.Ln2), f([]int{1, 2, 1}, 5, 10)}, []*format.Attr{attrInt("num_heads", 1)}, []float64{9}},
		{"Bernoulli", 15, []*format.Tensor{f([]int{4}, 0, 1, 0, 1)}, []*format.Attr{attrInt("dtype", 7)}, []float64{0, 1, 0, 1}},
		{"Multinomial", 7, []*format.Tensor{f([]int{2, 2}, 0, -1e9, -1e9, 0)}, []*format.Attr{attrInt("sample_size", 2)}, []float64{0, 0, 1, 1}},
	} {
		model, fed := of(c.op, c.version, 1, c.in, c.attrs...)
		out, err := evaluate(model, fed, nil, graph.F32)
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		for i, w := range c.want {
			if v := out[0].Data[i]; math.Abs(v-w) > 1e-4*(1+math.Abs(w)) {
				t.Errorf("%s: got %v, want %v", c.op, out[0].Data, c.want)
				break
			}
		}
	}
}

// Draws have the law that is asked for.
func TestDraws(t *testing.T) {
	shape := &format.Attr{Name: "shape", Type: format.AttrInts, Ints: []int64{100, 100}}
	number := func(name string, v float32) *format.Attr {
		return &format.Attr{Name: name, Type: format.AttrFloat, Float: v}
	}
	for op, c := range map[string]struct {
		attrs           []*format.Attr
		mean, deviation float64
	}{
		"RandomUniform": {[]*format.Attr{shape, number("low", 1), number("high", 4)}, 2.5, 3 / math.Sqrt(12)},
		"RandomNormal":  {[]*format.Attr{shape, number("mean", -1), number("scale", 2)}, -1, 2},
	} {
		model, fed := of(op, 7, 1, nil, c.attrs...)
		out, err := evaluate(model, fed, nil, graph.F32)
		if err != nil {
			t.Errorf("%s: %v", op, err)
			continue
		}
		sum, squares, n := 0.0, 0.0, float64(len(out[0].Data))
		for _, v := range out[0].Data {
			sum += v
			squares += v * v
		}
		mean := sum / n
		if deviation := math.Sqrt(squares/n - mean*mean); n != 10000 || math.Abs(mean-c.mean) > 0.1 || math.Abs(deviation-c.deviation) > 0.1 {
			t.Errorf("%s: %v numbers with mean %v and deviation %v: want %v and %v", op, n, mean, deviation, c.mean, c.deviation)
		}
	}
}

// The test of ONNX whose model lacks ε passes with it.
func TestAdamOfTwo(t *testing.T) {
	dir := filepath.Join(suite, "node/test_adam_multiple/test_data_set_0")
	model, err := readModel(filepath.Join(filepath.Dir(dir), "model.onnx"))
	if err != nil {
		t.Skip("the tests of ONNX are not here (Debian: libonnx-testdata)")
	}
	n := model.Graph.Nodes[0]
	n.Attrs = append(n.Attrs, &format.Attr{Name: "epsilon", Type: format.AttrFloat, Float: 1e-2})
	fed := map[string]*format.Tensor{}
	for i, v := range model.Graph.Inputs {
		list, err := readData(filepath.Join(dir, fmt.Sprintf("input_%d.pb", i)), v.Type)
		if err != nil {
			t.Fatal(err)
		}
		fed[v.Name] = list[0]
	}
	if wrong, refused := compute(model, dir, fed, Options{Float: graph.F32}); wrong != nil || refused != nil {
		t.Error(wrong, refused)
	}
}

// What cannot be imported says why.
func TestSpecialRefusals(t *testing.T) {
	f := func(sizes ...int) *format.Tensor { return numbersOf(f32, sizes, make([]float64, product(sizes))...) }
	i := func(v ...float64) *format.Tensor { return numbersOf(i64, nil, v...) }
	for _, c := range []struct {
		op      string
		version int64
		in      []*format.Tensor
		attrs   []*format.Attr
		want    string
	}{
		{"QuantizeLinear", 13, []*format.Tensor{f(2, 3), f(2), numbersOf(u8, []int{2}, 0, 0)}, nil, "numbers of shape [2] for axis 1 of an array of shape [2 3]"},
		{"QuantizeLinear", 13, []*format.Tensor{f(2), f(), i(0)}, nil, "numbers are quantised to int64: want integers of 8 or 16 bits"},
		{"DFT", 17, []*format.Tensor{f(1, 4, 3)}, nil, "signals of shape [1 4 3]: want [… 1] of real or [… 2] of complex numbers"},
		{"DFT", 17, []*format.Tensor{f(1, 4, 2)}, []*format.Attr{attrInt("axis", 2)}, "a transform along the axis of the real and imaginary parts"},
		{"DFT", 17, []*format.Tensor{f(1, 4, 1)}, []*format.Attr{attrInt("onesided", 1), attrInt("inverse", 1)}, "an inverse transform of one side"},
		{"HannWindow", 17, []*format.Tensor{i(4)}, nil, "operand 0 must be known when the graph is built, and depends on x0"},
		{"GridSample", 16, []*format.Tensor{f(1, 1, 2, 2), f(1, 1, 1, 3)}, nil, "an array of shape [1 1 2 2] and a grid of shape [1 1 1 3]: want [n c h w] and [n h′ w′ 2]"},
		{"GridSample", 16, []*format.Tensor{f(1, 1, 2, 2), f(1, 1, 1, 2)}, []*format.Attr{attrText("mode", "best")}, `mode "best"`},
		{"RoiAlign", 16, []*format.Tensor{f(1, 1, 2, 2), f(1, 4), numbersOf(i64, []int{1}, 0)}, []*format.Attr{attrText("mode", "max")}, `mode "max", of which implementations have different notions: want avg`},
		{"NonMaxSuppression", 11, []*format.Tensor{f(1, 2, 4), f(1, 1, 3)}, nil, "boxes [1 2 4] and scores [1 1 3]: want [n b 4] and [n classes b]"},
		{"RandomUniform", 7, nil, []*format.Attr{attrInt("dtype", 7)}, "random numbers of int64: want floats"},
		{"Multinomial", 7, []*format.Tensor{f(3)}, nil, "logits with 1 axes: want [batch classes]"},
		{"Attention", 1, []*format.Tensor{f(1, 2, 3), f(3, 9)}, nil, "0 heads"},
		{"Attention", 1, []*format.Tensor{f(1, 2, 3), f(3, 9), nil, f(4)}, []*format.Attr{attrInt("num_heads", 1)}, "a mask of shape [4]: want [1], [1 2] or [1 2 2]"},
		{"FusedConv", 1, []*format.Tensor{f(1, 1, 2, 2), f(1, 1, 1, 1)}, []*format.Attr{attrText("activation", "Best")}, `activation "Best"`},
		{"MatMulNBits", 1, []*format.Tensor{f(1, 3), f(1), f(1)}, nil, "K = 0 and N = 0 in blocks of 0, of 4 bits, or in another order: want 4 or 8 bits, in order"},
		{"RotaryEmbedding", 1, []*format.Tensor{f(1, 2, 2), i(0), f(4, 3), f(4, 3)}, nil, "2 features in heads of 6"},
	} {
		model, _ := of(c.op, c.version, 1, c.in, c.attrs...)
		_, err := Import(graph.New("test"), model, Options{Float: graph.F32})
		if want := fmt.Sprintf("byte 0: %s \"\": %s", c.op, c.want); fmt.Sprint(err) != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// A derivative is asked for of one number, at the values of the graph.
func TestGradientRefusals(t *testing.T) {
	model := func(inputs, xs []string, y string) *format.Model {
		value := func(name string) *format.Value {
			return &format.Value{Name: name, Type: &format.Type{Elem: format.Float, Ranked: true, Dims: []format.Dim{{Size: 2}}}}
		}
		return &format.Model{Opsets: map[string]int64{"": 12}, Graph: &format.Graph{
			Inputs: []*format.Value{value("a"), value("b")},
			Nodes: []*format.Node{
				{Op: "Add", Inputs: []string{"a", "b"}, Outputs: []string{"c"}},
				{Op: "Gradient", Domain: "ai.onnx.preview.training", Inputs: inputs, Outputs: []string{"d"}, Attrs: []*format.Attr{{Name: "xs", Type: format.AttrStrings, Strings: xs}, attrText("y", y)}},
			},
			Outputs: []*format.Value{{Name: "d"}},
		}}
	}
	for _, c := range []struct {
		m    *format.Model
		want string
	}{
		{model([]string{"b"}, []string{"a"}, "c"), `operands ["b"] instead of xs and zs, ["a"]: the derivative at other values than those of the graph`},
		{model([]string{"a"}, []string{"a"}, "z"), `no value is called "z" here`},
		{model([]string{"a"}, []string{"a"}, "c"), "y has the shape [2]: want one number"},
		{model(nil, nil, "c"), "the attribute xs is missing"},
	} {
		_, err := Import(graph.New("test"), c.m, Options{Float: graph.F32})
		if want := "byte 0: Gradient \"\": " + c.want; fmt.Sprint(err) != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

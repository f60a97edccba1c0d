package symbolic

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

var sizes = []int{6, 10, 14, 22}

// at returns what build makes of each size.
func at(build func(n int64) *format.Graph) []At {
	var out []At
	for _, n := range sizes {
		out = append(out, At{n, &format.Model{IR: 8, Producer: "test", Opsets: map[string]int64{"": 17}, Graph: build(int64(n))}})
	}
	return out
}

func value(name string, dims ...int64) *format.Value {
	v := &format.Value{Name: name, Type: &format.Type{Elem: format.Float, Ranked: true}}
	for _, d := range dims {
		v.Type.Dims = append(v.Type.Dims, format.Dim{Size: d})
	}
	return v
}

func floats(name string, dims []int64, v ...float32) *format.Tensor {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return &format.Tensor{Name: name, Type: format.Float, Dims: dims, Raw: format.Bytes(b)}
}

func node(op, out string, in ...string) *format.Node {
	return &format.Node{Op: op, Name: out, Inputs: in, Outputs: []string{out}}
}

// TestJoin: a mean, a flattening, an expansion, a range and a triangular mask of any size. The name
// const/six is shared by a constant that differs and one that does not, at one size alone.
func TestJoin(t *testing.T) {
	m, err := Join("N", at(func(n int64) *format.Graph {
		var mask, ramp []float32
		for i := range n {
			ramp = append(ramp, float32(n-1-i))
			for k := range n {
				mask = append(mask, float32(map[bool]float64{true: math.Inf(-1)}[k > i]))
			}
		}
		g := &format.Graph{
			Name:   "g",
			Inputs: []*format.Value{value("y", n+1), value("x", n, 3)},
			Init: []*format.Tensor{floats("w", []int64{3}, 1, 2, 3), floats("const/mean", nil, 2/float32(n)), format.IntsOf("const/flat", []int64{1}, 3*n),
				format.IntsOf("const/wide", []int64{3}, n*(n-1)/2, 5, 7), floats("const/mask", []int64{n, n}, mask...), floats("const/ramp", []int64{n}, ramp...), format.IntsOf("const/axis", []int64{1}, 6)},
			Nodes: []*format.Node{node("Mul", "a", "x", "const/mean"), node("Reshape", "b", "x", "const/flat"), node("Expand", "c", "w", "const/wide"), node("Add", "d", "const/mask", "const/ramp"),
				node("Unsqueeze", "e", "a", "const/axis"), node("Slice", "f", "b", "const/six")},
			Outputs: []*format.Value{value("b", 3*n)},
		}
		if n == 6 {
			g.Nodes[4].Inputs[1] = "const/six"
			g.Init[6].Name = "const/six"
		} else {
			g.Init = append(g.Init, format.IntsOf("const/six", []int64{1}, n))
		}
		return g
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := `opset 17, ir 8, producer "test"
input y float32[N+1]
input x float32[N 3]
init w float32[3][1 2 3]
init const/six int64[1][6]
init N/const float64[1][2]
init N/const_2 int64[1][-1]
init N/const_3 int64[3][-1 0 0]
init N/const_4 int64[3][1 0 0]
init N/const_5 int64[3][0 5 7]
init N/const_6 int64[3][2 1 1]
init N/const_7 float64[][0]
init N/const_8 float64[][-Inf]
init N/const_9 int64[][0]
init N/const_10 int64[][1]
init N/const_11 int64[2][-1 1]
init N/const_12 int64[2][1 -1]
init N/const_13 int64[2][1 1]
N/Shape = Shape{start=0 end=1} x  # N/Shape
N/Cast = Cast{to=11} N/Shape  # N/Cast
N/Div = Div N/const N/Cast  # N/Div
N/Squeeze = Squeeze N/Div  # N/Squeeze
N/Cast_2 = Cast{to=1} N/Squeeze  # N/Cast_2
N/Mul = Mul N/Shape N/const_3  # N/Mul
N/Mul_2 = Mul N/Shape N/Shape  # N/Mul_2
N/Mul_3 = Mul N/Mul_2 N/const_4  # N/Mul_3
N/Add = Add N/Mul N/Mul_3  # N/Add
N/Add_2 = Add N/Add N/const_5  # N/Add_2
N/Div_2 = Div N/Add_2 N/const_6  # N/Div_2
N/Squeeze_2 = Squeeze N/Shape  # N/Squeeze_2
N/Range = Range N/const_9 N/Squeeze_2 N/const_10  # N/Range
N/Reshape = Reshape N/Range N/const_11  # N/Reshape
N/Reshape_2 = Reshape N/Range N/const_12  # N/Reshape_2
N/Less = Less N/Reshape_2 N/Reshape  # N/Less
N/Where = Where N/Less N/const_7 N/const_8  # N/Where
N/Equal = Equal N/Reshape_2 N/Reshape  # N/Equal
N/Where_2 = Where N/Equal N/const_7 N/Where  # N/Where_2
N/Cast_3 = Cast{to=1} N/Where_2  # N/Cast_3
N/Mul_4 = Mul N/Shape N/const_13  # N/Mul_4
N/Expand = Expand N/Cast_3 N/Mul_4  # N/Expand
N/Add_3 = Add N/Shape N/const_2  # N/Add_3
N/Reshape_3 = Reshape N/Range N/const_2  # N/Reshape_3
N/Mul_5 = Mul N/Reshape_3 N/const_2  # N/Mul_5
N/Add_4 = Add N/Add_3 N/Mul_5  # N/Add_4
N/Cast_4 = Cast{to=1} N/Add_4  # N/Cast_4
N/Expand_2 = Expand N/Cast_4 N/Shape  # N/Expand_2
a = Mul x N/Cast_2  # a
b = Reshape x N/const_2  # b
c = Expand w N/Div_2  # c
d = Add N/Expand N/Expand_2  # d
e = Unsqueeze a const/six  # e
f = Slice b N/Shape  # f
output b float32[3N]
`
	if got := m.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestJoinMistakes: what cannot be made symbolic is said with the node, all constants at once.
func TestJoinMistakes(t *testing.T) {
	for _, c := range []struct {
		build func(n int64) *format.Graph
		want  string
	}{
		{func(n int64) *format.Graph {
			return &format.Graph{Inputs: []*format.Value{value("x", n)}, Init: []*format.Tensor{format.IntsOf("const/a", []int64{1}, 1<<(n/2)), floats("const/b", nil, float32(math.Sin(float64(n))))},
				Nodes: []*format.Node{node("Slice", "y", "x", "const/a"), node("Mul", "z", "y", "const/b")}}
		}, `N: operand 1 of y (Slice) cannot be computed from N: it has a 8 at 6, and [32 128 2048] at [10 14 22]
N: operand 1 of z (Mul) cannot be computed from N: it has a -0.279415488243103 at 6, and [-0.5440211296081543 0.9906073808670044 -0.008851309306919575] at [10 14 22]`},
		{func(n int64) *format.Graph {
			op := map[bool]string{true: "Add", false: "Mul"}[n < 12]
			return &format.Graph{Inputs: []*format.Value{value("x", n)}, Nodes: []*format.Node{node(op, "y", "x", "x")}}
		}, "N: the model is built otherwise at other sizes: y (Add) at 6 stands where y (Mul) stands at 14"},
		{func(n int64) *format.Graph {
			return &format.Graph{Inputs: []*format.Value{value("x", 3)}, Init: []*format.Tensor{floats("const/a", nil, float32(n))}, Nodes: []*format.Node{node("Mul", "y", "x", "const/a")}}
		}, "N: operand 1 of y (Mul) cannot be computed from N: no input has an axis of that size"},
		{func(n int64) *format.Graph {
			return &format.Graph{Inputs: []*format.Value{value("x", n)}, Init: []*format.Tensor{floats("w", []int64{n}, make([]float32, n)...)}, Nodes: []*format.Node{node("Mul", "y", "x", "w")}}
		}, "N: w is float32[6] at 6 and float32[10] at 10: what is learnt cannot depend on N"},
		{func(n int64) *format.Graph {
			y := node("Concat", "y", "x", "x")
			y.Attrs = []*format.Attr{{Name: "axis", Type: format.AttrInt, Int: n}}
			return &format.Graph{Inputs: []*format.Value{value("x", n)}, Nodes: []*format.Node{y}}
		}, "N: attribute axis of y (Concat) differs at 6 and 10, and ONNX cannot compute attributes"},
	} {
		if _, err := Join("N", at(c.build)); err == nil || err.Error() != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
	if _, err := Join("N", nil); err == nil || err.Error() != "N: the model is given at 0 sizes: want four or more" {
		t.Error(err)
	}
}

// TestLaws: what a number is as a function of the size.
func TestLaws(t *testing.T) {
	for want, f := range map[polynomial]func(n int64) int64{
		{0, 0, 7, 1}:  func(int64) int64 { return 7 },
		{0, 3, -1, 1}: func(n int64) int64 { return 3*n - 1 },
		{1, -1, 0, 2}: func(n int64) int64 { return n * (n - 1) / 2 },
		{0, 1, 0, 2}:  func(n int64) int64 { return n / 2 },
	} {
		var v []int64
		for _, n := range sizes {
			v = append(v, f(int64(n)))
		}
		if got, ok := whole(sizes, v); !ok || got != want {
			t.Errorf("%v: got %v, %v", want, got, ok)
		}
	}
	for i, f := range []func(n float64) float64{
		func(float64) float64 { return 0.3 }, func(n float64) float64 { return 0.3 / n }, func(n float64) float64 { return -2 / (n - 1) }, math.Sqrt,
		func(n float64) float64 { return 1 / math.Sqrt(n*64) }, func(n float64) float64 { return 5 * n * n }, func(n float64) float64 { return 1 / (n * n) }, func(n float64) float64 { return 2 - math.Log(n) },
		func(n float64) float64 { return 64 * n / (64*n - 1) }, func(n float64) float64 { return 0.1 * 4 * n / (4*n - 1) }, func(n float64) float64 { return 1 / (16*n - 1) },
		func(float64) float64 { return math.Inf(-1) }, func(float64) float64 { return 0 },
	} {
		var v []float64
		for _, n := range sizes {
			v = append(v, float64(float32(f(float64(n)))))
		}
		l, ok := real(sizes, v, 4e-7)
		if want := f(1000); !ok || l.at(1000) != want && math.Abs(l.at(1000)-want) > 1e-6*math.Abs(want) {
			t.Errorf("law %d: %v, %v is %v at 1000, want %v", i, l, ok, l.at(1000), want)
		}
	}
}

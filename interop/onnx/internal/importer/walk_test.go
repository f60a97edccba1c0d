package importer

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// node returns a node of a file: "y z = Op a b".
func node(text string, attrs ...*format.Attr) *format.Node {
	left, right, _ := strings.Cut(text, " = ")
	f := strings.Fields(right)
	n := &format.Node{Op: f[0], Outputs: strings.Fields(left), Attrs: attrs}
	for _, in := range f[1:] {
		if in == "_" {
			in = ""
		}
		n.Inputs = append(n.Inputs, in)
	}
	return n
}

func withName(n *format.Node, name string) *format.Node { n.Name = name; return n }

func tensorType(elem format.DataType, dims ...int64) *format.Type {
	t := &format.Type{Elem: elem, Ranked: true}
	for _, d := range dims {
		t.Dims = append(t.Dims, format.Dim{Size: d})
	}
	return t
}

func input(name string, elem format.DataType, dims ...int64) *format.Value {
	return &format.Value{Name: name, Type: tensorType(elem, dims...)}
}

func floats32(name string, dims []int64, v ...float32) *format.Tensor {
	data := make([]float64, len(v))
	for i, x := range v {
		data[i] = float64(x)
	}
	sizes := make([]int, len(dims))
	for i, d := range dims {
		sizes[i] = int(d)
	}
	t := tensorOf(format.Float, sizes, data)
	t.Name = name
	return t
}

func bools(name string, v byte) *format.Tensor {
	return &format.Tensor{Name: name, Type: format.Bool, Raw: format.Bytes([]byte{v})}
}

func values(names ...string) (out []*format.Value) {
	for _, n := range names {
		out = append(out, &format.Value{Name: n})
	}
	return out
}

func intAttr(name string, v int64) *format.Attr {
	return &format.Attr{Name: name, Type: format.AttrInt, Int: v}
}

func intsAttr(name string, v ...int64) *format.Attr {
	return &format.Attr{Name: name, Type: format.AttrInts, Ints: v}
}

func graphAttr(name string, g *format.Graph) *format.Attr {
	return &format.Attr{Name: name, Type: format.AttrGraph, Graph: g}
}

func modelOf(g *format.Graph) *format.Model {
	return &format.Model{IR: 8, Opsets: map[string]int64{"": 17}, Graph: g}
}

// added imports a model in float64.
func added(t *testing.T, m *format.Model) (*graph.Graph, *Result) {
	t.Helper()
	g := graph.New("test", graph.F64)
	r, err := Import(g, m, Options{Float: graph.F64})
	if err != nil {
		t.Fatal(err)
	}
	return g, r
}

// holds compares a value with what is expected.
func holds(t *testing.T, g *graph.Graph, feed graph.Values, n *graph.Node, want ...float64) {
	t.Helper()
	got, err := tape.NewStore(g).Eval(context.Background(), tape.Tensors(feed), n)
	if err != nil {
		t.Fatal(err)
	}
	if d := got[n].Data; len(d) != len(want) {
		t.Fatalf("%v is %v: want %v", n, d, want)
	}
	for i, w := range want {
		if v := got[n].Data[i]; v != w && !(math.Abs(v-w) <= 1e-9*math.Max(1, math.Abs(w))) {
			t.Fatalf("%v is %v: want %v", n, got[n].Data, want)
		}
	}
}

func fed(n *graph.Node, v ...float64) graph.Value { return graph.Value{Type: n.Type(), Data: v} }

// TestProblems: one error lists all that cannot be imported, with names that a terminal may be
// shown, but not what only depends on it.
func TestProblems(t *testing.T) {
	long := strings.Repeat("x", 300)
	m := modelOf(&format.Graph{
		Inputs: []*format.Value{input("x", format.Float, 2), input("c", format.Complex64, 2), {Name: "s", Type: &format.Type{Elem: format.Float}, At: 7}},
		Nodes: []*format.Node{
			withName(node("a = Nonsense x"), "evil\x1b[31m"),
			node("b = Add a x"), // depends on what is wrong
			withName(node("d = Transpose x", intsAttr("perm", 0, 1, 2)), long),
			node("e = Add x missing"),
			{Op: "FusedThing", Domain: "com.example", Inputs: []string{"x"}, Outputs: []string{"f"}, At: 9},
			node("h = Conv x x"),
		},
		Outputs: values("b", "nowhere"),
	})
	_, err := Import(graph.New("test"), m, Options{Float: graph.F32})
	want := strings.Join([]string{
		`byte 0: input "c": elements of complex64 have no type here`,
		`byte 7: input "s": its type is not that of a tensor with a shape`,
		`byte 0: Nonsense "evil�[31m": there is no such operator here`,
		`byte 0: Transpose "` + long[:199] + `…": axis 1 of an array with 1 axes`,
		`byte 0: Add "": no value is called "missing" here`,
		`byte 9: FusedThing "": there is no such operator here, of the domain com.example`,
		`byte 0: Conv "": an array with 1 axes: want [n c …]`,
		`byte 0: output "nowhere": no node makes it`,
	}, "\n")
	if err == nil {
		t.Fatal("no error")
	}
	got := strings.Split(err.Error(), "\n")
	for i, w := range strings.Split(want, "\n") {
		if i >= len(got) || got[i] != w {
			t.Errorf("line %d is\n%s\nwant\n%s", i, slices.Concat(got, make([]string, 9))[i], w)
		}
	}
}

// TestNames: scopes are the modules that names list, and a name made of the operator's is none.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"encoder.layer.0.weight": "encoder/layer.0/weight", "/model/conv1/Conv": "model/conv1/Conv", "0.weight": "0/weight", "w": "w", "a/b.c": "a/b/c",
		"p2o.helper.3": "helper.3", "conv2d_3.tmp_0": "conv2d_3", "If_0_then_branch__Inline_0__stft.basis": "stft/basis", "If_0_then_branch__Inline_0__/stft/Pad": "stft/Pad",
	} {
		if got := Path(name); got != want {
			t.Errorf("%q is %q: want %q", name, got, want)
		}
	}
	for out, want := range map[string]string{"/fc/Gemm_output_0": "", "logits": "logits", "12": "", "onnx::Mul_7": "", "h.3": "h.3", "Gemm_12": "", "net/Relu:0": "", "fc_0.tmp_1": "fc_0"} {
		if got := nameOf(&format.Node{Op: "Gemm", Outputs: []string{out}}, 0); got != want {
			t.Errorf("%q is called %q: want %q", out, got, want)
		}
	}
	g, r := added(t, modelOf(&format.Graph{
		Inputs:  []*format.Value{input("x", format.Float, 2, 3)},
		Init:    []*format.Tensor{floats32("block.0.fc.weight", []int64{3, 1}, 1, 2, 3), floats32("onnx::MatMul_7", []int64{1, 1}, 1)},
		Nodes:   []*format.Node{withName(node("/block/block.0/fc/MatMul_output_0 = MatMul x block.0.fc.weight"), "/block.0/fc/MatMul"), withName(node("y = Tanh /block/block.0/fc/MatMul_output_0"), "/block.0/Tanh"), withName(node("z = MatMul y onnx::MatMul_7"), "/block.0/fc/MatMul_1")},
		Outputs: values("y", "z"),
	}))
	if g.Lookup("block.0/fc/MatMul_7") == nil {
		t.Error("a weight without a name of its own is not where it is used")
	}
	if w := g.Lookup("block.0/fc/weight"); w == nil || w.Role() != graph.RoleParam {
		t.Errorf("the weight is %v", w)
	}
	y := r.Values["y"]
	if y.Name() != "y" || y.First().Scope != "block.0" || y.In(0).First().Scope != "block.0/fc" || y.In(0).Name() != "fc" {
		t.Errorf("the nodes are %q in %q and %q in %q", y.Name(), y.First().Scope, y.In(0).Name(), y.In(0).First().Scope)
	}
}

// TestLeaves: what is computed with is a parameter that starts at the file's values, running
// statistics are states, and all else is a constant.
func TestLeaves(t *testing.T) {
	inf := float32(math.Inf(-1))
	g, r := added(t, modelOf(&format.Graph{
		Inputs: []*format.Value{input("x", format.Float, 1, 2, 1)},
		Init: []*format.Tensor{
			floats32("gain", []int64{2}, 2, 3), floats32("bias", []int64{2}, 0, 1), floats32("mean", []int64{2}, 1, 1), floats32("var", []int64{2}, 4, 9),
			floats32("mask", []int64{2}, 0, inf), floats32("half", nil, 0.5), floats32("unused", []int64{2}, 0, 0), format.IntsOf("shape", []int64{1}, -1), floats32("a.b", []int64{1}, 5), floats32("a/b", []int64{1}, 6),
		},
		Nodes: []*format.Node{
			node("n = BatchNormalization x gain bias mean var", &format.Attr{Name: "epsilon", Type: format.AttrFloat}),
			node("f = Reshape n shape"), node("m = Add f mask"), node("h = Mul m half"), node("i = Add h a.b"), node("y = Mul i a/b"),
		},
		Outputs: values("y"),
	}))
	paths := func(nodes []*graph.Node) (out []string) {
		for _, n := range nodes {
			out = append(out, n.Path())
		}
		return out
	}
	if got, want := paths(g.Params()), []string{"gain", "bias", "a/b", "a/b_2"}; !slices.Equal(got, want) {
		t.Errorf("parameters are %v: want %v", got, want)
	}
	if got, want := paths(g.States()), []string{"mean", "var"}; !slices.Equal(got, want) {
		t.Errorf("states are %v: want %v", got, want)
	}
	holds(t, g, graph.Values{g.Lookup("x"): fed(g.Lookup("x"), 3, 4)}, r.Values["y"], (2*0.5+5)*6, math.Inf(-1))
}

// TestWholeNumbers: bounds are exact up to 2⁶³−1, and a constant that float64 rounds is refused where
// it is computed with.
func TestWholeNumbers(t *testing.T) {
	m := modelOf(&format.Graph{
		Inputs:  []*format.Value{input("x", format.Float, 4)},
		Init:    []*format.Tensor{format.IntsOf("from", []int64{1}, 1), format.IntsOf("to", []int64{1}, math.MaxInt64-1), format.IntsOf("axis", []int64{1}, 0)},
		Nodes:   []*format.Node{node("y = Slice x from to axis")},
		Outputs: values("y"),
	})
	g, r := added(t, m)
	holds(t, g, graph.Values{g.Lookup("x"): fed(g.Lookup("x"), 1, 2, 3, 4)}, r.Values["y"], 2, 3, 4)
	m.Graph.Nodes = append(m.Graph.Nodes, node("z = Add to to"))
	_, err := Import(graph.New("test"), m, Options{Float: graph.F32})
	if want := `byte 0: Add "": operand 0 has integers of more than 53 bits, which a constant here does not hold`; err == nil || err.Error() != want {
		t.Errorf("the error is %v: want %s", err, want)
	}
}

// TestFunction: a function of the model sees its operands and the attributes of the call.
func TestFunction(t *testing.T) {
	m := modelOf(&format.Graph{
		Inputs:  []*format.Value{input("x", format.Float, 2)},
		Nodes:   []*format.Node{withName(&format.Node{Op: "Twice", Domain: "own", Inputs: []string{"x"}, Outputs: []string{"y"}, Attrs: []*format.Attr{{Name: "slope", Type: format.AttrFloat, Float: 0.5}}}, "net/first")},
		Outputs: values("y"),
	})
	m.Functions = []*format.Function{{Name: "Twice", Domain: "own", Inputs: []string{"a"}, Outputs: []string{"c"}, Attrs: []string{"slope"}, Nodes: []*format.Node{
		node("b = LeakyRelu a", &format.Attr{Name: "alpha", Of: "slope", Type: format.AttrFloat}), node("c = Add b b"),
	}}}
	g, r := added(t, m)
	if s := r.Values["y"].First().Scope; s != "net/first" {
		t.Errorf("the result stands in %q", s)
	}
	holds(t, g, graph.Values{g.Lookup("x"): fed(g.Lookup("x"), -4, 3)}, r.Values["y"], -4, 6)
	m.Functions[0].Nodes = append(m.Functions[0].Nodes, &format.Node{Op: "Twice", Domain: "own", Inputs: []string{"c"}, Outputs: []string{"d"}})
	if _, err := Import(graph.New("test"), m, Options{Float: graph.F32}); err == nil || !strings.Contains(err.Error(), "functions call each other 64 deep") {
		t.Errorf("the error is %v", err)
	}
}

// branches is y = If(c, x·w, w − x).
func branches() *format.Graph {
	return &format.Graph{
		Inputs: []*format.Value{input("x", format.Float, 2), input("c", format.Bool)},
		Nodes: []*format.Node{node("y = If c",
			graphAttr("then_branch", &format.Graph{Init: []*format.Tensor{floats32("w", []int64{2}, 2, 3)}, Nodes: []*format.Node{node("p = Mul x w")}, Outputs: values("p")}),
			graphAttr("else_branch", &format.Graph{Init: []*format.Tensor{floats32("v", []int64{2}, 5, 7)}, Nodes: []*format.Node{node("q = Sub v x")}, Outputs: values("q")}))},
		Outputs: values("y"),
	}
}

// TestIf: a condition that is known leaves its branch alone in the graph; any other is taken in each run, and
// the weights of both branches are parameters.
func TestIf(t *testing.T) {
	g, r := added(t, modelOf(branches()))
	x, c := g.Lookup("x"), g.Lookup("c")
	if len(g.Params()) != 2 {
		t.Errorf("parameters are %v", g.Params())
	}
	for c0, want := range map[float64][]float64{1: {2, 6}, 0: {4, 5}} {
		holds(t, g, graph.Values{x: fed(x, 1, 2), c: fed(c, c0)}, r.Values["y"], want...)
	}
	loss := ops.Sum(r.Values["y"])
	d := grad.Of(loss, g.Params()...)
	holds(t, g, graph.Values{x: fed(x, 1, 2), c: fed(c, 1)}, d[0], 1, 2)
	holds(t, g, graph.Values{x: fed(x, 1, 2), c: fed(c, 1)}, d[1], 0, 0)
	known := graph.New("test", graph.F64)
	r, err := Import(known, modelOf(branches()), Options{Float: graph.F64, Known: map[string]*format.Tensor{"c": bools("c", 0)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(known.Params()) != 1 || r.Values["y"].Body() != nil {
		t.Errorf("the branch that is not taken is there: %v", known)
	}
}

// newton is Newton's iteration for the root of a, while the square is far from a.
func newton(trips string) *format.Graph {
	g := &format.Graph{
		Inputs: []*format.Value{input("a", format.Float), input("x0", format.Float)},
		Init:   []*format.Tensor{bools("on", 1), floats32("half", nil, 0.5), floats32("near", nil, 1e-6), format.IntsOf("five", nil, 5)},
		Nodes: []*format.Node{node("x = Loop "+trips+" on x0", graphAttr("body", &format.Graph{
			Inputs: []*format.Value{input("i", format.Int64), input("go", format.Bool), input("u", format.Float)},
			Nodes: []*format.Node{
				node("q = Div a u"), node("s = Add u q"), node("v = Mul s half"),
				node("vv = Mul v v"), node("e = Sub vv a"), node("d = Abs e"), node("far = Greater d near"),
			},
			Outputs: values("far", "v"),
		}))},
		Outputs: values("x"),
	}
	return g
}

// TestLoop: a loop that ends by a condition, or by the first of a condition and a count.
func TestLoop(t *testing.T) {
	for trips, want := range map[string]float64{"_": math.Sqrt2, "five": math.Sqrt2} {
		g, r := added(t, modelOf(newton(trips)))
		a, x0 := g.Lookup("a"), g.Lookup("x0")
		feed := graph.Values{a: fed(a, 2), x0: fed(x0, 1)}
		holds(t, g, feed, r.Values["x"], want)
		d := grad.Of(r.Values["x"], a)[0]
		got, err := tape.NewStore(g).Eval(context.Background(), tape.Tensors(feed), d)
		if err != nil {
			t.Fatal(err)
		}
		if w := 1 / (2 * math.Sqrt2); math.Abs(got[d].Data[0]-w) > 1e-3 {
			t.Errorf("the derivative of √2 is %v: want %v", got[d].Data[0], w)
		}
	}
}

// TestCountedLoop: with a count alone, a loop is one node, with a row for each step; where shapes grow, its steps are written out.
func TestCountedLoop(t *testing.T) {
	counted := func(next *format.Node) *format.Graph {
		return &format.Graph{
			Inputs: []*format.Value{input("x", format.Float, 1)},
			Init:   []*format.Tensor{format.IntsOf("three", nil, 3), bools("on", 1)},
			Nodes: []*format.Node{node("y rows = Loop three on x", graphAttr("body", &format.Graph{
				Inputs:  []*format.Value{input("i", format.Int64), input("go", format.Bool), input("u", format.Float)},
				Nodes:   []*format.Node{node("more = Identity go"), next, node("sum = ReduceSum v", intAttr("keepdims", 0))},
				Outputs: values("more", "v", "sum"),
			}))},
			Outputs: values("y", "rows"),
		}
	}
	g, r := added(t, modelOf(counted(node("v = Add u u"))))
	x := g.Lookup("x")
	holds(t, g, graph.Values{x: fed(x, 1)}, r.Values["y"], 8)
	holds(t, g, graph.Values{x: fed(x, 1)}, r.Values["rows"], 2, 4, 8)
	loops := 0
	for _, n := range graph.Reachable(r.Values["y"], r.Values["rows"]) {
		if n.Body() != nil {
			loops++
		}
	}
	if loops != 1 {
		t.Errorf("there are %d loops: want 1", loops)
	}
	if v := check.Failed(check.Graph(context.Background(), ops.Sum(r.Values["rows"]))); v != nil {
		t.Error(v)
	}
	g, r = added(t, modelOf(counted(node("v = Concat u u", intAttr("axis", 0)))))
	x = g.Lookup("x")
	holds(t, g, graph.Values{x: fed(x, 3)}, r.Values["rows"], 6, 12, 24)
	if n := r.Values["y"].Shape().Len(); n != 8 {
		t.Errorf("the array has grown to %d elements: want 8", n)
	}
}

// TestScan: directions and axes of sequences and results.
func TestScan(t *testing.T) {
	g, r := added(t, modelOf(&format.Graph{
		Inputs: []*format.Value{input("s", format.Float, 2), input("x", format.Float, 2, 3)},
		Nodes: []*format.Node{node("last all = Scan s x", intAttr("num_scan_inputs", 1), intsAttr("scan_input_axes", 1), intsAttr("scan_input_directions", 1), intsAttr("scan_output_axes", -1), intsAttr("scan_output_directions", 1),
			graphAttr("body", &format.Graph{
				Inputs:  []*format.Value{input("h", format.Float, 2), input("e", format.Float, 2)},
				Nodes:   []*format.Node{node("d = Add h h"), node("n = Add d e"), node("o = Identity n")},
				Outputs: values("n", "o"),
			}))},
		Outputs: values("last", "all"),
	}))
	s, x := g.Lookup("s"), g.Lookup("x")
	feed := graph.Values{s: fed(s, 1, 0), x: fed(x, 1, 2, 3, 10, 20, 30)}
	// From the last column: h ← 2h + e.
	holds(t, g, feed, r.Values["last"], 2*(2*(2+3)+2)+1, 2*(2*30+20)+10)
	holds(t, g, feed, r.Values["all"], 25, 12, 5, 170, 80, 30)
}

// TestVersions: a version that is not known, and an attribute that came later, are refused.
func TestVersions(t *testing.T) {
	for want, change := range map[string]func(m *format.Model){
		`byte 0: Relu "": version 23 of the operators is not known here: want at most 22`: func(m *format.Model) { m.Opsets[""] = 23 },
		`byte 0: Relu "": the file does not say which version of the operators it uses`:   func(m *format.Model) { delete(m.Opsets, "") },
		`byte 0: DequantizeLinear "": its attribute block_size, of version 21 of the operators, is not known here`: func(m *format.Model) {
			m.Opsets[""] = 21
			m.Graph.Nodes[0].Op, m.Graph.Nodes[0].Attrs = "DequantizeLinear", []*format.Attr{intAttr("block_size", 2)}
		},
	} {
		m := modelOf(&format.Graph{Inputs: []*format.Value{input("x", format.Float, 2)}, Nodes: []*format.Node{node("y = Relu x")}, Outputs: values("y")})
		change(m)
		if _, err := Import(graph.New("test"), m, Options{Float: graph.F32}); err == nil || err.Error() != want {
			t.Errorf("the error is %v: want %s", err, want)
		}
	}
}

package graph_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
)

// everything is a graph with every feature of the text form.
func everything(t testing.TB) (g *graph.Graph, loss *graph.Node) {
	t.Helper()
	g = graph.New("every \"feature\"\n; | of «the» text")
	x := g.Input("x", graph.F64, graph.Ax("i", 3), graph.Ax("d", 2))
	g.Input("odd \"name\"; | {a=[1}\n\t%0 = graph λ", graph.Bool, graph.Dims(2)...)
	γ := g.Scalar("γ", -0.5, graph.F64)
	end := g.Scope("in \"quotes\" | ;")
	r := g.Param("r", graph.F64, graph.Ax("j", 2), graph.Ax("d", 2)).Init(initial.Normal(0, 0.1))
	count := g.State("count", graph.I64).Init(initial.Fill(-3))
	g.State("hyphen", graph.F32, graph.Dims(2, 2)...).Init(initial.GlorotUniform())
	g.State("basis", graph.F32, graph.Dims(2, 2)...).Init(initial.Orthogonal(0.5))
	g.State("rows", graph.F32, graph.Dims(3)...).Init(initial.Rows("odd \"name\"; | {a=[1}\n\t%0 = graph λ"))
	end()
	D := ops.Sum(ops.Square(ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d"))), "d").As("D").As("second; name").As("")
	α := ops.Softmax(ops.Mul(γ, D), "j").As("α")
	noise := ops.RandomNormal(g, "ε \"x\"", graph.F64, graph.Ax("i", 3), graph.Ax("j", 2))
	loss = ops.Sum(ops.Add(ops.Mul(α, D), noise)).As("loss")
	d := grad.Of(loss, r, x)
	grad.Of(ops.Sum(ops.Square(d[0])), r)
	g.Assign(r, ops.Sub(r, ops.Scale(d[0], 0.1)))
	g.Assign(count, ops.Add(count, g.Constant(graph.I64, []float64{1})))
	nan := math.Float64frombits(math.Float64bits(math.NaN()) + 5)
	g.Constant(graph.F64, []float64{nan, math.Copysign(0, -1), 0, math.Inf(-1), 5e-324, 0.1}, graph.Dims(6)...)
	g.Constant(graph.F32, []float64{7, 7, 7, 7}, graph.Ax("a", 2), graph.Dims(2)[0]).As("uniform")
	g.Constant(graph.Bool, []float64{1, 0}, graph.Dims(2)...)
	g.During(graph.Occurrence{Pos: graph.Pos{File: "my \"dir\"/a b:c;|@.go", Line: 3}}, graph.Origin{Rule: "algebra: x·1 \"=\" x"}, func() { ops.Exp(x) })
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	return g, loss
}

// TestRoundTrip: the text form reads back as an equal graph, in every feature.
func TestRoundTrip(t *testing.T) {
	g, _ := everything(t)
	text := g.String()
	h, err := graph.Parse(strings.NewReader(text), ops.Vocabulary()...)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if again := h.String(); again != text {
		t.Errorf("got\n%s\nwant\n%s", again, text)
	}
	if h.Name() != g.Name() || h.Len() != g.Len() || len(h.Updates()) != 2 || len(h.Derivations()) != 3 {
		t.Errorf("%d nodes, %d updates, %d derivations", h.Len(), len(h.Updates()), len(h.Derivations()))
	}
	for i, n := range g.Nodes() {
		m := h.Nodes()[i]
		if m.Type() != n.Type() || m.Role() != n.Role() || m.Path() != n.Path() || m.Name() != n.Name() || m.Initialiser() != n.Initialiser() ||
			m.IsBackward() != n.IsBackward() || len(m.Occurrences()) != len(n.Occurrences()) {
			t.Errorf("%v reads back as %v", n, m)
		}
	}
	if d, ok := h.Lookup("γ").Default(); d != -0.5 || !ok {
		t.Errorf("the default reads back as %v, %v", d, ok)
	}
	empty := graph.New("")
	if h, err := graph.Parse(strings.NewReader(empty.String())); err != nil || h.String() != "graph \"\"\n" {
		t.Errorf("the empty graph: %v", err)
	}
}

// TestParseMistakes: a text that is not a graph is refused, with the line.
func TestParseMistakes(t *testing.T) {
	const x = "graph \"g\"\n%0 = input{path=\"x\" type=f32[i=3]} : f32[i=3] ; \"x\"\n"
	for _, c := range []struct{ text, want string }{
		{"", `line 1: want graph "name"`},
		{"graph g", `line 1: graph: want a quoted name`},
		{"graph \"g\" extra", `line 1: unexpected "extra"`},
		{"%0 = x", `line 1: want graph "name" first`},
		{x + "graph \"h\"", `line 3: want a node like %3, got "graph"`},
		{x + "%2 = Exp %0 : f32[i=3] ;", `line 3: node %2: want %1`},
		{x + "%1 Exp %0 : f32[i=3] ;", `line 3: want =`},
		{x + "%1 = Exp %0", `line 3: want : and a type`},
		{x + "%1 = Exp %1 : f32[i=3] ;", `line 3: node %1 does not exist yet`},
		{x + "%1 = Exp %-1 : f32[i=3] ;", `line 3: want a node like %3, got "%-1"`},
		{x + "%1 = state{path=\"s\" type=i32[] init=uniform(0,1)} : i32[] ;", `line 3: state: initialiser uniform(0,1) draws fractions, which type i32 does not hold`},
		{x + "%1 = Exp %0 : f32[i=4] ;", `line 3: Exp has type f32[i=3], not f32[i=4]`},
		{x + "%1 = Exp %0 : g32[i=3] ;", `line 3: unknown element type "g32": want f32, f64, f16, bf16, i32, i64, i8, u8 or bool`},
		{x + "%1 = Exp %0 : f32 ;", `line 3: type "f32": want f32[i=150 d=4]`},
		{x + "%1 = Exp %0 : f32[i=three] ;", `line 3: axis "i=three": want a size, or name=size`},
		{x + "%1 = Nothing %0 : f32[i=3] ;", `line 3: unknown operation "Nothing"`},
		{x + "%1 = Exp{axis=1} %0 : f32[i=3] ;", `line 3: Exp: no attribute "axis"`},
		{x + "%1 = Sum{axes=[9]} %0 : f32[i=3] ;", `line 3: Sum: attribute axes: axis 9: want 0 to 7`},
		{x + "%1 = Sum{axes=[0] keep=1} %0 : f32[i=1] ;", `line 3: Sum: attribute keep: want no value`},
		{x + "%1 = Sum{axes=0} %0 : f32[] ;", `line 3: Sum: attribute axes: list "0": want [1 0 2]`},
		{x + "%1 = Transpose{perm=[0 1 2 3 4 5 6 7 8]} %0 : f32[] ;", `line 3: Transpose: attribute perm: list "[0 1 2 3 4 5 6 7 8]": want at most 8 integers`},
		{x + "%1 = ArgMax{axis=x} %0 : i64[] ;", `line 3: ArgMax: attribute axis: strconv.ParseInt: parsing "x": invalid syntax`},
		{x + "%1 = Random{key=k type=f32[]} : f32[] ;", `line 3: Random: attribute key: want a quoted string`},
		{x + "%1 = Cast{to=q} %0 : f32[] ;", `line 3: Cast: attribute to: unknown element type "q": want f32, f64, f16, bf16, i32, i64, i8, u8 or bool`},
		{x + "%1 = input{path=\"x\" type=f32[]} : f32[] ;", `line 3: input: want a path of its own and a type`},
		{x + "%1 = input{type=f32[]} : f32[] ;", `line 3: input: want a path of its own and a type`},
		{x + "%1 = input{path=\"y\"} : f32[] ;", `line 3: input: want a path of its own and a type`},
		{x + "%1 = input{path=\"y\" type=f32[2] hasDefault} : f32[2] ;", `line 3: input: a default for an array of type f32[2]: only scalar inputs have one`},
		{x + "%1 = param{path=\"y\" type=f32[] hasDefault} : f32[] ;", `line 3: param: a default for an array of type f32[]: only scalar inputs have one`},
		{x + "%1 = input{path=\"y\" type=f32[]} %0 : f32[] ;", `line 3: input: 1 operands: want none`},
		{x + "%1 = param{path=\"y\" type=f32[] init=magic} : f32[] ;", `line 3: param: attribute init: unknown initialiser "magic": want one of zeros, fill, uniform, normal, glorot, he, xavier, glorot-uniform, he-uniform, orthogonal, rows`},
		{x + "%1 = param{path=\"y\" type=f32[] init=fill} : f32[] ;", `line 3: param: attribute init: initialiser "fill": want 1 numbers`},
		{x + "%1 = param{path=\"y\" type=f32[] init=fill(x)} : f32[] ;", `line 3: param: attribute init: number "x": want a decimal`},
		{x + "%1 = constant{f32[]: 1} %0 : f32[] ;", `line 3: constant: 1 operands: want none`},
		{x + "%1 = constant{f32[2]: 1} : f32[2] ;", `line 3: value of f32[2]: want 2 numbers, got 1`},
		{x + "%1 = constant{f32[]} : f32[] ;", `line 3: value "f32[]": want f32[2]: 1 0.5`},
		{x + "%1 = constant{f32[]: 0.1} : f32[] ;", `line 3: 0.1 is not a value of type f32`},
		{x + "%1 = constant{i32[]: 0.5} : i32[] ;", `line 3: 0.5 is not a value of type i32`},
		{x + "%1 = constant{f32[]: nan:0x1} : f32[] ;", `line 3: number "nan:0x1": want the bits of a NaN`},
		{x + "%1 = constant{f32[1000000000]: ×1} : f32[1000000000] ;", `line 3: a constant of 1000000000 elements: at most 16777216 are read`},
		{x + "%1 = Exp %0 : f32[i=3] ;\n%2 = Exp %0 : f32[i=3] ;", `line 4: %2 equals %1`},
		{x + "%1 = Exp %0 : f32[i=3] \"y\"", `line 3: want ; before the occurrences, got "\"y\""`},
		{x + "%1 = Exp %0 : f32[i=3] ; \"y", `line 3: name "y: invalid syntax`},
		{x + "%1 = Exp %0 : f32[i=3] ; @main.go", `line 3: position @main.go: want @file:line`},
		{x + "%1 = Exp %0 : f32[i=3] ; in s", `line 3: in: want a quoted scope`},
		{x + "%1 = Exp %0 : f32[i=3] ; rule=r", `line 3: rule: want a quoted name`},
		{x + "%1 = Exp %0 : f32[i=3] ; grad %0 %7", `line 3: node %7 does not exist yet`},
		{x + "%1 = Exp %0 : f32[i=3] ; what", `line 3: occurrence: unexpected "what"`},
		{x + "update %0 <- %0", `line 3: Assign: x[i=3] is not a parameter or state`},
		{x + "update %0 = %0", `line 3: want <-, got "="`},
		{x + "gradient %0 wrt %0 % %0 from %0", `line 3: want =`},
		{x + "gradient %0 wrt %0 = %0 to %0", `line 3: want from`},
		{x + "%1 = Exp %0 : f32[i=3]", `%1 = Exp %0 : f32[i=3]: occurs nowhere`},
		{x + "gradient %0 wrt %0 = %0 from %0", `%0 = input{path="x" type=f32[i=3]} : f32[i=3]: is recorded as the derivative of x[i=3] with respect to x[i=3]`},
	} {
		g, err := graph.Parse(strings.NewReader(c.text), ops.Vocabulary()...)
		if err == nil || g != nil || err.Error() != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// failing stands for a disk that breaks.
type failing struct{ after int }

var errBroken = errors.New("broken")

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

func (f *failing) Read(p []byte) (int, error) { return copy(p, "graph \"g\"\n"), errBroken }

func TestBrokenStreams(t *testing.T) {
	g, _ := everything(t)
	for after := range 20 {
		if err := g.Dump(&failing{after}); !errors.Is(err, errBroken) {
			t.Fatalf("got %v", err)
		}
	}
	if _, err := graph.Parse(&failing{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

// FuzzParse: no text makes the reader panic, and what it accepts prints to a
// text that reads back to the same print.
func FuzzParse(f *testing.F) {
	g, _ := everything(f)
	f.Add(g.String())
	for _, op := range ops.List() {
		for _, c := range op.Cases() {
			if text, ok := caseText(c); ok {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := graph.Parse(strings.NewReader(text), ops.Vocabulary()...)
		if err != nil {
			return
		}
		printed := g.String()
		h, err := graph.Parse(strings.NewReader(printed), ops.Vocabulary()...)
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		if again := h.String(); again != printed {
			t.Fatalf("printed\n%s\nthen\n%s", printed, again)
		}
	})
}

func caseText(c ops.Case) (string, bool) {
	g := graph.New("case")
	var in []*graph.Node
	for i, o := range c.Operands {
		var typ graph.Type
		if typ.UnmarshalText([]byte(strings.Replace(o.Type, "float[", "f32[", 1))) != nil {
			return "", false
		}
		in = append(in, g.Input(string(rune('a'+i)), typ.DType, typ.Shape.Axes()...))
	}
	y := c.Make(in)
	var b bytes.Buffer
	err := y.Graph().Dump(&b)
	return b.String(), err == nil && y.IsValid()
}

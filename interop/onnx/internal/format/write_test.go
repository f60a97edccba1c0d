package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func written(t *testing.T, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func floatsOf(name string, v ...float32) *Tensor {
	return &Tensor{Name: name, Type: Float, Dims: []int64{int64(len(v))}, Raw: Bytes([]byte(little(v)))}
}

// everything is a model with every field that is written.
func everything() *Model {
	body := &Graph{
		Name:    "body",
		Nodes:   []*Node{{Op: "Add", Inputs: []string{"x", "c"}, Outputs: []string{"b"}}},
		Init:    []*Tensor{floatsOf("c", 1, 2)},
		Outputs: []*Value{{Name: "b", Type: &Type{Elem: Float}}},
	}
	seq := &Type{Kind: KindSequence, Of: &Type{Elem: Int64, Ranked: true, Dims: []Dim{{Size: 3}, {Size: -1}, {Size: -1, Symbol: "T", Denotation: "time"}}}}
	return &Model{
		IR: 8, Producer: "tapestry", ProducerVersion: "1.0", Domain: "org.example", Version: 3, Doc: "a model",
		Opsets:   map[string]int64{"": 17, "com.example": 1},
		Metadata: map[string]string{"a key": "a value", "empty": ""},
		Graph: &Graph{
			Name: "main", Doc: "a graph",
			Inputs: []*Value{
				{Name: "x", Doc: "the input", Type: &Type{Elem: Float, Ranked: true, Dims: []Dim{{Size: -1, Symbol: "N", Denotation: "DATA_BATCH"}, {Size: 2}}, Denotation: "TENSOR"}},
				{Name: "s", Type: seq}, {Name: "o", Type: &Type{Kind: KindOptional, Of: seq}},
				{Name: "m", Type: &Type{Kind: KindMap, Elem: String, Of: &Type{Elem: Float, Ranked: true}}},
				{Name: "p", Type: &Type{Kind: KindSparse, Elem: Float, Ranked: true, Dims: []Dim{{Size: 0}}}},
				{Name: "unknown"},
			},
			Init: []*Tensor{
				floatsOf("w", 1, 2, 3), IntsOf("n", nil, -5), {Name: "none", Type: Double, Dims: []int64{0, 3}},
				{Name: "words", Doc: "of strings", Type: String, Dims: []int64{2}, Strings: []string{"a", ""}},
				{Name: "sparse", Type: Float, Dims: []int64{4}, Sparse: &Sparse{floatsOf("", 9), IntsOf("", []int64{1}, 2)}, Raw: Bytes([]byte(little([]float32{0, 0, 9, 0})))},
			},
			Nodes: []*Node{
				{Op: "If", Name: "scope/if", Doc: "a branch", Inputs: []string{"cond", ""}, Outputs: []string{"y", ""}, Attrs: []*Attr{
					{Name: "then_branch", Type: AttrGraph, Graph: body}, {Name: "more", Type: AttrGraphs, Graphs: []*Graph{body, {}}},
				}},
				{Op: "Odd", Domain: "com.example", Outputs: []string{"z"}, Attrs: []*Attr{
					{Name: "f", Type: AttrFloat, Float: -0.5}, {Name: "i", Type: AttrInt, Int: -7}, {Name: "s", Type: AttrString, String: "\xff bytes"},
					{Name: "t", Type: AttrTensor, Tensor: floatsOf("", 4)}, {Name: "fs", Type: AttrFloats, Floats: []float32{1, 2}}, {Name: "is", Type: AttrInts, Ints: []int64{1, -2}},
					{Name: "ss", Type: AttrStrings, Strings: []string{"", "b"}}, {Name: "ts", Type: AttrTensors, Tensors: []*Tensor{floatsOf("", 5), IntsOf("", []int64{1}, 6)}},
					{Name: "none", Type: AttrInts}, {Name: "tp", Type: AttrProto, Proto: seq}, {Name: "zero", Type: AttrFloat},
					{Name: "sp", Type: AttrSparse, Tensor: &Tensor{Type: Float, Dims: []int64{2}, Sparse: &Sparse{floatsOf("", 9), IntsOf("", []int64{1}, 1)}, Raw: Bytes([]byte(little([]float32{0, 9})))}},
				}},
			},
			Outputs: []*Value{{Name: "y", Type: &Type{Elem: Float16, Ranked: true}}},
			Infos:   []*Value{{Name: "z", Type: &Type{Elem: BFloat16, Ranked: true, Dims: []Dim{{Size: 1}}}}},
		},
		Functions: []*Function{{
			Name: "Twice", Domain: "com.example", Doc: "x + x", Inputs: []string{"x"}, Outputs: []string{"y"}, Attrs: []string{"alpha"},
			Defaults: []*Attr{{Name: "beta", Type: AttrFloat, Float: 2}}, Opsets: map[string]int64{"": 17},
			Nodes: []*Node{{Op: "Elu", Inputs: []string{"x"}, Outputs: []string{"y"}, Attrs: []*Attr{{Name: "alpha", Type: AttrFloat, Of: "alpha"}}}},
		}},
	}
}

const everythingText = `opset 17, opset com.example 1, ir 8, producer "tapestry 1.0"
input x float32[DATA_BATCH=N 2]
input s sequence(int64[3 ? time=T])
input o optional(sequence(int64[3 ? time=T]))
input m map(string float32[])
input p sparse float32[0]
input unknown
init w float32[3][1 2 3]
init n int64[][-5]
init none float64[0 3][]
init words string[2]["a" ""]
init sparse sparse float32[4][0 0 9 0]
y, _ = If cond _  # scope/if
  then_branch:
    init c float32[2][1 2]
    b = Add x c
    output b float32[…]
  more:
    init c float32[2][1 2]
    b = Add x c
    output b float32[…]
  more:
z = com.example.Odd{f=-0.5 i=-7 s="\xff bytes" t=float32[1][4] fs=[1 2] is=[1 -2] ss=["" "b"] ts=[float32[1][5] int64[1][6]] none=[] tp=sequence(int64[3 ? time=T]) zero=0 sp=sparse float32[2][0 9]}
output y float16[]
function com.example.Twice{alpha} x -> y
  beta=2
  y = Elu{alpha=@alpha} x
`

// Every field comes back, and equal models are equal bytes.
func TestWrite(t *testing.T) {
	m := everything()
	if m.String() != everythingText {
		t.Errorf("got\n%swant\n%s", m, everythingText)
	}
	b := written(t, m)
	if !bytes.Equal(b, written(t, everything())) {
		t.Error("equal models are other bytes")
	}
	back := mustRead(t, b)
	if back.String() != everythingText {
		t.Errorf("comes back as\n%swant\n%s", back, everythingText)
	}
	if !bytes.Equal(b, written(t, back)) {
		t.Error("the model that comes back is other bytes")
	}
	if back.Doc != m.Doc || back.Graph.Doc != m.Graph.Doc || back.Graph.Inputs[0].Doc != "the input" || back.Graph.Init[3].Doc != "of strings" ||
		back.Metadata["a key"] != "a value" || back.Version != 3 || back.Graph.Inputs[0].Type.Denotation != "TENSOR" || len(back.Graph.Infos) != 1 {
		t.Errorf("something that is not printed is lost: %+v", back)
	}
}

// Names that would mix with what is around them are printed in quotes.
func TestOddNames(t *testing.T) {
	m := &Model{Graph: &Graph{
		Inputs: []*Value{{Name: "a b"}, {Name: "_"}, {Name: ""}, {Name: "\x1b[2J"}, {Name: "é/ü.0"}, {Name: "\u202ex"}},
		Nodes:  []*Node{{Op: "A\nB", Name: "#", Inputs: []string{"a b", "_"}, Outputs: []string{`"`}}},
	}}
	want := "ir 0, producer \"\"\ninput \"a b\"\ninput \"_\"\ninput _\ninput \"\\x1b[2J\"\ninput é/ü.0\ninput \"\\u202ex\"\n\"\\\"\" = \"A\\nB\" \"a b\" \"_\"  # \"#\"\n"
	if m.String() != want {
		t.Errorf("got\n%swant\n%s", m, want)
	}
}

// limited fails after so many bytes.
type limited struct{ left int }

var errFull = errors.New("the disk is full")

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteMistakes(t *testing.T) {
	graph := func(g Graph) *Model { return &Model{Graph: &g} }
	attr := func(a Attr) *Model { return graph(Graph{Nodes: []*Node{{Op: "A", Attrs: []*Attr{&a}}}}) }
	zeros := func(size int64) *Tensor {
		return &Tensor{Name: "w", Type: Float, Dims: []int64{size / 4}, Raw: Stream(size, func() (io.Reader, error) { return zeros{}, nil })}
	}
	for _, c := range []struct {
		m    *Model
		want string
	}{
		{&Model{}, "the model has no graph"},
		{graph(Graph{Init: []*Tensor{{Name: "w", Type: Float, Dims: []int64{2}}}}), `tensor "w" has 0 bytes of data: want 8`},
		{graph(Graph{Init: []*Tensor{{Name: "w", Type: String, Dims: []int64{2}}}}), `tensor "w" has 0 strings: want 2`},
		{attr(Attr{Name: "a"}), `attribute "a" of type type(0) has no value that can be written`},
		{attr(Attr{Name: "a", Type: AttrGraph}), `attribute "a" of type graph has no value that can be written`},
		{attr(Attr{Name: "a", Type: AttrSparse, Tensor: floatsOf("", 1)}), `attribute "a" of type sparse tensor has no value that can be written`},
		{graph(Graph{Inputs: []*Value{{Type: &Type{Kind: KindMap}}}}), "a type of a map has no type of elements"},
		{graph(Graph{Init: []*Tensor{zeros(2 << 30)}}), "the model has 2147483679 bytes, and a file in protobuf's format at most 2147483647: write its weights as external data"},
		{graph(Graph{Init: []*Tensor{zeros(1 << 20)}}), `tensor "w": the disk is full`},
	} {
		if err := c.m.Write(&limited{1 << 18}); fmt.Sprint(err) != c.want {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
	for _, name := range []string{"", "../w", "/w", "a/../w"} {
		err := everything().WriteExternal(io.Discard, External{File: io.Discard, Name: name})
		if want := fmt.Sprintf("external data: the location %q: want the path of a file in the folder of the model", name); fmt.Sprint(err) != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	if err := everything().WriteExternal(io.Discard, External{Name: "w"}); fmt.Sprint(err) != "there is no file for external data" {
		t.Errorf("got %v", err)
	}
	if err := graph(Graph{Init: []*Tensor{zeros(1 << 20)}}).WriteExternal(io.Discard, External{File: &limited{1 << 18}, Name: "w"}); fmt.Sprint(err) != `tensor "w": the disk is full` {
		t.Errorf("got %v", err)
	}
}

// zeros is a reader of zeros without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// Large initialisers go to a file beside the model, aligned, and come back from it; a tensor that two
// graphs have goes there once.
func TestWriteExternal(t *testing.T) {
	m := everything()
	m.Graph.Init = append(m.Graph.Init, floatsOf("v", 1, 2, 3, 4))
	m.Graph.Nodes[0].Attrs[0].Graph.Init = append(m.Graph.Nodes[0].Attrs[0].Graph.Init, m.Graph.Init[0])
	text := m.String()
	dir := t.TempDir()
	var model, data bytes.Buffer
	if err := m.WriteExternal(&model, External{File: &data, Name: "w.bin", Over: 8}); err != nil {
		t.Fatal(err)
	}
	want := append([]byte(little([]float32{1, 2, 3})), make([]byte, 4096-12)...)
	want = append(want, little([]float32{1, 2, 3, 4})...)
	if !bytes.Equal(data.Bytes(), want) {
		t.Errorf("the file has %d bytes, want %d", data.Len(), len(want))
	}
	if err := os.WriteFile(filepath.Join(dir, "w.bin"), data.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	back, err := read(model.Bytes(), Limits{Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	if back.String() != text {
		t.Errorf("comes back as\n%swant\n%s", back, text)
	}
	if !bytes.Equal(written(t, back), written(t, m)) {
		t.Error("written in one file it is another")
	}
	if got, err := back.Graph.Init[5].Floats(); err != nil || !slices.Equal(got, []float64{1, 2, 3, 4}) {
		t.Errorf("got %v, %v", got, err)
	}
	if n := strings.Count(model.String(), "location"); n != 4 { // w in three graphs, and v
		t.Errorf("%d tensors are external", n)
	}
}

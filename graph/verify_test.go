package graph

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// double is a small operation of one operand.
type double struct{ Axis int }

func (double) Name() string                   { return "Double" }
func (double) Infer(in []*Node) (Type, error) { return in[0].Type(), nil }

// uncomparable is put into a node behind the graph's back.
type uncomparable struct{ list []int }

func (uncomparable) Name() string                { return "Uncomparable" }
func (uncomparable) Infer([]*Node) (Type, error) { return Type{}, nil }

// TestVerifyFindsCorruption: each broken invariant is a complaint, and the sound
// graph has none.
func TestVerifyFindsCorruption(t *testing.T) {
	type parts struct {
		g             *Graph
		x, w, c, y, z *Node
	}
	build := func() parts {
		g := New("g")
		x := g.Input("x", F32, Ax("i", 3))
		w := g.Param("w", F32, Ax("i", 3))
		c := g.Constant(F32, []float64{1, 2, 3}, Ax("i", 3))
		y := g.Apply(double{}, x)
		z := g.Apply(double{1}, y)
		g.Assign(w, y)
		s := g.Scalar("s", 1)
		g.RecordDerivation(Derivation{Loss: s, Wrt: x, Grad: y, First: 3})
		return parts{g, x, w, c, y, z}
	}
	if p := build(); Verify(p.g) != nil || p.g.Err() != nil {
		t.Fatalf("a sound graph: %v, %v", Verify(p.g), p.g.Err())
	}
	for _, c := range []struct {
		name  string
		spoil func(p parts)
		want  string
	}{
		{"number", func(p parts) { p.z.id = 1 }, "stands at place 4"},
		{"graph", func(p parts) { p.y.g = New("h") }, "stands at place 3"},
		{"younger input", func(p parts) { p.y.in[0] = p.z }, "an input is not an older node of the graph"},
		{"nil input", func(p parts) { p.y.in[0] = nil }, "an input is not an older node of the graph"},
		{"own input", func(p parts) { p.y.in[0] = p.y }, "an input is not an older node of the graph"},
		{"foreign input", func(p parts) { p.y.in[0] = New("h").Input("x", F32) }, "an input is not an older node of the graph"},
		{"input exchanged", func(p parts) { p.y.in[0] = p.w }, "is not the node interned"},
		{"operation exchanged", func(p parts) { p.y.op = double{7} }, "is not the node interned"},
		{"operation not comparable", func(p parts) { p.y.op = uncomparable{list: nil} }, "attribute Uncomparable.list has type []int"},
		{"no operation", func(p parts) { p.y.op = nil }, "no operation"},
		{"type", func(p parts) { p.y.typ.DType = F64 }, "infers f32[i=3]"},
		{"constant's type", func(p parts) { p.c.typ.Shape = Shape{} }, "the constant has type f32[i=3] and 3 values"},
		{"constant's values", func(p parts) { p.g.constants[0].Data = p.g.constants[0].Data[:2] }, "the constant has type f32[i=3] and 2 values"},
		{"path", func(p parts) {
			l := p.w.op.(leaf)
			l.Path = "x"
			p.w.op = l
		}, `path "x" is also %0's`},
		{"no occurrence", func(p parts) { p.z.occurs = nil }, "occurs nowhere"},
		{"origin missing", func(p parts) { p.z.occurs[0].Origin = Origin{Kind: FromGrad} }, "its origin is not a node of the graph"},
		{"origin foreign", func(p parts) {
			o := New("h").Input("x", F32)
			p.z.occurs[0].Origin = Origin{Kind: FromAdjoint, Of: o, Loss: p.y}
		}, "its origin is not a node of the graph"},
		{"update of an input", func(p parts) { p.g.updates[0].Target = p.x }, "cannot be updated by"},
		{"update of another shape", func(p parts) { p.g.updates[0].Value = p.g.Lookup("s") }, "cannot be updated by"},
		{"derivation of no scalar", func(p parts) { p.g.derived[0].Loss = p.y }, "is recorded as the derivative of"},
		{"derivation of another type", func(p parts) { p.g.derived[0].Grad = p.g.Lookup("s") }, "is recorded as the derivative of"},
	} {
		p := build()
		c.spoil(p)
		if err := Verify(p.g); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want a complaint that it %s", c.name, err, c.want)
		}
	}
	p := build()
	p.y.typ.DType, p.z.occurs = F64, nil
	if err := Verify(p.g); err == nil || strings.Count(err.Error(), "\n") < 2 { // z infers another type too
		t.Errorf("not all complaints are reported: %v", err)
	}
}

// TestPrintedFile: files are printed relative to the nearest module.
func TestPrintedFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/go.mod")
	write(t, dir+"/deep/er/model.go")
	g := New("g")
	for file, want := range map[string]string{
		dir + "/main.go":          "main.go",
		dir + "/deep/er/model.go": "deep/er/model.go",
		g.root + "ops/add.go":     "ops/add.go",
		"/nowhere/at/all/x.go":    "x.go",
		"relative/x.go":           "x.go",
	} {
		for range 2 { // from the file system, then from memory
			if got := g.printedFile(file); got != want {
				t.Errorf("%s is printed as %s, want %s", file, got, want)
			}
		}
	}
}

// write makes an empty file and the directories it lies in.
func write(t *testing.T, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestIsLibrary: programs, examples and tests in this module are users of it.
func TestIsLibrary(t *testing.T) {
	g := New("g")
	for file, want := range map[string]bool{
		"ops/add.go": true, "graph/grad/grad.go": true, "ops/add_test.go": false,
		"examples/add/main.go": false, "cmd/tapestry/main.go": false,
	} {
		if got := g.isLibrary(g.root + file); got != want {
			t.Errorf("%s is the library's: %v, want %v", file, got, want)
		}
	}
	if g.isLibrary("/home/user/ops/add.go") {
		t.Error("a user's file is the library's")
	}
}

// TestVerifyIsPlain: a graph with mistakes of the user is sound all the same.
func TestVerifyIsPlain(t *testing.T) {
	g := New("g")
	g.Fail("A", fmt.Errorf("mistake"))
	if err := Verify(g); err != nil {
		t.Error(err)
	}
}

package importer

import (
	little "encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// Kernels and matrices are parameters in our layout, and are transposed in no run; one that is read
// in two ways keeps that of the file.
func TestWeightsAreLaidOut(t *testing.T) {
	var raw []byte
	for i := range 6 {
		raw = little.LittleEndian.AppendUint64(raw, math.Float64bits(float64(i+1)))
	}
	w := format.IntsOf("w", []int64{2, 3}, 1, 2, 3, 4, 5, 6)
	w.Type, w.Raw = format.Double, format.Bytes(raw)
	gemm := &format.Node{Op: "Gemm", Inputs: []string{"x", "w"}, Outputs: []string{"y"}, Attrs: []*format.Attr{{Name: "transB", Type: format.AttrInt, Int: 1}}}
	f := &format.Graph{Init: []*format.Tensor{w}, Nodes: []*format.Node{gemm},
		Inputs:  []*format.Value{{Name: "x", Type: &format.Type{Elem: format.Double, Ranked: true, Dims: []format.Dim{{Size: 4}, {Size: 3}}}}},
		Outputs: []*format.Value{{Name: "y"}}}
	m := &format.Model{Opsets: map[string]int64{"": 17}, Graph: f}

	g := graph.New("laid out")
	if _, err := Import(g, m, Options{Float: graph.F64}); err != nil {
		t.Fatal(err)
	}
	p := g.Params()[0]
	if text := p.Type().String(); text != "f64[3 2]" {
		t.Errorf("the matrix is %s: want f64[3 2]", text)
	}
	for _, n := range graph.Reachable(g.Lookup("y")) {
		if n.Op() != nil && n.Op().Name() == "Transpose" {
			t.Errorf("the matrix is transposed: %v", n)
		}
	}
	_, draw, _ := p.Initialiser().Custom()
	if got := draw([]int{3, 2}, nil); !slices.Equal(got, []float64{1, 4, 2, 5, 3, 6}) {
		t.Errorf("the matrix starts at %v: want 1 4 2 5 3 6", got)
	}

	f.Nodes = append(f.Nodes, &format.Node{Op: "MatMul", Inputs: []string{"y", "w"}, Outputs: []string{"z"}})
	f.Outputs = append(f.Outputs, &format.Value{Name: "z"})
	g = graph.New("both ways")
	if _, err := Import(g, m, Options{Float: graph.F64}); err != nil {
		t.Fatal(err)
	}
	if text := g.Params()[0].Type().String(); text != "f64[2 3]" {
		t.Errorf("the matrix that is read in two ways is %s: want f64[2 3]", text)
	}
}

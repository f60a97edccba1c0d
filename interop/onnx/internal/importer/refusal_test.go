package importer

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// TestRefusals: an operator that cannot be imported says why.
func TestRefusals(t *testing.T) {
	number := func(name string, v int64) *format.Attr { return &format.Attr{Name: name, Type: format.AttrInt, Int: v} }
	text := func(name, v string) *format.Attr { return &format.Attr{Name: name, Type: format.AttrString, String: v} }
	six := tensorOf(format.Float, []int{2, 3}, make([]float64, 6))
	list := func(v ...int64) *format.Tensor { return format.IntsOf("", []int64{int64(len(v))}, v...) }
	cases := []struct {
		op    string
		attrs []*format.Attr
		in    []*format.Tensor // the first is an input, the others are known
		want  string
	}{
		{"Add", nil, []*format.Tensor{six, tensorOf(format.Float, []int{2}, []float64{1, 2})}, `byte 0: Add "": operands of shapes [[2 3] [2]] do not broadcast`},
		{"ArgMax", []*format.Attr{number("axis", 2)}, []*format.Tensor{six}, `byte 0: ArgMax "": axis 2 of an array with 2 axes`},
		{"BitShift", []*format.Attr{text("direction", "UP")}, []*format.Tensor{list(1), list(1)}, `byte 0: BitShift "": direction "UP": want LEFT or RIGHT`},
		{"Compress", nil, []*format.Tensor{six, list(0, 0, 0, 0, 0, 0, 1)}, `byte 0: Compress "": element 6 is wanted of an axis with 6`},
		{"DepthToSpace", nil, []*format.Tensor{six}, `byte 0: DepthToSpace "": an operand with 2 axes in blocks of 0: want 4 axes and at least 1`},
		{"Einsum", []*format.Attr{text("equation", "ijk->k")}, []*format.Tensor{six}, `byte 0: Einsum "": term "ijk" of equation "ijk->k" for an operand with 2 axes`},
		{"Gather", nil, []*format.Tensor{six, list(2)}, `byte 0: Gather "": index 2 of an axis with 2 elements`},
		{"LpNormalization", []*format.Attr{number("p", 3)}, []*format.Tensor{six}, `byte 0: LpNormalization "": p is 3: want 1 or 2`},
		{"NonZero", nil, []*format.Tensor{six}, `byte 0: NonZero "": operand 0 must be known when the graph is built, and depends on x0`},
		{"Pad", []*format.Attr{text("mode", "mirror")}, []*format.Tensor{six, list(1, 1, 1, 1)}, `byte 0: Pad "": mode "mirror": want constant, reflect, edge or wrap`},
		{"ReduceSum", nil, []*format.Tensor{six, list(1, -1)}, `byte 0: ReduceSum "": axis -1 is given twice`},
		{"Reshape", nil, []*format.Tensor{six, list(4, -1)}, `byte 0: Reshape "": 6 elements cannot be laid out as [4 -1]`},
		{"Split", nil, []*format.Tensor{six, list(1, 2)}, `byte 0: Split "": parts of sizes [1 2] of an axis of size 2`},
		{"Squeeze", nil, []*format.Tensor{six, list(0)}, `byte 0: Squeeze "": axis 0 has size 2: want 1`},
		{"Tile", nil, []*format.Tensor{six, list(2)}, `byte 0: Tile "": 1 numbers of repetitions for 2 axes`},
		{"TopK", nil, []*format.Tensor{six, list(4)}, `byte 0: TopK "": 4 elements of an axis with 3`},
	}
	for _, c := range cases {
		s := &sample{node: &format.Node{Op: c.op, Attrs: c.attrs}, version: 15, in: c.in, fixed: make([]bool, len(c.in))}
		for i := 1; i < len(c.in); i++ {
			s.fixed[i] = true
		}
		model, _ := s.model()
		_, err := Import(graph.New("test"), model, Options{Float: graph.F32})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n%v\nwant\n%s", c.op, err, c.want)
		}
	}
}

package importer

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// TestProductsOfBytes: products of bytes stay products of bytes, whatever zeros their operands
// have, and give what they stand for.
func TestProductsOfBytes(t *testing.T) {
	b := func(elem format.DataType, sizes []int, v ...float64) *format.Tensor {
		return numbersOf(elem, sizes, v...)
	}
	x, image := b(u8, []int{1, 2}, 255, 3), b(u8, []int{1, 1, 3}, 10, 20, 250)
	pads := &format.Attr{Name: "pads", Type: format.AttrInts, Ints: []int64{1, 0}}
	for _, c := range []struct {
		name  string
		op    string
		in    []*format.Tensor
		attrs []*format.Attr
		fixed bool // the last operand is known
		want  []float64
		kind  match.Kind
		count int // of products
	}{
		{"i8", "MatMulInteger", []*format.Tensor{x, b(i8, []int{2, 1}, -128, 2)}, nil, false, []float64{-255*128 + 6}, match.MatMulInteger, 1},
		{"u8", "MatMulInteger", []*format.Tensor{x, b(u8, []int{2, 1}, 255, 2)}, nil, false, []float64{255*255 + 6}, match.MatMulInteger, 2},
		{"u8 about 128", "MatMulInteger", []*format.Tensor{x, b(u8, []int{2, 1}, 255, 2), b(u8, nil, 1), b(u8, nil, 128)}, nil, true, []float64{254*127 - 2*126}, match.MatMulInteger, 1},
		{"zeros of columns", "MatMulInteger", []*format.Tensor{x, b(u8, []int{2, 2}, 255, 2, 0, 7), b(u8, nil, 1), b(u8, []int{2}, 9, 200)}, nil, false,
			[]float64{254*246 - 2*9, -254*198 - 2*193}, match.MatMulInteger, 2},
		{"even padding", "ConvInteger", []*format.Tensor{image, b(i8, []int{1, 1, 2}, -3, 2), b(u8, nil, 20)}, nil, false, []float64{30, 460}, match.ConvInteger, 1},
		{"padding before, known zero", "ConvInteger", []*format.Tensor{image, b(i8, []int{1, 1, 2}, -3, 2), b(u8, nil, 20)}, []*format.Attr{pads}, true,
			[]float64{-20, 30, 460}, match.ConvInteger, 1},
		{"padding before, fed zero", "ConvInteger", []*format.Tensor{image, b(i8, []int{1, 1, 2}, -3, 2), b(u8, nil, 20)}, []*format.Attr{pads}, false,
			[]float64{-20, 30, 460}, match.Conv, 1},
		{"zeros of channels", "ConvInteger", []*format.Tensor{image, b(u8, []int{2, 1, 2}, 125, 130, 1, 2), b(u8, nil, 20), b(u8, []int{2}, 128, 1)}, nil, false,
			[]float64{30, 460, 0, 230}, match.ConvInteger, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &sample{node: &format.Node{Op: c.op, Attrs: c.attrs}, version: 13, outs: 1, in: c.in, fixed: make([]bool, len(c.in))}
			s.fixed[len(c.in)-1] = c.fixed
			model, fed := s.model()
			out, err := evaluate(model, fed, nil, graph.F32)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out[0].Data, c.want) || out[0].Type.DType != graph.I32 {
				t.Errorf("got %v of type %v, want %v", out[0].Data, out[0].Type, c.want)
			}
			g := graph.New("of bytes")
			if _, err := Import(g, model, Options{Float: graph.F32}); err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, m := range g.Nodes() {
				if match.Is(m, c.kind) {
					n++
				}
			}
			if n != c.count {
				t.Errorf("%d products by %v: want %d\n%v", n, c.kind, c.count, g)
			}
		})
	}
}

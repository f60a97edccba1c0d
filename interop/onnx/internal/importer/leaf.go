package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// dtype returns the element type that a tensor of the file has in the graph: the narrowest that
// holds its numbers.
func (im *builder) dtype(t format.DataType) (dt graph.DType, ok bool) {
	switch t {
	case format.Float:
		return im.options.Float, true
	case format.Double:
		return graph.F64, true
	case format.Float16:
		return graph.F16, true
	case format.BFloat16:
		return graph.BF16, true
	case format.Int8:
		return graph.I8, true
	case format.Uint8:
		return graph.U8, true
	case format.Int16, format.Uint16, format.Int32:
		return graph.I32, true
	case format.Int64, format.Uint32, format.Uint64:
		return graph.I64, true
	case format.Bool:
		return graph.Bool, true
	}
	return 0, false
}

// weight returns an initialiser, as a constant or a parameter.
func (im *builder) weight(t *format.Tensor) value {
	if t.Type == format.String {
		return value{kind: strs, text: t.Strings, elem: t.Type}
	}
	dt, ok := im.dtype(t.Type)
	if !ok {
		im.problem(t.At, "initialiser", t.Name, "elements of "+t.Type.String()+" have no type here")
		return value{kind: poisoned}
	}
	data, err := t.Floats()
	if err != nil {
		im.problem(t.At, "initialiser", t.Name, err.Error())
		return value{kind: poisoned}
	}
	axes := make([]graph.Axis, len(t.Dims))
	for i, d := range t.Dims {
		axes[i] = graph.Ax("", int(d))
	}
	return value{node: im.g.Constant(dt, data, axes...), elem: t.Type}
}

// input returns an input of the graph.
func (im *builder) input(v *format.Value) value {
	if t, ok := im.options.Known[v.Name]; ok {
		return im.weight(t)
	}
	if v.Type == nil || v.Type.Kind != format.KindTensor || !v.Type.Ranked {
		im.problem(v.At, "input", v.Name, "its type is not that of a tensor with a shape")
		return value{kind: poisoned}
	}
	dt, ok := im.dtype(v.Type.Elem)
	if !ok {
		im.problem(v.At, "input", v.Name, "elements of "+v.Type.Elem.String()+" have no type here")
		return value{kind: poisoned}
	}
	axes := make([]graph.Axis, len(v.Type.Dims))
	for i, d := range v.Type.Dims {
		size := int(d.Size)
		if d.Size < 0 {
			if size, ok = im.options.Sizes[d.Symbol]; !ok {
				im.problem(v.At, "input", v.Name, "the size "+d.Symbol+" is not given")
				return value{kind: poisoned}
			}
		}
		axes[i] = graph.Ax("", size)
	}
	return value{node: im.g.Input(v.Name, dt, axes...), elem: v.Type.Elem}
}

func (im *builder) problem(at int64, op, node, reason string) {
	im.problems = append(im.problems, &Problem{Op: op, Node: node, At: at, Reason: reason})
}

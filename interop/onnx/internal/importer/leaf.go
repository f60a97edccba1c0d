package importer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
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

// use says what a tensor of the file is for.
type use uint8

const (
	unused    use = iota
	structure     // sizes, scales and bounds
	statistic     // a running mean or variance
	operand       // of arithmetic
	learnt        // of a layer
)

// madeUp begins the names of weights that PyTorch has changed, and called after the operator.
const madeUp = "onnx::"

// layers lists operators whose operands but the first are weights.
var layers = []string{"BatchNormalization", "Conv", "ConvTranspose", "GRU", "Gemm", "GroupNormalization", "InstanceNormalization", "LSTM", "LayerNormalization", "RNN"}

// structural lists operands that say how much or where, and are not what is computed with.
var structural = map[string][]int{"Clip": {1, 2}, "Dropout": {1, 2}, "Pad": {1, 2}, "Range": {0, 1, 2}, "Resize": {1, 2, 3}, "Upsample": {1}}

// uses notes what the values that nodes take are for, the nodes of their graphs included, and where
// those are first taken that have a name of PyTorch's making, which says nothing.
func uses(f *format.Graph, into map[string]use, homes map[string]string) {
	for _, n := range f.Nodes {
		for i, name := range n.Inputs {
			if strings.HasPrefix(name, madeUp) && homes[name] == "" {
				homes[name] = scopeOf(n)
			}
			u := operand
			switch {
			case n.Op == "BatchNormalization" && i >= 3:
				u = statistic
			case slices.Contains(structural[n.Op], i):
				u = structure
			case i > 0 && slices.Contains(layers, n.Op):
				u = learnt
			}
			into[name] = max(into[name], u)
		}
		for _, a := range n.Attrs {
			if a.Graph != nil {
				uses(a.Graph, into, homes)
			}
		}
	}
	for _, v := range f.Outputs {
		into[v.Name] = max(into[v.Name], operand)
	}
}

// hoist makes leaves of the weights of a graph, and of the graphs in it if bodies are built of
// them, which may have none of their own.
func (im *builder) hoist(f *format.Graph) {
	into, readers := map[string]use{}, map[string][]reader{}
	uses(f, into, im.homes)
	reads(f, readers)
	im.leaves(f, into, readers)
}

func (im *builder) leaves(f *format.Graph, uses map[string]use, readers map[string][]reader) {
	for _, t := range f.Init {
		if _, made := im.weights[t]; !made && uses[t.Name] != unused {
			im.weights[t] = im.weight(t, t.Name, uses[t.Name], readers[t.Name])
		}
	}
	for _, n := range f.Nodes {
		if a := n.Attr("value"); n.Op == "Constant" && a != nil && a.Tensor != nil && len(n.Outputs) == 1 && !im.options.Roles.Stated {
			t := a.Tensor
			if _, made := im.weights[t]; !made && uses[n.Outputs[0]] >= operand && t.Type.IsFloat() && len(t.Dims) > 0 && (t.Len() > 1 || uses[n.Outputs[0]] == learnt) {
				im.weights[t] = im.weight(t, n.Outputs[0], uses[n.Outputs[0]], readers[n.Outputs[0]])
			}
		}
	}
}

// hoistAll makes leaves of the weights of a graph and of all graphs in it.
func (im *builder) hoistAll(f *format.Graph) {
	im.hoist(f)
	for _, n := range f.Nodes {
		for _, a := range n.Attrs {
			if a.Graph != nil {
				im.hoistAll(a.Graph)
			}
		}
	}
}

// weight returns a tensor of the file as a parameter, a state or a constant. A parameter that all its
// readers want in one other order of axes has that order.
func (im *builder) weight(t *format.Tensor, name string, u use, readers []reader) value {
	dt, ok := im.dtype(t.Type)
	r := im.options.Roles
	leaf, param := r.Params[name]
	state := u == statistic
	if r.Stated {
		if state = false; !param {
			leaf, state = r.States[name]
		}
	} else {
		param = u >= operand && t.Type.IsFloat() && len(t.Dims) > 0
	}
	if r.Stated && im.defaults[name] && len(t.Dims) == 0 && !param && !state && ok {
		if v, err := t.Floats(); err == nil && len(v) == 1 { // an input with a default
			return value{node: im.g.Scalar(cut(name), v[0], dt), elem: t.Type}
		}
	}
	if !ok || !(param && dt.IsFloat() || state) || im.bodies > 0 {
		return im.constant(t)
	}
	if !im.options.Trial {
		data, err := t.Floats()
		if err != nil {
			im.problem(t.At, "initialiser", name, err.Error())
			return value{kind: poisoned}
		}
		if dt.Check(data...) != nil || slices.ContainsFunc(data, func(v float64) bool { return math.IsNaN(v - v) }) {
			return im.constant(t) // a mask: the values at which leaves start are finite
		}
	}
	make := im.g.Param
	if state && !param {
		make = im.g.State
	}
	scope, last := split(name)
	if home := im.homes[name]; home != "" {
		scope, last = home, cut(strings.TrimPrefix(name, madeUp))
	}
	if r.Stated { // paths of our own
		scope, last = "", cut(name)
	}
	for i, plain := 2, last; im.paths[join(scope, last)]; i++ {
		last = fmt.Sprintf("%s_%d", plain, i)
	}
	im.paths[join(scope, last)] = true
	var axes []graph.Axis
	for i, a := range axesOf(t.Dims) {
		if im.options.Names && i < len(leaf.Axes) {
			a.Name = axisName(leaf.Axes[i])
		}
		axes = append(axes, a)
	}
	var order []int
	if !r.Stated { // paths and shapes of our own
		order = wanted(readers, len(axes))
	}
	axes = inOrder(axes, order)
	var n *graph.Node
	im.g.During(graph.Occurrence{Scope: scope}, graph.Origin{}, func() {
		n = make(last, dt, axes...).Init(initial.Custom(im.title(), func([]int, *rand.Rand) []float64 {
			data, _ := t.Floats() // read before without an error
			return reordered(data, t.Dims, order)
		}))
		if order != nil {
			n = ops.Transpose(n, anys(inverse(order))...)
		}
	})
	return value{node: n, elem: t.Type, tensor: t}
}

func (im *builder) title() string {
	if im.options.File == "" {
		return "file"
	}
	return im.options.File
}

func join(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "/" + name
}

func axesOf(dims []int64) []graph.Axis {
	axes := make([]graph.Axis, len(dims))
	for i, d := range dims {
		axes[i] = graph.Ax("", int(d))
	}
	return axes
}

// constant returns a tensor of the file as a constant. Where the graph holds an integer only
// rounded, the value is for rules that ask for integers alone.
func (im *builder) constant(t *format.Tensor) value {
	if t.Type == format.String {
		return value{kind: strs, text: t.Strings, elem: t.Type, tensor: t}
	}
	dt, ok := im.dtype(t.Type)
	if !ok {
		im.problem(t.At, "tensor", t.Name, "elements of "+t.Type.String()+" have no type here")
		return value{kind: poisoned}
	}
	shape, err := graph.NewShape(axesOf(t.Dims)...)
	var data []float64
	if err == nil {
		data, err = t.Floats()
	}
	if t.Type == format.Bool {
		for i, x := range data {
			data[i] = graph.Bool.Round(x)
		}
	}
	if err == nil {
		err = dt.Check(data...)
	}
	if err != nil {
		im.problem(t.At, "tensor", t.Name, err.Error())
		return value{kind: poisoned}
	}
	v := value{elem: t.Type, tensor: t}
	if dt == graph.I64 && !exact(t, data) {
		return v
	}
	v.node = im.g.ConstantValue(graph.Value{Type: graph.Type{DType: dt, Shape: shape}, Data: data})
	return v
}

// exact reports whether the graph holds the integers of a tensor as they are.
func exact(t *format.Tensor, data []float64) bool {
	for i, v := range data {
		if math.Abs(v) >= 1<<53 {
			whole, err := t.Ints()
			if err != nil {
				return false // beyond 2⁶³−1
			}
			for j := i; j < len(data); j++ {
				if graph.I64.Whole(data[j]) != whole[j] {
					return false
				}
			}
			return true
		}
	}
	return true
}

// input returns an input of the graph.
func (im *builder) input(v *format.Value) value {
	if t, ok := im.options.Known[v.Name]; ok {
		var known value
		im.g.During(graph.Occurrence{}, graph.Origin{}, func() { known = im.constant(t) })
		return known
	}
	if list, ok := im.options.Lists[v.Name]; ok {
		return im.list(list, v.Type)
	}
	if v.Type != nil && v.Type.Kind == format.KindOptional {
		v = &format.Value{Name: v.Name, Doc: v.Doc, Type: v.Type.Of, At: v.At}
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
		axes[i] = graph.Ax("", int(d.Size))
		if d.Size < 0 {
			if axes[i].Size, ok = im.options.Sizes[symbol(v, i)]; !ok {
				im.problem(v.At, "input", v.Name, "the size "+symbol(v, i)+" is not given")
				return value{kind: poisoned}
			}
		}
		if im.options.Names {
			axes[i].Name = axisName(d.Denotation)
			if axes[i].Name == "" && d.Size < 0 {
				axes[i].Name = axisName(d.Symbol)
			}
		}
	}
	axes = unique(axes)
	im.paths[cut(v.Name)] = true
	var n *graph.Node
	im.g.During(graph.Occurrence{}, graph.Origin{}, func() { n = im.g.Input(cut(v.Name), dt, axes...) })
	return value{node: n, elem: v.Type.Elem}
}

// list returns tensors as the value of a sequence or an option.
func (im *builder) list(tensors []*format.Tensor, t *format.Type) value {
	if tensors == nil {
		return value{kind: absent}
	}
	out := make([]value, len(tensors))
	for i, x := range tensors {
		out[i] = im.constant(x)
	}
	if t != nil && t.Kind == format.KindOptional {
		t = t.Of
	}
	if t != nil && t.Kind == format.KindTensor && len(out) == 1 {
		return out[0]
	}
	return listOf(out)
}

// unique drops names that two axes have.
func unique(axes []graph.Axis) []graph.Axis {
	for i := range axes {
		for j := range i {
			if axes[i].Name == axes[j].Name {
				axes[i].Name = ""
			}
		}
	}
	return axes
}

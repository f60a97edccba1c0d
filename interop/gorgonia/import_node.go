package gorgonia

import (
	"fmt"
	"reflect"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// theirs is the node of gorgonia's that a rule imports, and its operation.
type theirs struct {
	*importer
	n  *G.Node
	op G.Op

	instead *graph.Node // the first operand, within the derivative of an operation; nil elsewhere
}

// at returns a node as its rule sees it.
func (b *importer) at(n *G.Node) theirs { return theirs{importer: b, n: n, op: n.Op()} }

// arg returns operand i of gorgonia's node, and x the node for it.
func (s theirs) arg(i int) *G.Node {
	in := s.operands[s.n]
	if i >= len(in) {
		panic(noRule{fmt.Sprintf("it has %d operands", len(in))})
	}
	return in[i]
}

func (s theirs) x(i int) *graph.Node {
	if i == 0 && s.instead != nil {
		return s.instead
	}
	return s.of(s.arg(i))
}

func (s theirs) of(n *G.Node) *graph.Node {
	y := s.node(n)
	if y == nil {
		panic(errOperand)
	}
	return y
}

// attribute returns an attribute of an operation. Gorgonia exports none, and its text forms leave
// some out.
func attribute(op G.Op, name string) reflect.Value {
	v := reflect.ValueOf(op)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		if f := v.FieldByName(name); f.IsValid() {
			return f
		}
	}
	panic(noRule{fmt.Sprintf("gorgonia's operation has no %s: another version of it?", name)})
}

func (s theirs) int(name string) int         { return int(attribute(s.op, name).Int()) }
func (s theirs) bool(name string) bool       { return attribute(s.op, name).Bool() }
func (s theirs) float64(name string) float64 { return attribute(s.op, name).Float() }

func (s theirs) ints(name string) []int {
	v := attribute(s.op, name)
	out := make([]int, v.Len())
	for i := range out {
		out[i] = int(v.Index(i).Int())
	}
	return out
}

// kindOf returns the name of the type of a node's operation, "" of a variable.
func kindOf(n *G.Node) string {
	if n.Op() == nil {
		return ""
	}
	return typeOf(n).Name()
}

func typeOf(n *G.Node) reflect.Type {
	t := reflect.TypeOf(n.Op())
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// isOwn reports whether a node's operation is one of gorgonia's, and not of a program.
func isOwn(n *G.Node) bool { return typeOf(n).PkgPath() == reflect.TypeFor[G.Node]().PkgPath() }

func isConstant(n *G.Node) bool {
	k := kindOf(n)
	return isOwn(n) && (k == "constantScalar" || k == "constantTensor")
}

// childrenOf returns a node's operands among nodes by their addresses. Gorgonia's own ExprGraph.From
// looks a node up by its number at a place that it has remembered, and finds another one there once
// log(1 + x) or the like has been replaced and nodes have moved up.
func childrenOf(n *G.Node, at map[uintptr]*G.Node) G.Nodes {
	children := reflect.ValueOf(n).Elem().FieldByName("children")
	var out G.Nodes
	for i := range children.Len() {
		if x := at[children.Index(i).Pointer()]; x != nil {
			out = append(out, x)
		}
	}
	return out
}

// isStatement reports whether a node computes nothing: G.Read and machines' bindings.
func isStatement(n *G.Node) bool {
	k := kindOf(n)
	return k == "readOp" || k == "letOp"
}

// ownName returns the name that a program gave a node, "" if gorgonia made one up.
func ownName(n *G.Node) string {
	name := reflect.ValueOf(n).Elem().FieldByName("name").String()
	if n.Op() != nil && isConstant(n) && name == fmt.Sprintf("%v", n.Value()) {
		return ""
	}
	return name
}

// number returns the value of a node that is one number in every run: a constant, the size of an
// axis, or a product of such.
func (b *importer) number(n *G.Node) (float64, bool) {
	switch in := b.operands[n]; kindOf(n) {
	case "constantScalar", "constantTensor":
		v, err := arrayOf(n.Value(), graph.Type{})
		if err != nil || len(v.Data) != 1 {
			return 0, false
		}
		return v.Data[0], true
	case "sizeOp":
		axis := int(attribute(n.Op(), "axis").Int())
		if len(in) != 1 || axis >= in[0].Shape().Dims() {
			return 1, len(in) == 1 && in[0].IsScalar()
		}
		return float64(in[0].Shape()[axis]), true
	case "elemBinOp":
		if name, _ := pairing(n); name != "⊙" || len(in) != 2 {
			return 0, false
		}
		x, ok := b.number(in[0])
		y, also := b.number(in[1])
		return x * y, ok && also
	}
	return 0, false
}

// reshaping returns x in the given sizes, without a chain of reshapes.
func reshaping(x *graph.Node, sizes []int) *graph.Node {
	if isReshape(x) {
		x = x.In(0)
	}
	same := len(sizes) == x.Rank()
	for i := 0; same && i < len(sizes); i++ {
		same = sizes[i] == x.Dim(i)
	}
	if same {
		return x
	}
	return ops.Reshape(x, sizes...)
}

// elementOf returns the element type of a variable.
func elementOf(n *G.Node) (graph.DType, error) {
	var dt tensor.Dtype
	switch t := n.Type().(type) {
	case tensor.Dtype:
		dt = t
	case G.TensorType:
		of, ok := t.Of.(tensor.Dtype)
		if !ok {
			return 0, fmt.Errorf("its elements are of type %v", t.Of)
		}
		dt = of
	default:
		return 0, fmt.Errorf("it is of type %v", t)
	}
	return dtypeOf(dt)
}

func dtypeOf(dt tensor.Dtype) (graph.DType, error) {
	switch dt {
	case tensor.Float32:
		return graph.F32, nil
	case tensor.Float64:
		return graph.F64, nil
	case tensor.Int, tensor.Int64:
		return graph.I64, nil
	case tensor.Int32:
		return graph.I32, nil
	case tensor.Int8:
		return graph.I8, nil
	case tensor.Uint8:
		return graph.U8, nil
	case tensor.Bool:
		return graph.Bool, nil
	}
	return 0, fmt.Errorf("its elements are of type %v", dt)
}

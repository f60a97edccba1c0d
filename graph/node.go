package graph

import (
	"encoding/binary"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/initial"
)

// Node is one value of the graph: an operation on inputs. It is immutable; what
// may grow is the list of its occurrences.
type Node struct {
	g      *Graph
	id     int // place in g.nodes; -1 for an invalid node
	op     Op
	in     []*Node
	typ    Type
	used   bool // is an input of another node
	occurs []Occurrence
}

// IsValid reports whether the node came from a call without mistakes; nil and the zero Node did
// not come from any.
func (n *Node) IsValid() bool { return n != nil && n.op != nil }

// Graph is the graph the node belongs to.
func (n *Node) Graph() *Graph {
	if n == nil {
		return nil
	}
	return n.g
}

// ID is the node's number: its place in the order of creation, -1 if invalid.
func (n *Node) ID() int {
	if n == nil {
		return -1
	}
	return n.id
}

// Op is the operation, nil for an invalid node.
func (n *Node) Op() Op {
	if n == nil {
		return nil
	}
	return n.op
}

// NumIn is the number of inputs.
func (n *Node) NumIn() int {
	if n == nil {
		return 0
	}
	return len(n.in)
}

// In is input i.
func (n *Node) In(i int) *Node { return n.in[i] }

// Inputs lists the inputs.
func (n *Node) Inputs() []*Node {
	if n == nil {
		return nil
	}
	return append([]*Node(nil), n.in...)
}

// Type is the element type and shape. An invalid node is a scalar of type
// InvalidDType, so that code around a mistake still runs.
func (n *Node) Type() Type {
	if n == nil {
		return Type{}
	}
	return n.typ
}

// Shape is the shape.
func (n *Node) Shape() Shape { return n.Type().Shape }

// DType is the element type.
func (n *Node) DType() DType { return n.Type().DType }

// Rank is the number of axes.
func (n *Node) Rank() int { return n.Type().Shape.Rank() }

// Dim is the size of axis i, 1 if there is none.
func (n *Node) Dim(i int) int { return n.Type().Shape.Dim(i) }

// Role says where the value comes from.
func (n *Node) Role() Role {
	switch op := n.Op().(type) {
	case leaf:
		return op.role
	case constant:
		return RoleConstant
	}
	return RoleOp
}

// Path is the full name of an input, parameter or state ("encoder/0/wq"), by
// which stores and feeds know it; "" for other nodes.
func (n *Node) Path() string {
	l, _ := n.Op().(leaf)
	return l.Path
}

// Initialiser is how a parameter or state starts.
func (n *Node) Initialiser() initial.Init {
	l, _ := n.Op().(leaf)
	return l.Init
}

// Default is the value of an input that is not fed, if it has one.
func (n *Node) Default() (float64, bool) {
	l, _ := n.Op().(leaf)
	return l.Default.Value(), l.HasDefault
}

// Constant is the value of a constant node. It must not be changed.
func (n *Node) Constant() (Value, bool) {
	c, ok := n.Op().(constant)
	if !ok {
		return Value{}, false
	}
	return n.g.constants[c.ID], true
}

// String is the node's short text: its name, or %12, and its shape: α[i=150 j=3].
func (n *Node) String() string {
	switch {
	case n == nil:
		return "nil"
	case !n.IsValid():
		return "invalid"
	}
	if v, ok := n.Constant(); ok && n.Rank() == 0 && n.Name() == "" {
		return attr.FloatOf(v.Data[0]).String()
	}
	return n.Label() + n.typ.Shape.String()
}

// Label is the node's first name, or %12.
func (n *Node) Label() string {
	if s := n.Name(); s != "" {
		return s
	}
	if n == nil {
		return "nil"
	}
	return "%" + strconv.Itoa(n.id)
}

// key is the node's identity.
func (n *Node) key() nodeKey { return keyOf(n.op, n.in) }

// nodeKey compares an operation and its inputs truthfully: the inputs by their
// numbers in the graph, plus 1, the first few in place and any further ones in
// rest. It holds no pointers but the operation's, so that it is quick to hash and
// the garbage collector has little to follow.
type nodeKey struct {
	op   Op
	in   [4]int32
	rest string
}

func keyOf(op Op, in []*Node) nodeKey {
	k := nodeKey{op: op}
	for i, x := range in[:min(len(in), len(k.in))] {
		k.in[i] = number(x)
	}
	if len(in) > len(k.in) {
		b := make([]byte, 0, 4*(len(in)-len(k.in)))
		for _, x := range in[len(k.in):] {
			b = binary.LittleEndian.AppendUint32(b, uint32(number(x)))
		}
		k.rest = string(b)
	}
	return k
}

// number is what an input counts for in a key; only Verify meets none.
func number(x *Node) int32 {
	if x == nil {
		return 0
	}
	return int32(x.id) + 1
}

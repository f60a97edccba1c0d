package graph

import (
	"strconv"

	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/initial"
)

// Node is one value of the graph: an operation on inputs. It is immutable, except that
// its list of occurrences may grow. The methods accept a nil node, which is invalid.
type Node struct {
	g      *Graph
	id     int // place in g.nodes; -1 for an invalid node
	op     Op
	in     []*Node
	typ    Type
	kind   int32 // the number of the operation in its graph
	used   bool  // is an input of another node
	occurs []Occurrence
}

// IsValid reports whether the node comes from a call without mistakes. A nil or zero Node is
// invalid.
func (n *Node) IsValid() bool { return n != nil && n.op != nil }

// Graph returns the graph that the node belongs to.
func (n *Node) Graph() *Graph {
	if n == nil {
		return nil
	}
	return n.g
}

// ID returns the node's number, its place in the order of creation; -1 if it is invalid.
func (n *Node) ID() int {
	if n == nil {
		return -1
	}
	return n.id
}

// Op returns the operation, nil for an invalid node.
func (n *Node) Op() Op {
	if n == nil {
		return nil
	}
	return n.op
}

// NumIn returns the number of inputs.
func (n *Node) NumIn() int {
	if n == nil {
		return 0
	}
	return len(n.in)
}

// In returns input i. It panics if i is not from 0 to NumIn() − 1.
func (n *Node) In(i int) *Node { return n.in[i] }

// Inputs returns the inputs as a new slice.
func (n *Node) Inputs() []*Node {
	if n == nil {
		return nil
	}
	return append([]*Node(nil), n.in...)
}

// Type returns the element type and the shape. An invalid node is a scalar of type
// [InvalidDType], so that code around a mistake still runs.
func (n *Node) Type() Type {
	if n == nil {
		return Type{}
	}
	return n.typ
}

// Shape returns the shape.
func (n *Node) Shape() Shape { return n.Type().Shape }

// DType returns the element type.
func (n *Node) DType() DType { return n.Type().DType }

// Rank returns the number of axes.
func (n *Node) Rank() int { return n.Type().Shape.Rank() }

// Dim returns the size of axis i, 1 if there is none.
func (n *Node) Dim(i int) int { return n.Type().Shape.Dim(i) }

// Role returns where the value comes from.
func (n *Node) Role() Role {
	switch op := n.Op().(type) {
	case leaf:
		return op.role
	case constant:
		return RoleConstant
	}
	return RoleOp
}

// Path returns the full name of an input, parameter or state, "encoder/0/wq", by which
// stores and feeds know it; "" for other nodes.
func (n *Node) Path() string {
	l, _ := n.Op().(leaf)
	return l.Path
}

// Initialiser returns how a parameter or state starts.
func (n *Node) Initialiser() initial.Init {
	l, _ := n.Op().(leaf)
	return l.Init
}

// Default returns the value that an input takes if it is not fed; ok is false if it must be.
func (n *Node) Default() (v float64, ok bool) {
	l, _ := n.Op().(leaf)
	return l.Default.Value(), l.HasDefault
}

// Constant returns the value of a constant node, which must not be changed; ok is false for other
// nodes.
func (n *Node) Constant() (v Value, ok bool) {
	c, ok := n.Op().(constant)
	if !ok {
		return Value{}, false
	}
	return n.g.constants[c.ID], true
}

// String returns the label and the shape: "α[i=150 j=3]", "%12[]". A scalar constant without a name
// is its number.
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

// Label returns the first name, or the number if there is none: "α", "%12".
func (n *Node) Label() string {
	if s := n.Name(); s != "" {
		return s
	}
	if n == nil {
		return "nil"
	}
	return "%" + strconv.Itoa(n.id)
}

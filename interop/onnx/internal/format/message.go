package format

import "fmt"

// Model is a ModelProto.
type Model struct {
	IR              int64
	Producer        string
	ProducerVersion string
	Domain          string
	Version         int64
	Doc             string
	Opsets          map[string]int64 // by domain; the standard operators have the domain ""
	Metadata        map[string]string
	Graph           *Graph
	Functions       []*Function
}

// Graph is a GraphProto: of a model, or of an attribute of If, Loop and Scan.
type Graph struct {
	Name    string
	Doc     string
	Nodes   []*Node
	Init    []*Tensor // initialisers
	Inputs  []*Value
	Outputs []*Value
	Infos   []*Value // what is known of other values
}

// Node is a NodeProto. An input that is left out has the name "", and so has an output.
type Node struct {
	Op      string
	Domain  string
	Name    string
	Doc     string
	Inputs  []string
	Outputs []string
	Attrs   []*Attr
	At      int64 // the place in the file
}

// Function is a FunctionProto: an operator that a model defines by others.
type Function struct {
	Name     string
	Domain   string
	Doc      string
	Inputs   []string
	Outputs  []string
	Attrs    []string // names of attributes
	Defaults []*Attr  // attributes that need not be given
	Nodes    []*Node
	Opsets   map[string]int64
}

// AttrType says which field of an attribute is set.
type AttrType int64

// The types of attributes.
const (
	AttrFloat   AttrType = 1
	AttrInt     AttrType = 2
	AttrString  AttrType = 3
	AttrTensor  AttrType = 4
	AttrGraph   AttrType = 5
	AttrFloats  AttrType = 6
	AttrInts    AttrType = 7
	AttrStrings AttrType = 8
	AttrTensors AttrType = 9
	AttrGraphs  AttrType = 10
	AttrSparse  AttrType = 11
	AttrProto   AttrType = 13
)

var attrTypes = map[AttrType]string{AttrFloat: "float", AttrInt: "int", AttrString: "string", AttrTensor: "tensor", AttrGraph: "graph",
	AttrFloats: "floats", AttrInts: "ints", AttrStrings: "strings", AttrTensors: "tensors", AttrGraphs: "graphs", AttrSparse: "sparse tensor", AttrProto: "type"}

// String returns the name of the type: floats.
func (t AttrType) String() string {
	if name, ok := attrTypes[t]; ok {
		return name
	}
	return fmt.Sprintf("type(%d)", int64(t))
}

// Attr is an AttributeProto. Tensor is dense for a sparse tensor too. Of says which attribute of the function around it it stands for; "" for
// none.
type Attr struct {
	Name    string
	Type    AttrType
	Of      string
	Float   float32
	Int     int64
	String  string
	Tensor  *Tensor
	Graph   *Graph
	Floats  []float32
	Ints    []int64
	Strings []string
	Tensors []*Tensor
	Graphs  []*Graph
	Proto   *Type
	At      int64 // the place in the file
}

// Value is a ValueInfoProto: the name and type of an input, an output or a value between. Type is
// nil where the file does not say.
type Value struct {
	Name string
	Doc  string
	Type *Type
	At   int64 // the place in the file
}

// Kind says what a value is.
type Kind int

// The kinds of values.
const (
	KindTensor Kind = iota
	KindSequence
	KindOptional
	KindMap
	KindSparse
)

// String returns the name of the kind: sequence.
func (k Kind) String() string {
	return [...]string{"tensor", "sequence", "optional", "map", "sparse tensor"}[k]
}

// Type is a TypeProto: a tensor of elements of a type, a sequence or an option of values of Of, or a
// map from keys of a type to values of Of. The zero Type is that of a value of which nothing is known.
type Type struct {
	Kind       Kind
	Elem       DataType // of a tensor; the keys of a map
	Dims       []Dim    // of a tensor
	Ranked     bool     // whether the shape is given
	Of         *Type    // of a sequence, an option or a map
	Denotation string
}

// Dim is the size of an axis: a number, a symbol, or unknown.
type Dim struct {
	Size       int64 // −1 where it is not a number
	Symbol     string
	Denotation string // what the axis means; our axes' names
}

// Attr returns the attribute of a name; nil if the node has none.
func (n *Node) Attr(name string) *Attr {
	for _, a := range n.Attrs {
		if a.Name == name {
			return a
		}
	}
	return nil
}

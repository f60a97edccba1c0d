package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// value is what a name of the file stands for.
type value struct {
	node   *graph.Node     // of a tensor of numbers; nil where only rules know them: see inexact
	elem   format.DataType // of a tensor: the file's type, which may be narrower than the node's
	tensor *format.Tensor  // of a tensor that lies in the file; nil for others
	list   []value         // of a sequence
	text   []string        // of a tensor of strings
	kind   kind
}

type kind uint8

const (
	array    kind = iota
	sequence      // list
	strs          // text
	absent        // an input that is left out, an optional without a value
	poisoned      // what depends on a node that could not be imported
)

// names is what is known by name in a graph of the file, within the graph around it.
type names struct {
	values map[string]value
	outer  *names
	opsets map[string]int64
	attrs  map[string]*format.Attr // of the call of the function that this is in
	scope  string                  // of the call; "" at the top
}

// within returns the names of a graph in the graph of s.
func (s *names) within() *names {
	return &names{values: map[string]value{}, outer: s, opsets: s.opsets, attrs: s.attrs, scope: s.scope}
}

func (s *names) find(name string) (value, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.values[name]; ok {
			return v, true
		}
	}
	return value{}, false
}

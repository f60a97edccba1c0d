package nn

import "github.com/tapestry-ml/tapestry/graph"

// Layer maps one node to another, of the same graph.
type Layer interface {
	Of(x *graph.Node) *graph.Node
}

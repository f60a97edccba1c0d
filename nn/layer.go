package nn

import "github.com/tapestry-ml/tapestry/graph"

// Layer is what maps a node to another.
type Layer interface {
	Of(x *graph.Node) *graph.Node
}

package viz

import (
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// axes returns the axes of a node with their sizes, i=150 j=3, in the order of its elements; those
// without names are numbers. The element type comes first where it is not the usual one.
func (v *view) axes(n *graph.Node) string {
	var parts []string
	named := false
	for _, a := range n.Shape().Axes() {
		size := strconv.Itoa(a.Size)
		if a.Name != "" {
			size, named = oneLine(a.Name)+"="+size, true
		}
		parts = append(parts, size)
	}
	between := "×"
	if named {
		between = " "
	}
	text := strings.Join(parts, between)
	if n.DType() != v.usual {
		text = strings.TrimSuffix(n.DType().String()+" "+text, " ")
	}
	return text
}

// usualType returns the element type that most of the nodes have, the first of those that equally
// many have.
func usualType(nodes []*graph.Node) (usual graph.DType) {
	count := map[graph.DType]int{}
	for _, n := range nodes {
		count[n.DType()]++
	}
	for _, n := range nodes {
		if t := n.DType(); count[t] > count[usual] {
			usual = t
		}
	}
	return usual
}

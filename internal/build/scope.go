package build

import (
	"fmt"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph"
)

// Numbered returns the name of the part with index i: block1, block2.
func Numbered(name string, i int) string { return fmt.Sprintf("%s%d", name, i+1) }

// Indexed returns the name of a quantity with index i, counted from 1: x₁, x₂.
func Indexed(name string, i int) string {
	for _, digit := range strconv.Itoa(i + 1) {
		name += string('₀' + digit - '0')
	}
	return name
}

// Within opens a scope in the graph of the nodes, unless its name is empty.
func Within(name string, nodes ...*graph.Node) (end func()) {
	if name == "" {
		return func() {}
	}
	return graph.Of(nodes...).Scope(name)
}

package viz

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// A block is one scope of a series. Its nodes have keys, which are equal in blocks with equal
// structure: keys of values say how they are computed from the block's inputs, keys of
// derivatives what they are derived from.
type block struct {
	path   string
	nodes  []*graph.Node
	key    map[*graph.Node]string
	at     map[string]*graph.Node
	values string // the keys of the values; equal for blocks with equal structure
}

// block reads the nodes of a scope.
func (f *folder) block(path string, nodes []*graph.Node) *block {
	b := &block{path: path, nodes: nodes, key: map[*graph.Node]string{}, at: map[string]*graph.Node{}}
	number := map[string]int{} // of a structure; short names for deep ones
	count := map[string]int{}
	structure := map[*graph.Node]int{}
	var values strings.Builder
	for _, n := range nodes {
		s := f.structure(path, n, structure)
		if _, met := number[s]; !met {
			number[s] = len(number) + 1
		}
		structure[n] = number[s]
		key := fmt.Sprintf("%s/%d", s, count[s])
		count[s]++
		b.key[n], b.at[key] = key, n
		if !f.backward[n] {
			values.WriteString(key + "\n")
		}
	}
	b.values = values.String()
	return b
}

// structure describes a node, given numbers for the structures of those before it.
func (f *folder) structure(path string, n *graph.Node, before map[*graph.Node]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %v", strings.TrimPrefix(f.home[n], path), n.Type(), f.visible[n])
	if f.backward[n] {
		for _, a := range adjoints(n) { // a derivative is one however it is computed; that of the last block is not a sum
			if k := before[a.Of]; k > 0 {
				fmt.Fprintf(&b, " ∂ by %d", k)
				return b.String()
			}
		}
		fmt.Fprintf(&b, " ∂ %s", n.Op().Name())
		if of := n.First().Origin.Of; of != nil {
			fmt.Fprintf(&b, " of %d", before[of])
		}
		return b.String()
	}
	switch {
	case n.Role() != graph.RoleOp && n.Role() != graph.RoleConstant:
		fmt.Fprintf(&b, " %v %s", n.Role(), strings.TrimPrefix(n.Path(), path))
	case match.Is(n, match.Slice): // each step takes a place of its own
		b.WriteString(" Slice")
	default:
		b.WriteString(" " + strings.ReplaceAll(graph.OpText(n.Op()), path, ""))
		if v, ok := n.Constant(); ok {
			b.WriteString(v.String())
		}
		if body := n.Body(); body != nil {
			b.WriteString("\n" + body.Form())
		}
	}
	if at, named := userName(n); named {
		b.WriteString(" as " + at.Name)
	}
	for i := range n.NumIn() {
		fmt.Fprintf(&b, " %d", before[n.In(i)]) // 0 for inputs of the block
	}
	return b.String()
}

// fits reports whether each node of b has a counterpart in the model.
func (b *block) fits(model *block) bool {
	for key := range b.at {
		if model.at[key] == nil {
			return false
		}
	}
	return true
}

package graph

import "slices"

// Reachable lists the nodes that the roots depend on, the roots included, in
// order of creation (inputs before users). Invalid roots are passed over.
func Reachable(roots ...*Node) []*Node {
	seen := map[*Node]bool{}
	var out []*Node
	stack := []*Node{}
	push := func(n *Node) {
		if n.IsValid() && !seen[n] {
			seen[n] = true
			stack = append(stack, n)
		}
	}
	for _, r := range roots {
		push(r)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out = append(out, n)
		for _, x := range n.in {
			push(x)
		}
	}
	slices.SortFunc(out, func(a, b *Node) int { return a.id - b.id })
	return out
}

// DependsOn reports whether n is computed from x, or is x.
func (n *Node) DependsOn(x *Node) bool {
	if n == x {
		return true
	}
	seen := map[*Node]bool{n: true}
	stack := []*Node{n}
	for len(stack) > 0 {
		m := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, y := range m.in {
			if y == x {
				return true
			}
			if !seen[y] && y.id > x.id { // inputs are older than their users
				seen[y] = true
				stack = append(stack, y)
			}
		}
	}
	return false
}

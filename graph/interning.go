package graph

import "slices"

// interning finds the nodes of a graph by operation and inputs. Operations have numbers, so that
// only they are hashed as interfaces are, and of a node a few integers. Every pass copies a graph,
// so this is most of what a pass does.
type interning struct {
	kinds map[Op]int32 // the number of each operation
	slots []slot       // a power of two of them, some of them free
	taken int
}

// slot leads to a node. Where the operation of a node has been exchanged, its old slot stays, and
// finds nothing.
type slot struct {
	hash uint32
	node int32 // its number plus 1; 0 if the slot is free
}

// grow makes room for so many more nodes.
func (t *interning) grow(nodes int) {
	if t.kinds == nil {
		t.kinds = map[Op]int32{}
	}
	size := max(16, len(t.slots))
	for 4*(t.taken+nodes) > 3*size {
		size *= 2
	}
	if size == len(t.slots) {
		return
	}
	old := t.slots
	t.slots, t.taken = make([]slot, size), 0
	for _, s := range old {
		if s.node != 0 {
			t.put(s.hash, s.node)
		}
	}
}

// put takes the first free slot for a node that is not there yet.
func (t *interning) put(hash uint32, node int32) {
	mask := len(t.slots) - 1
	at := int(hash) & mask
	for t.slots[at].node != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = slot{hash, node}
	t.taken++
}

// kindOf returns the number of an operation, a new one if it has none.
func (g *Graph) kindOf(op Op) int32 {
	kind, known := g.interned.kinds[op]
	if !known {
		g.interned.grow(0)
		kind = int32(len(g.interned.kinds))
		g.interned.kinds[op] = kind
	}
	return kind
}

// kindCopied is kindOf for the operation of a node of another graph, which has a number there: many
// nodes of one graph are copied one after the other.
func (g *Graph) kindCopied(n *Node) int32 {
	if g.copying != n.g {
		g.copying, g.copiedKinds = n.g, g.copiedKinds[:0]
		g.growTables(n.g)
	}
	if more := int(n.kind) + 1 - len(g.copiedKinds); more > 0 {
		g.copiedKinds = append(g.copiedKinds, make([]int32, more)...)
	}
	known := &g.copiedKinds[n.kind] // the number plus 1
	if *known == 0 {
		*known = g.kindOf(n.op) + 1
	}
	return *known - 1
}

// growTables makes room for the operations and leaves of a graph that is copied into an empty one,
// but for no more than the nodes that are to come.
func (g *Graph) growTables(from *Graph) {
	if len(g.nodes) > 0 {
		return
	}
	most := cap(g.nodes)
	g.interned.kinds = make(map[Op]int32, min(most, len(from.interned.kinds)))
	g.byPath = make(map[string]*Node, min(most, len(from.byPath)))
}

// find returns the node with an operation, given by its number, and inputs; nil if there is
// none. It also returns the hash by which such a node is found.
func (g *Graph) find(kind int32, in []*Node) (n *Node, hash uint32) {
	const factor = 0x9E3779B97F4A7C15
	h := (uint64(kind) + 1) * factor
	for _, x := range in {
		h = (h ^ h>>32 ^ uint64(number(x))) * factor
	}
	hash = uint32(h >> 32)
	t := &g.interned
	if len(t.slots) == 0 {
		return nil, hash
	}
	mask := len(t.slots) - 1
	for at := int(hash) & mask; t.slots[at].node != 0; at = (at + 1) & mask {
		if s := t.slots[at]; s.hash == hash {
			if n := g.nodes[s.node-1]; n.kind == kind && slices.Equal(n.in, in) {
				return n, hash
			}
		}
	}
	return nil, hash
}

// known returns the node with an operation and inputs, nil if there is none. It adds nothing.
func (g *Graph) known(op Op, in []*Node) *Node {
	kind, ok := g.interned.kinds[op]
	if !ok {
		return nil
	}
	n, _ := g.find(kind, in)
	return n
}

// found makes find return a node, which is in the list of nodes.
func (g *Graph) found(n *Node, hash uint32) {
	g.interned.grow(1)
	g.interned.put(hash, int32(n.id)+1)
}

// exchange gives a node without inputs another operation.
func (n *Node) exchange(op Op) {
	n.op, n.kind = op, n.g.kindOf(op)
	_, hash := n.g.find(n.kind, n.in)
	n.g.found(n, hash)
}

// number stands for an input in a hash. Only Verify meets a nil input.
func number(x *Node) uint32 {
	if x == nil {
		return 0
	}
	return uint32(x.id) + 1
}

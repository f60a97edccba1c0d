package graph

import "testing"

// TestEqualNodesAreFound: among thousands of nodes each is found by its operation and inputs, also
// in a copy of the graph, whose nodes and operations have other numbers, and nothing else is.
func TestEqualNodesAreFound(t *testing.T) {
	build := func(g *Graph, x *Node) []*Node {
		all := []*Node{x}
		for k := range 3000 {
			all = append(all, g.Apply(double{k % 1500}, all[k/2]))
		}
		return all
	}
	g, h := New("g"), New("h")
	all := build(g, g.Input("x", F32, Ax("i", 3)))
	h.Apply(double{1499}, h.Input("y", F32, Ax("i", 3)))
	node := map[*Node]*Node{}
	for _, n := range all {
		in := make([]*Node, n.NumIn())
		for i := range in {
			in[i] = node[n.In(i)]
		}
		node[n] = h.Copy(n, in)
	}
	if again := build(h, node[all[0]]); again[3000] != node[all[3000]] || h.Len() != g.Len()+2 {
		t.Fatalf("built anew, a copy of %d nodes has %d, and 2 before it", g.Len(), h.Len())
	}
	for _, n := range all[1:] {
		if found := g.Find(n.Op(), n.In(0)); found != n {
			t.Fatalf("%v is found as %v", n, found)
		}
		if found := g.Find(double{1500}, n); found != nil {
			t.Fatalf("%v is found, which nobody has added", found)
		}
	}
	if err := Verify(h); err != nil {
		t.Fatal(err)
	}
}

// TestFindRefusesWhatCannotBeCompared: it is no node of the graph, and no panic.
func TestFindRefusesWhatCannotBeCompared(t *testing.T) {
	g := New("g")
	x := g.Input("x", F32)
	if n := g.Find(uncomparable{list: []int{1}}, x); n != nil {
		t.Error("found", n)
	}
	if n := g.Find(nil, x); n != nil {
		t.Error("found", n)
	}
}

// TestExchangedOperation: a parameter whose initialiser is exchanged is found by the new one alone.
func TestExchangedOperation(t *testing.T) {
	g := New("g")
	w := g.Param("w", F32, Ax("i", 3))
	was := w.Op()
	w.exchange(leaf{role: RoleParam, Path: "v"})
	if n := g.known(was, nil); n != nil {
		t.Error("the old operation finds", n)
	}
	if n := g.known(w.Op(), nil); n != w {
		t.Errorf("the new operation finds %v", n)
	}
}

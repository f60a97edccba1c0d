package rewrite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// History is a rewriting together with every firing of a rule in it, in order.
type History struct {
	*Result
	Firings []Firing
	from    *graph.Graph
	wanted  []*graph.Node
	passes  []Pass
}

// Firing is one application of a rule. New replaced Old: both are nodes of the graph that the pass
// was building, or of the body of a loop in it; where a gradient was derived again, Old is a node
// of the graph before.
type Firing struct {
	Entry
	Why      string // the mathematics, or the reason
	Old, New *graph.Node
}

// Trace is [Run] with a history. Graph and log are the same as Run's.
func Trace(g *graph.Graph, wanted []*graph.Node, passes ...Pass) (*History, error) {
	return TraceContext(context.Background(), g, wanted, passes...)
}

var errNoHistory = errors.New("the history is empty: rewrite.Trace makes one")

// At returns the whole graph after the first k firings, with no rule fired afterwards. Where a loss
// is derived again, each gradient that changes counts as a firing, but all come together.
func (h *History) At(k int) (*Result, error) {
	if h == nil || h.Result == nil {
		return nil, errNoHistory
	}
	if k < 0 || k > len(h.Firings) {
		return nil, fmt.Errorf("firing %d of %d", k, len(h.Firings))
	}
	return run(context.Background(), h.from, h.wanted, h.passes, &recorder{left: k})
}

// Rederived reports whether the firing is a gradient that was derived again.
func (f Firing) Rederived() bool { return f.Old.Graph() != f.New.Graph() }

// Small returns only what changed: both sides as graphs of their own, in which the nodes that they
// share are inputs of the same names. Where nothing is shared (a gradient derived again) both sides
// are whole.
func (f Firing) Small() (before, after *graph.Node) {
	if !f.Old.IsValid() || !f.New.IsValid() || f.Rederived() {
		return f.Old, f.New
	}
	shared := map[*graph.Node]bool{}
	old := map[*graph.Node]bool{}
	for _, n := range graph.Reachable(f.Old) {
		old[n] = true
	}
	fixed := map[*graph.Node]bool{} // constants and their repetitions, shown on both sides
	for _, n := range graph.Reachable(f.New) {
		_, fixed[n] = n.Constant()
		if n.NumIn() > 0 {
			fixed[n] = !slices.ContainsFunc(n.Inputs(), func(x *graph.Node) bool { return !fixed[x] })
		}
		shared[n] = old[n] && !fixed[n]
	}
	names := map[*graph.Node]string{}
	return small(f.Old, shared, names), small(f.New, shared, names)
}

// maxDepth is the number of operations in depth that are shown of two sides that share nothing.
const maxDepth = 8

// small copies a node and what it depends on, down to shared nodes, into a graph of its own.
func small(root *graph.Node, shared map[*graph.Node]bool, names map[*graph.Node]string) *graph.Node {
	g := graph.New(root.Graph().Name())
	copies := map[*graph.Node]*graph.Node{}
	var visit func(n *graph.Node, depth int) *graph.Node
	visit = func(n *graph.Node, depth int) *graph.Node {
		if c := copies[n]; c != nil {
			return c
		}
		_, constant := n.Constant()
		at := n.First()
		at.Name = ""
		g.During(at, graph.Origin{}, func() {
			if !constant && (shared[n] || n.NumIn() == 0 || depth > maxDepth) {
				copies[n] = g.Input(nameIn(n, names), n.DType(), n.Shape().Axes()...)
				return
			}
			in := n.Inputs()
			for i, x := range in {
				in[i] = visit(x, depth+1)
			}
			copies[n] = g.Copy(n, in)
		})
		return copies[n]
	}
	visit(root, 0)
	return copies[root]
}

// nameIn returns a name for a shared quantity: the user's, or a letter.
func nameIn(n *graph.Node, names map[*graph.Node]string) string {
	if s, ok := names[n]; ok {
		return s
	}
	taken := func(s string) bool {
		for _, other := range names {
			if s == other {
				return true
			}
		}
		return s == ""
	}
	name := n.Name()
	if n.Role() != graph.RoleOp {
		name = n.Path()
	}
	for k := 0; taken(name); k++ {
		if name = string(rune('a' + k)); k >= 26 {
			name = fmt.Sprint("a", k)
		}
	}
	names[n] = name
	return name
}

// recorder keeps firings; left is how many more are allowed, negative for any number. A
// nil recorder keeps nothing and allows all.
type recorder struct {
	firings []Firing
	left    int
}

func (r *recorder) add(f Firing) {
	if r == nil {
		return
	}
	r.firings = append(r.firings, f)
	if r.left > 0 {
		r.left--
	}
}

func (r *recorder) spent() bool { return r != nil && r.left == 0 }

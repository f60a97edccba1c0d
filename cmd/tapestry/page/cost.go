package page

import (
	"math"
	"net/http"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// Limits of one model. A request that asks for more is refused before it takes memory.
const (
	maxNodes    = 50_000
	maxElements = 1 << 24 // of all its values together, those of its examples' too
	maxWork     = 1 << 34 // arithmetic operations of a step: a second or a few
)

// cost is what a model asks of the server.
type cost struct {
	nodes, elements int
	params          int // elements
	work            float64
}

// costOf adds up what a model can be asked to hold: the values of its graph, of the bodies of
// its loops, and of the graph that its examples are drawn in. It complains about more than the
// page can show.
func costOf(m *builders.Model) (c cost, err error) {
	c.add(m.Graph.Nodes())
	c.add(m.Drawn)
	for _, n := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		c.params = capped(c.params + n.Shape().Len())
	}
	switch what := "the model is too large for the page: "; {
	case c.elements > maxElements:
		err = failf(http.StatusRequestEntityTooLarge, "%sits values and those of its examples have more than %d elements together", what, maxElements)
	case c.nodes > maxNodes:
		err = failf(http.StatusRequestEntityTooLarge, "%sit has more than %d nodes", what, maxNodes)
	case c.work > maxWork:
		err = failf(http.StatusRequestEntityTooLarge, "%sa step takes about %.1e operations, more than %.1e", what, c.work, float64(maxWork))
	}
	return c, err
}

// capped is a number of elements that grows no further once it is too large.
func capped(n int) int { return min(n, maxElements+1) }

func (c *cost) add(nodes []*graph.Node) {
	for _, n := range nodes {
		c.nodes++
		c.elements = capped(c.elements + capped(n.Shape().Len()))
		c.work += workOf(n)
		if b := n.Body(); b != nil {
			c.add(graph.Reachable(b.Out()...))
		}
	}
}

// workOf is about the number of arithmetic operations of a node. Of two operands that share an
// axis which the result has not, of lengths m·k, k·n and m·n, the product m·k·n is the root
// of the product of the three. How often a loop runs its body is not known here: the compiled
// program tells.
func workOf(n *graph.Node) float64 {
	work := float64(n.Shape().Len())
	for i := range n.NumIn() {
		work = max(work, float64(n.In(i).Shape().Len()))
	}
	if n.NumIn() < 2 || n.Body() != nil {
		return work
	}
	a, b := n.In(0).Shape(), n.In(1).Shape()
	if own := n.Shape().Sizes(); slices.Equal(a.Sizes(), own) && slices.Equal(b.Sizes(), own) { // element by element
		return work
	}
	return max(work, math.Sqrt(float64(n.Shape().Len())*float64(a.Len())*float64(b.Len())))
}

// keeps is how many records, shadows and findings of a model a document keeps of each kind:
// the last few, but of a large model only the last.
func (c cost) keeps() int { return max(1, min(maxKept, cacheRoom/max(1, c.bytes()))) }

// bytes are those of all values, in float64.
func (c cost) bytes() int { return 8 * c.elements }

// reserved is what a document of the model can come to hold: two machines' values, what is
// being computed, what is kept, and snapshots.
func (c cost) reserved() int {
	const machines, computing, kinds = 2, 3, 4
	snapshots := min(2*max(snapshotRoom, 2*8*c.params), 2*maxSnapshots*8*c.params)
	return (machines+computing+kinds*c.keeps())*c.bytes() + snapshots
}

// trained is what so many trainings of the model hold at a time: each the values, and its parameters
// with what an optimiser keeps of them, before and after.
func (c cost) trained(times int) int {
	const kept = 4 // themselves, two moments, and the best
	return times * (c.bytes() + kept*8*c.params)
}

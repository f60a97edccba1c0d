package page

import (
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// Limits of one model. A request that asks for more is refused before it takes memory.
const (
	maxNodes    = 50_000
	maxElements = 1 << 24 // of all its values together, those of its examples included
	maxWork     = 1 << 34 // arithmetic operations of a step: a second or a few
)

// cost is a model's demand on the server.
type cost struct {
	nodes, elements int
	params          int // elements
	work            float64
}

// costOf adds up the values of a model's graph, of the bodies of its loops, and of the graph that
// draws its examples. It returns an error for a model too large for the page.
func costOf(m *builders.Model) (c cost, err error) {
	c.add(m.Graph.Nodes())
	c.add(m.Drawn)
	for _, n := range m.Graph.Leaves(graph.RoleParam, graph.RoleState) {
		c.params = capped(c.params + n.Shape().Len())
	}
	switch what := "the model is too large for the page: "; {
	case c.elements > maxElements:
		err = failf(tooLarge, "%sits values and those of its examples have more than %d elements together", what, maxElements)
	case c.nodes > maxNodes:
		err = failf(tooLarge, "%sit has more than %d nodes", what, maxNodes)
	case c.work > maxWork:
		err = failf(tooLarge, "%sa step takes about %.1e operations, more than %.1e", what, c.work, float64(maxWork))
	}
	return c, err
}

// capped limits a number of elements to the first that is too large, so that sums cannot overflow.
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

// workOf estimates the number of arithmetic operations of a node. For two operands that share an
// axis missing from the result, with sizes m·k, k·n and m·n, it is m·k·n: the root of the product
// of the three sizes. It does not know how often a loop runs its body; the compiled program does.
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

// keeps returns how many records, shadows and findings a document keeps, of each kind: the last
// few, or only the last of a large model.
func (c cost) keeps() int { return max(1, min(maxKept, cacheRoom/max(1, c.bytes()))) }

// bytes returns the size of all values in float64.
func (c cost) bytes() int { return 8 * c.elements }

// reserved returns the most bytes that a document of the model can hold: the values of two
// machines, those being computed, those kept, and snapshots.
func (c cost) reserved() int {
	const machines, computing, kinds = 2, 3, 4
	snapshots := min(2*max(snapshotRoom, 2*8*c.params), 2*maxSnapshots*8*c.params)
	return (machines+computing+kinds*c.keeps()+maxEntered)*c.bytes() + snapshots
}

// trained returns the bytes that so many trainings of the model hold at a time. Each holds the
// values, and the parameters with the optimiser's state, before and after a step.
func (c cost) trained(times int) int {
	const kept = 4 // themselves, two moments, and the best
	return times * (c.bytes() + kept*8*c.params)
}

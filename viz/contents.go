package viz

import (
	"github.com/tapestry-ml/tapestry/graph"
)

// Contents lists the nodes of each box of a drawing: first the node that the box shows, then
// those that only its formula contains. Every node that a drawn one depends on is in exactly one
// box, the first whose formula contains it. A root that is not drawn, such as the unnamed update
// of a state, is in no box, nor are nodes that it alone needs. The options are those of [Draw].
//
// Contents serves to show amounts that add up, such as times: mark the first node of each box
// with the sum over all its nodes.
func Contents(roots []*graph.Node, opts ...Option) ([][]*graph.Node, error) {
	p, err := newPlan(roots, opts)
	if err != nil {
		return nil, err
	}
	return p.Contents(), nil
}

// Contents lists the nodes of each box of one side, 0 for A and 1 for B; see the function
// [Contents].
func (d *Difference) Contents(side int) [][]*graph.Node {
	if d.whole() != nil || side < 0 || side > 1 {
		return nil
	}
	v := []*view{d.a, d.b}[side]
	var out [][]*graph.Node
	for _, n := range v.shown {
		out = append(out, []*graph.Node{n})
	}
	return v.withAbsorbed(out)
}

func (v *view) withAbsorbed(boxes [][]*graph.Node) [][]*graph.Node {
	absorbed := v.absorb()
	for i, members := range boxes {
		for _, n := range members {
			boxes[i] = append(boxes[i], absorbed[n]...)
		}
	}
	return boxes
}

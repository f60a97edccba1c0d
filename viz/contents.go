package viz

import "github.com/tapestry-ml/tapestry/graph"

// Contents lists what the boxes of a drawing stand for: of each the nodes in it, that
// which is drawn first, then those that are in its formula alone. Every node that a drawn one
// depends on is in one box, the first whose formula has it; a root that is not drawn, such as
// the nameless update of a state, is in none, nor is what it alone needs. The options are those
// of [Draw].
//
// It is for marks that count something: what of a drawing adds up is shown by a mark on
// the first node of each box, with the sum of all.
func Contents(roots []*graph.Node, opts ...Option) ([][]*graph.Node, error) {
	v, err := newView(roots, collect(opts))
	if err != nil {
		return nil, err
	}
	v.fold()
	if err := v.checkOpen(); err != nil {
		return nil, err
	}
	var out [][]*graph.Node
	for _, b := range v.group() {
		out = append(out, b.members)
	}
	return v.withAbsorbed(out), nil
}

// Contents lists what the boxes of one side stand for, 0 for A and 1 for B, as the
// function of this name does of a drawing.
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

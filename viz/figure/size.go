package figure

import "math"

// Text sizes and limits. Limits count characters.
const (
	mainSize   = 14.5
	subSize    = 11.5
	labelSize  = 9.5
	titleSize  = 11.5
	textLimit  = 38
	labelLimit = 24

	nodeHeight  = 42.0
	labelHeight = 14.0
	ring        = 4.0 // from a loss to the ring around it
)

// nodeSize returns the outer size of n, with the ring of a loss: the same in all panels, so it
// fits the widest text of any.
func nodeSize(n *Node, panels int) (w, h float64) {
	for p := range panels {
		if !seenIn(n.Panel).has(p) {
			continue
		}
		w = max(w, TextWidth(line(n.main(p), textLimit), mainSize), TextWidth(line(n.sub(p), textLimit), subSize))
	}
	if panels == 2 {
		w *= boldFactor // nodes of one panel only are set in bold
	}
	w = max(w+24, 40)
	switch n.Role {
	case Input, Reduce, Gradient, Update:
		w += 14
	case Loss, Output:
		w += 2 * ring
	}
	return 2 * math.Ceil(w/2), heightOf(n.Role)
}

// heightOf returns the height of a node with its ring.
func heightOf(r Role) float64 { return nodeHeight + 2*ringOf(r) }

// ringOf returns how far the outline of a role is outside its fill.
func ringOf(r Role) float64 {
	if r == Loss || r == Output {
		return ring
	}
	return 0
}

// shoulder returns the distance from the sides of a shape to its flat top and bottom, where edges
// may be attached.
func shoulder(r Role) (top, bottom float64) {
	switch r {
	case Input:
		return nodeHeight / 2, nodeHeight / 2
	case Reduce:
		return 6, funnel + 6
	case Gradient:
		return hexagon + 2, hexagon + 2
	case Update:
		return slant + 4, slant + 4
	case Const:
		return corner + 2, 6
	}
	return 8, 8
}

// labelWidth returns the width of the background of a label, 0 for no label.
func labelWidth(label string) float64 {
	if label == "" {
		return 0
	}
	return math.Ceil(TextWidth(label, labelSize)) + 8
}

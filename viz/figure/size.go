package figure

import "math"

// Limits count characters.
const (
	labelSize  = 9.5 // of the smallest text
	textLimit  = 38
	labelLimit = 24

	labelHeight = 14.0
	stripHeight = 12.0 // of the parameters inside a node
	stripGap    = 5.0
	ring        = 4.0 // from a loss to the ring around it
)

// measures has the sizes of texts and the distances of a drawing, in pixels.
type measures struct {
	main, sub, title float64 // texts
	node             float64 // height of a node
	upper, lower     float64 // baselines of its two lines, below its middle
	text             float64 // room beside the text of a node
	rowGap           float64 // between rows; edges turn and labels are placed here
	boxRow           float64 // the same where a box begins or ends
	reach            float64 // the most that is added to a gap for edges that go far sideways
	nodeGap          float64 // between nodes of a row
	runGap           float64 // beside the run of a long edge
	boxGap           float64 // between boxes, and from a box to its neighbours
	boxPad           float64 // from a box to its contents
	boxTitle         float64 // height of a title inside the top of a box
	boxFoot          float64 // from the last row of a box to its bottom
}

// measures returns the sizes of f: a large drawing is dense, so that it fits a page.
func (f *Figure) measures() *measures {
	if f.Dense {
		return &measures{main: 11.5, sub: 9.5, title: 10, node: 30, upper: -3, lower: 10.5, text: 16, rowGap: 18, boxRow: 11, reach: 4, nodeGap: 14, runGap: 8, boxGap: 12, boxPad: 8, boxTitle: 16, boxFoot: 5}
	}
	return &measures{main: 14.5, sub: 11.5, title: 11.5, node: 42, upper: -2, lower: 13, text: 24, rowGap: 40, boxRow: 40, reach: 24, nodeGap: 30, runGap: 14, boxGap: 24, boxPad: 16, boxTitle: 30, boxFoot: 14}
}

// size returns the outer size of n, with the ring of a loss: the same in all panels, so it fits
// the widest text of any.
func (m *measures) size(n *Node, panels int) (w, h float64) {
	for p := range panels {
		if !seenIn(n.Panel).has(p) {
			continue
		}
		w = max(w, TextWidth(line(n.main(p), textLimit), m.main), TextWidth(line(n.sub(p), textLimit), m.sub)+stripWidth(n))
	}
	if panels == 2 {
		w *= boldFactor // nodes of one panel only are set in bold
	}
	w = max(w+m.text, 40)
	switch n.Role {
	case Input, Hyper, Move, Along, Reduce, Gradient, Update:
		w += 14
	case Loss, Output:
		w += 2 * ring
	}
	return 2 * math.Ceil(w/2), m.height(n)
}

// height returns the height of a node with its ring.
func (m *measures) height(n *Node) float64 {
	return m.node + 2*ringOf(n.Role)
}

// stripWidth returns the room that the parameters inside a node take in its second line.
func stripWidth(n *Node) float64 {
	if n.Params == "" {
		return 0
	}
	return labelWidth(line(n.Params, textLimit)) + stripGap
}

// ringOf returns how far the outline of a role is outside its fill.
func ringOf(r Role) float64 {
	if r == Loss || r == Output {
		return ring
	}
	return 0
}

// shoulder returns the distance from the sides of a shape to its flat top and bottom, where edges
// may be attached. The shape has the given height.
func shoulder(r Role, height float64) (top, bottom float64) {
	switch r {
	case Input:
		return height / 2, height / 2
	case Hyper:
		return octagon + 2, octagon + 2
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

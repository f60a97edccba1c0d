package figure

import "math"

// Proportions of sketches, in pixels.
const (
	discSize   = 34.0
	signHeight = 34.0
	lineHeight = 17.0 // of a further line in a sign
	signSize   = 14.5
	cellSize   = 11.5 // of the title of a cell
	smallSize  = 11.0 // of text under a sign, and of the name in it
	smallLine  = 15.0
	tallGap    = 76.0 // between arrows that leave a tall box
	attachGap  = 24.0 // from a sign above another to that
	cellPad    = 22.0 // between the border of a sign and the sketch inside
	cellTitle  = 24.0
	farAround  = 160.0 // an arrow rises this far at most to go around
	foldGap    = 16.0  // between arrows that lead back
	signLimit  = 30    // characters of a line in a sign
	subLimit   = 46
)

// named reports whether the name of a sign stands in it, as in boxes, rather than under it.
func (n *Sign) named() bool {
	return n.Sub != "" && n.Form == Boxed && n.Inner == nil && len(n.Lines) > 0
}

// under returns the lines of text under a sign.
func (n *Sign) under() (texts []string, grad int) {
	if n.Sub != "" && !n.named() && n.Inner == nil {
		texts = append(texts, line(n.Sub, subLimit))
	}
	grad = len(texts)
	if n.Grad != "" {
		texts = append(texts, line(n.Grad, subLimit))
	}
	return texts, grad
}

// boxSize returns the size of a sign without the text under it.
func (n *Sign) boxSize() (w, h float64) {
	for _, s := range n.Lines {
		w = max(w, TextWidth(line(s, signLimit), signSize))
	}
	switch n.Form {
	case Disc:
		size := max(discSize, w+14) + 2*ringOf(n.Role)
		return size, size
	case Bare:
		return w + 8, 22
	}
	h = signHeight + lineHeight*float64(max(0, len(n.Lines)-1))
	if n.named() {
		w = max(w, TextWidth(line(n.Sub, subLimit), smallSize))
		h += smallLine - 4
	}
	w = max(w+20, 38)
	switch n.Role {
	case Input, Hyper, Update, Gradient:
		w += 10
	}
	ring := 2 * ringOf(n.Role)
	h = max(h, tallGap*float64(n.Ports-1)+signHeight)
	return 2 * math.Ceil((w+ring)/2), h + ring
}

// extent is the room that a sign takes around its centre.
type extent struct{ half, up, down float64 }

// extentOf returns the room of a sign with the text under it.
func (n *Sign) extentOf(w, h float64) extent {
	e := extent{w / 2, h / 2, h / 2}
	texts, _ := n.under()
	for _, s := range texts {
		e.half = max(e.half, TextWidth(s, smallSize)/2)
	}
	if len(texts) > 0 {
		e.down += 3 + smallLine*float64(len(texts))
	}
	return e
}

package figure

import "strings"

// A paint is a colour of the drawing, in a light and a dark version.
type paint uint8

const (
	page   paint = iota
	ink          // text
	faint        // secondary text, marks
	muted        // fill of nodes that both panels share
	rule         // thin lines
	module       // fill of module boxes
	valueLine
	gradLine
	savedLine
	assignLine
	ownA // nodes of panel A only
	ownB
	alarmLine                          // reserved for faults
	checkedLine                        // nodes that were checked and are right
	lossyLine                          // nodes that lose digits
	hotInk                             // text on the upper steps of heat
	heatFill                           // first of one fill for each step of heat
	groupFill   = heatFill + HeatSteps // first of one fill for each group
	roleFill    = groupFill + Groups   // first of one fill for each role
	roleLine    = roleFill + roles
	paints      = roleLine + roles
)

// A colour has a name for style sheets and a value for each theme, after the palette of Okabe and
// Ito (Color Universal Design, 2008), darkened or lightened for contrast.
type colour struct{ name, light, dark string }

var palette = [paints]colour{
	page:        {"page", "#FFFFFF", "#14191F"},
	ink:         {"ink", "#1B2733", "#E9EEF3"},
	faint:       {"faint", "#59636E", "#97A3AF"},
	muted:       {"muted", "#F3F4F6", "#1E252D"},
	rule:        {"rule", "#8A94A0", "#6F7C89"},
	module:      {"module", "#FAFBFC", "#1A2027"},
	valueLine:   {"value", "#4A5763", "#A9B5C0"},
	gradLine:    {"grad", "#A3487D", "#E39AC6"},
	savedLine:   {"saved", "#7B8692", "#7F8C99"},
	assignLine:  {"assign", "#4C54A8", "#A5ADF0"},
	ownA:        {"a", "#0072B2", "#56B4E9"},
	ownB:        {"b", "#B84A00", "#FF8A4C"},
	alarmLine:   {"alarm", "#C8001E", "#FF7582"},
	checkedLine: {"checked", "#00795A", "#3CC79F"},
	lossyLine:   {"lossy", "#7A4B00", "#F0B23C"},
	hotInk:      {"hotink", "#FFFFFF", "#0B1620"},

	// There is no blue of medium lightness, on which neither dark nor light text would be readable.
	// The lowest step is stronger than the page, which is the fill of nodes without heat.
	heatFill + 0: {"heat1", "#DFECF8", "#1A2A3A"},
	heatFill + 1: {"heat2", "#C9DFF2", "#1B344B"},
	heatFill + 2: {"heat3", "#ABCFEA", "#1C3D5A"},
	heatFill + 3: {"heat4", "#8ABDE2", "#1D486D"},
	heatFill + 4: {"heat5", "#1A5891", "#74AEDD"},
	heatFill + 5: {"heat6", "#124578", "#9CC8EC"},
	heatFill + 6: {"heat7", "#082E55", "#C9E4F9"},

	// Distinguishable with every kind of colour vision, and from the page.
	groupFill + 0: {"group1", "#FFDF85", "#014893"},
	groupFill + 1: {"group2", "#BED6F6", "#441800"},
	groupFill + 2: {"group3", "#FD957D", "#6A3A67"},
	groupFill + 3: {"group4", "#A3FFBE", "#484D40"},
	groupFill + 4: {"group5", "#B5B1B2", "#7E350D"},
	groupFill + 5: {"group6", "#48BBFF", "#330046"},

	roleFill + paint(Input):    {"input", "#D6ECFA", "#12344A"},
	roleFill + paint(Hyper):    {"hyper", "#EDF3C4", "#2B3410"},
	roleFill + paint(Param):    {"param", "#FFF0C2", "#43350C"},
	roleFill + paint(State):    {"state", "#FFF8E3", "#332A12"},
	roleFill + paint(Const):    {"const", "#ECEDEF", "#2B323A"},
	roleFill + paint(Op):       {"op", "#FFFFFF", "#1F262E"},
	roleFill + paint(Move):     {"move", "#FFFFFF", "#1F262E"},
	roleFill + paint(Along):    {"along", "#D5F0E6", "#0F3A2E"},
	roleFill + paint(Reduce):   {"reduce", "#D5F0E6", "#0F3A2E"},
	roleFill + paint(Gradient): {"gradient", "#F8E3EF", "#40213A"},
	roleFill + paint(Loss):     {"loss", "#FBD9C6", "#4A2410"},
	roleFill + paint(Output):   {"output", "#FFFFFF", "#1F262E"},
	roleFill + paint(Update):   {"update", "#E4E6FA", "#262A4D"},

	roleLine + paint(Input):    {"input", "#0072B2", "#56B4E9"},
	roleLine + paint(Hyper):    {"hyper", "#586800", "#BFD04E"},
	roleLine + paint(Param):    {"param", "#8F6200", "#E6B422"},
	roleLine + paint(State):    {"state", "#8F6200", "#E6B422"},
	roleLine + paint(Const):    {"const", "#5F6973", "#98A3AE"},
	roleLine + paint(Op):       {"op", "#33414E", "#C3CDD6"},
	roleLine + paint(Move):     {"move", "#33414E", "#C3CDD6"},
	roleLine + paint(Along):    {"along", "#00795A", "#3CC79F"},
	roleLine + paint(Reduce):   {"reduce", "#00795A", "#3CC79F"},
	roleLine + paint(Gradient): {"gradient", "#A3487D", "#E39AC6"},
	roleLine + paint(Loss):     {"loss", "#B84A00", "#FF8A4C"},
	roleLine + paint(Output):   {"output", "#33414E", "#C3CDD6"},
	roleLine + paint(Update):   {"update", "#4C54A8", "#A5ADF0"},
}

func fillOf(r Role) paint { return roleFill + paint(r) }
func lineOf(r Role) paint { return roleLine + paint(r) }
func ownOf(p int) paint   { return ownA + paint(p) }

// groupOf returns the fill of a group, from 1.
func groupOf(group int) paint { return groupFill + paint(group-1) }

// roleColours returns the fill and the line of a role. Under an overlay, no colour stands for a
// role.
func (f *Figure) roleColours(r Role) (fill, line paint) {
	if f.Overlay {
		return page, lineOf(Op)
	}
	return fillOf(r), lineOf(r)
}

// overlaid returns the fill that an overlay gives a node and the paint of text on it; ok is false
// if it gives none.
func (n *Node) overlaid() (fill, text paint, ok bool) {
	switch {
	case n.Heat > 0:
		fill, text = heatOf(n.Heat)
		return fill, text, true
	case n.Group > 0:
		return groupOf(n.Group), ink, true
	}
	return none, none, false
}

// heatOf returns the fill of a step of heat, from 1, and the paint of text on it.
func heatOf(step int) (fill, text paint) {
	if step > darkSteps {
		return heatFill + paint(step-1), hotInk
	}
	return heatFill + paint(step-1), ink
}

// kindLine has the paint, width and dash of each kind of edge.
var kindLine = [kinds]struct {
	paint paint
	width float64
	dash  string
}{
	Forward: {valueLine, 1.4, ""},
	Grad:    {gradLine, 1.6, "7 4"},
	Saved:   {savedLine, 1.1, "1.2 4"},
	Assign:  {assignLine, 1.4, "10 3 2 3"},
	Carry:   {assignLine, 1.8, "3 2.5"},
}

// A Theme selects the colours of a drawing.
type Theme uint8

// The themes. An Auto drawing is light, and dark where the reader prefers dark; viewers that do
// not know about preferences show it light.
const (
	Auto Theme = iota
	Light
	Dark
)

// An easel returns attributes for paints in a theme and records which paints were used.
type easel struct {
	theme   Theme
	fills   [paints]bool
	strokes [paints]bool
}

// none is the paint of what is not painted.
const none = paint(paints)

func (e *easel) value(p paint) string {
	switch {
	case p == none:
		return "none"
	case e.theme == Dark:
		return palette[p].dark
	}
	return palette[p].light
}

// attrs returns the attributes of an element with the given fill, stroke and
// further class names.
func (e *easel) attrs(fill, stroke paint, classes ...string) string {
	var b strings.Builder
	if e.theme == Auto {
		if fill != none {
			e.fills[fill] = true
			classes = append(classes, "f-"+palette[fill].name)
		}
		if stroke != none {
			e.strokes[stroke] = true
			classes = append(classes, "s-"+palette[stroke].name)
		}
	}
	if len(classes) > 0 {
		b.WriteString(` class="` + strings.Join(classes, " ") + `"`)
	}
	b.WriteString(` fill="` + e.value(fill) + `"`)
	if stroke != none {
		b.WriteString(` stroke="` + e.value(stroke) + `"`)
	}
	return b.String()
}

// useMarks records all paints that overlays use.
func (e *easel) useMarks() {
	for _, p := range [...]paint{page, ink, faint, ownA, ownB, lineOf(Op), alarmLine, checkedLine, lossyLine, hotInk} {
		e.fills[p], e.strokes[p] = true, true
	}
	for p := heatFill; p < roleFill; p++ {
		e.fills[p], e.strokes[p] = true, true
	}
}

// style returns the style sheet that makes a painted drawing dark. Class rules override the
// presentation attributes, which have the light colours.
func (e *easel) style() string {
	if e.theme != Auto {
		return ""
	}
	return "<style>" + e.preferred() + "</style>\n"
}

// preferred returns rules that make the drawing dark if the reader prefers that.
func (e *easel) preferred() string {
	return "@media (prefers-color-scheme: dark){" + e.dark(rootClass) + "}"
}

// dark returns rules that make the drawing dark in an element of a class.
func (e *easel) dark(class string) string {
	var b strings.Builder
	for p := range palette {
		c := palette[p]
		if e.fills[p] {
			b.WriteString("." + class + " .f-" + c.name + "{fill:" + c.dark + "}")
		}
		if e.strokes[p] {
			b.WriteString("." + class + " .s-" + c.name + "{stroke:" + c.dark + "}")
		}
	}
	return b.String()
}

// Classes of the element around a drawing of theme Auto: one follows the reader's preference, the
// other is dark.
const (
	rootClass = "tapestry-auto"
	darkClass = "tapestry-dark"
)

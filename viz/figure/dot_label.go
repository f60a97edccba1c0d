package figure

import (
	"strconv"
	"strings"
)

// Sizes of text in points.
const (
	dotMain = 11.0
	dotSub  = 8.8
)

// dotHTML returns a label in Graphviz's HTML.
func dotHTML(markup string) string {
	if strings.TrimSpace(markup) == "" {
		return `" "` // some readers show the name if the label is empty
	}
	var b strings.Builder
	for _, r := range markup {
		if r < 0x7F {
			b.WriteRune(r)
		} else { // gographviz cannot read every letter in HTML
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		}
	}
	return "<" + b.String() + ">"
}

// Graphviz drops blanks at the ends of what is between tags.
var dotXML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", " ", "\u00A0")

// dotMarkup returns a text of a figure with its subscripts and superscripts in Graphviz's HTML, in a
// line of the given size.
func dotMarkup(s string, size float64) string {
	var b strings.Builder
	for _, t := range stretches(Clean(s)) {
		text := dotXML.Replace(t.text)
		if strings.HasPrefix(t.text, " ") { // with nothing before it, a blank is dropped by librsvg, too
			text = "\u2060" + text
		}
		if strings.HasSuffix(t.text, " ") {
			text += "\u2060"
		}
		switch {
		case t.depth == 0:
			b.WriteString(text)
		case t.raise < 0:
			b.WriteString(`<SUB><FONT POINT-SIZE="` + num(max(7, size*0.75)) + `">` + text + "\u200A</FONT></SUB>") // Graphviz takes a script for too narrow
		default:
			b.WriteString(`<SUP><FONT POINT-SIZE="` + num(max(7, size*0.75)) + `">` + text + "\u200A</FONT></SUP>")
		}
	}
	return b.String()
}

// caption returns the label of the graph: title, subtitle and legend.
func (d *dotGraph) caption() string {
	var rows []string
	row := func(cells string) { rows = append(rows, "<TR>"+cells+"</TR>") }
	for i, l := range strings.Split(d.title(), "\n") {
		if l = dotMarkup(l, 14); i == 0 && strings.TrimSpace(l) != "" {
			row(`<TD><B><FONT POINT-SIZE="14">` + l + "</FONT></B></TD>")
		} else if strings.TrimSpace(l) != "" {
			row("<TD>" + l + "</TD>")
		}
	}
	if s := line(d.figure.Subtitle, 160); s != "" {
		row(`<TD><FONT POINT-SIZE="10" COLOR="` + d.easel.value(faint) + `">` + dotMarkup(s, 10) + "</FONT></TD>")
	}
	for _, s := range d.figure.Footer {
		row(`<TD><FONT POINT-SIZE="10">` + dotMarkup(line(s, 200), 10) + "</FONT></TD>")
	}
	if d.options.legend {
		if l := d.legend(); l != "" {
			row("<TD>" + l + "</TD>")
		}
	}
	if len(rows) == 0 {
		return `" "`
	}
	return dotHTML(`<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3">` + strings.Join(rows, "") + "</TABLE>")
}

// perRow is the number of signs in a row of the legend.
const perRow = 4

// legend explains the roles and the kinds of edge that are present.
func (d *dotGraph) legend() string {
	var cells []string
	text := func(s string) string {
		return `<TD ALIGN="LEFT"><FONT POINT-SIZE="9">` + dotMarkup(s, 9) + "</FONT></TD>"
	}
	var role [roles]bool
	var kind [kinds]bool
	for i := range d.figure.Nodes {
		if n := &d.figure.Nodes[i]; d.panel(seenIn(n.Panel)) >= 0 {
			role[n.Role] = true
		}
	}
	for e := range d.figure.Edges {
		if d.panel(d.seen[e]) >= 0 {
			kind[d.figure.Edges[e].Kind] = true
		}
	}
	for r, ok := range role {
		if ok {
			fill, line := d.figure.roleColours(Role(r))
			cells = append(cells, `<TD>`+d.swatch(Role(r), fill, line)+`</TD>`+text(roleTitles[r]))
		}
	}
	for k, ok := range kind {
		if ok {
			cells = append(cells, `<TD><FONT POINT-SIZE="9" COLOR="`+d.easel.value(kindLine[k].paint)+`">`+[kinds]string{"──▶", "╌╌▶", "···▶", "─·▶", "╌◂╌"}[k]+"</FONT></TD>"+text(kindLegends[k]))
		}
	}
	for p := range d.figure.panels() {
		if d.figure.comparing() && d.options.panel == 0 {
			cells = append(cells, `<TD>`+d.swatch(Op, page, ownOf(p))+`</TD>`+text("only in "+string(rune('A'+p))))
		}
	}
	for _, s := range d.figure.Signs {
		cells = append(cells, `<TD></TD>`+text(line(s, 100)))
	}
	var b strings.Builder
	for len(cells) > 0 {
		n := min(perRow, len(cells))
		b.WriteString("<TR>" + strings.Join(cells[:n], "") + "</TR>")
		cells = cells[n:]
	}
	if b.Len() == 0 {
		return ""
	}
	return `<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="2" CELLPADDING="2">` + b.String() + "</TABLE>"
}

// swatchSigns has the shapes that a swatch, which is a box, cannot have.
var swatchSigns = [roles]string{Const: "◥", Move: "◇", Reduce: "▽", Gradient: "⬡", Update: "▱", Loss: "□", Param: "□", State: "□"}

// swatch returns a small box in the colours and with the border of a role.
func (d *dotGraph) swatch(r Role, fill, stroke paint) string {
	style := ""
	switch {
	case strings.Contains(dotShapes[r].style, "dashed"):
		style = ` STYLE="DASHED"`
	case strings.Contains(dotShapes[r].style, "rounded"):
		style = ` STYLE="ROUNDED"`
	case strings.Contains(dotShapes[r].style, "dotted"):
		style = ` STYLE="DOTTED"`
	}
	sign := swatchSigns[r]
	if sign != "" { // Graphviz refuses a font of nothing
		sign = `<FONT POINT-SIZE="8" COLOR="` + d.easel.value(stroke) + `">` + sign + "</FONT>"
	}
	return `<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"` + style + ` BGCOLOR="` + d.easel.value(fill) + `" COLOR="` + d.easel.value(stroke) +
		`"><TR><TD WIDTH="26" HEIGHT="13">` + sign + `</TD></TR></TABLE>`
}

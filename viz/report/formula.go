package report

import (
	"encoding/xml"
	"html/template"
	"strings"
)

// breakable returns a formula with its sides and terms as rows, so that the style sheet can allow
// line breaks between them and nowhere else. Markup that is not a math element is returned as it
// is.
func breakable(math template.HTML) template.HTML {
	s := string(math)
	d := xml.NewDecoder(strings.NewReader(s))
	d.Entity = xml.HTMLEntity
	var (
		depth    int
		inside   int64      // where the formula begins, after <math>
		end      int64      // where the formula ends
		joint    [2]int64   // the last <mo> of the formula itself: where it and its text begin
		joints   [][2]int64 // operators that may begin a row
		operand  bool       // since the last joint
		operator string
	)
	for {
		at := d.InputOffset()
		t, err := d.Token()
		if err != nil {
			break
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch {
			case depth == 0 && (t.Name.Local != "math" || inside > 0):
				return math
			case depth == 0:
				inside = d.InputOffset()
			case depth == 1 && t.Name.Local == "mo":
				joint, operator = [2]int64{at, d.InputOffset()}, ""
			case depth == 1:
				operand, operator = true, "-"
			}
			depth++
		case xml.CharData:
			if depth == 2 {
				operator += string(t)
			}
		case xml.EndElement:
			depth--
			switch {
			case depth == 0:
				end = at
			case depth == 1 && (operator == "=" || operator == "+" || operator == "−"):
				if operand { // a sign after = belongs to its term
					joints = append(joints, joint)
				}
				operand = false
			}
		}
	}
	if len(joints) == 0 {
		return math
	}
	var b strings.Builder
	b.WriteString(s[:inside] + "<mrow>")
	for _, j := range joints {
		b.WriteString(s[inside:j[0]] + `</mrow><mrow><mo form="infix">`)
		inside = j[1]
	}
	b.WriteString(s[inside:end] + "</mrow>" + s[end:])
	return template.HTML(b.String())
}

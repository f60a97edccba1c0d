package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Elements allowed in the caller's markup.
var (
	inlineElements = set(`math semantics annotation mrow mi mo mn mtext mspace ms mfrac msqrt mroot
		mstyle mpadded mphantom msub msup msubsup munder mover munderover mmultiscripts mprescripts
		mtable mtr mtd merror menclose
		span sub sup i em b strong var code small br bdi`)
	svgElements = set(`svg g path rect circle ellipse line polyline polygon text tspan textPath title
		desc defs use symbol marker pattern linearGradient radialGradient stop clipPath mask style`)
)

// namespaces has the only addresses allowed in markup.
var namespaces = set("http://www.w3.org/2000/svg http://www.w3.org/1999/xlink http://www.w3.org/1998/Math/MathML")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// checkInline returns an error if inline HTML or MathML is not well-formed, or could do more than
// be read.
func checkInline(s string) error {
	_, err := checkElements(s, inlineElements, nil)
	return err
}

// drawing returns the single element of an SVG file, without what precedes it.
func drawing(s string) (string, error) {
	depth, roots := 0, 0
	from, err := checkElements(s, svgElements, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
				if t.Name.Local != "svg" {
					return fmt.Errorf("the outermost element is <%s>, not <svg>", t.Name.Local)
				}
			}
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && strings.TrimSpace(string(t)) != "" {
				return errors.New("text outside of the <svg> element")
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case roots != 1:
		return "", fmt.Errorf("%d <svg> elements, not one", roots)
	}
	return strings.TrimSpace(s[from:]), nil
}

// checkElements reads markup, passes each token to also, and returns where the first element
// begins.
func checkElements(s string, allowed map[string]bool, also func(xml.Token) error) (from int64, err error) {
	// HTML parsers of browsers read these differently from XML parsers.
	for _, bad := range []string{"<![CDATA[", "<!--"} {
		if strings.Contains(s, bad) {
			return 0, fmt.Errorf("%s is not allowed", bad)
		}
	}
	d := xml.NewDecoder(strings.NewReader(s))
	d.Entity = xml.HTMLEntity
	from = -1
	inStyle := false
	for {
		at := d.InputOffset()
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if from < 0 {
				from = at
			}
			if err := checkElement(t, allowed); err != nil {
				return 0, err
			}
			inStyle = t.Name.Local == "style"
		case xml.EndElement:
			inStyle = false
		case xml.CharData:
			if inStyle && loads(string(t)) {
				return 0, errors.New("the style sheet refers to something outside")
			}
		case xml.ProcInst, xml.Directive:
			if from >= 0 {
				return 0, errors.New("an instruction inside of the markup")
			}
		}
		if also != nil {
			if err := also(t); err != nil {
				return 0, err
			}
		}
	}
	return max(from, 0), nil
}

// checkElement returns an error if an element or attribute runs or loads something.
func checkElement(e xml.StartElement, allowed map[string]bool) error {
	if e.Name.Space != "" && !namespaces[e.Name.Space] || !allowed[e.Name.Local] {
		return fmt.Errorf("the element <%s> is not allowed", e.Name.Local)
	}
	for _, a := range e.Attr {
		name := strings.ToLower(a.Name.Local)
		bad := false
		switch {
		case a.Name.Space == "xmlns" || name == "xmlns":
			bad = !namespaces[a.Value]
		case name == "href" || name == "src":
			bad = !strings.HasPrefix(a.Value, "#")
		default:
			bad = strings.HasPrefix(name, "on") || !prose(name) && loads(a.Value)
		}
		if bad {
			return fmt.Errorf("<%s %s=%q> is not allowed", e.Name.Local, a.Name.Local, a.Value)
		}
	}
	return nil
}

// prose reports whether an attribute is text that no browser interprets.
func prose(attr string) bool {
	return strings.HasPrefix(attr, "aria-") || strings.HasPrefix(attr, "data-") || attr == "alttext" || attr == "title"
}

// loads reports whether a style would load something from outside the page.
func loads(style string) bool {
	s := strings.ToLower(style)
	for rest := s; ; {
		_, after, found := strings.Cut(rest, "url(")
		if !found {
			break
		}
		if !strings.HasPrefix(strings.TrimLeft(after, ` "'`), "#") {
			return true
		}
		rest = after
	}
	// A backslash could spell any of these in a way that is not recognised here.
	return strings.Contains(s, "@import") || strings.Contains(s, "javascript:") || strings.Contains(s, `\`)
}

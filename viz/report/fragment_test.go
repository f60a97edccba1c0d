package report

import (
	"html/template"
	"strings"
	"testing"
)

func TestInline(t *testing.T) {
	for _, ok := range []string{
		"", "α<sub>ij</sub> &lt; &alpha; &amp; b", `<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mi>x</mi></math>`,
		"a<br/>b", `<math alttext="\alpha url(https://x)"><mi>α</mi></math>`,
	} {
		if err := checkInline(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for bad, want := range map[string]string{
		"<script>alert(1)</script>":    "<script> is not allowed",
		"<sub>j":                       "unexpected EOF",
		"<sub>j</sup>":                 "closed by </sup>",
		"</p><p>":                      "unexpected end element",
		"a < b":                        "expected element name",
		`<span onclick="x()">a</span>`: "onclick",
		`<span style="background:url(https://x/y)">a</b>`:   "style=",
		`<span style="background:\75rl(https://x)"/>`:       "style=",
		`<math href="https://x"><mi>x</mi></math>`:          "href=",
		`<math href="javascript:x()"><mi>x</mi></math>`:     "href=",
		`<math xmlns="https://evil"><mi>x</mi></math>`:      "not allowed",
		`<h:script xmlns:h="urn:x">a</h:script>`:            "not allowed",
		"<!-- a --><b>b</b>":                                "<!-- is not allowed",
		"<b><![CDATA[</b><script>]]></b>":                   "<![CDATA[ is not allowed",
		"<svg/>":                                            "<svg> is not allowed",
		"<b><?xml-stylesheet href='https://x'?></b>":        "instruction",
		"<span><style>*{}</style></span>":                   "<style> is not allowed",
		"<SCRIPT>x</SCRIPT>":                                "<SCRIPT> is not allowed",
		"\x1b":                                              "illegal character",
		`<math><annotation encoding="a" src="//x"/></math>`: "src=",
	} {
		if err := checkInline(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", bad, err, want)
		}
	}
}

func TestDrawing(t *testing.T) {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"><style>.a{fill:url( '#g' )}</style><use href="#a"/></svg>`
	got, err := drawing("<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/x.dtd\">\n" + svg + "\n")
	if err != nil || got != svg {
		t.Errorf("drawing gives %q, %v; want the element alone", got, err)
	}
	for bad, want := range map[string]string{
		`<p>a</p>`:                               "<p> is not allowed",
		`<g/>`:                                   "outermost element is <g>",
		``:                                       "0 <svg> elements",
		`<svg/><svg/>`:                           "2 <svg> elements",
		`<svg/>text`:                             "outside of the <svg>",
		`<svg><style>@import "x";</style></svg>`: "refers to something outside",
		`<svg><style>a{fill:url(#a) url("https://x")}</style></svg>`:                            "refers to something outside",
		`<svg><image href="#a"/></svg>`:                                                         "<image> is not allowed",
		`<svg><foreignObject><b/></foreignObject></svg>`:                                        "<foreignObject> is not allowed",
		`<svg><use href="other.svg#a"/></svg>`:                                                  "href=",
		`<svg xmlns:xlink="http://www.w3.org/1999/xlink"><use xlink:href="https://x#a"/></svg>`: "href=",
		`<svg><rect fill="url(https://x#a)"/></svg>`:                                            "fill=",
		`<svg><rect ONLOAD="x()"/></svg>`:                                                       "ONLOAD",
	} {
		if _, err := drawing(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", bad, err, want)
		}
	}
}

func TestDrawingKeepsIDsUnique(t *testing.T) {
	p := fake()
	p.Drawing.SVG = `<svg><g id="plane"/></svg>`
	err := p.Write(new(strings.Builder))
	if want := `report: the id "plane" is used twice`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	p.Drawing.SVG = ""
	p.Data.Name = ` id="plane"`
	p.Variants[0].LaTeX = ` id="plane"`
	p.Variants[0].Formula = template.HTML(`<mi>" id='</mi>`)
	if err := p.Write(new(strings.Builder)); err != nil {
		t.Errorf("text that looks like an id: %v", err)
	}
}

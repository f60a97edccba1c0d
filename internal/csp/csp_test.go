package csp

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
)

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// TestSeal: a page's policy has what is written in it, as a browser reads it, and no script
// but the given ones.
func TestSeal(t *testing.T) {
	const head, tail = "default-src 'none'; ", "; base-uri 'none'; form-action 'none'"
	for _, c := range []struct {
		name, body string
		scripts    []string
		want       string
	}{
		{"nothing", "<p>text</p>", nil, "style-src 'none'; script-src 'none'"},
		{"a script", "<script>a()</script>", []string{"a()"}, "style-src 'none'; script-src " + digest("a()")},
		{"a foreign script", "<script>a()</script><script>b()</script>", []string{"a()"}, "style-src 'none'; script-src " + digest("a()")},
		{"styles", "<style>p{}</style><svg><style type=\"text/css\">\nq{}</style></svg><style>p{}</style>", nil, "style-src " + digest("p{}") + " " + digest("\nq{}") + "; script-src 'none'"},
		{"an escaped style", "<svg><style>a&gt;b{}</style></svg>", nil, "style-src " + digest("a&gt;b{}") + " " + digest("a>b{}") + "; script-src 'none'"},
		{"lines", "<style>p\r\nq\rr{}</style>", nil, "style-src " + digest("p\nq\nr{}") + "; script-src 'none'"},
		{"attributes", `<p style="top:0"/><p style='left:"0"'/>`, nil, "style-src 'unsafe-hashes' " + digest("top:0") + " " + digest(`left:"0"`) + "; script-src 'none'"},
	} {
		page := "<head><title>T</title></head>" + c.body
		want := strings.Replace(page, "<title>", `<meta http-equiv="Content-Security-Policy" content="`+head+c.want+tail+"\"/>\n<title>", 1)
		if got := Seal(page, c.scripts...); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, want)
		}
	}
}

// TestSealAround: a page that opens a program in a frame allows what the program's own policy does,
// and its own scripts.
func TestSealAround(t *testing.T) {
	inner := SealProgram("<head><title>T</title></head><script>in()</script>", "in()")
	allowed := "style-src 'unsafe-inline'; img-src data: blob:; worker-src blob:; script-src data: 'wasm-unsafe-eval' " + digest("in()")
	if want := `content="default-src 'none'; ` + allowed + "; base-uri 'none'; form-action 'none'\""; !strings.Contains(inner, want) {
		t.Errorf("the program is %s\nwant %s", inner, want)
	}
	outer := SealAround("<head><title>T</title></head><script>out()</script>", inner, "out()")
	if want := `content="default-src 'none'; frame-src blob:; ` + allowed + " " + digest("out()") + "; base-uri 'none'; form-action 'none'\""; !strings.Contains(outer, want) {
		t.Errorf("around it is %s\nwant %s", outer, want)
	}
}

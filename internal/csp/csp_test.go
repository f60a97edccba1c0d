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

package page

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestFileNames: the name offered for a file leads to no other folder, and is no longer than a name
// can be.
func TestFileNames(t *testing.T) {
	for in, want := range map[string]string{
		"kmeans-softmax.dot":               "kmeans-softmax.dot",
		"größe.tapestry":                   "größe.tapestry",
		"../../etc/passwd.tapestry":        "passwd.tapestry",
		`..\..\boot.tex`:                   "boot.tex",
		"/abs/olute.txt":                   "olute.txt",
		".hidden.txt":                      "hidden.txt",
		"..":                               "objective",
		"":                                 "objective",
		"a\x1b]0;t\a\u202egpj.tapestry":    "a_]0;t__gpj.tapestry",
		"a\r\nSet-Cookie: x.txt":           "a__Set-Cookie_ x.txt",
		strings.Repeat("n", 9000) + ".svg": strings.Repeat("n", maxName) + ".svg",
		"x." + strings.Repeat("e", 9000):   "x." + strings.Repeat("e", maxName-2),
	} {
		if got := fileName(in); got != want {
			t.Errorf("%.80q becomes %q, want %q", in, got, want)
		}
	}
	c := newClient(t, Options{Notation: texts{}})
	q := strings.Replace(textOpening(t, "input x[i=3]\nloss = mean(x)\n"), "x.tapestry", "../../"+strings.Repeat("ü", 5000)+".tapestry", 1)
	c.open(q)
	for _, kind := range []string{"dot", "latex", "listing", "tapestry", "svg"} {
		w := c.ask(http.MethodGet, "/api/docs/d1/download/"+kind, "")
		said := w.Header().Get("Name")
		if w.Code != http.StatusOK || strings.Contains(said, "..") || strings.Contains(said, "/") || utf8.RuneCountInString(said) > maxName+len(".tapestry") || !utf8.ValidString(said) {
			t.Errorf("%s: status %d, saved as %.200q", kind, w.Code, said)
		}
	}
}

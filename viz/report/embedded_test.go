package report

import (
	"html"
	"io"
	"regexp"
	"strings"
	"testing"
)

// TestFragment: the fragment is one element, has the page as it is, and says what it is in its
// title, whatever the names are.
func TestFragment(t *testing.T) {
	all := pages()
	for _, name := range []string{"script", "minimal"} {
		p := all[name]
		var b strings.Builder
		if err := p.WriteFragment(&b); err != nil {
			t.Fatal(err)
		}
		parts := regexp.MustCompile(`(?s)^` + FragmentMark + `\n<iframe title="([^"]*)"[^']* srcdoc='([^']*)'></iframe>\n$`).FindStringSubmatch(b.String())
		if parts == nil {
			t.Fatalf("%s: not one frame: %.300s", name, b.String())
		}
		if got := html.UnescapeString(parts[2]); got != render(t, p) {
			t.Errorf("%s: the frame does not hold the page", name)
		}
		if got := html.UnescapeString(parts[1]); got != p.shown().title() {
			t.Errorf("%s: the frame's title is %q", name, got)
		}
	}
	if err := (Page{}).WriteFragment(&strings.Builder{}); err == nil {
		t.Error("an empty page is no error")
	}
	if err := fake().WriteFragment(failing{io.ErrClosedPipe}); err != io.ErrClosedPipe {
		t.Errorf("a writer's error is %v", err)
	}
}

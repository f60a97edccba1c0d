package report

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/csp"
)

// TestLive: a page inside stands in the report as text, with a button that opens it at its address,
// and with what its scripts need in the policy; reports without one have none of this.
func TestLive(t *testing.T) {
	write := func(p Page) string {
		var b strings.Builder
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	p := fake()
	plain := write(p)
	p.Live = Live{Page: csp.SealProgram("<title>T</title><script>in()</script><p id=\"data\">", "in()"), Address: `doc=a"b&at=0`, Note: "A note."}
	live := write(p)
	for _, part := range []string{`data-address="doc=a&#34;b&amp;at=0"`, "A note.", `\u003cscript\u003ein()\u003c/script\u003e`, "frame-src blob:", "createObjectURL", `href="#live"`} {
		if !strings.Contains(live, part) {
			t.Errorf("the report has no %s", part)
		}
		if strings.Contains(plain, part) {
			t.Errorf("a report without a page inside has %s", part)
		}
	}
	if strings.Contains(live, "<script>in()") {
		t.Error("the page inside is part of the report")
	}
}

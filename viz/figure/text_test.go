package figure

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain": "plain", "a\x00b": "a\uFFFDb", "a\xff\xfeb": "a\uFFFDb", "tab\tand\nnewline": "tab\tand\nnewline",
		"\r\n\r": "\n\n", "\x1b[1m": "\uFFFD[1m", "\u0085": "\uFFFD", "\uFFFE": "\uFFFD", "γ‖x‖²😀": "γ‖x‖²😀", `<&">\`: `<&">\`,
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLongTextIsCutInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		in, want string
		limit    int
	}{
		{"short", "short", 28},
		{"exactly ten", "exactly ten", 11},
		{"0123456789abcdef", "01234…cdef", 10},
		{"two\nlines  and\tmore", "two lines and more", 28},
		{"r̂r̂r̂r̂", "r̂r̂r̂r̂", 4},
		{"r̂r̂r̂r̂r̂", "r̂r̂…r̂", 4},
	} {
		if got := line(c.in, c.limit); got != c.want {
			t.Errorf("line(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	lines := wrap("the quick brown fox jumps over the lazy dog "+strings.Repeat("x", 500), 12, 100, 10)
	if len(lines) < 3 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, l := range lines {
		if w := TextWidth(l, 12); w > 100 {
			t.Errorf("%q is %v wide", l, w)
		}
	}
	if got := strings.Join(lines[:3], " "); !strings.HasPrefix(got, "the quick brown fox") {
		t.Errorf("%q", got)
	}
	if got := wrap("", 12, 100, 3); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestTextWidth(t *testing.T) {
	for s, em := range map[string]float64{"": 0, "M": 0.88, "i": 0.28, "\u0302": 0, "γ": 0.6, "漢": 1.25, "😀": 1.25, "\U00010A00": 1.1} {
		if got := TextWidth(s, 100) / 100; math.Abs(got-em) > 0.03 {
			t.Errorf("%q is %v em wide, want about %v", s, got, em)
		}
	}
	if TextWidth("r̂", 10) != TextWidth("r", 10) {
		t.Error("a combining hat has width")
	}
	if a, b := TextWidth("ab", 10), TextWidth("a", 10)+TextWidth("b", 10); math.Abs(a-b) > 1e-9 {
		t.Errorf("%v is not %v", a, b)
	}
}

// FuzzLabels puts any text everywhere: the drawing stays well-formed XML and
// valid DOT, and a title gives the text back as Clean leaves it.
func FuzzLabels(f *testing.F) {
	for _, s := range []string{
		"", " ", `"`, `\`, `trail\`, "a\nb", "<b>", "]]>", "]", "node", "γ ‖x−r‖²", "😀👩‍🔬", "שלום", strings.Repeat("long ", 2000),
		"\xff\xfe", "\x00", "\r\n", "&lt;", "&#0;", "<!--", "\u202e", "\ufffe", "--", "%s", "{}", "|",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fig := &Figure{
			Title: s, Subtitle: s, Desc: s, Panels: []Panel{{s, s}, {s, s}}, Footer: []string{s},
			Nodes: []Node{
				{ID: "a", Main: s, Sub: s, Title: "=" + s, Badge: s},
				{ID: "b", Main: s, PanelMain: [2]string{s, "x"}, PanelSub: [2]string{"", s}, Title: "=" + s, Module: "m"},
			},
			Edges:   []Edge{{From: "a", To: "b", Label: s, Title: s}, {From: "b", To: "a", Label: s, Kind: Saved}},
			Modules: []Module{{Path: "m", Title: s}},
		}
		if path := s; path != "" && strings.Count(path, "/") < 20 && !strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/") && !strings.Contains(path, "//") {
			fig.Nodes[0].Module = path
		}
		svg := draw(t, fig)
		if !utf8.Valid(svg) {
			t.Fatal("SVG is not UTF-8")
		}
		nodes := parse(t, svg).all("node")
		if len(nodes) != 4 {
			t.Fatalf("%d nodes", len(nodes))
		}
		for _, n := range nodes {
			want := "=" + Clean(s)
			if got := n.title(); !strings.HasPrefix(got, want) {
				t.Errorf("title %q, want it to begin with %q", got, want)
			}
		}
		var text strings.Builder
		if err := fig.DOT(&text); err != nil {
			t.Fatal(err)
		}
		checkDOT(t, text.String(), "="+Clean(s))
	})
}

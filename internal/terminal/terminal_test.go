package terminal

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
)

// TestClean: what is shown stays as it is, everything else is replaced.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"plain, Σαβ, 数据, é, 👩‍🔬":       "plain, Σαβ, 数据, é, 👩‍🔬",
		"a\nb\tc":                      "a\nb\tc",
		"a\r\nb":                       "a\nb",
		"a\rb":                         "a\uFFFDb",
		"\x1b[2J\x1b]0;title\a":        "\uFFFD[2J\uFFFD]0;title\uFFFD",
		"\u009b31m":                    "\uFFFD31m", // CSI as one character
		"\x9b31m":                      "\uFFFD31m", // and as one byte
		"a\u202eb\u2066c\u200fd":       "a\uFFFDb\uFFFDc\uFFFDd",
		"pay\u200bpal\ufeff\u00adx":    "pay\uFFFDpal\uFFFD\uFFFDx",
		"a\u2028b\u2029c\x00d\x7fe\bf": "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\uFFFDf",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	for r := range rune(unicode.MaxRune) {
		if (unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)) && Shows(r) {
			t.Errorf("%U is shown", r)
		}
	}
}

// TestWriter: the pieces in which text comes do not matter.
func TestWriter(t *testing.T) {
	text := "Σ\x1b[2J 数\r\nb\rc \u009b \xe6\x95 \u202e👩‍🔬 \xff\xf0\x9f"
	want := Clean(text)
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := NewWriter(&out)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if m, err := w.Write([]byte(rest[:n])); m != n || err != nil {
				t.Fatal(m, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if strings.ReplaceAll(out.String(), "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") || strings.ContainsAny(out.String(), "\x1b\r") {
			t.Errorf("in pieces of %d: %q, want %q", size, out.String(), want)
		}
	}
}

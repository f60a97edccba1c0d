package terminal

import (
	"strings"
	"testing"
)

// TestFold: no line is longer than the terminal but for a word that is, nothing is lost, and text that
// comes in pieces is folded as it is in one.
func TestFold(t *testing.T) {
	text := "short\n  a line of several words that is too long\n\nréśidual̂ words\n  averyverylongwordthatfitsnowhere after\ncolumns     of       tables     are    kept\nprompt> "
	want := "short\n  a line of several\n    words that is\n    too long\n\nréśidual̂ words\n  averyverylongwordthatfitsnowhere\n    after\ncolumns     of\n  tables     are\n  kept\nprompt> "
	var b strings.Builder
	w := Fold(&b, 20)
	for _, line := range strings.SplitAfter(text, "\n") {
		if _, err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if b.String() != want {
		t.Fatalf("folded:\n%s\nwant:\n%s", b.String(), want)
	}
	b.Reset()
	if _, err := Fold(&b, 20).Write([]byte(text)); err != nil || b.String() != want {
		t.Fatalf("folded at once:\n%s", b.String())
	}
	if Width(new(strings.Builder)) != 0 {
		t.Error("a text has the width of a terminal")
	}
}

package newcomer

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// TestQuestions follows the questions of the notes, and compares the pictures that its commands draw
// with those of the page.
func TestQuestions(t *testing.T) {
	if simd.Active() == simd.Portable {
		t.Skip("the page has the numbers of AVX2 and AVX-512; trainings that wander end elsewhere in plain Go")
	}
	h := newHome(t)
	h.install(t)
	p, dir := readPage(t, "docs/questions.md"), t.TempDir()
	p.follow(t, h, dir)
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.path)))
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`!\[[^\]]+\]\((questions/[^)]+\.svg)\)`).FindAllStringSubmatch(string(text), -1)
	if len(shown) == 0 {
		t.Fatal("the page has no pictures")
	}
	kept := map[string]bool{}
	for _, s := range shown {
		drawn, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(s[1])))
		if err != nil {
			t.Error(err)
			continue
		}
		path := filepath.Join(root, "docs", filepath.FromSlash(s[1]))
		kept[path] = true
		old, err := os.ReadFile(path)
		if err == nil && alike(old, drawn) {
			continue
		}
		if !*update {
			t.Errorf("docs/%s is not what the command draws: %v", s[1], err)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, drawn, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all, err := filepath.Glob(filepath.Join(root, "docs", "questions", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if !kept[path] {
			t.Errorf("%s is a picture that the page does not show", path)
		}
	}
}

var svgNumber = regexp.MustCompile(`-?\d+(\.\d+)?`)

// alike reports whether two drawings have the same parts at the same places, up to a pixel, which
// rounding on another processor may move.
func alike(a, b []byte) bool {
	if !bytes.Equal(svgNumber.ReplaceAll(a, []byte("0")), svgNumber.ReplaceAll(b, []byte("0"))) {
		return false
	}
	as, bs := svgNumber.FindAll(a, -1), svgNumber.FindAll(b, -1)
	for i := range as {
		x, err := strconv.ParseFloat(string(as[i]), 64)
		y, err2 := strconv.ParseFloat(string(bs[i]), 64)
		if err != nil || err2 != nil || math.Abs(x-y) > 1 {
			return false
		}
	}
	return true
}

// TestTrimmed: a page that is written anew leaves out what it left out before.
func TestTrimmed(t *testing.T) {
	got := strings.Split("title 7\n\nrow a 1\nrow b 2\nrow c 3\nsum 6\ntime 3.4 s\nend", "\n")
	for _, c := range []struct{ want, trimmed string }{
		{"title 6\n…\nsum 5\n…", "title 7\n…\nsum 6\n…"},
		{"…\nrow b 1\nrow c 9\nsum 6\ntime … s\n…", "…\nrow b 2\nrow c 3\nsum 6\ntime … s\n…"},
		{"…\ngone 5\n…", strings.Join(got, "\n")},
		{"title 6\n\nrow a 1", strings.Join(got, "\n")},
	} {
		if out := strings.Join(trimmed(strings.Split(c.want, "\n"), got), "\n"); out != c.trimmed {
			t.Errorf("%q becomes %q, want %q", c.want, out, c.trimmed)
		}
	}
}

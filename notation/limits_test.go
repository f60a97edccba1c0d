package notation

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/graph"
)

// hostile has texts of about n bytes, each a repetition of one thing.
func hostile(bytes int) map[string]string {
	fill := func(start, part string) string {
		return start + strings.Repeat(part, (bytes-len(start))/len(part))
	}
	numbered := func(format string) string {
		var b strings.Builder
		for i := 0; b.Len() < bytes-2*len(format)-40; i++ {
			fmt.Fprintf(&b, format, i, i+1)
		}
		return b.String()
	}
	long := strings.Repeat("n", bytes/2-20)
	return map[string]string{
		"axes twice":        fill("input x[", "a=2,"),
		"axes in refs":      fill("input x[a=2]\ny = x[", "a,"),
		"axes renamed":      fill("input x[a=2]\ny = x[", "a→b,"),
		"unknown":           fill("", "a=b\n"),
		"unknown, many":     numbered("q%d = w%d\n"),
		"each uses next":    numbered("q%d = q%d\n"),
		"known, unknown":    numbered("scalar q%d = %d\n") + "y = zzz",
		"undeclared axes":   numbered("input x%d[j%d]\n"),
		"declared axes":     numbered("input x%d[j%d=3]\n"),
		"brackets":          fill("y = ", "("),
		"minus":             fill("y = ", "-"),
		"no signs":          fill("y = ", "1 "),
		"sum of unknown":    fill("y = ", "b+"),
		"lines of brackets": fill("", "[\n"),
		"continued":         fill("y = (", "\n 1"),
		"quotes":            fill("", "\"\n"),
		"bytes":             fill("", "\xff\n"),
		"one line of bytes": fill("", "\xff"),
		"escapes":           fill("y = x", "\x1b]0;t\a"),
		"arguments":         fill("y = sum(", "a,"),
		"calls":             fill("y = ", "f(a)+"),
		"titles":            fill("", "objective \"a\"\n"),
		"outputs":           fill("", "output a\n"),
		"updates":           fill("state s\n", "s<-1\n"),
		"long names":        "scalar " + long + "a = 1\ny = " + long + "b",
		"long name, often":  "input x[a=2]\ny = x+" + long + "\n" + fill("", "a=b\n")[:bytes/2-100],
		"indices":           numbered("index x%d[j%d=2]\n"),
		"examples":          numbered("input x%d[j=2] ~ y%d\n"),
		"right":             numbered("input x%d[i%d=2] ~ normal(0, 1)\n") + "loss = mean(x1)",
	}
}

// parsing returns the time to parse a text.
func parsing(text string) (time.Duration, error) {
	since := time.Now()
	_, err := Parse("x.tapestry", strings.NewReader(text))
	return time.Since(since), err
}

// length returns the time that the length of the largest text explains: that of a short correct
// text, times the ratio of their lengths.
func length() time.Duration {
	const fewer = 32
	right, least := hostile(maxBytes / fewer)["right"], time.Duration(math.MaxInt64)
	for range 3 {
		took, _ := parsing(right)
		least = min(least, took)
	}
	return fewer * least
}

// TestHostileTexts checks that no text, right or wrong, costs more than its length explains, and
// that its errors fit on a screen or two.
func TestHostileTexts(t *testing.T) {
	const most = 200 // times the cost that the length explains: each costs a few times that at most; quadratic code cost a thousand times
	explained := length()
	for name, text := range hostile(maxBytes) {
		if len(text) > maxBytes {
			t.Fatalf("%s has %d bytes", name, len(text))
		}
		took, err := parsing(text)
		for tries := 0; took > most*explained && tries < 5; tries++ { // the machine may have been busy
			explained = length()
			took, _ = parsing(text)
		}
		if took > most*explained {
			t.Errorf("%s took %v, and its length explains %v", name, took, explained)
		}
		if err == nil {
			continue
		}
		if n := len(err.Error()); n > 64<<10 {
			t.Errorf("%s: the errors have %d bytes", name, n)
		}
		var mistakes Errors
		if !errors.As(err, &mistakes) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(mistakes) > MaxErrors+1 {
			t.Errorf("%s: %d mistakes are told", name, len(mistakes))
		}
		for _, line := range strings.Split(err.Error(), "\n") {
			if n := utf8.RuneCountInString(line); n > 1300 {
				t.Errorf("%s: a line of %d characters: %.200s", name, n, line)
			}
		}
	}
}

// TestMistakesAreCounted checks the number of mistakes that are not listed.
func TestMistakesAreCounted(t *testing.T) {
	for _, n := range []int{1, MaxErrors, MaxErrors + 1, 900} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "q%03d = nothing\n", i)
		}
		_, err := Parse("x.tapestry", strings.NewReader(text.String()))
		var mistakes Errors
		if !errors.As(err, &mistakes) {
			t.Fatal(err)
		}
		last := mistakes[len(mistakes)-1]
		want := fmt.Sprintf("x.tapestry:%d:8: unknown quantity nothing", n)
		if n > MaxErrors {
			want = fmt.Sprintf("x.tapestry:%d:1: %d more mistakes: fix those above first", n+1, n-MaxErrors)
		}
		if told := len(mistakes); told != min(n, MaxErrors+1) || !strings.HasPrefix(last.Error(), want) {
			t.Errorf("of %d mistakes %d are told, the last: %s", n, told, last.Error())
		}
	}
}

// TestLongLines checks that of a long line the part around the mistake is shown, with the caret
// below it.
func TestLongLines(t *testing.T) {
	for _, before := range []int{0, 1, 60, 500, 5000} {
		for _, after := range []int{0, 1, 60, 500, 5000} {
			source := strings.Repeat("b", before) + "HERE" + strings.Repeat("a", after)
			e := &Error{Pos: Pos{"x", 1, before + 1}, Problem: "p", Source: source, Width: 4}
			lines := strings.Split(e.View(), "\n")
			if len(lines) != 3 {
				t.Fatalf("%d before, %d after:\n%s", before, after, e.View())
			}
			line, caret := []rune(lines[1]), []rune(lines[2])
			at := strings.Index(lines[2], "^")
			if string(line[at:at+4]) != "HERE" || string(caret[at:]) != "^~~~" {
				t.Errorf("%d before, %d after: the caret is elsewhere:\n%s", before, after, e.View())
			}
			if len(line) > viewColumns+4 || (before+after+4 <= viewColumns) != !strings.Contains(lines[1], "…") {
				t.Errorf("%d before, %d after: the line has %d characters:\n%s", before, after, len(line), e.View())
			}
		}
	}
}

// TestMoreClustersThanPoints checks that each point then belongs to a cluster of its own, and
// that no other clusters are drawn.
func TestMoreClustersThanPoints(t *testing.T) {
	f, err := Parse("k.tapestry", strings.NewReader("input x[i=5,d=2] ~ clusters(1000000000000)\ny = mean(x)"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Build(nil, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	for n, v := range m.Examples(rand.New(rand.NewPCG(1, 2))) {
		if n.Label() != "x" || len(v.Data) != 10 || v.Data[0] == v.Data[2] {
			t.Errorf("%v = %v", n, v.Data)
		}
	}
}

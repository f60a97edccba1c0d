package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/builders"
)

// Lists fit a terminal however many models there are, and however long their descriptions.
func TestListFitsTheScreen(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"list", "-v"}} {
		for _, line := range strings.Split(ok(t, args...), "\n") {
			if n := utf8.RuneCountInString(line); n > listWidth && len(strings.Fields(line)) > 2 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
	long := strings.Repeat("some words ", 30)
	for i, line := range strings.Split(wrapped(long, 20), "\n") {
		if n := utf8.RuneCountInString(line); i == 0 && n+20 > listWidth || n > listWidth || i > 0 && !strings.HasPrefix(line, strings.Repeat(" ", 20)+"s") && !strings.HasPrefix(line, strings.Repeat(" ", 20)+"w") {
			t.Errorf("line %d has %d columns: %q", i, n, line)
		}
	}
	if got := words(wrapped(long, 20)); got != words(long) {
		t.Errorf("words were lost: %q", got)
	}
}

func TestListGroupsByFamily(t *testing.T) {
	out := ok(t, "list")
	if want := "\ntests\n  test-perceptron"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	for _, f := range builders.Families() {
		if heading := strings.Contains("\n"+out, "\n"+f.Name+"\n"); heading != (len(f.Builders) > 0) {
			t.Errorf("heading of %s with %d models: %v", f.Name, len(f.Builders), heading)
		}
	}
}

func TestListOne(t *testing.T) {
	want := `test-perceptron: perceptron on the quarters of the plane
    y = softmax(tanh(x·W₁ + b₁)·W₂ + b₂)
    family  tests
    notes   tests
    --set n=32      points in a batch
    --set h=8       hidden units
    --set act=tanh  what follows a layer (tanh, relu)
    --set count=1   whether steps are counted (0 or 1)
`
	if got := ok(t, "list", "test-perceptron"); got != want {
		t.Errorf("got\n%s", got)
	}
	var got struct {
		Family   string
		Settings []struct {
			Name, Set, Kind string
			Default         float64
			Choices         []string
		}
	}
	if err := json.Unmarshal([]byte(ok(t, "list", "test-perceptron", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if act := got.Settings[2]; got.Family != "tests" || act.Name != "act" || act.Kind != "choice" || act.Default != 0 || act.Set != "act=tanh" || len(act.Choices) != 2 || got.Settings[3].Kind != "flag" {
		t.Errorf("got %+v", got)
	}
}

package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"loss", "logits", "α", "fc1/w"}
	for _, c := range []struct{ name, nearest, near string }{
		{"los", "loss", "loss"},
		{"LOGITS", "", "logits"},
		{"fc1/W", "fc1/w", "fc1/w"},
		{"olss", "loss", "loss"},
		{"x", "α", ""},
		{"reconstruction", "", ""},
	} {
		if got := Nearest(c.name, names); c.nearest != "" && got != c.nearest {
			t.Errorf("nearest to %s is %q, want %q", c.name, got, c.nearest)
		}
		if got := Near(c.name, names); got != c.near {
			t.Errorf("near to %s is %q, want %q", c.name, got, c.near)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("of none, %q", got)
	}
}

// TestEndlessName: a name of a megabyte, which a request may hold, is not even copied.
func TestEndlessName(t *testing.T) {
	name, candidates := strings.Repeat("a", 1<<20), []string{"mlp", "lstm"}
	if n := testing.AllocsPerRun(1, func() { Nearest(name, candidates) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if got := Nearest(name, candidates); got != "mlp" && got != "lstm" {
		t.Errorf("%q", got)
	}
}

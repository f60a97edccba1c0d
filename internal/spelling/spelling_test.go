package spelling

import "testing"

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

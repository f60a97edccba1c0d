package builders_test

import (
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// TestWith: a builder with other defaults is told apart by name and title, builds what the settings
// make, and leaves the one that it was made of alone.
func TestWith(t *testing.T) {
	b, err := builders.Lookup("init")
	if err != nil {
		t.Fatal(err)
	}
	v, err := b.With(builders.Settings{"weights": 0, "d": 3})
	if err != nil {
		t.Fatal(err)
	}
	if v.Name != "init{d=3,weights=xavier}" || v.Title != b.Title+" (d = 3, weights = xavier)" || len(v.Fixed) != 2 {
		t.Errorf("%s, %s, fixed %v", v.Name, v.Title, v.Fixed)
	}
	if again, err := v.With(builders.Settings{"d": 2, "n": 4}); err != nil || len(again.Fixed) != 3 || v.Fixed["d"] != 3 {
		t.Errorf("settings twice: fixed %v of %v, %v", again.Fixed, v.Fixed, err)
	}
	if same, err := b.With(nil); err != nil || same.Name != b.Name || same.Title != b.Title {
		t.Errorf("without settings: %s, %s, %v", same.Name, same.Title, err)
	}
	for _, c := range []struct {
		b    builders.Builder
		want int
	}{{v, 3}, {b, 8}} {
		m, err := c.b.Build(nil, graph.F64)
		if err != nil || m.Settings.Int("d") != c.want {
			t.Errorf("%s: d = %d, want %d (%v)", c.b.Name, m.Settings.Int("d"), c.want, err)
		}
	}
	for _, c := range []struct {
		b    builders.Builder
		s    builders.Settings
		want string
	}{
		{b, builders.Settings{"wights": 1}, `init has no setting "wights": did you mean "weights"? (it has n, d, layers, activation, weights, bias)`},
		{b, builders.Settings{"d": 0}, "init: d = 0: want a whole number of at least 1"},
		{b, builders.Settings{"weights": 99}, "init: weights = 99: want one of xavier, he, glorot, glorot-uniform, he-uniform, orthogonal, xavier-with-bias, small"},
		{builders.Builder{Name: "bare"}, builders.Settings{"d": 1}, `bare has no setting "d": it has none`},
	} {
		if _, err := c.b.With(c.s); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestParseSettings reads settings as they stand behind a model's name.
func TestParseSettings(t *testing.T) {
	b, err := builders.Lookup("init")
	if err != nil {
		t.Fatal(err)
	}
	s, err := b.ParseSettings("d=16, activation=tanh,other=1")
	if err != nil || len(s) != 3 || s["d"] != 16 || s["activation"] != 1 || s["other"] != 0 {
		t.Errorf("got %v, %v", s, err)
	}
	for text, want := range map[string]string{
		"":             `"" in the braces: want setting=value`,
		"d":            `"d" in the braces: want setting=value`,
		"d=1,d=2":      "d is there twice",
		"activation=x": "activation",
	} {
		if _, err := b.ParseSettings(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got the error %v, want %s", text, err, want)
		}
	}
}

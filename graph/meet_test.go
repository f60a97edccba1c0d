package graph_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
)

// TestAlign: what may meet what, in any order.
func TestAlign(t *testing.T) {
	const crossing = "[n=3 1] and [3] would repeat each other, to all pairs of [n=3 3]"
	for _, c := range []struct {
		in   string
		want string // a shape, or what is wrong
	}{
		{"[]", "[]"},
		{"[] []", "[]"},
		{"[i=3] []", "[i=3]"},
		{"[i=3] [i=3]", "[i=3]"},
		{"[3] [i=3]", "[i=3]"},
		{"[3] [3]", "[3]"},
		{"[i=3] [1]", "[i=3]"},
		{"[i=1] [3]", "[i=3]"},
		{"[i=1] [i=3]", "[i=3]"},
		{"[i=3 d=4] [d=4]", "[i=3 d=4]"},
		{"[i=3 d=4] [4]", "[i=3 d=4]"},
		{"[i=3 d=3] [3]", "[i=3 d=3]"}, // by position, whatever the sizes
		{"[i=3 j=1] [i=1 j=5]", "[i=3 j=5]"},
		{"[3] [1] [i=3]", "[i=3]"},

		{"[3] [4]", "sizes differ: 3 and 4 (3 ≠ 4)"},
		{"[i=3] [i=4]", "sizes differ: i=3 and i=4 (3 ≠ 4)"},
		{"[i=3] [4]", "sizes differ: i=3 and 4 (3 ≠ 4)"},
		{"[i=3] [j=3]", `axis "i" meets axis "j"`},
		{"[i=3] [j=1]", `axis "i" meets axis "j"`},
		{"[i=3 j=1] [i=3]", `axis "j" meets axis "i"`}, // a column that meets a list, with names
		{"[i=3 d=4] [4 3]", "sizes differ: i=3 and 4 (3 ≠ 4)"},
		{"[1 i=2] [i=2 1]", `[i=2 1] and [1 i=2] would repeat each other, to all pairs of two axes that are both called "i"`},
		{"[2 1 4] [1 3 1] [2]", "sizes differ: 4 and 2 (4 ≠ 2)"},

		// A column that meets a list, with too few names.
		{"[n=3 1] [3]", crossing},
		{"[n=3 1] [n=3]", `[n=3 1] and [n=3] would repeat each other, to all pairs of two axes that are both called "n"`},
		{"[n=3 1] [n=5]", `[n=3 1] and [n=5] would repeat each other, to all pairs of two axes that are both called "n"`},
		{"[n=3 1] [] [b=2 n=3]", `[n=3 1] and [b=2 n=3] would repeat each other, to all pairs of two axes that are both called "n"`},
		{"[n=3 3] [n=3]", `two axes are called "n"`},
		{"[n=3 1] [3] []", crossing},
		{"[n=3 1] [3] [3 1]", crossing},
		{"[n=3 1] [5]", "[n=3 1] and [5] would repeat each other, to all pairs of [n=3 5]"},
		{"[n=3 d=1] [3]", "[n=3 d=1] and [3] would repeat each other, to all pairs of [n=3 d=3]"},
		{"[3 1] [3]", "[3 1] and [3] would repeat each other, to all pairs of [3 3]"},
		{"[3 1] [n=3]", "[3 1] and [n=3] would repeat each other, to all pairs of [3 n=3]"},
		{"[b=2 n=3 1] [3]", "[b=2 n=3 1] and [3] would repeat each other, to all pairs of [b=2 n=3 3]"},
		{"[b=2 1 4] [3 1]", "[b=2 1 4] and [3 1] would repeat each other, to all pairs of [b=2 3 4]"},
		{"[b=2 1 4] [3 4]", "[b=2 1 4] and [3 4] would repeat each other, to all pairs of [b=2 3 4]"},
		{"[2 1 4] [3 1] [1]", "[2 1 4] and [3 1] would repeat each other, to all pairs of [2 3 4]"},

		// Near it, but explicit: ranks agree, names tell the axes apart, or nothing repeats both
		// ways.
		{"[n=3 1] [1 3]", "[n=3 3]"},
		{"[n=3 1] [1 n′=3]", "[n=3 n′=3]"},
		{"[n=3 1] [j=3]", "[n=3 j=3]"},
		{"[n=3 d=1] [d=3]", "[n=3 d=3]"},
		{"[3 d=1] [d=3]", "[3 d=3]"},
		{"[n=3 1] [1]", "[n=3 1]"},
		{"[n=3 1] []", "[n=3 1]"},
		{"[n=1 1] [3]", "[n=1 3]"},
		{"[3 1] [3 1]", "[3 1]"},
		{"[3 1] [3 4]", "[3 4]"},
		{"[b=2 n=3 1] [3 1]", "[b=2 n=3 1]"},
		{"[b=2 n=1 4] [n=3 4]", "[b=2 n=3 4]"},
		{"[b=1 4 1] [1 5]", "[b=1 4 5]"},
		{"[n=3 1] [n=3 4] [4]", "[n=3 4]"}, // the second asks for the column's repetition, with all its axes
	} {
		var in []graph.Shape
		for s := range strings.SplitAfterSeq(c.in, "]") {
			if s != "" {
				in = append(in, shape(t, strings.TrimSpace(s)))
			}
		}
		s, err := graph.Align(in...)
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s give %s, want %s", c.in, got, c.want)
		}
		var m *graph.Mistake
		if strings.Contains(c.want, "all pairs") && (!errors.As(err, &m) || !strings.Contains(m.Fix, "element by element") || !strings.Contains(m.Fix, "all pairs")) {
			t.Errorf("%s: the mistake does not say what to do", c.in)
		}
		slices.Reverse(in)
		back, err2 := graph.Align(in...)
		if (err2 == nil) != (err == nil) || err == nil && back != s {
			t.Errorf("%s the other way round give %v, %v", c.in, back, err2)
		}
	}
}

// TestRepeatsTo: what may be repeated to what.
func TestRepeatsTo(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"[]", "[i=3]", ""},
		{"[3]", "[i=4 j=3]", ""},
		{"[j=1]", "[i=4 j=3]", ""},
		{"[3]", "[5 1]", "[3] cannot be repeated to [5 1]"},
		{"[3 1]", "[3]", "[3 1] cannot be repeated to [3]"},
		{"[i=3]", "[3]", "[i=3] cannot be repeated to [3]"},
		{"[3]", "[4]", "sizes differ: 3 and 4 (3 ≠ 4)"},
		{"[i=3]", "[j=3]", `axis "i" meets axis "j"`},
	} {
		got := ""
		if err := shape(t, c.from).RepeatsTo(shape(t, c.to)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s to %s: %q, want %q", c.from, c.to, got, c.want)
		}
	}
}

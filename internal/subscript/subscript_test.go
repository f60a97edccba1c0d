package subscript

import (
	"slices"
	"testing"
)

func TestIndices(t *testing.T) {
	he, next := Joined("h", "e"), Shifted("t", 1)
	for _, c := range []struct {
		index, text string
		names       []string
	}{
		{"t", "t", []string{"t"}},
		{next, "t+1", []string{"t"}},
		{Shifted("t", -2), "t−2", []string{"t"}},
		{Shifted("t", 0), "t", []string{"t"}},
		{he, "he", []string{"h", "e"}},
		{Joined("hand", "c"), "(hand,c)", []string{"hand", "c"}},
		{Joined(next, "e"), "((t+1),e)", []string{"t", "e"}},
		{Shifted(he, 4), "((h,e)+4)", []string{"h", "e"}},
		{Shifted(next, 2), "t+3", []string{"t"}},
		{Shifted(next, -1), "t", []string{"t"}},
		{Joined("h"), "h", []string{"h"}},
		{Joined("h", ""), "", nil},
		{Shifted("", 1), "", nil},
	} {
		if got := Text(c.index); got != c.text {
			t.Errorf("%q reads %s, want %s", c.index, got, c.text)
		}
		if got := Names(c.index); !slices.Equal(got, c.names) {
			t.Errorf("%q is made of %q, want %q", c.index, got, c.names)
		}
	}
}

func TestRename(t *testing.T) {
	to := func(name string) string {
		return map[string]string{"t": "s", "h": Joined("a", "b"), "n": Shifted("m", 1)}[name]
	}
	for _, c := range []struct{ index, want string }{
		{"t", "s"},
		{Shifted("t", 1), Shifted("s", 1)},
		{Joined("t", "h"), Joined("s", "a", "b")},
		{"h", Joined("a", "b")},
		{Shifted("h", 1), Shifted(Joined("a", "b"), 1)},
		{Shifted("n", 1), Shifted("m", 2)},
		{Joined("t", "n"), Joined("s", Shifted("m", 1))},
		{Joined("t", "gone"), ""},
	} {
		if got := Rename(c.index, to); got != c.want {
			t.Errorf("%s becomes %q, want %q", Text(c.index), got, c.want)
		}
	}
}

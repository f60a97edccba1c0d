package lesson

import (
	"flag"
	"io"
	"testing"
)

// TestFlags: a value that makes no sense is refused by name, and says what is wanted.
func TestFlags(t *testing.T) {
	was := flag.CommandLine
	defer func() { flag.CommandLine = was }()
	for _, c := range []struct {
		arguments []string
		seeds     int
		score     string
		err       string
	}{
		{nil, 5, "all", ""},
		{[]string{"-seeds", "2", "-score", "dot"}, 2, "dot", ""},
		{[]string{"-seeds", "1"}, 5, "all", `invalid value "1" for flag -seeds: want a whole number from 2 to 2147483647`},
		{[]string{"-seeds=-3"}, 5, "all", `invalid value "-3" for flag -seeds: want a whole number from 2 to 2147483647`},
		{[]string{"-seeds", "many"}, 5, "all", `invalid value "many" for flag -seeds: want a whole number from 2 to 2147483647`},
		{[]string{"-seeds", "99999999999"}, 5, "all", `invalid value "99999999999" for flag -seeds: want a whole number from 2 to 2147483647`},
		{[]string{"-score", "dots"}, 5, "all", `invalid value "dots" for flag -score: want one of all, dot`},
	} {
		flag.CommandLine = flag.NewFlagSet("example", flag.ContinueOnError)
		flag.CommandLine.SetOutput(io.Discard)
		seeds, score := Count("seeds", 2, 5, "trainings"), Choice("score", []string{"all", "dot"}, "of attention")
		err := flag.CommandLine.Parse(c.arguments)
		if said := ""; err != nil {
			if said = err.Error(); said != c.err {
				t.Errorf("%q: %s, want %q", c.arguments, said, c.err)
			}
		} else if c.err != "" {
			t.Errorf("%q: no error, want %s", c.arguments, c.err)
		}
		if *seeds != c.seeds || *score != c.score {
			t.Errorf("%q: %d, %s; want %d, %s", c.arguments, *seeds, *score, c.seeds, c.score)
		}
	}
}

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
)

// TestStartsAreInTheHelp checks that the help of --start lists every value that the laboratory
// reads.
func TestStartsAreInTheHelp(t *testing.T) {
	help := ok(t, "train", "--help")
	line := regexp.MustCompile(`start centres:.*`).FindString(help)
	for s := lab.PlusPlus; s <= lab.StartGroups; s++ {
		if _, err := lab.ParseStart(s.String()); err != nil || !strings.Contains(line, s.String()) {
			t.Errorf("the help has %q, without %v (%v)", line, s, err)
		}
	}
}

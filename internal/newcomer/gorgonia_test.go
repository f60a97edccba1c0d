package newcomer

import "testing"

// TestFromGorgonia follows the page for programs that are written with gorgonia.
func TestFromGorgonia(t *testing.T) {
	h := newHome(t)
	readPage(t, "docs/from-gorgonia.md").follow(t, h, t.TempDir())
}

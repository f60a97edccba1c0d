package newcomer

import "testing"

// TestControl follows the page on loops that stop, branches and functions of one's own.
func TestControl(t *testing.T) {
	h := newHome(t)
	readPage(t, "docs/control.md").follow(t, h, t.TempDir())
}

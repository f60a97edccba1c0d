package newcomer

import "testing"

// TestTutorial follows the tutorial.
func TestTutorial(t *testing.T) {
	h := newHome(t)
	readPage(t, "docs/tutorial.md").follow(t, h, t.TempDir())
}

package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCustomOp builds and runs the example of operations from outside; what it
// prints must be in the README beside it.
func TestCustomOp(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "custom-op")
	if out, err := exec.Command("go", "build", "-o", bin, "./custom-op").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(bin).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 || !strings.Contains(string(readme), string(out)) {
		t.Errorf("the README does not show what custom-op prints:\n%s", out)
	}
}

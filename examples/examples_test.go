package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrograms builds and runs every example in an empty directory; what it
// prints must be in the README, and what it draws in docs.
func TestPrograms(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, wants := range map[string][]string{"robust": {"robust.svg"}} {
		dir := t.TempDir()
		bin := filepath.Join(dir, name)
		if out, err := exec.Command("go", "build", "-o", bin, "./"+name).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		cmd := exec.Command(bin)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if !strings.Contains(string(readme), strings.TrimSpace(string(out))) {
			t.Errorf("the README does not show what %s prints:\n%s", name, out)
		}
		for _, file := range wants {
			made, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if shown, err := os.ReadFile(filepath.Join("../docs", file)); err != nil || string(made) != string(shown) {
				t.Errorf("docs/%s is not what %s draws: %v", file, name, err)
			}
		}
	}
}

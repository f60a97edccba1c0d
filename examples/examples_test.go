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

// TestReadmeProgram holds the program that the README shows equal to the example,
// line by line but for comments' places, its last two lines apart: they leave out
// what the example does with errors.
func TestReadmeProgram(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("robust/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "```go\n")
	shown, _, found := strings.Cut(shown, "```")
	lines := strings.Split(strings.TrimSpace(shown), "\n")
	if !found || len(lines) < 15 || len(lines) > 25 {
		t.Fatalf("the README's program has %d lines, want at most 25", len(lines))
	}
	has := map[string]bool{}
	for _, l := range strings.Split(string(program), "\n") {
		has[strings.Join(strings.Fields(l), " ")] = true
	}
	for _, l := range lines[:len(lines)-2] {
		if !has[strings.Join(strings.Fields(l), " ")] {
			t.Errorf("examples/robust has no line %q", l)
		}
	}
}

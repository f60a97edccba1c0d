package newcomer

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestVersion: an installed command says which version it is.
func TestVersion(t *testing.T) {
	h := newHome(t)
	h.install(t)
	if out := h.run(t, t.TempDir(), "tapestry", "--version"); !strings.HasPrefix(out, "tapestry "+version+" ") {
		t.Errorf("tapestry --version prints %q", out)
	}
}

// TestNewProgram follows the steps that tapestry new NAME --go prints.
func TestNewProgram(t *testing.T) {
	h := newHome(t)
	h.install(t)
	dir := t.TempDir()
	_, steps, found := strings.Cut(h.run(t, dir, "tapestry", "new", "m", "--go"), "\nNext:\n")
	if !found {
		t.Fatalf("no steps in %q", steps)
	}
	var last []string
	for line := range strings.Lines(steps) {
		command := regexp.MustCompile(`^  (\S+( \S+)*)`).FindStringSubmatch(line)
		if command == nil {
			t.Fatalf("no command in %q", line)
		}
		last, dir = h.give(t, dir, command[1], false)
	}
	if out := strings.Join(last, "\n"); !strings.HasPrefix(out, "m\n  loss = ") || !strings.Contains(out, "\nsoft k-means\n") {
		t.Errorf("the program prints\n%s", out)
	}
}

// TestExamplesStandAlone: the examples of which that is said are whole in their folder. Copied
// elsewhere they build and run.
func TestExamplesStandAlone(t *testing.T) {
	h := newHome(t)
	readme, err := os.ReadFile(filepath.Join(root, "examples", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(readme), "\n## Programs to copy\n")
	list, _, _ = strings.Cut(list, "\n## ")
	names := regexp.MustCompile(`(?m)^\| \[([a-z-]+)\]`).FindAllStringSubmatch(list, -1)
	if len(names) < 3 {
		t.Fatalf("%d examples that stand alone, want an objective, a trained net and an operation", len(names))
	}
	for _, name := range names {
		t.Run(name[1], func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", name[1]))); err != nil {
				t.Fatal(err)
			}
			h.start(t, dir)
			h.run(t, dir, "go", "vet", ".")
			if out := h.run(t, dir, "go", "run", ".", "-quick"); !strings.Contains(out, "a quick run is not judged") {
				t.Errorf("it prints %q", out)
			}
		})
	}
}

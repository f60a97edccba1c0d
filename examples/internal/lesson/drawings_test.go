package lesson

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDrawingsAreOfToday: the graphs that the READMEs of the examples show are those that the
// programs draw: their shapes and legends say what an operation is today.
func TestDrawingsAreOfToday(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every example with a drawing")
	}
	sources, err := filepath.Glob("../../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`\.Draw\("([^"]+\.svg)"`)
	drawings := map[string][]string{} // of an example's folder
	for _, path := range sources {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			drawings[filepath.Dir(path)] = append(drawings[filepath.Dir(path)], m[1])
		}
	}
	if len(drawings) < 8 {
		t.Fatalf("drawings of %d examples", len(drawings))
	}
	for folder, names := range drawings {
		out := t.TempDir()
		run := exec.Command("go", "run", ".", "-quick", "-out", out)
		run.Dir = folder
		said, _ := run.CombinedOutput() // too few steps are an error, and the drawing is there
		for _, name := range names {
			drawn, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				t.Fatalf("%s: %v\n%s", folder, err, said)
			}
			if kept, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(kept) != string(drawn) {
				t.Errorf("%s is not what the example draws: go run %s -quick -out DIR draws it (%v)", filepath.Join(folder, name), folder, err)
			}
		}
	}
}

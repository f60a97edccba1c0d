package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTrainings: each has an example and a training in PyTorch, and its result is found in
// what the example is said to print.
func TestTrainings(t *testing.T) {
	program, err := os.ReadFile("trainings.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range trainings {
		if !strings.Contains(string(program), `"`+tr.name+`":`) {
			t.Errorf("trainings.py has no %s", tr.name)
		}
		readme, err := os.ReadFile(filepath.Join("..", "examples", tr.example, "README.md"))
		if err != nil {
			t.Error(err)
			continue
		}
		if !tr.result.Match(readme) {
			t.Errorf("%s: examples/%s/README.md shows no result like %s", tr.name, tr.example, tr.result)
		}
	}
}

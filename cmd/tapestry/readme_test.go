package main

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeIsTrue holds the README's pictures and outputs equal to what the
// commands make.
func TestReadmeIsTrue(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if out := ok(t, "grad", "kmeans-softmax", "--wrt", "r"); !strings.Contains(string(readme), "$ tapestry grad kmeans-softmax --wrt r\n"+out) {
		t.Errorf("the README does not show the output of grad:\n%s", out)
	}
	picture, err := os.ReadFile("../../docs/kmeans-diff.svg")
	if err != nil {
		t.Fatal(err)
	}
	if out := ok(t, "draw", "kmeans-softmax", "--against", "kmeans-goofy", "--grad"); out != string(picture) {
		t.Error("docs/kmeans-diff.svg is old: tapestry draw kmeans-softmax --against kmeans-goofy --grad -o docs/kmeans-diff.svg")
	}
}

// TestPositionsAreTheBuilders: a line of this program on every node would say nothing.
func TestPositionsAreTheBuilders(t *testing.T) {
	out := ok(t, "draw", "kmeans-softmax", "--format", "text", "--grad")
	if strings.Contains(out, "@cmd/") || !strings.Contains(out, "@builders/kmeans.go:") {
		t.Errorf("positions in\n%s", out)
	}
}

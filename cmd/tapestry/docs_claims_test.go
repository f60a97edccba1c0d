package main

import (
	"strings"
	"testing"
)

// TestClaimSection: a model's page has the claims of the map that are about it, and no others.
func TestClaimSection(t *testing.T) {
	got, err := claimSection("attention-kernel")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got, "\n## What the notes claim of it\n\n") ||
		!strings.Contains(got, "| The goofy alternative is attention: centres as keys and as values | `attention-kernel: y[b,t,f] = sum(softmax(−γ·sum((q − k)², d), i)·v, i)` |\n") ||
		strings.Contains(got, "kmeans-goofy: r̂") {
		t.Errorf("got\n%s", got)
	}
	if got, err := claimSection("mine"); got != "" || err != nil {
		t.Errorf("a model that is not in the map has the section %q, %v", got, err)
	}
}

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
)

// TestFarCentres: centres that lie far from the origin are told apart, in the terminal and on the
// page, and what has no labels is not said to have any.
func TestFarCentres(t *testing.T) {
	t.Chdir(t.TempDir())
	var rows strings.Builder
	rows.WriteString("x,y\n")
	for i := range 30 {
		fmt.Fprintf(&rows, "%.2f,%.2f\n", 1e6+float64(5*(i%3))+.01*float64(i), -1e6+float64(3*(i%3)))
	}
	if err := os.WriteFile("far.csv", []byte(rows.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	out := ok(t, "train", "kmeans-lloyd", "--data", "far.csv", "--k", "3")
	_, table, _ := strings.Cut(out, "centres\n")
	seen := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		f := strings.Fields(line)
		seen[f[1]], seen[f[2]] = true, true
	}
	if len(seen) != 6 {
		t.Errorf("three centres have %d numbers:\n%s", len(seen), table)
	}
	page := ok(t, "compare", "kmeans-softmax", "--data", "far.csv", "--k", "3", "--seeds", "1", "--steps", "3", "--out", "-")
	if cells := regexp.MustCompile(`<td>10000\d\d\.\d{4}</td>`).FindAllString(page, -1); len(cells) != 3 || cells[0] == cells[1] || cells[1] == cells[2] {
		t.Errorf("the page has the centres %q", cells)
	}
	if strings.Contains(page, "with the labels, which training") {
		t.Error("the page speaks of labels that there are not")
	}
}

// TestWhyMoving: of a best run that has converged it is not said why the others have not.
func TestWhyMoving(t *testing.T) {
	moves := lab.ClusterRun{Seed: 7, Measures: []lab.Measure{{Inertia: 2}}, Rest: lab.Convergence{Moved: .5}}
	v := lab.Clustering{Runs: []lab.ClusterRun{{Measures: []lab.Measure{{Inertia: 1}}}, moves}}
	if got, want := whyMoving(v), "the best has, seed 7 has not converged: it went 50 % of its size away in the last tenth of the steps"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v.Runs[0].Rest.Slope = .25
	if got, want := whyMoving(v), "the best has not converged: its gradient times its size is 25 % of the largest loss"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

package main

import (
	"context"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestFamily: every method comes near the least inertia there is for three clusters of iris, and
// the softmax idea's loss is the goofy alternative's and the spread, which is what is drawn.
func TestFamily(t *testing.T) {
	res, err := lab.Cluster(context.Background(), lab.Config{
		Table: data.Iris(), K: 3, Seeds: 2, Steps: 150, SweepGamma: []float64{low}, SweepK: []int{3}, SweepSeeds: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	family := append(res.Baselines, res.Variants...)
	for _, m := range family {
		ends := inertias(m.Runs)
		if !(ends[0] >= 78.85 && ends[0] < 90) || ends[0] != m.Best().Inertia() {
			t.Errorf("%s ends at an inertia of %v", m.Name, ends)
		}
		if end := m.Best().Final(); math.Abs(end.Soft-end.Goofy-end.Spread) > 1e-9 {
			t.Errorf("%s: soft %g, goofy %g, spread %g", m.Name, end.Soft, end.Goofy, end.Spread)
		}
	}
	if err := centres(res, family)(io.Discard); err != nil {
		t.Error(err)
	}
	if err := temperature(res, res.Variants)(io.Discard); err != nil {
		t.Error(err)
	}
}

// TestReadmeIsOfToday: what the example prints stands in its README, line by line.
func TestReadmeIsOfToday(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole example")
	}
	out, err := exec.Command("go", "run", ".", "-out", t.TempDir()).Output()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if !strings.Contains(string(readme), strings.TrimSpace(line)) {
			t.Errorf("the README lacks %q", line)
		}
	}
}

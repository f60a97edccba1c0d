package lab_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// attentive returns a variant of a model of the registry that reads a table as attention.
func attentive(t *testing.T, name string, table *data.Table, k int) lab.Variant {
	t.Helper()
	b, err := builders.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := lab.AttentionSettings(b, nil, table.Rows(), len(table.Columns), k, graph.F64)
	if !ok {
		t.Fatalf("%s does not read %s", name, table.Name)
	}
	return lab.Registered(name, s)
}

// TestAttentionBesideClusterings: attention reads the rows as queries and looks up those at which the
// centres start, so that before the first step it has the loss of the goofy objective there, a mean
// over the features where that is a sum; and as its keys stay, they are judged by that objective.
func TestAttentionBesideClusterings(t *testing.T) {
	table := data.Iris()
	const g = -3 // at which attention-kernel starts
	c := lab.Config{Table: table, K: 3, Seeds: 3, Steps: 5, Scheduled: map[string]train.Schedule{"γ": train.Constant(math.Exp(g))}}
	res := compared(t, c, c.Variant("kmeans-goofy"), attentive(t, "attention-kernel", table, 3))
	if !res.SameTask(0, 1) || res.Variants[1].Reads != "q, target are the rows, k, v the 3 rows at which centres start" {
		t.Errorf("reads %q", res.Variants[1].Reads)
	}
	for s := range c.Seeds {
		goofy, attention := res.Cells(0, lab.Setting{})[s], res.Cells(1, lab.Setting{})[s]
		start := goofy.Loss[0]
		if got := attention.Loss[0] * float64(len(table.Columns)); math.Abs(got-start) > 1e-12*start {
			t.Errorf("seed %d: the loss of attention is %v a row, of the goofy objective %v", s, got, start)
		}
		if got := attention.Measures[1]; math.Abs(got-start) > 1e-12*start {
			t.Errorf("seed %d: keys leave %v of the goofy objective, which starts at %v", s, got, start)
		}
		if !math.IsNaN(goofy.Measures[2]) || !math.IsNaN(attention.Measures[3]) || math.IsNaN(goofy.Measures[3]) {
			t.Errorf("seed %d: measures %v and %v", s, goofy.Measures, attention.Measures)
		}
	}
	text := res.String()
	for _, want := range []string{
		"–: the loss of attention-kernel depends on g, and kmeans-goofy has none of these sizes\n",
		"–: inertia is of centres, and attention-kernel has none\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if why := res.Missing(3, 0); why != "" {
		t.Errorf("inertia of centres is missing: %s", why)
	}
}

// TestWhatReadsRows: models of several floats read a table whose queries and memory have its width;
// others do not.
func TestWhatReadsRows(t *testing.T) {
	table := data.Iris()
	want := []string{"attention-table", "attention-self", "attention-cross", "attention-multihead", "attention-query-norm",
		"attention-dot", "attention-multiplicative", "attention-additive", "attention-kernel"}
	var got []string
	for _, b := range builders.All() {
		if s, ok := lab.AttentionSettings(b, nil, table.Rows(), len(table.Columns), 3, graph.F64); ok && strings.HasPrefix(b.Name, "attention") {
			got = append(got, b.Name)
			m, err := b.Build(s, graph.F64)
			if err != nil || lab.TakesRows(m, table) != nil {
				t.Errorf("%s: %v, %v", b.Name, err, lab.TakesRows(m, table))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v read rows, want %v", got, want)
	}
	b, err := builders.Lookup("attention-kernel")
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Build(builders.Settings{"b": 1, "t": 151, "i": 3, "d": 4, "f": 4}, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.TakesRows(m, table); err == nil || err.Error() != "attention-kernel reads 151 rows, and looks up 3: iris.csv has only 150 rows" {
		t.Errorf("151 queries: %v", err)
	}
	// Held rows are measured, too, against the memory of the training.
	held, err := table.Subset([]int{0, 60, 120})
	if err != nil {
		t.Fatal(err)
	}
	c := lab.Config{Table: table, Held: held, K: 3, Seeds: 1, Steps: 2}
	if _, err := lab.Compare(context.Background(), c, c.Variant("kmeans-goofy"), attentive(t, "attention-kernel", table, 3)); err != nil {
		t.Error(err)
	}
}

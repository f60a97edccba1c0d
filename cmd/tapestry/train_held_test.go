package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/train/data"
)

// heldWine deals wine as the command does, and standardises it by the rows to train on.
func heldWine(t *testing.T, share float64) (rows, held *data.Table, mean, std []float64) {
	t.Helper()
	wine := data.Wine()
	a, b := fit.Deal(wine.Rows(), share, 0)
	rows, err := wine.Subset(a)
	if err != nil {
		t.Fatal(err)
	}
	if held, err = wine.Subset(b); err != nil {
		t.Fatal(err)
	}
	mean, std = data.Standardise(rows)
	return rows, held, mean, std
}

// nearestOf returns the nearest of centres in the units of the columns to a standardised row, and
// the squared distance.
func nearestOf(row []float64, centres [][]float64, mean, std []float64) (at int, least float64) {
	least = math.Inf(1)
	for j, c := range centres {
		far := 0.0
		for k := range row {
			d := row[k] - (c[k]-mean[k])/std[k]
			far += d * d
		}
		if far < least {
			at, least = j, far
		}
	}
	return at, least
}

// TestClusteringHeldOut: a clustering is standardised and measured by the rows that it is trained
// on and not trained on, its centres are in the units of the columns, and predict prepares rows as
// training did.
func TestClusteringHeldOut(t *testing.T) {
	rows, held, mean, std := heldWine(t, 0.25)
	dir := t.TempDir()
	var got struct {
		Inertia  float64
		Centres  [][]float64
		Assigned []int
		Held     []map[string]float64 `json:"validation"`
		Standard bool                 `json:"standardised"`
	}
	out := ok(t, "train", "kmeans-lloyd", "--data", "wine", "--validation", "0.25", "--standardise", "--restarts", "1", "--checkpoint", dir, "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	inertia := 0.0
	for i := range rows.Rows() {
		at, far := nearestOf(rows.X[i*13:(i+1)*13], got.Centres, mean, std)
		if inertia += far; at != got.Assigned[i] {
			t.Errorf("row %d is assigned to %d, by hand to %d", i, got.Assigned[i], at)
		}
	}
	if !got.Standard || math.Abs(inertia-got.Inertia) > 1e-9*inertia {
		t.Errorf("inertia %v, by hand %v", got.Inertia, inertia)
	}
	inertia = 0
	if err := data.Scale(held, mean, std); err != nil {
		t.Fatal(err)
	}
	for i := range held.Rows() {
		_, far := nearestOf(held.X[i*13:(i+1)*13], got.Centres, mean, std)
		inertia += far
	}
	if h := got.Held[0]; math.Abs(inertia-h["inertia"]) > 1e-9*inertia || math.Abs(inertia/float64(held.Rows())-h["loss"]) > 1e-9*inertia {
		t.Errorf("held out: %v, by hand an inertia of %v", h, inertia)
	}
	wine := data.Wine()
	if err := data.Scale(wine, mean, std); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Fields(ok(t, "predict", dir, "--data", "wine"))[1:] {
		if at, _ := nearestOf(wine.X[i*13:(i+1)*13], got.Centres, mean, std); line != fmt.Sprint(at) {
			t.Errorf("predict assigns row %d to %s, by hand it is %d", i, line, at)
		}
	}
}

// TestReportedCentres: the report of standardised points has centres in the units of the columns:
// wines have some hundred units of proline, and no standardised number is as large.
func TestReportedCentres(t *testing.T) {
	page := filepath.Join(t.TempDir(), "r.html")
	ok(t, "compare", "kmeans-softmax", "kmeans-goofy", "--data", "wine", "--standardise", "--validation", "0.2", "--seeds", "2", "--steps", "20", "--out", page)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`"Centres":(\[\[[^"]*\]\])`).FindAllStringSubmatch(string(text), -1)
	if len(all) != 2 {
		t.Fatalf("the page has %d lists of centres", len(all))
	}
	for _, m := range all {
		var centres [][]float64
		if err := json.Unmarshal([]byte(m[1]), &centres); err != nil {
			t.Fatal(err)
		}
		for _, c := range centres {
			if proline := c[len(c)-1]; proline < 200 || proline > 2000 {
				t.Errorf("a centre has %v units of proline", proline)
			}
		}
	}
	if said := "held out, in the median over the seeds, soft"; !strings.Contains(strings.NewReplacer("\u00a0", " ", "\u2011", "-").Replace(string(text)), said) {
		t.Errorf("the page does not say %q", said)
	}
}

// TestClusteringPatience: training ends when rows held out get no better, and goes back to where
// they were best; --epochs counts passes.
func TestClusteringPatience(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.jsonl")
	var got struct {
		Steps   int
		Held    []map[string]float64 `json:"validation"`
		Stopped []int                `json:"best_steps"`
	}
	out := ok(t, "train", "kmeans-sgd", "--data", "wine", "--validation", "0.3", "--standardise", "--patience", "3", "--epochs", "200", "--seeds", "1", "--log", log, "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	best, at, last := math.Inf(1), 0, 0
	for line := range strings.Lines(string(text)) {
		var e struct {
			Event  string
			Step   int
			Scores map[string]float64
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Event == "validated" {
			if last = e.Step; e.Scores["loss"] < best {
				best, at = e.Scores["loss"], e.Step
			}
		}
	}
	if at == 0 || len(got.Stopped) != 1 || got.Stopped[0] != at || last-at != 4*7 { // 125 rows in batches of 16; the fourth failure ends it
		t.Errorf("stopped after step %d, and set back to %v; the best was step %d", last, got.Stopped, at)
	}
	if h := got.Held[0]["loss"]; h != best {
		t.Errorf("the loss on the rows held out is %v, at its best it was %v", h, best)
	}
	out = ok(t, "train", "kmeans-sgd", "--data", "iris", "--epochs", "4", "--batch", "20", "--seeds", "1", "--json")
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Steps != 30 {
		t.Errorf("4 epochs of 150 rows in batches of 20 are %d steps, %v", got.Steps, err)
	}
}

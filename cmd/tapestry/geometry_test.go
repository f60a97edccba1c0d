package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeometry prints every table, and draws a chart for each model.
func TestGeometry(t *testing.T) {
	dir := t.TempDir()
	surface, field := filepath.Join(dir, "surface.svg"), filepath.Join(dir, "field.svg")
	args := []string{"geometry", "kmeans-softmax", "kmeans-goofy", "--steps", "20", "--surface", surface, "--field", field, "--cells", "13"}
	out := ok(t, args...)
	for _, part := range []string{
		"CURVATURE after 20 steps", "2/λ = ",
		"SYMMETRIES at the start", "scaling of x, r by s, γ by s^-2  ∝ s^2", "equivariant",
		"ANGLES along the training of kmeans-softmax", "kmeans-softmax, kmeans-goofy",
		"COLLAPSE along the training", "kmeans-goofy, 3 prototypes",
		"SURFACE\nloss over a plane of 12 numbers, 13 × 13 cells", "FIELD\nprototype 1 moved over 13 × 13 places",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is missing from\n%s", part, out)
		}
	}
	if again := ok(t, args...); again != out {
		t.Error("again it prints something else")
	}
	for _, path := range []string{surface, field} {
		svg, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		charts := 0
		for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if e, isStart := token.(xml.StartElement); isStart && e.Name.Local == "title" && strings.Contains(string(svg), "kmeans-goofy") {
				for _, a := range e.Attr {
					if a.Name.Local == "id" {
						charts++
					}
				}
			}
		}
		if charts != 2 {
			t.Errorf("%s has %d charts", path, charts)
		}
	}
}

// TestGeometryForMachines has the same figures as JSON.
func TestGeometryForMachines(t *testing.T) {
	var v struct {
		Models []struct {
			Model      string
			Loss       []float64
			Largest    struct{ Value, Residual float64 } `json:"largest_eigenvalue"`
			Converged  bool
			Symmetries []struct {
				Transformation string
				Responses      []struct{ Quantity, Response string }
			}
			Collapse []struct{ Distinct int }
		}
		Angles struct {
			Models  []string
			Degrees [][]float64
		}
	}
	out := ok(t, "geometry", "kmeans-softmax", "kmeans-goofy", "kmeans-sgd", "--steps", "6", "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Models) != 3 || len(v.Angles.Models) != 3 || len(v.Angles.Degrees) != 3 || len(v.Angles.Degrees[0]) != 7 {
		t.Fatalf("printed %s", out)
	}
	for _, m := range v.Models {
		if len(m.Loss) != 6 || len(m.Collapse) != 7 || m.Collapse[0].Distinct != 3 || !m.Converged || !(m.Largest.Value > 0) || math.Abs(m.Largest.Residual) > 1e-5 {
			t.Errorf("%s: %+v", m.Model, m)
		}
		if r := m.Symmetries[1]; r.Transformation != "translation of x, r along d" || r.Responses[0].Response != "invariant" || r.Responses[1].Quantity != "∂loss/∂r" {
			t.Errorf("%s: %+v", m.Model, r)
		}
	}
}

// TestGeometryOfOtherModels: a model with examples of its own has no prototypes, and models
// with other parameters no angles.
func TestGeometryOfOtherModels(t *testing.T) {
	out := ok(t, "geometry", "attention-self", "regression-ols", "--steps", "3")
	if strings.Contains(out, "ANGLES") || strings.Contains(out, "COLLAPSE") || !strings.Contains(out, "regression-ols: second derivatives by") {
		t.Errorf("printed\n%s", out)
	}
}

func TestGeometryRefuses(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"geometry", 2, "geometry: want a model (tapestry list shows the models)"},
		{"geometry kmeans-goofy kmeans-goofy", 2, "geometry: kmeans-goofy is named twice"},
		{"geometry kmeans-gofy", 2, `unknown model "kmeans-gofy": did you mean "kmeans-goofy"?`},
		{"geometry kmeans-goofy --directions up", 2, `--directions "up": want path or random`},
		{"geometry kmeans-goofy --gamma -1", 2, "--gamma -1: want a positive temperature"},
		{"geometry kmeans-goofy --prototype 4 --field f.svg", 2, "--prototype 4: want one of the centres, from 1"},
		{"geometry kmeans-goofy --cells 2", 2, "--cells 2: want 5 to 400"},
		{"geometry kmeans-goofy --surface -", 2, "want a file for drawings"},
		{"geometry kmeans-goofy --set d=2", 2, "--set: kmeans-goofy is a clustering"},
		{"geometry attention-self --k 2", 2, "--k is for clusterings"},
		{"geometry kmeans-goofy --k 151", 1, "k = 151"},
		{"geometry kmeans-goofy --steps 0 --surface s.svg", 1, "want random ones"},
		{"geometry attention-self --steps 0 --field f.svg", 1, "no prototypes"},
	} {
		t.Chdir(t.TempDir())
		code, _, errOut := tapestry(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(errOut, c.want) {
			t.Errorf("tapestry %s: exit code %d, %q, want %d, %q", c.args, code, errOut, c.code, c.want)
		}
	}
}

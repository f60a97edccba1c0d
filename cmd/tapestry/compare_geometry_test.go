package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// reported runs compare and returns the page and the numbers inside.
func reported(t *testing.T, args ...string) (page string, p report.Page) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	ok(t, append(append([]string{"compare"}, args...), "--out", file)...)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(string(b))
	if m == nil {
		t.Fatal("the page has no numbers")
	}
	if err := json.Unmarshal([]byte(m[1]), &p); err != nil && !strings.Contains(err.Error(), "cannot unmarshal object") { // curves are courses
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\u2011", "-"), p
}

// TestReportSum: soft k-means is found to be the goofy alternative and the spread, in either order
// and of files too, and their gradients add up where the trainings go.
func TestReportSum(t *testing.T) {
	files := [2]string{"../../examples/notation/kmeans-softmax.tapestry", "../../examples/notation/kmeans-goofy.tapestry"}
	for _, names := range [][2]string{{"kmeans-softmax", "kmeans-goofy"}, {"kmeans-goofy", "kmeans-softmax"}, files} {
		page, p := reported(t, names[0], names[1], "--seeds", "2", "--steps", "40")
		if len(p.Gradients) != 1 {
			t.Fatalf("%d pairs of gradients", len(p.Gradients))
		}
		g := p.Gradients[0]
		whole := map[bool]int{true: 0, false: 1}[strings.Contains(names[0], "softmax")]
		if !g.Known || g.Term != "spread" || g.Whole != whole || g.Other != 1-whole || !(g.Deviation < 1e-9) {
			t.Errorf("%v: %+v", names, g)
		}
		for _, w := range g.Ways {
			if len(w.Stops) != 4 || w.Stops[0].Step != 0 || w.Stops[1].Step != 10 || w.Stops[2].Step != 20 || w.Stops[3].Step != 40 {
				t.Errorf("%v: the places are %+v", names, w.Stops)
			}
			for _, s := range w.Stops {
				for j := range s.At {
					for axis := range 2 {
						if sum := s.Down[1][j][axis] + s.Down[2][j][axis]; math.Abs(sum-s.Down[0][j][axis]) > 1e-5*s.Lengths[0]+1e-9 {
							t.Errorf("%v, step %d, centre %d: %v and not %v", names, s.Step, j, sum, s.Down[0][j][axis])
						}
					}
				}
			}
		}
		if p.Difference.LaTeX == "" {
			t.Errorf("%v: the page has no identity", names)
		}
		if !strings.Contains(page, "The gradient of soft k-means is that of goofy alternative and that of the spread.") {
			t.Errorf("%v: the page does not say what the gradients are", names)
		}
		if len(p.Weights) != 2 || !(p.Weights[0].Deviation < 1e-9) || len(p.Stationary) != 2 {
			t.Errorf("%v: %d parts through weights, %d sets of stationary points", names, len(p.Weights), len(p.Stationary))
		}
		if !strings.Contains(page, "this is the −γα(D − E[D]) beside the α of the first part") {
			t.Errorf("%v: the page does not say what the softmax adds", names)
		}
	}
}

// TestReportDifference: two clusterings of which no term is known differ by their difference, and so
// do other models with the same parameters; models that differ by their start alone do not.
func TestReportDifference(t *testing.T) {
	_, p := reported(t, "kmeans-softmax", "kmeans-lloyd", "--seeds", "2", "--steps", "40")
	if len(p.Gradients) != 1 || p.Gradients[0].Known || p.Gradients[0].Term != "their difference" || len(p.Weights) != 1 {
		t.Errorf("soft k-means and Lloyd's algorithm: %+v", p.Gradients)
	}
	page, p := reported(t, "regression-ols", "regression-ridge", "--seeds", "5", "--steps", "8")
	if len(p.Gradients) != 1 || len(p.Gradients[0].Ways) != 2 || len(p.Gradients[0].Ways[0].Stops) != 4 {
		t.Fatalf("regressions: %+v", p.Gradients)
	}
	if !strings.Contains(page, `id="verdict"`) || !strings.Contains(page, "aria-labelledby=\"chart-verdict-title") {
		t.Error("regressions: the page has no verdict with its picture")
	}
	if _, p = reported(t, "regression-ols", "regression-ridge", "--seeds", "1", "--steps", "8"); len(p.Gradients[0].Ways) != 1 || len(p.Gradients[0].Ways[0].Stops) != 1 {
		t.Errorf("of one seed the gradients are compared along the way: %+v", p.Gradients[0].Ways)
	}
	if _, p = reported(t, "kmeans-goofy{gamma=2}", "kmeans-goofy{gamma=5}", "--seeds", "1", "--steps", "4"); len(p.Gradients) != 1 || !(p.Gradients[0].Deviation < 1e-9) {
		t.Errorf("two settings of γ: %+v", p.Gradients)
	}
	if page, _ = reported(t, "init{weights=he}", "init{weights=xavier}", "--seeds", "1", "--steps", "4"); !strings.Contains(page, "are one objective: at 1\u00a0place in float64") {
		t.Error("two starts of one model are taken for two objectives")
	}
	if _, p = reported(t, "regression-ols", "attention-self", "--seeds", "1", "--steps", "4"); p.Gradients != nil {
		t.Errorf("models with other parameters: %+v", p.Gradients)
	}
}

// TestFollowed: a task that is followed for the page's gradients is the training that is compared.
func TestFollowed(t *testing.T) {
	res, err := lab.Compare(t.Context(), lab.Config{Steps: 6, Seeds: 1}, lab.Registered("regression-ols", nil))
	if err != nil {
		t.Fatal(err)
	}
	m, err := builders.Build("regression-ols", nil, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	task, err := lab.Config{Steps: 6, Seeds: 1}.Task(m, res.Config.Seed)
	if err != nil {
		t.Fatal(err)
	}
	stops, err := followed(t.Context(), task, lab.Trained(m), []int{0, 5})
	if err != nil {
		t.Fatal(err)
	}
	feed, err := task.Feed(5)
	if err != nil {
		t.Fatal(err)
	}
	d, err := geometry.Decompose(t.Context(), stops[1:], geometry.Site{Model: m, Feed: feed, Store: task.Store})
	if err != nil {
		t.Fatal(err)
	}
	if want := res.Cells(0, lab.Setting{})[0].Loss[5]; math.Abs(d.Stops[0].Loss-want) > 1e-12*want {
		t.Errorf("the loss before step 5 is %v, and was %v in the comparison", d.Stops[0].Loss, want)
	}
}

// TestEffect: what is said of the softmax is what the formulas show, whatever the model is called.
func TestEffect(t *testing.T) {
	for name, want := range map[string]string{
		"kmeans-softmax": "it pushes a centre away from a point that is further than E[D]",
		"kmeans-goofy":   "it pushes a centre away from a point for which g is above E[g]",
	} {
		b, err := builders.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := geometry.ClusterSite(data.Iris(), b, 3, 1, 1, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		if got := effect(s, s.Assignment()); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestSoftmaxPushes: with two centres and a point, the part of soft k-means' gradient that flows
// through the softmax moves the further centre away from the point and the nearer one towards it.
func TestSoftmaxPushes(t *testing.T) {
	b, err := builders.Lookup("kmeans-softmax")
	if err != nil {
		t.Fatal(err)
	}
	s, err := geometry.ClusterSite(&data.Table{Columns: []string{"x"}, X: []float64{0, 0}}, b, 2, 1, 1, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	_, through, err := s.Through(s.Assignment())
	if err != nil {
		t.Fatal(err)
	}
	d, err := geometry.Decompose(t.Context(), []geometry.Stop{{At: []float64{.5, 1}}}, through) // the points are at 0
	if err != nil {
		t.Fatal(err)
	}
	if g := d.Stops[0].Gradient; !(-g[0] < 0 && -g[1] > 0) {
		t.Errorf("going down moves the nearer centre by %v and the further one by %v", -g[0], -g[1])
	}
}

func TestToldApart(t *testing.T) {
	for _, c := range [][4]string{
		{"kmeans-softmax", "kmeans-goofy", "softmax", "goofy"},
		{"resnet", "resnet-plain", "resnet", "resnet-plain"},
		{"init{weights=he}", "init{weights=xavier}", "he", "xavier"},
		{"one", "two", "one", "two"},
		{"a/b.tapestry", "a/c.tapestry", "b.tapestry", "c.tapestry"},
	} {
		if a, b := toldApart(c[0], c[1]); a != c[2] || b != c[3] {
			t.Errorf("%s and %s become %s and %s, want %s and %s", c[0], c[1], a, b, c[2], c[3])
		}
	}
}

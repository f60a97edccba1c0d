package page

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestScalarsAreDrawnAsFed: in every model, at every level and state, a scalar that may be
// fed is drawn with the number that the step is given, in the boxes, the panel and the
// description.
func TestScalarsAreDrawnAsFed(t *testing.T) {
	met := 0
	check := func(t *testing.T, request string) {
		c := newClient(t, Options{})
		id := c.open(request)
		d, err := c.s.shelf.find(id)
		if err != nil {
			t.Fatal(err)
		}
		if !d.session.trains {
			return
		}
		var inputs []*graph.Node
		for _, n := range d.asWritten.cone {
			if _, has := n.Default(); has {
				inputs = append(inputs, n)
			}
		}
		if len(inputs) == 0 {
			return
		}
		c.train(id, 3)
		for step := range 4 {
			feed, err := d.session.feeder.at(step)
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range []string{"notes", "ops"} {
				var sheet sheetView
				c.get(fmt.Sprintf("/api/docs/%s/sheet?grad=1&open=*&level=%s&step=%d", id, level, step), &sheet)
				for _, n := range inputs {
					want, _ := n.Default()
					if x := feed[n]; x != nil {
						a, err := tape.ArrayOf(n.Type(), x)
						if err != nil {
							t.Fatal(err)
						}
						want = a.At(0)
					}
					for _, item := range sheet.Items {
						_, shown, is := strings.Cut(item.Label, " = ")
						if item.Node != d.asWritten.id(n) || item.Kind != "node" || !is {
							continue
						}
						met++
						got, err := strconv.ParseFloat(shown, 64)
						if err != nil || math.Abs(got-want) > 1e-3*math.Abs(want) {
							t.Errorf("%s, %s, step %d: the box says %q, fed is %v", request, level, step, item.Label, want)
						}
						if title := "= " + shown; !strings.Contains(item.SVG, title) {
							t.Errorf("%s: the tooltip does not say %q: %s", request, title, item.SVG)
						}
					}
					var v nodeView
					c.get(fmt.Sprintf("/api/docs/%s/node/%s?step=%d", id, d.asWritten.id(n), step), &v)
					if got := float64(v.Stats.Mean); math.Abs(got-want) > 1e-6*math.Abs(want) {
						t.Errorf("%s, step %d: the panel says %v, fed is %v", request, step, got, want)
					}
				}
			}
		}
	}
	eachModel(t, func(t *testing.T, name string) { check(t, `{"model":`+text(name)+`}`) })
	for _, name := range []string{"kmeans-softmax", "kmeans-goofy"} {
		check(t, `{"model":"`+name+`","data":"iris"}`)
		check(t, `{"model":"`+name+`","data":"iris","scalars":{"γ":2.5}}`)
	}
	if met < 30 {
		t.Errorf("%d boxes of scalars: does the test look at them?", met)
	}
}

// TestCoursesAreTold: the numbers beside Train are those fed, at every state.
func TestCoursesAreTold(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"kmeans-goofy","data":"iris","dtype":"f64"}`)
	const annealed = lab.ClusteringSteps / 4
	c.train(id, annealed+20)
	d, err := c.s.shelf.find(id)
	if err != nil {
		t.Fatal(err)
	}
	var doc docView
	c.get("/api/docs/"+id, &doc)
	var h historyView
	c.get("/api/docs/"+id+"/history", &h)
	γ := d.session.feeder.model.Gamma()
	if len(doc.Courses) != 1 || len(h.Fed) != 2 || doc.Courses[0].Name != γ.Path() {
		t.Fatalf("the courses are %v, fed is %v", doc.Courses, h.Fed)
	}
	values, rates := fedTo(t, h, γ.Path()), fedTo(t, h, doc.Schedule.Name)
	for step := range annealed + 20 {
		fed, err := d.session.feeder.scalarsAt(step, d.model.Graph)
		if err != nil {
			t.Fatal(err)
		}
		told := float64(values[min(step, len(values)-1)])
		if want := lab.Falling(doc.Rate, lab.ClusteringSteps).At(step, lab.ClusteringSteps); float64(rates[step]) != want {
			t.Errorf("step %d: the rate is told as %v, want %v", step, rates[step], want)
		}
		if told != fed[γ] {
			t.Errorf("step %d: told %v, fed %v", step, told, fed[γ])
		}
	}
	if got, want := doc.Courses[0], (courseView{γ.Path(), d.session.feeder.courses[γ].String(), values[0], values[annealed-1], annealed, false}); got != want {
		t.Errorf("the course is %v, want %v", got, want)
	}
	// A number that the user gives is no course.
	given := c.open(`{"model":"kmeans-goofy","data":"iris","scalars":{"` + γ.Path() + `":3}}`)
	c.get("/api/docs/"+given, &doc)
	if len(doc.Courses) != 0 || len(doc.Scalars) != 1 || doc.Scalars[0].Value != 3 {
		t.Errorf("given 3, it is told as %v, %v", doc.Courses, doc.Scalars)
	}
}

// fedTo returns what is fed to a scalar from state to state.
func fedTo(t *testing.T, h historyView, name string) []number {
	t.Helper()
	for _, f := range h.Fed {
		if f.Name == name {
			return f.Values
		}
	}
	t.Fatalf("nothing is fed to %s", name)
	return nil
}

// TestComparedAtOneStep: a comparison is of a state that both have, and asks for no other.
func TestComparedAtOneStep(t *testing.T) {
	c := newClient(t, Options{})
	a, b := c.open(`{"model":"kmeans-softmax","data":"iris"}`), c.open(`{"model":"kmeans-goofy","data":"iris"}`)
	c.train(a, 7)
	c.train(b, 3)
	var v compareView
	c.get("/api/compare?grad=1&overlay=grad&a="+a+"&b="+b, &v)
	if v.Step != 3 || !strings.Contains(v.Scale, "at step 3;") {
		t.Errorf("compared at step %d: %s", v.Step, v.Scale)
	}
	if w := c.ask(http.MethodGet, "/api/compare?step=5&a="+a+"&b="+b, ""); w.Code != http.StatusBadRequest {
		t.Errorf("step 5, which one has, is answered with %d", w.Code)
	}
}

// TestWhatIsComparable: only losses of the same quantity share an axis.
func TestWhatIsComparable(t *testing.T) {
	c := newClient(t, Options{})
	soft, goofy := c.open(`{"model":"kmeans-softmax","data":"iris"}`), c.open(`{"model":"kmeans-goofy","data":"iris"}`)
	again, wine := c.open(`{"model":"kmeans-softmax","data":"iris","seed":4}`), c.open(`{"model":"kmeans-softmax","data":"wine"}`)
	net := c.open(`{"model":"regression-relu"}`)
	for _, x := range []string{soft, goofy, again, wine, net} {
		c.train(x, 4)
	}
	for _, k := range []struct {
		docs            []string
		charts          int
		inertia, spoken bool
	}{
		{[]string{soft, goofy}, 3, true, true},
		{[]string{soft, again}, 2, true, false},
		{[]string{soft, wine}, 2, false, true},
		{[]string{soft, net}, 2, false, true},
		{[]string{soft, goofy, again}, 4, true, true},
		{[]string{net}, 1, false, false},
	} {
		var v chartsView
		c.get("/api/compare/charts?step=2&docs="+strings.Join(k.docs, ","), &v)
		if len(v.Charts) != k.charts || (v.Note != "") != k.spoken || len(v.Figures) != len(k.docs) {
			t.Errorf("%v: %d charts, %q, %d figures", k.docs, len(v.Charts), v.Note, len(v.Figures))
		}
		for i, f := range v.Figures {
			d, err := c.s.shelf.find(f.Doc)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != k.docs[i] || f.Loss == nil || float64(*f.Loss) != d.session.losses[2] || (f.Inertia != nil) != k.inertia {
				t.Errorf("%v: %+v", k.docs, f)
			}
		}
	}
}

// TestNamedModelsAreCompared: the page is told which models the command was given.
func TestNamedModelsAreCompared(t *testing.T) {
	c := newClient(t, Options{})
	for _, name := range []string{"kmeans-softmax", "kmeans-goofy"} {
		if err := c.s.Open(t.Context(), Model{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	c.open(`{"model":"kmeans-sgd"}`)
	var docs []docView
	c.get("/api/docs", &docs)
	for i, want := range []bool{true, true, false} {
		if docs[i].Named != want {
			t.Errorf("%s: named %v", docs[i].Name, docs[i].Named)
		}
	}
}

// TestPanelsHaveTheirOwnMarks: of a box that both panels have, each shows its own, and the
// legend explains what either shows.
func TestPanelsHaveTheirOwnMarks(t *testing.T) {
	c := newClient(t, Options{})
	a, b := c.open(`{"model":"kmeans-softmax","data":"iris"}`), c.open(`{"model":"kmeans-goofy","data":"iris"}`)
	for _, overlay := range overlayList() {
		for _, order := range [][2]string{{a, b}, {b, a}} {
			var v compareView
			c.get("/api/compare?grad=1&overlay="+overlay+"&a="+order[0]+"&b="+order[1], &v)
			all := ""
			for _, item := range v.Items {
				all += item.SVG
			}
			for _, said := range []string{"checked and right", "loses the most digits that reach a result", "not finite"} {
				if strings.Contains(all, said) != strings.Contains(v.Legend, said) {
					t.Errorf("%s: %q is in the drawing or in the legend, not in both", overlay, said)
				}
			}
			for class := range strings.SplitSeq("f-lossy f-checked f-alarm f-group1 f-heat1 f-heat7", " ") {
				if strings.Contains(all, class) && !strings.Contains(v.Style, "."+class+"{") {
					t.Errorf("%s: %s has no dark colour", overlay, class)
				}
			}
		}
	}
}

// TestOptimiserIsOfWhatIsTrained: a model that takes steps of its own is not said to be trained by
// an optimiser.
func TestOptimiserIsOfWhatIsTrained(t *testing.T) {
	for name, want := range map[string]string{"kmeans-lloyd": "", "kmeans-softmax": "adam"} {
		c := newClient(t, Options{})
		var v docView
		c.get("/api/docs/"+c.open(`{"model":"`+name+`","data":"iris"}`), &v)
		if v.Optimiser != want || v.Rate > 0 != (want != "") {
			t.Errorf("%s: trained by %q at rate %v", name, v.Optimiser, v.Rate)
		}
	}
}

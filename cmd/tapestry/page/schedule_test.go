package page

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
)

// TestTrainsByThePlan: with an optimiser and a schedule of the rate that were chosen beside Train, the
// losses are those of package lab, bit for bit, and what is told of the plan is what is fed.
func TestTrainsByThePlan(t *testing.T) {
	const steps = 60
	for _, schedule := range []string{"0.02", "cosine(0.02,40)", "warmup(5,step(0.02,0.5,10))", "0.02..0.001", "hold(10,0.02..0.001)", "within(30,0.02..0.001)"} {
		c := newClient(t, Options{})
		id := c.open(`{"model":"regression-relu","dtype":"f64","seed":7,"optimiser":"momentum","schedule":"` + schedule + `"}`)
		c.train(id, steps)
		rate, err := train.ParseSchedule(schedule)
		if err != nil {
			t.Fatal(err)
		}
		momentum, err := train.Named("momentum", 0.02)
		if err != nil {
			t.Fatal(err)
		}
		want, err := lab.Learn(t.Context(), func() (*builders.Model, error) {
			b, err := builders.Lookup("regression-relu")
			if err != nil {
				return nil, err
			}
			return b.Build(nil, graph.F64)
		}, lab.Config{Seeds: 1, Seed: 7, Steps: lab.OwnSteps, Optimisers: []train.Optimiser{momentum}, Rate: rate})
		if err != nil {
			t.Fatal(err)
		}
		var h historyView
		c.get("/api/docs/"+id+"/history", &h)
		for i, got := range h.Loss {
			if float64(got) != want.Runs[0].Loss[i] {
				t.Fatalf("%s, step %d: the loss is %v, of package lab %v", schedule, i, got, want.Runs[0].Loss[i])
			}
		}
		var doc docView
		c.get("/api/docs/"+id, &doc)
		if doc.Optimiser != "momentum" || doc.Schedule == nil || doc.Schedule.Text != schedule || len(doc.Courses) != 0 || float64(doc.Rate) != rate.At(0, lab.OwnSteps) {
			t.Errorf("%s: told as %+v, %v of %+v", schedule, doc.Optimiser, doc.Rate, doc.Schedule)
		}
		for i, fed := range h.Fed[0].Values {
			if float64(fed) != rate.At(i, lab.OwnSteps) {
				t.Errorf("%s, step %d: told %v, fed %v", schedule, i, fed, rate.At(i, lab.OwnSteps))
			}
		}
	}
}

// TestPlansOfTemperature: γ goes as its schedule says, and says so.
func TestPlansOfTemperature(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"kmeans-goofy","data":"iris","dtype":"f64","courses":{"γ":"0.5..20"}}`)
	c.train(id, 3)
	var h historyView
	c.get("/api/docs/"+id+"/history", &h)
	want := train.Geometric(0.5, 20)
	for i, got := range fedTo(t, h, "γ") {
		if float64(got) != want.At(i, lab.ClusteringSteps) {
			t.Errorf("step %d: γ is %v, want %v", i, got, want.At(i, lab.ClusteringSteps))
		}
	}
	other := c.open(`{"model":"kmeans-goofy","data":"iris","dtype":"f64"}`)
	var a, b docView
	c.get("/api/docs/"+id, &a)
	c.get("/api/docs/"+other, &b)
	if a.Identity == b.Identity {
		t.Error("two schedules of γ are one identity")
	}
}

// TestRefusesPlans: what is no plan is refused, with what is wanted and where.
func TestRefusesPlans(t *testing.T) {
	c := newClient(t, Options{})
	for _, one := range [][2]string{
		{`"schedule":"-0.1"`, "rate -0.1: want a positive number"},
		{`"schedule":"0"`, "rate 0: want a positive number"},
		{`"schedule":"NaN"`, `rate: schedule "NaN", character 1: want a number`},
		{`"schedule":"1e999"`, "character 1: want a number"},
		{`"schedule":"fast"`, `rate: schedule "fast", character 1: want a number`},
		{`"schedule":"cosine(0.1,x)"`, "character 12: cosine wants a value, a number of steps"},
		{`"schedule":"-1..2"`, "both ends must be positive"},
		{`"rate":-1`, "rate -1: want a positive number"},
		{`"optimiser":"fastest"`, "fastest"},
		{`"optimiser":"lbfgs"`, "line search"},
		{`"courses":{"γ":"0..1"}`, "γ: schedule"},
		{`"courses":{"γ":"-2"}`, "γ -2: want a positive temperature"},
		{`"courses":{"β":"1"}`, `there is no scalar "β"`},
		{`"courses":{"x":"1"}`, `"x" is not an input with a default`},
	} {
		w := c.ask(http.MethodPost, "/api/open", `{"model":"kmeans-softmax","data":"iris",`+one[0]+`}`)
		if w.Code != badRequest || !strings.Contains(strings.ReplaceAll(w.Body.String(), `\"`, `"`), one[1]) {
			t.Errorf("%s: status %d, %s", one[0], w.Code, w.Body)
		}
	}
	if docs := c.s.shelf.all(); len(docs) != 0 {
		t.Errorf("%d documents are open", len(docs))
	}
}

package page

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// planted is a family of one model without examples.
func planted(name string, build func(g *graph.Graph, dt graph.DType) *graph.Node) []builders.Family {
	b := builders.Define(builders.Builder{Name: name, Title: name}, func(_ builders.Settings, dt graph.DType, m *builders.Model) {
		m.Loss = build(m.Graph, dt)
		m.Output = m.Loss
		m.Examples = func(*rand.Rand) graph.Values { return graph.Values{} }
	})
	return []builders.Family{{Name: "planted", Builders: []builders.Builder{b}}}
}

// TestAutopsy: the element, its operands and the path to it are named by nodes that requests can
// ask for.
func TestAutopsy(t *testing.T) {
	c := newClient(t, Options{Families: explodes(t, false)})
	id := c.open(`{"model":"explodes"}`)
	var f findingView
	c.get("/api/docs/"+id+"/autopsy", &f)
	if f.Finite || f.Harmless || !strings.HasPrefix(f.Cause, "log of a negative") || f.At == nil || f.At.Text != "b[i=0] = NaN" {
		t.Fatalf("found was %+v", f)
	}
	var n nodeView
	c.get("/api/docs/"+id+"/node/"+*f.At.Node, &n)
	if n.Name != "b" || n.Alarm != "nan" {
		t.Errorf("the node is told of as %+v", n)
	}
	if len(f.Witness) != 1 || f.Witness[0].Of != 1 || !strings.HasPrefix(f.Witness[0].Entries[0].Text, "(−aᵢ)[i=0] = −") || f.Witness[0].Entries[0].Op != "Neg" {
		t.Errorf("the witness is %+v", f.Witness)
	}
	if last := f.Carried[len(f.Carried)-1]; last.Text != "loss = NaN" {
		t.Errorf("it is carried to %+v", last)
	}
}

// TestAutopsyOfAnUpdate: if the state that a step starts from is not finite, the autopsy examines
// the step that made it so.
func TestAutopsyOfAnUpdate(t *testing.T) {
	c := newClient(t, Options{Families: planted("grows", func(g *graph.Graph, dt graph.DType) *graph.Node {
		w := g.Param("w", dt, graph.Ax("i", 3))
		return ops.Sum(ops.Square(ops.Add(w, ops.Lit(w, 2)))).As("loss")
	})})
	id := c.open(`{"model":"grows","optimiser":"sgd","rate":1e38}`)
	c.ask(http.MethodPost, "/api/docs/"+id+"/train", `{"steps":20}`)
	var d docView
	var f findingView
	c.get("/api/docs/"+id, &d)
	c.get("/api/docs/"+id+"/autopsy", &f)
	if d.Steps != 1 || f.Finite || f.Step != 0 || f.At.Op == graph.RoleParam.String() || f.At.Node != nil {
		t.Errorf("after %d steps it is found that %+v, at %+v", d.Steps, f, f.At)
	}
}

// TestPrecision: the digits that are lost are those that a test of its own finds, and a
// float64 model loses none.
func TestPrecision(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"kmeans-softmax","data":"iris"}`)
	d, err := c.s.shelf.find(id)
	if err != nil {
		t.Fatal(err)
	}
	m, sqDist := d.model, d.model.Graph.Lookup("D")
	node := "/api/docs/" + id + "/node/" + d.asWritten.id(sqDist)
	var n nodeView
	if c.get(node, &n); n.Digits != nil {
		t.Errorf("before they were looked at, the digits are %+v", n.Digits)
	}
	var sheet sheetView
	c.get("/api/docs/"+id+"/sheet?overlay=precision&level=primitive&grad=1", &sheet)
	record, err := d.record(context.Background(), d.asWritten, 0)
	if err != nil {
		t.Fatal(err)
	}
	// D of each point and centre by hand, in float64, from the float32 numbers; relative
	// to the element, or to a thousandth of the largest.
	x, r, D := record.Value(m.Points()), record.Value(m.Centres()), record.Value(sqDist)
	exact, most := make([]float64, 450), 0.0
	for i := range 150 {
		for j := range 3 {
			for k := range 4 {
				exact[3*i+j] += (x.At(4*i+k) - r.At(4*j+k)) * (x.At(4*i+k) - r.At(4*j+k))
			}
			most = max(most, exact[3*i+j])
		}
	}
	off := 0.0
	for i, e := range exact {
		off = max(off, math.Abs(D.At(i)-e)/max(e, most/1000))
	}
	want := max(0, math.Log10(off/(math.Pow(2, -24))))
	if c.get(node, &n); n.Digits == nil || math.Abs(n.Digits.Lost-want) > 0.01 || n.Digits.Lost == 0 {
		t.Errorf("the digits lost in D are %+v, by hand %v", n.Digits, want)
	}
	var given nodeView
	if c.get("/api/docs/"+id+"/node/"+d.asWritten.id(m.Centres()), &given); given.Digits != nil && given.Digits.Lost != 0 {
		t.Errorf("the centres, which are given, lose %+v", given.Digits)
	}
	wide := c.open(`{"model":"kmeans-softmax","data":"iris","dtype":"f64"}`)
	c.get("/api/docs/"+wide+"/sheet?overlay=precision", &sheet)
	if !strings.Contains(sheet.Scale, "float64: nothing") {
		t.Errorf("in float64 the legend says %q", sheet.Scale)
	}
}

// crooked is x² with a derivative of 3x.
type crooked struct{}

func (crooked) Name() string                               { return "Crooked" }
func (crooked) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }
func (crooked) Scalar(x ...float64) float64                { return x[0] * x[0] }
func (crooked) Grad(y, dy *graph.Node, _ int) *graph.Node  { return ops.Mul(ops.Scale(y.In(0), 3), dy) }

// TestBlame: the operation with the wrong rule is the one that is marked.
func TestBlame(t *testing.T) {
	c := newClient(t, Options{Families: planted("crooked", func(g *graph.Graph, dt graph.DType) *graph.Node {
		w := g.Param("w", dt, graph.Ax("i", 3))
		return ops.Sum(ops.Exp(graph.Apply(crooked{}, ops.Add(w, ops.Lit(w, 0.5))).As("bad")).As("good")).As("loss")
	})})
	id := c.open(`{"model":"crooked","dtype":"f64"}`)
	d, err := c.s.shelf.find(id)
	if err != nil {
		t.Fatal(err)
	}
	l, err := blame(context.Background(), d, d.asWritten, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	alarms := map[string]viz.Alarm{}
	for n, m := range l.marks {
		alarms[n.Name()] = m.Alarm
	}
	if alarms["bad"] != viz.Wrong || alarms["good"] != viz.Checked || !strings.Contains(l.scale, "1 wrong") {
		t.Errorf("marked are %v: %s", alarms, l.scale)
	}
	for _, n := range d.asWritten.cone {
		if n.Name() != "bad" {
			continue
		}
		var v nodeView
		if c.get("/api/docs/"+id+"/node/"+d.asWritten.id(n), &v); !strings.HasPrefix(v.Checked, "wrong rule: ") {
			t.Errorf("of the rule is said %q", v.Checked)
		}
	}
}

// TestBreaks: a run ends where the break holds, forwards and backwards, within the steps
// that were trained.
func TestBreaks(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"kmeans-softmax","data":"iris","seed":1}`)
	c.train(id, 6)
	var tape tapeInfo
	c.get("/api/docs/"+id+"/tape", &tape)
	alpha, loss := -1, -1
	for i, r := range tape.Listing {
		if strings.HasPrefix(r.Result, "loss") {
			loss = i
		}
		if strings.HasPrefix(r.Result, "α[") {
			alpha = i
		}
	}
	last := len(tape.Listing) - 1
	for _, x := range []struct {
		query string
		want  breakView
	}{
		{"step=2&at=0&break=alpha", breakView{"α", 2, alpha}},
		{fmt.Sprintf("step=2&at=%d&break=alpha", alpha), breakView{"α", 3, alpha}},
		{fmt.Sprintf("step=2&at=%d&break=alpha&back=1", alpha), breakView{"α", 1, alpha}},
		{"step=2&break=step%204", breakView{"step 4", 4, 0}},
		{"step=5&at=3&break=step%204&back=1", breakView{"step 4", 4, last}},
		{"step=3&break=nan", breakView{"", 6, last}},
		{"step=3&break=nan&back=1", breakView{"", 0, 0}},
		{"step=0&break=step%205,alpha", breakView{"α", 0, alpha}},
		{"step=0&break=loss+%3C+1e9", breakView{"loss < 1e+09", 0, loss}},
		{"step=0&break=|alpha|%3E1.5,loss+%3C+0", breakView{"", 6, last}},
	} {
		var got breakView
		if c.get("/api/docs/"+id+"/break?"+x.query, &got); got != x.want {
			t.Errorf("%s: come to %+v, want %+v", x.query, got, x.want)
		}
	}
	for query, says := range map[string]string{"break=zork": "no quantity", "": "want where to stop", "break=alpha&at=99999": "want a whole number"} {
		if w := c.ask(http.MethodGet, "/api/docs/"+id+"/break?"+query, ""); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%q: %d %s", query, w.Code, w.Body)
		}
	}
}

// TestRewrites: the firings lead from the graph as written to the compiled one, each is
// right by its numbers, and each has a drawing of two sides.
func TestRewrites(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"kmeans-softmax","data":"iris"}`)
	d, err := c.s.shelf.find(id)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := d.compiled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var v rewritesView
	c.get("/api/docs/"+id+"/rewrites", &v)
	if want := [2]int{len(d.asWritten.cone), len(compiled.cone)}; v.Nodes != want {
		t.Errorf("%d nodes become %d, want %v", v.Nodes[0], v.Nodes[1], want)
	}
	if len(v.Firings) == 0 || v.Firings[0].Rule != "pairwise distance" || v.Firings[0].After.Text != "SqDist(x, r)" {
		t.Fatalf("the firings are %+v", v.Firings)
	}
	for i, f := range v.Firings {
		if !f.Right || f.Before == f.After {
			t.Errorf("firing %d is %+v", i, f)
		}
		var sheet sheetView
		c.get(fmt.Sprintf("/api/docs/%s/rewrites/%d/sheet", id, i), &sheet)
		panels := map[int]int{}
		for _, item := range sheet.Items {
			if item.Kind == "node" {
				panels[item.Panel]++
			}
		}
		if panels[1] == 0 || panels[2] == 0 {
			t.Errorf("firing %d is drawn with %v boxes", i, panels)
		}
	}
	if w := c.ask(http.MethodGet, fmt.Sprintf("/api/docs/%s/rewrites/%d/sheet", id, len(v.Firings)), ""); w.Code != http.StatusNotFound {
		t.Errorf("one firing too far: %d", w.Code)
	}
}

// TestDerivation: of the whole model and of one node, with the rules by name.
func TestDerivation(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"kmeans-softmax","data":"iris"}`)
	d, err := c.s.shelf.find(id)
	if err != nil {
		t.Fatal(err)
	}
	var whole, one derivationView
	c.get("/api/docs/"+id+"/derivation", &whole)
	for _, rule := range []string{"product rule", "power rule", "softmax: ", "sum over both uses", "in one equation"} {
		if !strings.Contains(whole.Derivation, rule) {
			t.Errorf("the derivation lacks %q", rule)
		}
	}
	if len(whole.Formula) != 0 || text(whole.By) != `["r"]` {
		t.Errorf("%d formulas, derivatives by %v", len(whole.Formula), whole.By)
	}
	var plain derivationView
	b := builders.Define(builders.Builder{Name: "square", Title: "square"}, func(_ builders.Settings, _ graph.DType, m *builders.Model) {
		m.Output = ops.Square(m.Graph.Scalar("s", 2)).As("y")
		m.Examples = func(*rand.Rand) graph.Values { return graph.Values{} }
	})
	other := newClient(t, Options{Families: []builders.Family{{Name: "planted", Builders: []builders.Builder{b}}}})
	other.get("/api/docs/"+other.open(`{"model":"square"}`)+"/derivation", &plain)
	if plain.Derivation != "" || len(plain.Formula) != 1 || plain.Formula[0].Unicode != "y = s²" {
		t.Errorf("of a model without derivatives: %+v", plain)
	}
	α := d.model.Graph.Lookup("α")
	c.get("/api/docs/"+id+"/derivation?node="+d.asWritten.id(α), &one)
	if text(one.By) != `["α"]` || strings.Contains(one.Derivation, "power rule") || !strings.Contains(one.Derivation, "constant factor") {
		t.Errorf("by %v: %s", one.By, one.Derivation)
	}
	if w := c.ask(http.MethodGet, "/api/docs/"+id+"/derivation?node="+d.asWritten.id(d.model.Points()), ""); w.Code != http.StatusNotFound {
		t.Errorf("by what is fed: %d %s", w.Code, w.Body)
	}
}

package page

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// cellsOf reads all elements of a node.
func (c client) cellsOf(id, node string, step int) (cells, grads []float64) {
	c.t.Helper()
	var v valuesView
	c.get("/api/docs/"+id+"/node/"+node+"/values?rows=200&cols=100&step="+text(step), &v)
	read := func(table [][]string) (out []float64) {
		for _, row := range table {
			for _, cell := range row {
				x, err := strconv.ParseFloat(cell, 64)
				if err != nil {
					c.t.Fatal(err)
				}
				out = append(out, x)
			}
		}
		return out
	}
	return read(v.Cells), read(v.GradCells)
}

// TestValuesAreTheTapes compares the values shown of every parameter, the loss and the derivatives,
// at every state of a session, with those of the test's own program, which runs the same steps.
func TestValuesAreTheTapes(t *testing.T) {
	const steps, seed = 6, 5
	for _, name := range []string{"attention-self", "dropout", "rnn-elman", "norm-batch"} {
		c := newClient(t, Options{})
		id := c.open(`{"model":"` + name + `","seed":5,"optimiser":"adam","rate":0.02,"dtype":"f64"}`)
		c.train(id, steps)
		m, err := builders.Build(name, nil, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		wrt := lab.Trained(m)
		watched := append(append([]*graph.Node{m.Loss}, wrt...), grad.Of(m.Loss, wrt...)...)
		prog, err := tape.Compile(m.Graph, tape.Watch(watched...), tape.Do(lab.TrainingStep(m, train.Adam(0.02))))
		if err != nil {
			t.Fatal(err)
		}
		vm := tapetest.VM(t, prog, tape.NewStore(m.Graph, tape.Seed(seed)))
		defer vm.Close()
		for step := range steps + 1 {
			given := map[*graph.Node]tape.Array{}
			for _, p := range wrt {
				v, err := vm.Store().Get(p.Path())
				if err != nil {
					t.Fatal(err)
				}
				if given[p], err = tape.ArrayOf(p.Type(), v); err != nil {
					t.Fatal(err)
				}
			}
			feed, err := lab.Examples(m, seed, step)
			if err != nil {
				t.Fatal(err)
			}
			if err := vm.Run(context.Background(), feed); err != nil {
				t.Fatal(err)
			}
			for _, n := range watched {
				if n.Rank() > 2 {
					continue
				}
				want, err := vm.Value(n)
				if err != nil {
					t.Fatal(err)
				}
				w, err := tape.ArrayOf(n.Type(), want)
				if err != nil {
					t.Fatal(err)
				}
				if p, is := given[n]; is {
					w = p
				}
				cells, _ := c.cellsOf(id, "n"+text(n.ID()), step)
				for i, got := range cells {
					if math.Abs(got-w.At(i)) > 2e-5*math.Max(1e-4, math.Abs(w.At(i))) {
						t.Fatalf("%s, step %d: %v: element %d is %v, the tape says %v", name, step, n, i, got, w.At(i))
					}
				}
				if len(cells) != n.Shape().Len() {
					t.Errorf("%s: %v has %d cells", name, n, len(cells))
				}
			}
		}
	}
}

// TestTrainsAsTheLaboratoryDoes: a session on iris has the losses that the laboratory's
// own training has by default, to the last bit, and the centres go where that puts them.
func TestTrainsAsTheLaboratoryDoes(t *testing.T) {
	for _, name := range []string{"kmeans-softmax", "kmeans-goofy", "kmeans-lloyd", "kmeans-sgd"} {
		c := newClient(t, Options{})
		id := c.open(`{"model":"` + name + `","data":"iris","dtype":"f64","seed":3,"settings":{"n":16}}`)
		const steps = lab.ClusteringSteps
		w := c.ask(http.MethodPost, "/api/docs/"+id+"/train", `{"steps":1000}`)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %s", name, w.Body)
		}
		var h historyView
		c.get("/api/docs/"+id+"/history", &h)
		v, err := lab.Config{Table: data.Iris(), K: 3, Seeds: 1, Seed: 3, DType: graph.F64}.Train(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		run := v.Runs[0]
		plane, err := linear.NewPlane(data.Iris())
		if err != nil {
			t.Fatal(err)
		}
		for i, loss := range run.Loss {
			if float64(h.Loss[i]) != loss {
				t.Fatalf("%s: the loss of step %d is %v, the laboratory has %v", name, i, h.Loss[i], loss)
			}
		}
		if len(h.Centres) != steps+1 || len(h.Points) != 150 || len(h.Labels) != 150 {
			t.Fatalf("%s: %d places of centres, %d points, %d labels", name, len(h.Centres), len(h.Points), len(h.Labels))
		}
		last := len(run.Path) - 1
		for j, want := range plane.Points(run.Path[last]) {
			if got := h.Centres[run.Steps][j]; math.Hypot(got[0]-want[0], got[1]-want[1]) > 1e-12 {
				t.Errorf("%s: centre %d ends at %v, the laboratory has it at %v", name, j, got, want)
			}
		}
	}
}

// TestStatesBetweenSnapshots: a state whose snapshot was thinned out is computed again,
// bit by bit.
func TestStatesBetweenSnapshots(t *testing.T) {
	s := New(Options{})
	defer s.Close()
	d, err := s.newDocument(context.Background(), opening{Model: "dropout", Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer d.session.close()
	*d.session.snapshots = *inspect.NewSnapshots(0, 3, d.session.store)
	path := d.model.Params()[0].Path()
	var want [][]float32
	note := func(store *tape.Store) []float32 {
		v, err := store.Get(path)
		if err != nil {
			t.Fatal(err)
		}
		return v.Float32s()
	}
	want = append(want, note(d.session.store))
	for range 21 {
		if _, err := d.session.advance(context.Background()); err != nil {
			t.Fatal(err)
		}
		want = append(want, note(d.session.store))
	}
	if d.session.snapshots.Len() > 3 || d.session.snapshots.Every() != 16 {
		t.Errorf("%d snapshots, one every %d steps", d.session.snapshots.Len(), d.session.snapshots.Every())
	}
	for k, w := range want {
		store, err := d.session.state(context.Background(), k)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range note(store) {
			if got != w[i] {
				t.Fatalf("state %d: element %d is %v, it was %v", k, i, got, w[i])
			}
		}
		if int(store.Step()) != k {
			t.Errorf("state %d is at step %d of the store", k, store.Step())
		}
	}
	if w := want[3]; w[0] == want[2][0] {
		t.Error("training changes nothing")
	}
}

// TestPairs: a parameter and its derivative know each other, and both show the other's
// values.
func TestPairs(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"kmeans-softmax","data":"iris"}`)
	d, err := c.s.shelf.find(id)
	if err != nil {
		t.Fatal(err)
	}
	r := d.model.Centres()
	var at, back nodeView
	c.get("/api/docs/"+id+"/node/n"+text(r.ID()), &at)
	if at.Partner == nil || at.GradStats == nil || at.Derivative == nil || at.Name != "r" {
		t.Fatalf("r is told of as %+v", at)
	}
	c.get("/api/docs/"+id+"/node/"+*at.Partner, &back)
	if back.Partner == nil || *back.Partner != at.ID || !back.Backward || back.Why != "the derivative of loss with respect to r" {
		t.Errorf("the derivative is told of as %+v", back)
	}
	_, beside := c.cellsOf(id, at.ID, 0)
	own, _ := c.cellsOf(id, back.ID, 0)
	if len(beside) != 12 || text(beside) != text(own) {
		t.Errorf("beside r: %v, at the derivative: %v", beside, own)
	}
	if back.Stats.Min != at.GradStats.Min || back.Stats.Max != at.GradStats.Max {
		t.Errorf("statistics differ: %+v and %+v", back.Stats, at.GradStats)
	}
}

// explodes is a model whose second layer takes the logarithm of negative numbers.
func explodes(t *testing.T, panics bool) []builders.Family {
	t.Helper()
	b := builders.Define(builders.Builder{Name: "explodes", Title: "a model that explodes", Hyperparameters: []builders.Hyperparameter{{Name: "n", Default: 4, Doc: "examples", Kind: builders.Count}}},
		func(s builders.Settings, dt graph.DType, m *builders.Model) {
			if panics {
				panic("as planted")
			}
			g := m.Graph
			w := g.Param("w", dt, graph.Ax("i", s.Int("n")))
			a := ops.Exp(w).As("a")
			b := ops.Log(ops.Neg(a)).As("b")
			m.Loss = ops.Sum(ops.Exp(b)).As("loss")
			m.Output = m.Loss
			m.Examples = func(*rand.Rand) graph.Values { return graph.Values{} }
		})
	return []builders.Family{{Name: "planted", Builders: []builders.Builder{b}}}
}

// TestFirstNotFinite: the overlay marks the first node that is not finite, and its
// descendants otherwise; a step that fails for it is not done, and says why.
func TestFirstNotFinite(t *testing.T) {
	c := newClient(t, Options{Families: explodes(t, false)})
	id := c.open(`{"model":"explodes"}`)
	d, err := c.s.shelf.find(id)
	if err != nil {
		t.Fatal(err)
	}
	l, err := notFinite(context.Background(), d, d.asWritten, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	alarms := map[string]string{}
	for n, m := range l.marks {
		if n.Name() != "" {
			alarms[n.Name()] = fmt.Sprint(m.Badge, m.Alarm)
		}
	}
	if alarms["a"] != "" || !strings.HasPrefix(alarms["b"], "NaN") || !strings.HasPrefix(alarms["loss"], "NaN") {
		t.Errorf("marked are %v", alarms)
	}
	if !strings.Contains(l.scale, "① the first is b[i=0] = NaN: log of a negative: log(") {
		t.Errorf("the legend says %q", l.scale)
	}
	w := c.ask(http.MethodPost, "/api/docs/"+id+"/train", `{"steps":3}`)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"error":"step 0 is not done: loss[] is NaN`) || strings.Contains(w.Body.String(), `"done":true`) {
		t.Errorf("training says %d, %s", w.Code, w.Body)
	}
	var n nodeView
	c.get("/api/docs/"+id+"/node/n"+text(d.model.Loss.ID()), &n)
	if n.Alarm != "nan" || n.Stats.NaN != 1 || !math.IsNaN(float64(n.Stats.Min)) {
		t.Errorf("the loss is told of as %+v", n)
	}
}

// TestCompare: the drawing of two documents tells of each side's own nodes.
func TestCompare(t *testing.T) {
	c := newClient(t, Options{})
	a, b := c.open(`{"model":"kmeans-softmax","data":"iris"}`), c.open(`{"model":"kmeans-goofy","data":"iris"}`)
	for _, order := range [][2]string{{a, b}, {b, a}} {
		var v compareView
		c.get("/api/compare?grad=1&a="+order[0]+"&b="+order[1], &v)
		if v.Identity == nil || !strings.Contains(v.Words, "spread of the centres") || v.Summary == "" {
			t.Errorf("what is said of the difference is %q, %q, %v", v.Summary, v.Words, v.Identity)
		}
		panels := [3]int{}
		for _, item := range v.Items {
			if item.Kind != "node" {
				continue
			}
			panels[item.Panel]++
			var n nodeView
			c.get("/api/docs/"+order[item.Panel-1]+"/node/"+item.Node, &n)
			if name, _, _ := strings.Cut(item.Label, " "); n.Label != name && !strings.HasPrefix(name, "∂") {
				t.Errorf("the box %q of panel %d is of node %s, which is %s", item.Label, item.Panel, item.Node, n.Label)
			}
		}
		if panels[1] == 0 || panels[2] == 0 {
			t.Errorf("boxes by panel: %v", panels)
		}
	}
	for _, path := range []string{"/api/compare/svg?grad=1&a=" + a + "&b=" + b} {
		w := c.ask(http.MethodGet, path, "")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != svgType || !bytes.Contains(w.Body.Bytes(), []byte(`xmlns="http://www.w3.org/2000/svg"`)) {
			t.Errorf("%s: status %d, %.200s", path, w.Code, w.Body)
		}
	}
}

// TestCompareFamilies: documents of two families are matched by what they compute; each module that
// is drawn is a scope of the document of its panel.
func TestCompareFamilies(t *testing.T) {
	c := newClient(t, Options{})
	docs := [2]string{c.open(`{"model":"transformer-encoder"}`), c.open(`{"model":"transformer-gpt"}`)}
	var v compareView
	c.get("/api/compare?a="+docs[0]+"&b="+docs[1], &v)
	if want := "Same encoder (in B decoder) and read (in B output); "; !strings.HasPrefix(v.Sentence, want) {
		t.Errorf("the sentence is %q, want %q…", v.Sentence, want)
	}
	scopes := [3]map[string]bool{{}, {}, {}}
	for _, item := range v.Items {
		if item.Kind == "module" {
			var info moduleInfo
			c.get("/api/docs/"+docs[item.Panel-1]+"/node/"+item.Node, &info)
			if info.Name != item.Path || info.Module.Nodes == 0 {
				t.Errorf("module %s of panel %d is told of as %+v", item.Path, item.Panel, info)
			}
			scopes[item.Panel][item.Path] = true
		}
	}
	if !scopes[1]["encoder/block1"] || !scopes[2]["decoder/block1"] {
		t.Errorf("modules: %v", scopes)
	}
	docs = [2]string{c.open(`{"model":"kmeans-goofy"}`), c.open(`{"model":"attention-kernel"}`)}
	var k compareView
	c.get("/api/compare?grad=1&a="+docs[0]+"&b="+docs[1], &k)
	roles := map[string]string{}
	for _, item := range k.Items {
		if item.Kind == "node" {
			roles[fmt.Sprint(item.Panel, item.Label)] = item.Role
		}
	}
	if roles["1r"] != "param" || roles["2k"] != "input" || !strings.Contains(k.Sentence, "x is q and r is k") {
		t.Errorf("%q with the boxes %v", k.Sentence, roles)
	}
}

// TestCompareOverlay: each panel shows the values of its own document, by one scale, even in boxes
// that both documents have.
func TestCompareOverlay(t *testing.T) {
	c := newClient(t, Options{})
	ids := [2]string{c.open(`{"model":"kmeans-softmax","data":"iris","seed":1}`), c.open(`{"model":"kmeans-softmax","data":"iris","seed":9}`)}
	for _, order := range [][2]string{{ids[0], ids[1]}, {ids[1], ids[0]}} {
		var v compareView
		c.get("/api/compare?grad=1&overlay=grad&a="+order[0]+"&b="+order[1], &v)
		checked := 0
		for _, item := range v.Items {
			if item.Kind != "node" {
				continue
			}
			var n nodeView
			c.get("/api/docs/"+order[item.Panel-1]+"/node/"+item.Node, &n)
			if n.GradStats == nil {
				continue
			}
			most := short(math.Max(math.Abs(float64(n.GradStats.Min)), math.Abs(float64(n.GradStats.Max))))
			if !strings.Contains(item.SVG, ">"+most+"<") {
				t.Errorf("%s in panel %d of %s does not show %s: %s", item.Label, item.Panel, order[item.Panel-1], most, item.SVG)
			}
			checked++
		}
		if checked < 8 {
			t.Errorf("%d boxes have derivatives", checked)
		}
		// The file shows what the page does: the same boxes with the same numbers.
		w := c.ask(http.MethodGet, "/api/compare/svg?grad=1&overlay=grad&a="+order[0]+"&b="+order[1], "")
		if err := xml.Unmarshal(w.Body.Bytes(), new(struct{})); err != nil {
			t.Errorf("the file is no XML: %v", err)
		}
		for _, item := range v.Items {
			if !strings.Contains(w.Body.String(), item.SVG) {
				t.Errorf("the file lacks %s", item.SVG)
			}
		}
		if !strings.Contains(w.Body.String(), ">"+v.Scale+"<") {
			t.Errorf("the file does not say what its colours mean: %q", v.Scale)
		}
	}
}

package page

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
)

// client asks a service.
type client struct {
	t *testing.T
	s *Service
}

func newClient(t *testing.T, o Options) client {
	t.Helper()
	if o.Log == nil {
		o.Log = log.New(io.Discard, "", 0)
	}
	s := New(o)
	t.Cleanup(s.Close)
	return client{t, s}
}

// ask makes a request as the page does, and takes all lines of its answer.
func (c client) ask(method, path, body string) *httptest.ResponseRecorder {
	return c.askContext(context.Background(), method, path, body)
}

func (c client) askContext(ctx context.Context, method, path, body string) *httptest.ResponseRecorder {
	path, query, _ := strings.Cut(path, "?")
	a := c.s.Answer(ctx, Request{Method: method, Path: path, Query: query, Body: []byte(body)})
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", a.Kind)
	w.Header().Set("Name", a.Name)
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Text)
	if a.Lines != nil {
		a.Lines(ctx, func(text []byte) error { _, err := w.Write(text); return err })
	}
	if a.Sent != nil {
		a.Sent()
	}
	return w
}

// get reads an answer that has to be JSON with status 200 into v.
func (c client) get(path string, v any) {
	c.t.Helper()
	c.read(c.ask(http.MethodGet, path, ""), path, v)
}

func (c client) read(w *httptest.ResponseRecorder, path string, v any) {
	c.t.Helper()
	if w.Code != http.StatusOK {
		c.t.Fatalf("%s: status %d, %.300s", path, w.Code, w.Body)
	}
	d := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	if err := d.Decode(v); err != nil {
		c.t.Fatalf("%s: %v in %.300s", path, err, w.Body)
	}
}

// open opens a model and gives its id.
func (c client) open(request string) string {
	c.t.Helper()
	var d docView
	c.read(c.ask(http.MethodPost, "/api/open", request), "open "+request, &d)
	return d.ID
}

// train does steps and gives the lines of the stream but the last.
func (c client) train(id string, steps int) (lines []map[string]any) {
	c.t.Helper()
	w := c.ask(http.MethodPost, "/api/docs/"+id+"/train", `{"steps":`+text(steps)+`}`)
	if w.Code != http.StatusOK {
		c.t.Fatalf("train: status %d, %s", w.Code, w.Body)
	}
	for line := range strings.Lines(w.Body.String()) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			c.t.Fatalf("train: %v in %q", err, line)
		}
		lines = append(lines, v)
	}
	last := lines[len(lines)-1]
	if last["done"] != true {
		c.t.Fatalf("train: the last line is %v", last)
	}
	return lines[:len(lines)-1]
}

func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func overlayList() []string { return slices.Sorted(maps.Keys(overlays)) }

// eachModel calls f with every registered model, of which there are 20 in short tests.
func eachModel(t *testing.T, f func(t *testing.T, name string)) {
	all := builders.All()
	every := 1
	if testing.Short() {
		every = max(1, len(all)/20)
	}
	for i, b := range all {
		if i%every == 0 {
			t.Run(b.Name, func(t *testing.T) { f(t, b.Name) })
		}
	}
}

// TestEveryModel: every registered model opens, is drawn at every level, and tells of
// its nodes and instructions.
func TestEveryModel(t *testing.T) {
	c := newClient(t, Options{})
	eachModel(t, func(t *testing.T, name string) {
		c := client{t, c.s}
		id := c.open(`{"model":"` + name + `","data":"iris"}`)
		at := "/api/docs/" + id
		var d docView
		c.get(at, &d)
		if d.Trains {
			c.train(id, 2)
		}
		for _, overlay := range overlayList() {
			var sheet sheetView
			c.get(at+"/sheet?grad=1&overlay="+overlay, &sheet)
			if sheet.Scale == "" {
				t.Errorf("overlay %s: no word on what it shows", overlay)
			}
		}
		var mathematics derivationView
		c.get(at+"/derivation", &mathematics)
		if (mathematics.Derivation == "") == (len(mathematics.Formula) == 0) {
			t.Errorf("the mathematics are %+v", mathematics)
		}
		var finding findingView
		c.get(at+"/autopsy", &finding)
		if !finding.Finite && !finding.Harmless {
			t.Errorf("after two steps: %s", finding.Cause)
		}
		var fired rewritesView
		c.get(at+"/rewrites", &fired)
		for i, f := range fired.Firings {
			if !f.Right {
				t.Errorf("firing %d, %s: %s", i, f.Rule, f.Check)
			}
		}
		seen := map[string]bool{}
		for _, level := range []string{"notes", "ops", "primitive", "compiled"} {
			var sheet sheetView
			c.get(at+"/sheet?grad=1&overlay=grad&level="+level, &sheet)
			if len(sheet.Items) == 0 || sheet.Width <= 0 {
				t.Errorf("level %s: an empty drawing", level)
			}
			for _, item := range sheet.Items {
				if item.Kind == "node" && item.Node == "" {
					t.Errorf("level %s: box %s is of no node", level, item.ID)
				}
				if item.Kind == "node" && len(seen) < 60 {
					seen[item.Node] = true
				}
			}
		}
		for node := range seen {
			var n nodeView
			c.get(at+"/node/"+node, &n)
			if n.ID != node || n.Label == "" {
				t.Errorf("node %s is told of as %+v", node, n)
			}
			if n.Role == "module" {
				continue
			}
			if n.Op == "" || n.Stats == nil || n.Stats.N == 0 {
				t.Errorf("node %s has no operation or value: %+v", node, n)
			}
			var v valuesView
			c.get(at+"/node/"+node+"/values", &v)
			if len(v.Cells) == 0 {
				t.Errorf("node %s has no values", node)
			}
		}
		var listing tapeInfo
		c.get(at+"/tape", &listing)
		if len(listing.Listing) == 0 {
			t.Error("the tape is empty")
		}
		for i := range listing.Listing {
			if i > 20 {
				break
			}
			var v instructionView
			c.get(at+"/instruction/"+text(i), &v)
			if v.Result.Stats == nil || v.Result.Stats.N == 0 {
				t.Fatalf("instruction %d has no result: %+v", i, v)
			}
			if v.Node == nil {
				continue
			}
			var n nodeView // that which the instruction is said to compute
			c.get(at+"/node/"+*v.Node, &n)
			for what, pair := range map[string][2]number{"min": {v.Result.Stats.Min, n.Stats.Min}, "mean": {v.Result.Stats.Mean, n.Stats.Mean}, "max": {v.Result.Stats.Max, n.Stats.Max}} {
				a, b := float64(pair[0]), float64(pair[1])
				scale := math.Max(math.Abs(float64(n.Stats.Min)), math.Abs(float64(n.Stats.Max)))
				if math.Abs(a-b) > 1e-4*scale+1e-9 {
					t.Errorf("instruction %d, %s: the %s is %v, that of its node %s is %v", i, v.Text, what, a, *v.Node, b)
				}
			}
		}
		for _, part := range []string{"/history", "/derivation"} {
			var v any
			c.get(at+part, &v)
		}
		for _, kind := range []string{"svg?grad=1", "dot", "latex", "listing"} {
			if w := c.ask(http.MethodGet, at+"/download/"+kind, ""); w.Code != http.StatusOK || w.Header().Get("Name") == "" {
				t.Errorf("download %s: status %d, %.200s", kind, w.Code, w.Body)
			}
		}
		if w := c.ask(http.MethodDelete, at, ""); w.Code != http.StatusOK {
			t.Errorf("closing it: %d", w.Code)
		}
	})
}

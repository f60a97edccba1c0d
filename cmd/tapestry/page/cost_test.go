package page

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/notation"
)

// texts reads the notation as the command does.
type texts struct{}

func (texts) Read(name, text string) (b builders.Builder, canonical string, problems []Problem) {
	f, err := notation.Parse(name, strings.NewReader(text))
	if err != nil {
		return b, "", []Problem{{Line: 1, Column: 1, Message: err.Error()}}
	}
	return f.Builder(), f.String(), nil
}

// opening asks for a text.
func textOpening(t *testing.T, text string) string {
	t.Helper()
	q, err := json.Marshal(map[string]string{"name": "x.tapestry", "text": text})
	if err != nil {
		t.Fatal(err)
	}
	return string(q)
}

// TestCost: whatever a request asks for that is too large is refused before it takes the
// memory, by whichever way it would.
func TestCost(t *testing.T) {
	c := newClient(t, Options{Notation: texts{}})
	axes := "input j1[j=1000]\ninput k1[k=1000]\ninput l1[l=1000]\n"
	end := "param w[i]\nloss = sum(w*a, i) + mean(j1)*mean(k1)*mean(l1)\n"
	for name, text := range map[string]string{
		"drawn, then summed":    axes + "input a[i=1] ~ sum(normal(0,1,i,j,k,l), j, k, l)\n" + end,
		"half a limit, thrice":  axes + "input a[i=1] ~ sum(normal(0,1,j,k), j, k) + sum(normal(0,1,j,l), j, l) + sum(normal(0,1,k,l)^2*normal(0,1,k,l), k, l) + sum(sum(normal(0,1,j,k)*normal(0,1,k,l), k), j, l)\n" + end,
		"outer product":         axes + "input a[i=1] ~ sum(normal(0,1,i,j)*normal(0,1,k)*normal(0,1,l), j, k, l)\n" + end,
		"of other inputs":       axes + "input a[i=1] ~ sum(sum(j1*k1*l1, j, k, l) + normal(0,1), i)\n" + end,
		"nested":                axes + "input a[i=1] ~ sum(exp(sum(exp(uniform(0,1,i,j,k,l)), l)), j, k)\n" + end,
		"a large input":         "input a[i=100000, j=100000]\nparam w[i]\nloss = mean(a)*sum(w, i)\n",
		"a large parameter":     "input x[i=3]\nparam a[i, j=30000000]\nloss = mean(a*x)\n",
		"product of the model":  "input x[i=5000]\nparam w[j=5000]\nloss = mean(x*w, i, j)\n",
		"higher of the model":   "input x[i=500]\nparam w[j=500]\nparam v[k=500]\nloss = mean(sum(x*w*v, i), j, k)\n",
		"work without memory":   "input x[i=2000, k=2000] ~ normal(0, 1)\ninput y[k, j=2000] ~ normal(0, 1)\ninput a[i, j] ~ dot(x, y, k)\nparam w[i]\nloss = mean(w*a)\n",
		"work of the model":     "input x[i=2600, k=2000]\nparam w[k, j=2000]\nloss = mean(dot(x, w, k)^2)\n",
		"onehot":                "index t[i=4000] ~ integers(4000)\nparam w[j=4000]\nloss = mean(onehot(t, j)*w, i, j)\n",
		"many values, not huge": axes + "input a[i=1] ~ sum(" + strings.Repeat("exp(", 40) + "normal(0,1,i,j,k)" + strings.Repeat(")", 40) + ", j, k)\n" + end,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := c.ask(http.MethodPost, "/api/open", textOpening(t, text))
		runtime.ReadMemStats(&after)
		if w.Code != http.StatusRequestEntityTooLarge && w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "more than") {
			t.Errorf("%s: status %d, %.300s", name, w.Code, w.Body)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20 {
			t.Errorf("%s: %d MiB were taken", name, took>>20)
		}
	}
	if c.s.shelf.taken != 0 {
		t.Errorf("%d bytes are reserved for nothing", c.s.shelf.taken)
	}
}

// TestSharedMemory: documents share what the server may hold. Where one more would not fit, the
// one that was longest not asked for goes.
func TestSharedMemory(t *testing.T) {
	text := func(n int) string {
		return fmt.Sprintf("input x[i=%d]\nparam w[j=10]\nloss = mean(tanh(x*w), i, j)\n", n)
	}
	c := newClient(t, Options{Notation: texts{}, Memory: 200 << 20})
	var open []docView
	for range 8 {
		c.open(textOpening(t, text(5000)))
		c.get("/api/docs", &open)
		if got := c.s.shelf.taken; got > 200<<20 {
			t.Fatalf("%d open documents have %d bytes reserved", len(open), got)
		}
	}
	if n := len(open); n < 1 || n == 8 {
		t.Errorf("%d documents are open", n)
	}
	if w := c.ask(http.MethodGet, "/api/docs/d1", ""); w.Code != http.StatusGone {
		t.Errorf("the first document: status %d", w.Code)
	}
	if w := c.ask(http.MethodPost, "/api/open", textOpening(t, text(60_000))); w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "MiB") {
		t.Errorf("status %d, %s", w.Code, w.Body)
	}
	for _, d := range open {
		c.ask(http.MethodDelete, "/api/docs/"+d.ID, "")
	}
	c.s.shelf.ending.Wait()
	if got := c.s.shelf.taken; got != 0 {
		t.Errorf("%d bytes stay reserved when all is closed", got)
	}
}

// TestMistakenOpeningsKeepNothing: what fails to open gives its room back.
func TestMistakenOpeningsKeepNothing(t *testing.T) {
	c := newClient(t, Options{Notation: texts{}})
	for _, q := range []string{`{"model":"kmeans-softmax","optimiser":"adm"}`, `{"model":"kmeans-softmax","rate":-1}`} {
		if w := c.ask(http.MethodPost, "/api/open", q); w.Code == http.StatusOK {
			t.Errorf("%s opens", q)
		}
	}
	if c.s.shelf.taken != 0 {
		t.Errorf("%d bytes are reserved for nothing", c.s.shelf.taken)
	}
}

// TestFilesAreCharged: a download takes room beside the documents until it is sent; where there is
// none it is refused, and the documents stay.
func TestFilesAreCharged(t *testing.T) {
	c := newClient(t, Options{Notation: texts{}, Report: func(_ context.Context, w io.Writer, _ []Model) error {
		_, err := w.Write(make([]byte, 2*leastCharge))
		return err
	}})
	c.open(textOpening(t, long(20, 30)))
	c.open(textOpening(t, long(20, 29)))
	documents := c.s.shelf.taken
	room := c.s.shelf.room
	for _, path := range []string{"/api/docs/d1/download/svg", "/api/docs/d1/download/dot", "/api/docs/d1/download/latex", "/api/docs/d1/download/listing",
		"/api/docs/d1/download/tapestry", "/api/docs/d1/download/report", "/api/compare/svg?a=d1&b=d2"} {
		c.s.shelf.room = room
		w := c.ask(http.MethodGet, path, "")
		if w.Code != http.StatusOK || c.s.shelf.taken != documents {
			t.Errorf("%s: status %d, %d of %d bytes are taken", path, w.Code, c.s.shelf.taken, documents)
		}
		c.s.shelf.room = documents + leastCharge - 1
		if path == "/api/docs/d1/download/report" {
			c.s.shelf.room += c.s.shelf.docs[0].cost.trained(runtime.GOMAXPROCS(0))
		}
		if w := c.ask(http.MethodGet, path, ""); w.Code != http.StatusInsufficientStorage || !strings.Contains(w.Body.String(), "no room beside the open documents") || w.Header().Get("Name") != "" {
			t.Errorf("%s without room: status %d, %.200s", path, w.Code, w.Body)
		}
		if c.s.shelf.taken != documents || len(c.s.shelf.all()) != 2 {
			t.Errorf("%s without room: %d of %d bytes are taken by %d documents", path, c.s.shelf.taken, documents, len(c.s.shelf.all()))
		}
	}
}

// TestReportIsCharged: the models that a report trains take room meanwhile; a report that needs too
// much is refused, and documents close where they have the room that it needs.
func TestReportIsCharged(t *testing.T) {
	taken := 0
	var c client
	c = newClient(t, Options{Notation: texts{}, Report: func(context.Context, io.Writer, []Model) error {
		c.s.shelf.mu.Lock()
		defer c.s.shelf.mu.Unlock()
		taken = c.s.shelf.taken
		return nil
	}})
	for range 3 {
		c.open(textOpening(t, "input x[i=500]\nparam w[j=100]\nloss = mean(tanh(x*w), i, j)\n"))
	}
	documents, holds := c.s.shelf.taken, c.s.shelf.docs[0].cost.trained(runtime.GOMAXPROCS(0))
	const report = "/api/docs/d1/download/report?with=d3"
	if w := c.ask(http.MethodGet, report, ""); w.Code != http.StatusOK || taken != documents+holds || c.s.shelf.taken != documents {
		t.Errorf("status %d; %d bytes are taken meanwhile, %d after, %d before", w.Code, taken, c.s.shelf.taken, documents)
	}
	c.s.shelf.room = holds - 1
	if w := c.ask(http.MethodGet, report, ""); w.Code != http.StatusRequestEntityTooLarge || len(c.s.shelf.all()) != 3 {
		t.Errorf("status %d, %.200s", w.Code, w.Body)
	}
	c.s.shelf.room = documents + holds - 1
	if w := c.ask(http.MethodGet, report, ""); w.Code != http.StatusOK || taken > c.s.shelf.room {
		t.Errorf("status %d, %.200s; %d of %d bytes are taken", w.Code, w.Body, taken, c.s.shelf.room)
	}
	if w := c.ask(http.MethodGet, "/api/docs/d2", ""); w.Code != http.StatusGone { // d1 and d3 were asked for
		t.Errorf("status %d", w.Code)
	}
}

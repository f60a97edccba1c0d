package page

import (
	"bytes"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestNoOtherFiles: only named assets are answered, whatever the path looks like.
func TestNoOtherFiles(t *testing.T) {
	c := newClient(t, Options{})
	for _, path := range []string{
		"", "assets", "/assets/", "/assets", "/assets/../service.go", "/assets/..%2fservice.go", "/assets/%2e%2e/%2e%2e/go.mod", "/assets/..%5cservice.go",
		"/assets/nothing.js", "/assets/index.html/", "/assets//index.html", "/assets/index.html%00.js", "/assets/.hidden.js", "/service.go", "/../go.mod", "/favicon.ico",
		"/api", "/api/", "/api/docs/d1/../../../x", "/assets/C:%5Cboot.js", "/assets/%zz.js", "/assets/" + strings.Repeat("a", 10_000) + ".js",
	} {
		if w := c.ask(http.MethodGet, path, ""); w.Code == http.StatusOK || strings.Contains(w.Body.String(), "package page") {
			t.Errorf("%s is answered: %d, %.100s", path, w.Code, w.Body)
		}
	}
	entries, err := os.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		want, err := os.ReadFile("assets/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		w := c.ask(http.MethodGet, "/assets/"+e.Name(), "")
		if w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), want) {
			t.Errorf("%s: status %d, %d bytes of %d", e.Name(), w.Code, w.Body.Len(), len(want))
		}
	}
	if w := c.ask(http.MethodGet, "/", ""); w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Errorf("the page: status %d, %s", w.Code, w.Header().Get("Content-Type"))
	}
}

// TestMistakes: the answer says what is wrong with a request, and nothing panics.
func TestMistakes(t *testing.T) {
	var logged bytes.Buffer
	c := newClient(t, Options{Log: log.New(&logged, "", 0)})
	c.open(`{"model":"kmeans-softmax","data":"iris"}`)
	open := func(body string, want int, part string) {
		t.Helper()
		if w := c.ask(http.MethodPost, "/api/open", body); w.Code != want || !strings.Contains(w.Body.String(), part) {
			t.Errorf("open %.80s: status %d, want %d; %.200s", body, w.Code, want, w.Body)
		}
	}
	open(``, 400, "EOF")
	open(`{`, 400, "unexpected EOF")
	open(`[]`, 400, "cannot unmarshal")
	open(`{"model":5}`, 400, "cannot unmarshal")
	open(`{"modle":"x"}`, 400, "unknown field")
	open(`{"model":"kmeans-softmax"} {}`, 400, "after its JSON object")
	open(`{"model":""}`, 404, "unknown model")
	open(`{"model":"kmeans-sotfmax"}`, 404, "did you mean")
	open(`{"model":"kmeans-softmax","settings":{"n":-1}}`, 400, "at least 1")
	open(`{"model":"kmeans-softmax","settings":{"n":1.5}}`, 400, "whole number")
	open(`{"model":"kmeans-softmax","settings":{"n":"x"}}`, 400, "want a number")
	open(`{"model":"kmeans-softmax","settings":{"n":[1]}}`, 400, "want a number")
	open(`{"model":"kmeans-softmax","settings":{"nn":1}}`, 400, "nn")
	open(`{"model":"kmeans-softmax","settings":{"n":1e300}}`, 413, "too large")
	open(`{"model":"kmeans-softmax","settings":{"n":1000000,"k":1000000}}`, 413, "too large")
	open(`{"model":"transformer-gpt","settings":{"layers":1000}}`, 413, "too large")
	open(`{"model":"attention-self","settings":{"t":1000000}}`, 413, "too large")
	open(`{"model":"kmeans-softmax","dtype":"f16"}`, 400, "want f32 or f64")
	open(`{"model":"kmeans-softmax","rate":-1}`, 400, "positive")
	open(`{"model":"kmeans-softmax","optimiser":"adm"}`, 400, "adm")
	open(`{"model":"kmeans-softmax","optimiser":"lbfgs"}`, 400, "optimiser lbfgs finds the length of each step by a line search")
	open(`{"model":"kmeans-softmax","data":"../../etc/passwd"}`, 400, "want iris")
	open(`{"model":"kmeans-softmax","data":"iris","settings":{"k":151}}`, 400, "150 rows")
	open(`{"model":"kmeans-softmax","scalars":{"δ":1}}`, 400, "no scalar")
	open(`{"model":"kmeans-softmax","scalars":{"x":1}}`, 400, "default")
	open(`{"model":"kmeans-softmax","seed":-1}`, 400, "cannot unmarshal")
	open(`{"text":"loss = 1"}`, 501, "notation")
	for path, want := range map[string]int{
		"/api/docs/d9": 404, "/api/docs/x": 404, "/api/docs/d01/sheet": 404, "/api/docs/d1/nothing": 404,
		"/api/docs/d1/sheet?level=deep": 400, "/api/docs/d1/sheet?grad=2": 400, "/api/docs/d1/sheet?step=1": 400, "/api/docs/d1/sheet?step=-1": 400,
		"/api/docs/d1/sheet?overlay=love": 400, "/api/optimisers": 200, "/api/docs/d1/sheet?open=" + strings.Repeat("a/", 2000): 200,
		"/api/docs/d1/node/n": 404, "/api/docs/d1/node/n999": 404, "/api/docs/d1/node/n-1": 404, "/api/docs/d1/node/x1": 404, "/api/docs/d1/node/n01": 404, "/api/docs/d1/node/m-nothing": 404,
		"/api/docs/d1/node/n0/values?at=1": 400, "/api/docs/d1/node/n0/values?at=1,-1": 400, "/api/docs/d1/node/n0/values?at=150,0": 400, "/api/docs/d1/node/n0/values?rows=0": 400,
		"/api/docs/d1/node/n0/values?rows=100000": 400, "/api/docs/d1/node/n0/values?row=1&col=1": 400, "/api/docs/d1/node/n0/values?row=7": 400, "/api/docs/d1/node/n0/values?at=149,3": 200,
		"/api/docs/d1/autopsy?step=1": 400, "/api/docs/d1/break": 400, "/api/docs/d1/break?break=zork": 400, "/api/docs/d1/break?break=nan&at=-1": 400, "/api/docs/d1/break?break=nan&back=2": 400, "/api/docs/d1/derivation?node=n999": 404,
		"/api/docs/d1/rewrites/-1/sheet": 404, "/api/docs/d1/rewrites/x/sheet": 404, "/api/docs/d1/rewrites/9999/sheet": 404,
		"/api/docs/d1/instruction/-1": 404, "/api/docs/d1/instruction/9999": 404, "/api/docs/d1/instruction/x": 404,
		"/api/docs/d1/chart": 400, "/api/docs/d1/chart?kind=pie": 400, "/api/docs/d1/chart?kind=values:n999": 404, "/api/docs/d1/chart?kind=loss": 200,
		"/api/docs/d1/download/exe": 404, "/api/docs/d1/download/tapestry": 404, "/api/docs/d1/download/report": 501,
		"/api/compare?a=d1": 404, "/api/compare?a=d1&b=d7": 404, "/api/compare?a=d1&b=d1": 200, "/api/compare/charts": 400, "/api/compare/charts?docs=d1,d7": 404, "/api/compare/charts?docs=d1&step=9": 400, "/api/compare/charts?docs=d1": 200,
	} {
		w := c.ask(http.MethodGet, path, "")
		if w.Code != want {
			t.Errorf("%s: status %d, want %d; %.200s", path, w.Code, want, w.Body)
		}
		var v struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &v); want != 200 && (err != nil || v.Error == "") {
			t.Errorf("%s: no error is told: %.200s", path, w.Body)
		}
	}
	for _, body := range []string{``, `{}`, `{"steps":0}`, `{"steps":-5}`, `{"steps":1e9}`, `{"steps":"many"}`} {
		if w := c.ask(http.MethodPost, "/api/docs/d1/train", body); w.Code != http.StatusBadRequest {
			t.Errorf("train %s: status %d", body, w.Code)
		}
	}
	if logged.Len() > 0 {
		t.Errorf("the log has\n%s", logged.String())
	}
}

// TestPanic: one request's panic is its own answer and a line of the log.
func TestPanic(t *testing.T) {
	var logged bytes.Buffer
	c := newClient(t, Options{Families: explodes(t, true), Log: log.New(&logged, "", 0)})
	if w := c.ask(http.MethodPost, "/api/open", `{"model":"explodes"}`); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "planted") {
		t.Errorf("status %d, %s", w.Code, w.Body)
	}
	if !strings.Contains(logged.String(), "panic: as planted") {
		t.Errorf("the log has %q", logged.String())
	}
	for range 100 { // no turn is lost
		if w := c.ask(http.MethodPost, "/api/open", `{"model":"explodes"}`); w.Code != http.StatusInternalServerError {
			t.Fatalf("status %d, %s", w.Code, w.Body)
		}
	}
}

// TestShelf: opening one document too many closes the least recently used one, and asking for that
// gets another answer than asking for one that never was.
func TestShelf(t *testing.T) {
	c := newClient(t, Options{})
	for range maxDocuments {
		c.open(`{"model":"kmeans-softmax","settings":{"n":5}}`)
	}
	var d docView
	c.get("/api/docs/d1", &d) // so that d2 is the oldest
	c.open(`{"model":"kmeans-softmax","settings":{"n":5}}`)
	for path, want := range map[string]int{"/api/docs/d1": 200, "/api/docs/d2": 410, "/api/docs/d3": 200, "/api/docs/d17": 200, "/api/docs/d18": 404} {
		if w := c.ask(http.MethodGet, path, ""); w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
	var all []docView
	c.get("/api/docs", &all)
	if len(all) != maxDocuments || all[0].ID != "d1" || all[1].ID != "d3" {
		t.Errorf("open are %d, from %s and %s on", len(all), all[0].ID, all[1].ID)
	}
}

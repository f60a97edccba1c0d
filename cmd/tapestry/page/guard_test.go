package page

import (
	"bytes"
	"encoding/json"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// TestOnlyThePage: requests from anywhere but the page itself are refused, by Host, Origin or
// Sec-Fetch-Site.
func TestOnlyThePage(t *testing.T) {
	c := newClient(t, Options{})
	for _, q := range []struct {
		method, path, host string
		header             http.Header
		want               int
	}{
		{"GET", "/api/models", host, nil, 200},
		{"GET", "/api/models", "localhost:8080", nil, 200},
		{"GET", "/api/models", "LOCALHOST:8080", nil, 200},
		{"GET", "/api/models", "[::1]:8080", nil, 200},
		{"GET", "/api/models", "127.0.0.1:8081", nil, 421},
		{"GET", "/api/models", "127.0.0.1", nil, 421},
		{"GET", "/api/models", "evil.example:8080", nil, 421},
		{"GET", "/", "evil.example", nil, 421},
		{"GET", "/api/models", "localhost.evil.example:8080", nil, 421},
		{"GET", "/api/models", "", nil, 421},
		{"GET", "/api/models", host, http.Header{"Origin": {"http://" + host}}, 200},
		{"GET", "/api/models", host, http.Header{"Origin": {"http://evil.example"}}, 403},
		{"GET", "/api/models", host, http.Header{"Origin": {"null"}}, 403},
		{"GET", "/api/models", host, http.Header{"Origin": {"https://" + host}}, 403},
		{"GET", "/api/models", host, http.Header{"Origin": {"http://localhost:8080"}}, 403},
		{"POST", "/api/open", host, http.Header{"Origin": {"http://evil.example"}, "Content-Type": {"application/json"}}, 403},
		{"GET", "/api/models", host, http.Header{"Sec-Fetch-Site": {"same-origin"}}, 200},
		{"GET", "/api/models", host, http.Header{"Sec-Fetch-Site": {"none"}}, 200},
		{"GET", "/api/models", host, http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"GET", "/api/models", host, http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
		{"GET", "/assets/index.html", host, http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"GET", "/", host, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}, 200},
		{"GET", "/", host, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}}, 403},
		{"POST", "/api/open", host, nil, 415},
		{"POST", "/api/open", host, http.Header{"Content-Type": {"text/plain"}}, 415},
		{"POST", "/api/open", host, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, 415},
		{"POST", "/api/open", host, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, 400},
		{"PUT", "/api/models", host, nil, 405},
		{"TRACE", "/", host, nil, 405},
	} {
		r := httptest.NewRequest(q.method, "http://"+host+q.path, nil)
		r.Host = q.host
		for k, v := range q.header {
			r.Header[k] = v
		}
		w := httptest.NewRecorder()
		c.s.ServeHTTP(w, r)
		if w.Code != q.want {
			t.Errorf("%s %s of host %q with %v: status %d, want %d", q.method, q.path, q.host, q.header, w.Code, q.want)
		}
		for name, part := range map[string]string{
			"Content-Security-Policy":      "default-src 'none'",
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if !strings.Contains(w.Header().Get(name), part) {
				t.Errorf("%s %s: %s is %q", q.method, q.path, name, w.Header().Get(name))
			}
		}
	}
}

// TestHostsOfAddresses: a server that every machine can reach has no name, only
// numbers.
func TestHostsOfAddresses(t *testing.T) {
	every := Hosts(&net.TCPAddr{IP: net.IPv4zero, Port: 9000})
	one := Hosts(&net.TCPAddr{IP: net.IPv4(192, 168, 1, 5), Port: 9000})
	web := Hosts(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})
	// Whatever the command prints as its address is a name of it.
	for _, a := range []string{"127.0.0.1:9000", "127.0.0.2:9000", "[::1]:9000", "[::ffff:127.0.0.3]:9000", "0.0.0.0:9000", "[::]:9000", "10.1.2.3:80", "[2001:db8::1]:9000", "[fe80::1%eth0]:9000"} {
		at := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(a))
		host := strings.Replace(at.String(), "%eth0", "", 1) // which clients leave out
		if !Hosts(at).has(host) {
			t.Errorf("what listens at %s is not called %s", a, host)
		}
	}
	for _, q := range []struct {
		h    HostList
		host string
		want bool
	}{
		{every, "192.168.1.5:9000", true}, {every, "[2001:db8::1]:9000", true}, {every, "localhost:9000", true},
		{every, "192.168.1.5:9001", false}, {every, "evil.example:9000", false}, {every, "192.168.1.5", false},
		{one, "192.168.1.5:9000", true}, {one, "localhost:9000", true}, {one, "192.168.1.6:9000", false},
		{web, "localhost", true}, {web, "localhost:80", true}, {local, "localhost", false},
	} {
		if got := q.h.has(q.host); got != q.want {
			t.Errorf("%q is a name of %v: %v, want %v", q.host, q.h.names, got, q.want)
		}
	}
}

// TestNoOtherFiles: only named assets are served, whatever the path looks like.
func TestNoOtherFiles(t *testing.T) {
	c := newClient(t, Options{})
	for _, path := range []string{
		"/assets/", "/assets", "/assets/../server.go", "/assets/..%2fserver.go", "/assets/%2e%2e/%2e%2e/go.mod", "/assets/..%5cserver.go",
		"/assets/nothing.js", "/assets/index.html/", "/assets//index.html", "/assets/index.html%00.js", "/assets/.hidden.js", "/server.go", "/../go.mod", "/favicon.ico",
		"/api", "/api/", "/api/docs/d1/../../../x", "/assets/C:%5Cboot.js", "/assets/" + strings.Repeat("a", 10_000) + ".js",
	} {
		r := httptest.NewRequest("GET", "http://"+host+"/", nil)
		r.URL.Path, r.URL.RawPath = path, ""
		if i := strings.IndexByte(path, '%'); i >= 0 {
			u, err := r.URL.Parse("http://" + host + path)
			if err != nil {
				t.Fatal(err)
			}
			r.URL = u
		}
		w := httptest.NewRecorder()
		c.s.ServeHTTP(w, r)
		if w.Code == http.StatusOK || strings.Contains(w.Body.String(), "package page") {
			t.Errorf("%s is served: %d, %.100s", path, w.Code, w.Body)
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
	open(`{"name":"`+strings.Repeat("a", maxBody)+`"}`, 413, "too large")
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

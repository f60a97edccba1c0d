package server

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/cmd/tapestry/page"
)

// host is the name by which tests ask.
const host = "127.0.0.1:8080"

var loopback = Hosts(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})

// local returns a server that is called host.
func local(t *testing.T) *Server {
	p := page.New(page.Options{})
	t.Cleanup(p.Close)
	return New(p, loopback, nil)
}

// TestOnlyThePage: requests from anywhere but the page itself are refused, by Host, Origin or
// Sec-Fetch-Site.
func TestOnlyThePage(t *testing.T) {
	s := local(t)
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
		s.ServeHTTP(w, r)
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
	usual := Hosts(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})
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
		{usual, "localhost", true}, {usual, "localhost:80", true}, {loopback, "localhost", false},
	} {
		if got := q.h.has(q.host); got != q.want {
			t.Errorf("%q is a name of %v: %v, want %v", q.host, q.h.names, got, q.want)
		}
	}
}

// TestNoOtherFiles: paths that net/http would clean lead nowhere.
func TestNoOtherFiles(t *testing.T) {
	s := local(t)
	for _, path := range []string{"/assets/../server.go", "/assets//index.html", "/../go.mod", "//", "/api/docs/d1/../../../x"} {
		r := httptest.NewRequest("GET", "http://"+host+"/", nil)
		r.URL.Path = path
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d, %.100s", path, w.Code, w.Body)
		}
	}
}

// TestAnswers: files have a name to save them under, assets may be kept, HEAD is answered as GET is,
// and a body that is too large is refused.
func TestAnswers(t *testing.T) {
	s := local(t)
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	if w := ask("POST", "/api/open", `{"model":"kmeans-softmax","settings":{"n":5}}`); w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("open: status %d, %s", w.Code, w.Body)
	}
	for _, q := range []struct{ method, path, body, header, value string }{
		{"GET", "/", "", "Content-Type", "text/html; charset=utf-8"},
		{"HEAD", "/", "", "Cache-Control", "no-cache"},
		{"GET", "/api/docs/d1/download/listing", "", "Content-Disposition", "attachment; filename=kmeans-softmax.txt"},
		{"GET", "/api/docs/d1/chart?kind=loss", "", "Content-Disposition", ""},
		{"POST", "/api/docs/d1/train", `{"steps":2}`, "Content-Type", "application/x-ndjson"},
	} {
		if w := ask(q.method, q.path, q.body); w.Code != http.StatusOK || w.Header().Get(q.header) != q.value {
			t.Errorf("%s %s: status %d, %s %q, want %q", q.method, q.path, w.Code, q.header, w.Header().Get(q.header), q.value)
		}
	}
	if w := ask("POST", "/api/open", `{"name":"`+strings.Repeat("a", page.MaxBody)+`"}`); w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "too large") {
		t.Errorf("a body too large: status %d, %.100s", w.Code, w.Body)
	}
}

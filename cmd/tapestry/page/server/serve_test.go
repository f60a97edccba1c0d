package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/graph"
)

// serve runs a server on a port of its own until the test ends it, and gives its
// address. stop ends it and waits.
func serve(t *testing.T, s func(HostList) *Server) (address string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s(Hosts(l.Addr())).Serve(ctx, l) }()
	var once sync.Once
	var result error
	stop = func() error {
		once.Do(func() { cancel(); result = <-ended })
		return result
	}
	t.Cleanup(func() { _ = stop() })
	return l.Addr().String(), stop
}

// plain is a server without a log.
func plain(h HostList) *Server { return New(page.New(page.Options{}), h, nil) }

// TestConcurrent: a thousand requests at a time, right and wrong ones, are all
// answered, and the same question has the same answer.
func TestConcurrent(t *testing.T) {
	address, stop := serve(t, plain)
	base := "http://" + address
	post := func(path, body string) (int, string) {
		w, err := http.Post(base+path, "application/json", strings.NewReader(body))
		if err != nil {
			return 0, err.Error()
		}
		defer w.Body.Close()
		text, err := io.ReadAll(w.Body)
		if err != nil {
			return 0, err.Error()
		}
		return w.StatusCode, string(text)
	}
	if code, text := post("/api/open", `{"model":"kmeans-softmax","data":"iris"}`); code != 200 {
		t.Fatal(text)
	}
	get := func(path string) (int, string) {
		w, err := http.Get(base + path)
		if err != nil {
			return 0, err.Error()
		}
		defer w.Body.Close()
		text, err := io.ReadAll(w.Body)
		if err != nil {
			return 0, err.Error()
		}
		return w.StatusCode, string(text)
	}
	paths := []string{"/", "/api/models", "/api/docs/d1/sheet?grad=1&step=0", "/api/docs/d1/node/n9?step=0", "/api/docs/d1/node/n0/values?step=0", "/api/docs/d1/tape?step=0", "/api/docs/d1/nothing", "/api/docs/d7"}
	want := map[string]string{}
	status := map[string]int{}
	for _, p := range paths {
		status[p], want[p] = get(p)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	wrong := map[string]int{}
	gate := make(chan struct{})
	for i := range 1000 {
		wg.Go(func() {
			<-gate
			if i%50 == 0 {
				if code, text := post("/api/docs/d1/train", `{"steps":5}`); code != 200 || !strings.Contains(text, `"done":true`) {
					mu.Lock()
					wrong["train: "+text]++
					mu.Unlock()
				}
				return
			}
			p := paths[i%len(paths)]
			if code, text := get(p); code != status[p] || text != want[p] {
				mu.Lock()
				wrong[fmt.Sprintf("%s: %d %.100s", p, code, text)]++
				mu.Unlock()
			}
		})
	}
	close(gate)
	wg.Wait()
	for what, n := range wrong {
		t.Errorf("%d × %s", n, what)
	}
	if _, text := get("/api/docs/d1"); !strings.Contains(text, `"steps":100,`) {
		t.Errorf("after 20 times 5 steps: %.300s", text)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestGarbage: bytes that are no request get 4xx or a closed connection, soon, and
// the server goes on.
func TestGarbage(t *testing.T) {
	address, _ := serve(t, plain)
	send := func(text string) string {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(conn, text) // the server may close before it has read all
		line, _ := bufio.NewReader(conn).ReadString('\n')
		return strings.TrimSpace(line)
	}
	for _, q := range []struct{ text, want string }{
		{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 no, this is TLS \r\n\r\n", "400"},
		{strings.Repeat("\x00", 1000) + "\r\n\r\n", "400"},
		{"GET / HTTP/9.9\r\n\r\n", "505"},
		{"GET / HTTP/1.1\r\n\r\n", "400"},
		{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
		{"GET /\x7f HTTP/1.1\r\nHost: " + address + "\r\n\r\n", "400"},
		{"GET http://evil.example/ HTTP/1.1\r\nHost: " + address + "\r\nConnection: close\r\n\r\n", "421"},
		{"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "421"},
		{"GET / HTTP/1.1\r\nHost: " + address + "\r\nX: " + strings.Repeat("a", 100_000) + "\r\n\r\n", "431"},
		{"POST /api/open HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nContent-Length: -5\r\n\r\n{}", "400"},
		{"POST /api/open HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nContent-Length: 99999999999999999999\r\n\r\n{}", "400"},
		{"POST /api/open HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n", "400"},
		{"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nConnection: close\r\n\r\n", "421"},
	} {
		if got := send(q.text); !strings.HasPrefix(got, "HTTP/1.1 "+q.want) && !strings.HasPrefix(got, "HTTP/1.0 "+q.want) {
			t.Errorf("%.80q is answered %q, want %s", q.text, got, q.want)
		}
	}
	var half []net.Conn
	for range 200 { // requests that never end
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: ")
		half = append(half, conn)
	}
	w, err := http.Get("http://" + address + "/api/models")
	if err != nil || w.StatusCode != 200 {
		t.Errorf("beside half requests: %v, %v", w, err)
	}
	if err == nil {
		_ = w.Body.Close()
	}
	_ = half[0].SetReadDeadline(time.Now().Add(2*headerTime + 5*time.Second))
	if _, err := io.ReadAll(half[0]); err != nil {
		t.Errorf("a request that never ends is not ended: %v", err)
	}
	for _, conn := range half {
		_ = conn.Close()
	}
}

// TestServeEnds: when its context ends, streams end after the step at hand and say so,
// everything that was done is kept until then, and no goroutine is left.
func TestServeEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	address, stop := serve(t, plain)
	w, err := http.Post("http://"+address+"/api/open", "application/json", strings.NewReader(`{"model":"transformer-gpt"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Body.Close()
	w, err = http.Post("http://"+address+"/api/docs/d1/train", "application/json", strings.NewReader(`{"steps":100000}`))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(w.Body)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), `{"step":1,`) {
		t.Fatalf("the stream begins with %q, %v", lines.Text(), lines.Err())
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	last, n := "", 1
	for lines.Scan() {
		last = lines.Text()
		n++
	}
	if want := fmt.Sprintf(`{"done":false,"steps":%d,"error":"interrupted"}`, n-1); last != want {
		t.Errorf("the stream ends with %s after %d lines, want %s", last, n, want)
	}
	_ = w.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	var stacks [1 << 16]byte
	t.Errorf("%d goroutines, there were %d\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks[:], true)])
}

// TestClosedWhileTraining: a document that is closed ends its stream.
func TestClosedWhileTraining(t *testing.T) {
	address, _ := serve(t, plain)
	w, err := http.Post("http://"+address+"/api/open", "application/json", strings.NewReader(`{"model":"kmeans-softmax","data":"iris"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Body.Close()
	w, err = http.Post("http://"+address+"/api/docs/d1/train", "application/json", strings.NewReader(`{"steps":100000}`))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	lines := bufio.NewScanner(w.Body)
	lines.Scan()
	r, err := http.NewRequest(http.MethodDelete, "http://"+address+"/api/docs/d1", nil)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := http.DefaultClient.Do(r)
	if err != nil || gone.StatusCode != 200 {
		t.Fatalf("closing it: %v, %v", gone, err)
	}
	_ = gone.Body.Close()
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	if !strings.Contains(last, "closed") {
		t.Errorf("the stream ends with %s", last)
	}
}

// TestStubborn: the server ends in time even where a computation does not look at its context.
func TestStubborn(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	var once sync.Once
	stubborn := builders.Define(builders.Builder{Name: "stubborn", Title: "a model that waits"}, func(builders.Settings, graph.DType, *builders.Model) {
		once.Do(func() { close(begun) })
		<-end
	})
	address, stop := serve(t, func(h HostList) *Server {
		return New(page.New(page.Options{Families: []builders.Family{{Builders: []builders.Builder{stubborn}}}}), h, nil)
	})
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		if w, err := http.Post("http://"+address+"/api/open", "application/json", strings.NewReader(`{"model":"stubborn"}`)); err == nil {
			_ = w.Body.Close()
		}
	}()
	<-begun
	since := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(since); took > 20*shutdownTime {
		t.Errorf("the server ends after %v", took)
	}
	close(end)
	<-asked
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	objectives "github.com/tapestry-ml/tapestry/examples/notation"
)

// TestServe: the command opens the models it is given, tells where the page is, serves
// it, and ends with exit code 0 and without goroutines when it is interrupted.
func TestServe(t *testing.T) {
	temporary := filepath.Join(t.TempDir(), "temporary files+") // a path that shells and HTML quote
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	before := runtime.NumGoroutine()
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	reader, writer := io.Pipe()
	var complaint bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", "kmeans-softmax", "kmeans-goofy", "--addr", "127.0.0.1:0", "--json", "--seed", "4"}, writer, &complaint)
		_ = writer.Close()
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatalf("%v; exit code %d, %s", err, <-ended, complaint.String())
	}
	var said struct{ Address string }
	if err := json.Unmarshal([]byte(line), &said); err != nil || !strings.HasPrefix(said.Address, "http://127.0.0.1:") {
		t.Fatalf("it says %q", line)
	}
	w, err := http.Get(said.Address + "api/docs")
	if err != nil {
		t.Fatal(err)
	}
	var docs []struct {
		Name, Data string
		Seed       uint64
	}
	if err := json.NewDecoder(w.Body).Decode(&docs); err != nil || len(docs) != 2 || docs[1].Name != "kmeans-goofy" || docs[1].Data != "iris" || docs[1].Seed != 4 {
		t.Errorf("open are %+v (%v)", docs, err)
	}
	_ = w.Body.Close()
	// The report is the one that compare writes.
	w, err = http.Get(said.Address + "api/docs/d1/download/report?with=d2")
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(w.Body)
	if err != nil || w.StatusCode != http.StatusOK || !bytes.Contains(page, []byte("goofy alternative")) || !bytes.Contains(page, []byte("soft k-means")) {
		t.Errorf("the report: status %d, %d bytes, %v", w.StatusCode, len(page), err)
	}
	_ = w.Body.Close()
	// Also of a text that was written in the page; nothing tells where it lay meanwhile.
	text, err := objectives.Files.ReadFile("kmeans-goofy.tapestry")
	if err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal(map[string]any{"name": "../own goofy.tapestry", "text": string(text), "data": "iris", "seed": 4})
	if err != nil {
		t.Fatal(err)
	}
	w, err = http.Post(said.Address+"api/open", "application/json", bytes.NewReader(asked))
	if err != nil {
		t.Fatal(err)
	}
	var own struct{ ID string }
	if err := json.NewDecoder(w.Body).Decode(&own); err != nil || w.StatusCode != http.StatusOK {
		t.Fatalf("opening a text: status %d, %v", w.StatusCode, err)
	}
	_ = w.Body.Close()
	w, err = http.Get(said.Address + "api/docs/" + own.ID + "/download/report?with=d1")
	if err != nil {
		t.Fatal(err)
	}
	page, err = io.ReadAll(w.Body)
	if err != nil || w.StatusCode != http.StatusOK || !bytes.Contains(page, []byte("compare objective.tapestry kmeans-softmax")) || bytes.Contains(page, []byte("temporary files")) {
		t.Errorf("the report of a text: status %d, %d bytes, %v: %.300s", w.StatusCode, len(page), err, page)
	}
	_ = w.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	interrupt()
	select {
	case code := <-ended:
		if code != 0 || complaint.Len() > 0 {
			t.Errorf("exit code %d, %s", code, complaint.String())
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d goroutines, there were %d", runtime.NumGoroutine(), before)
}

func TestServeMistakes(t *testing.T) {
	for _, q := range []struct{ args, want string }{
		{"--addr 0.0.0.0:8080", "--listen-anyone"},
		{"--addr :8080", "--listen-anyone"},
		{"--addr [::]:8080", "--listen-anyone"},
		{"--addr 192.168.1.5:8080", "--listen-anyone"},
		{"--addr 127.0.0.1", "want HOST:PORT"},
		{"--addr example.org:80", "want localhost or the number of an address"},
		{"--addr 127.0.0.1:99999", "no such port"},
		{"--log=", "--log: want the name of a file"},
		{"kmeans-sotfmax", `did you mean "kmeans-softmax"`},
	} {
		code, _, errOut := tapestry(t, append([]string{"serve"}, strings.Fields(q.args)...)...)
		if code != 2 || !strings.Contains(errOut, q.want) {
			t.Errorf("serve %s: exit code %d, %q, want %q", q.args, code, errOut, q.want)
		}
	}
	for _, q := range []struct{ args, want string }{
		{"kmeans-softmax --addr 127.0.0.1:0 --rate -1", "want a positive number"},
		{"kmeans-softmax --addr 127.0.0.1:0 --data nothing", "want a CSV file, or iris"},
		{"kmeans-softmax --addr 127.0.0.1:0 --dtype f16", "want f32 or f64"},
	} {
		if code, _, errOut := tapestry(t, append([]string{"serve"}, strings.Fields(q.args)...)...); code == 0 || !strings.Contains(errOut, q.want) {
			t.Errorf("serve %s: exit code %d, %q, want %q", q.args, code, errOut, q.want)
		}
	}
}

// TestServedNotation: a file in the notation opens as the registry's own model does,
// and is saved as it is printed canonically; a wrong one is refused with its place.
func TestServedNotation(t *testing.T) {
	b, canonical, problems := web.Formulas{}.Read("mine.tapestry", "param r[j=3,d=2]\nloss = sum(r^2)\n")
	if len(problems) > 0 || b.Name == "" || !strings.Contains(canonical, "loss = sum(r^2)") {
		t.Errorf("%+v, %q, %v", b, canonical, problems)
	}
	_, _, problems = web.Formulas{}.Read("mine.tapestry", "param r[j=3,d=2]\nloss[j] = r^2\nq = nothing\n")
	if len(problems) != 3 || problems[0].Line != 2 || problems[2].Line != 3 || problems[2].Column != 5 || strings.Contains(problems[0].Message, "mine.tapestry") || !strings.Contains(problems[0].Caret, "^") {
		t.Errorf("%+v", problems)
	}
	if code, _, errOut := tapestry(t, "serve", "../../examples/notation/none.tapestry", "--addr", "127.0.0.1:0"); code == 0 || !strings.Contains(errOut, "none.tapestry") {
		t.Errorf("exit code %d, %s", code, errOut)
	}
	m, err := (&servedData{fitting: &fitting{source: source{name: "iris"}}}).served("../../examples/notation/kmeans-softmax.tapestry")
	if err != nil {
		t.Fatal(err)
	}
	s := web.New(web.Options{Notation: web.Formulas{}})
	defer s.Close()
	if err := s.Open(context.Background(), m); err != nil {
		t.Error(err)
	}
}

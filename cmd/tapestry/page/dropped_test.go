package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// long is a text whose drawings and derivation take long.
func long(lines, factors int) string {
	var b strings.Builder
	b.WriteString("input x[i=3]\nparam w[i]\n")
	for i := range lines {
		fmt.Fprintf(&b, "y%d[i] = w%s\n", i, strings.Repeat("*x", factors))
	}
	b.WriteString("loss = mean(y0")
	for i := 1; i < lines; i++ {
		fmt.Fprintf(&b, "+y%d", i)
	}
	return b.String() + ")\n"
}

// TestDropped: a request that nobody waits for any more gives its turn to the next at once,
// whatever it asked for.
func TestDropped(t *testing.T) {
	c := newClient(t, Options{Notation: texts{}})
	c.open(textOpening(t, long(20, 300)))
	c.open(textOpening(t, long(20, 299)))
	for _, path := range []string{
		"/api/docs", "/api/examples", "/api/docs/d1", "/api/docs/d1/derivation", "/api/docs/d1/derivation?node=n1", "/api/docs/d1/download/latex", "/api/docs/d1/download/dot?grad=1&level=primitive&open=*",
		"/api/docs/d1/download/svg?grad=1&level=primitive&open=*", "/api/docs/d1/sheet?grad=1&level=primitive&open=*", "/api/docs/d1/sheet?grad=1&level=compiled&open=*", "/api/docs/d1/sheet?overlay=precision&level=ops",
		"/api/docs/d1/node/n5", "/api/docs/d1/tape", "/api/docs/d1/autopsy?step=0", "/api/docs/d1/rewrites", "/api/compare?a=d1&b=d2&level=primitive&grad=1", "/api/compare/svg?a=d1&b=d2&level=primitive&grad=1",
	} {
		for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			since := time.Now()
			w := c.askContext(ctx, http.MethodGet, path, "")
			cancel()
			if w.Code != http.StatusServiceUnavailable && w.Code >= 500 {
				t.Errorf("%s: status %d, %.200s", path, w.Code, w.Body)
			}
			if took := time.Since(since); took > 20*time.Second { // a fraction of a second on a quiet machine
				t.Errorf("%s: dropped after %v it took %v", path, after, took)
			}
			if len(c.s.turns) != 0 {
				t.Fatalf("%s: a turn is lost", path)
			}
		}
	}
}

// TestStubborn: closing with a context waits no longer than that for who is at a document.
func TestStubborn(t *testing.T) {
	s := New(Options{})
	if err := s.Open(t.Context(), Model{Name: "kmeans-softmax"}); err != nil {
		t.Fatal(err)
	}
	d := s.shelf.all()[0]
	if err := d.acquire(t.Context()); err != nil { // somebody is at the document, and stays
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	s.CloseContext(ctx)
	if d.gone.Err() == nil {
		t.Error("the document is not closed")
	}
	d.release()
	s.Close()
}

// TestCompilesNoFurther: compiling stops when its request is dropped, leaves nothing half done, and
// starts anew when somebody asks again.
func TestCompilesNoFurther(t *testing.T) {
	s := New(Options{})
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(t.Context())
	asked := opening{Model: "kmeans-softmax", Seed: 1}
	d, err := s.newDocument(ctx, asked)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.session.close)
	cancel()
	if _, err := d.compiled(ctx); !errors.Is(err, context.Canceled) || d.rewritten != nil {
		t.Errorf("compiled: %v", err)
	}
	if _, err := d.rewriting(ctx); !errors.Is(err, context.Canceled) || d.fired != nil {
		t.Errorf("rewriting: %v", err)
	}
	if _, err := newSession(ctx, d.model, d.session.step, d.session.feeder); !errors.Is(err, context.Canceled) {
		t.Errorf("a session: %v", err)
	}
	if _, err := d.compiled(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := d.rewriting(t.Context()); err != nil {
		t.Error(err)
	}
}

package page

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// onlySquares is a notation of one sentence.
type onlySquares struct{}

func (onlySquares) Read(name, text string) (b builders.Builder, canonical string, problems []Problem) {
	if strings.TrimSpace(text) != "square" {
		return b, "", []Problem{{Line: 1, Column: 3, Message: "want square", Caret: text + "\n  ^"}}
	}
	b = builders.Define(builders.Builder{Name: name, Title: "a square", Hyperparameters: []builders.Hyperparameter{{Name: "n", Default: 4, Doc: "numbers", Kind: builders.Count}}},
		func(s builders.Settings, dt graph.DType, m *builders.Model) {
			m.Loss = ops.Mean(ops.Square(m.Graph.Param("w", dt, graph.Ax("i", s.Int("n"))))).As("loss")
			m.Output = m.Loss
			m.Examples = func(*rand.Rand) graph.Values { return graph.Values{} }
		})
	return b, "square\n", nil
}

// TestText: a text is read, told of with its mistakes, opened, and saved.
func TestText(t *testing.T) {
	c := newClient(t, Options{Notation: onlySquares{}})
	var p parseView
	c.read(c.ask(http.MethodPost, "/api/parse", `{"name":"a.tapestry","text":" square"}`), "parse", &p)
	if !p.OK || p.Canonical != "square\n" || p.Errors == nil || len(p.Errors) != 0 {
		t.Errorf("a right text is %+v", p)
	}
	c.read(c.ask(http.MethodPost, "/api/parse", `{"name":"a.tapestry","text":"cube"}`), "parse", &p)
	if p.OK || len(p.Errors) != 1 || p.Errors[0].Column != 3 || p.Errors[0].Caret != "cube\n  ^" {
		t.Errorf("a wrong text is %+v", p)
	}
	w := c.ask(http.MethodPost, "/api/open", `{"name":"a.tapestry","text":"cube"}`)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"error":"a.tapestry:1:3: want square","caret":"cube\n  ^"`) {
		t.Errorf("opening it: %d, %s", w.Code, w.Body)
	}
	id := c.open(`{"name":"a.tapestry","text":" square","settings":{"n":7}}`)
	var d docView
	c.get("/api/docs/"+id, &d)
	if d.Source != "square\n" || d.Params != 7 || d.Name != "a.tapestry" {
		t.Errorf("it is told of as %+v", d)
	}
	c.train(id, 2)
	w = c.ask(http.MethodGet, "/api/docs/"+id+"/download/tapestry", "")
	if w.Body.String() != "square\n" || w.Header().Get("Name") != "a.tapestry" {
		t.Errorf("saved it is %q, %v", w.Body, w.Header())
	}
}

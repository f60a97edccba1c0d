package page

import (
	"fmt"
	"net/http"

	"github.com/tapestry-ml/tapestry/builders"
	objectives "github.com/tapestry-ml/tapestry/examples/notation"
)

// Notation reads models from text in the formula notation.
type Notation interface {
	// Read returns the builder that a text defines, and the text in canonical form; or the
	// mistakes in the text. name is the name of the file.
	Read(name, text string) (b builders.Builder, canonical string, problems []Problem)
}

// Problem is a mistake in a text.
type Problem struct {
	Line    int    `json:"line"` // from 1
	Column  int    `json:"column"`
	Message string `json:"message"`
	Caret   string `json:"caret"` // the line, and below it a sign at the place
}

var errNoNotation = failf(http.StatusNotImplemented, "models in formula notation cannot be read yet")

// parseView is the result of parsing a text.
type parseView struct {
	OK        bool      `json:"ok"`
	Errors    []Problem `json:"errors"`
	Canonical string    `json:"canonical"`
}

func (s *Server) parse(r *http.Request) (any, error) {
	var q struct {
		Text string `json:"text"`
		Name string `json:"name"`
	}
	if err := body(r, &q); err != nil {
		return nil, err
	}
	if s.options.Notation == nil {
		return nil, errNoNotation
	}
	var canonical string
	var problems []Problem
	err := s.inTurn(r.Context(), func() error {
		_, canonical, problems = s.options.Notation.Read(q.Name, q.Text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if problems == nil {
		problems = []Problem{}
	}
	return parseView{len(problems) == 0, problems, canonical}, nil
}

// readBuilder returns the builder that a text defines, and the text in canonical form.
func (s *Server) readBuilder(name, text string) (b builders.Builder, canonical string, err error) {
	if s.options.Notation == nil {
		return b, "", errNoNotation
	}
	b, canonical, problems := s.options.Notation.Read(name, text)
	if len(problems) > 0 {
		p := problems[0]
		return b, "", &failure{http.StatusBadRequest, fmt.Errorf("%s:%d:%d: %s", name, p.Line, p.Column, p.Message), p.Caret}
	}
	return b, canonical, nil
}

// exampleView is a text to begin with.
type exampleView struct {
	Name  string `json:"name"` // of the file
	Title string `json:"title"`
	Text  string `json:"text"`
}

// examples answers with the examples of the notation.
func (s *Server) examples(*http.Request) (any, error) {
	out := []exampleView{}
	if s.options.Notation == nil {
		return out, nil
	}
	files, err := objectives.Files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := objectives.Files.ReadFile(f.Name())
		if err != nil {
			return nil, err
		}
		b, _, err := s.readBuilder(f.Name(), string(text))
		if err != nil {
			return nil, err
		}
		out = append(out, exampleView{f.Name(), b.Title, string(text)})
	}
	return out, nil
}

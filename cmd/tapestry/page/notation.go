package page

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	objectives "github.com/tapestry-ml/tapestry/examples/notation"
	"github.com/tapestry-ml/tapestry/notation"
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

// Formulas is the [Notation] of package notation.
type Formulas struct {
	Fit func(builders.Builder) (builders.Builder, error) // joins a model to data; nil for none
}

// Read returns the builder of a text, joined to the data, or the text's mistakes.
func (r Formulas) Read(name, text string) (b builders.Builder, canonical string, problems []Problem) {
	if name == "" {
		name = "objective" + notation.Extension
	}
	f, err := notation.Parse(name, strings.NewReader(text))
	if err == nil {
		b = f.Builder()
		if r.Fit != nil {
			b, err = r.Fit(b)
		}
		if err == nil {
			return b, f.String(), nil
		}
		return b, "", []Problem{{Line: 1, Column: 1, Message: err.Error()}}
	}
	var mistakes notation.Errors
	if !errors.As(err, &mistakes) {
		return b, "", []Problem{{Line: 1, Column: 1, Message: err.Error()}}
	}
	for _, e := range mistakes {
		_, caret, _ := strings.Cut(e.View(), "\n")
		problems = append(problems, Problem{Line: e.Line, Column: e.Column, Caret: caret,
			Message: strings.TrimPrefix(e.Error(), e.Pos.String()+": ")})
	}
	return b, "", problems
}

var errNoNotation = failf(notImplemented, "models in formula notation cannot be read yet")

// parseView is the result of parsing a text.
type parseView struct {
	OK        bool      `json:"ok"`
	Errors    []Problem `json:"errors"`
	Canonical string    `json:"canonical"`
}

func (s *Service) parse(r *request) (any, error) {
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
	err := s.inTurn(r.ctx, func() error {
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
func (s *Service) readBuilder(name, text string) (b builders.Builder, canonical string, err error) {
	if s.options.Notation == nil {
		return b, "", errNoNotation
	}
	b, canonical, problems := s.options.Notation.Read(name, text)
	if len(problems) > 0 {
		p := problems[0]
		return b, "", &failure{badRequest, fmt.Errorf("%s:%d:%d: %s", name, p.Line, p.Column, p.Message), p.Caret}
	}
	return b, canonical, nil
}

// exampleView is a text to begin with.
type exampleView struct {
	Name  string `json:"name"` // of the file
	Title string `json:"title"`
	Text  string `json:"text"`
}

// examples answers with the examples of the notation that can be read here.
func (s *Service) examples(*request) (any, error) {
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
		if b, _, err := s.readBuilder(f.Name(), string(text)); err == nil { // the data of the command may not be what it reads
			out = append(out, exampleView{f.Name(), b.Title, string(text)})
		}
	}
	return out, nil
}

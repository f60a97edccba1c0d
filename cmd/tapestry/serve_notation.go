package main

import (
	"errors"
	"os"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/notation"
)

// reader reads the texts that are written or opened in the page.
type reader struct{}

// Read gives the builder of a text, or its mistakes.
func (reader) Read(name, text string) (b builders.Builder, canonical string, problems []web.Problem) {
	if name == "" {
		name = "objective" + notation.Extension
	}
	f, err := notation.Parse(name, strings.NewReader(text))
	if err == nil {
		return f.Builder(), f.String(), nil
	}
	var mistakes notation.Errors
	if !errors.As(err, &mistakes) {
		return b, "", []web.Problem{{Line: 1, Column: 1, Message: err.Error()}}
	}
	for _, e := range mistakes {
		_, caret, _ := strings.Cut(e.View(), "\n")
		problems = append(problems, web.Problem{Line: e.Line, Column: e.Column, Caret: caret,
			Message: strings.TrimPrefix(e.Error(), e.Pos.String()+": ")})
	}
	return b, "", problems
}

// served is the model or file that an argument of serve names.
func served(name string) (web.Model, error) {
	if !isFile(name) {
		_, err := lookup(name)
		return web.Model{Name: name}, err
	}
	if _, err := readObjective(name); err != nil { // with all mistakes of the file
		return web.Model{}, err
	}
	text, err := os.ReadFile(name)
	return web.Model{Name: name, Text: string(text)}, err
}

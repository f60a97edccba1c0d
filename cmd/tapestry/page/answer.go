package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"runtime/debug"
	"slices"
)

// Request is what the page asks.
type Request struct {
	Method string // GET, POST or DELETE
	Path   string // as in an address, escaped
	Query  string // of the address, escaped, without its question mark
	Body   []byte // JSON of a POST; at most [MaxBody] bytes
}

// Answer is what a request gets.
type Answer struct {
	Status int    // as in HTTP
	Kind   string // the media type
	Name   string // the name of a file to save it as; "" if it is shown
	Text   []byte // without what Lines writes
	Stays  bool   // the same as long as the program runs

	// Lines goes on for as long as a training does, or until ctx ends, and writes lines of JSON
	// after Text: some at a time, which are to be seen at once. It ends when write fails. It is
	// nil if Text is all.
	Lines func(ctx context.Context, write func([]byte) error)

	// Sent gives back the memory of Text, and has to be called when that is no longer needed,
	// unless it is nil.
	Sent func()
}

const jsonType = "application/json"

// lines is an answer that goes on, with a line of JSON for each value that it writes.
type lines func(ctx context.Context, write func(...any) error)

// Answer answers a request. A mistake in it, or a failure to compute, is an answer with the status
// of an error and a JSON object with the field "error", and so is a panic, which is logged. The
// answer takes at most [AnswerTime], without its lines.
func (s *Service) Answer(ctx context.Context, q Request) (a *Answer) {
	defer func() {
		if what := recover(); what != nil {
			a = s.panicked(q, what)
		}
	}()
	v, err := s.find(ctx, q)
	if err != nil {
		return s.failed(q, err)
	}
	switch v := v.(type) {
	case *file:
		a = &Answer{Status: fine, Kind: v.kind, Text: v.text, Stays: v.stays, Sent: v.sent}
		if v.name != "" {
			a.Name = fileName(v.name)
		}
		return a
	case lines:
		return &Answer{Status: fine, Kind: "application/x-ndjson", Lines: func(ctx context.Context, write func([]byte) error) { s.goOn(ctx, q, v, write) }}
	}
	return s.told(q, fine, v)
}

// find calls the function of a request's route.
func (s *Service) find(ctx context.Context, q Request) (any, error) {
	for _, one := range s.routes() {
		places, matches := one.match(q.Path)
		if !matches || one.method != q.Method {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, AnswerTime)
		defer cancel()
		query, _ := url.ParseQuery(q.Query) // without what cannot be read
		return one.answer(&request{ctx: ctx, query: query, body: q.Body, places: places})
	}
	if !slices.Contains([]string{"GET", "POST", "DELETE"}, q.Method) {
		return nil, failf(methodNotAllowed, "want GET, POST or DELETE")
	}
	return nil, failf(notFound, "there is no such page")
}

// told returns a value as JSON. It encodes the whole value first, so that a failure to encode is an
// error and not half an answer.
func (s *Service) told(q Request, status int, v any) *Answer {
	text, err := encode(v)
	if err != nil {
		s.options.Log.Printf("%s %s: %v", q.Method, q.Path, err)
		status, text = mistaken, []byte(`{"error":"the answer cannot be written"}`+"\n")
	}
	return &Answer{Status: status, Kind: jsonType, Text: text}
}

// encode returns values as lines of JSON.
func encode(values ...any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	for _, v := range values {
		if err := e.Encode(v); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// failed returns the answer to a request that cannot be answered.
func (s *Service) failed(q Request, err error) *Answer {
	answer := struct {
		Error string `json:"error"`
		Caret string `json:"caret,omitempty"`
	}{Error: err.Error()}
	var f *failure
	if errors.As(err, &f) {
		answer.Caret = f.caret
	}
	return s.told(q, statusOf(err), answer)
}

// panicked returns the answer to a request that made a function panic.
func (s *Service) panicked(q Request, what any) *Answer {
	s.options.Log.Printf("%s %s: panic: %v\n%s", q.Method, q.Path, what, debug.Stack())
	return s.told(q, mistaken, map[string]string{"error": "an internal mistake; the server's log has it"})
}

// goOn writes an answer's lines. A panic is the last of them.
func (s *Service) goOn(ctx context.Context, q Request, v lines, write func([]byte) error) {
	defer func() {
		if what := recover(); what != nil {
			_ = write(s.panicked(q, what).Text) // the client may have gone
		}
	}()
	v(ctx, func(values ...any) error {
		text, err := encode(values...)
		if err != nil {
			return err
		}
		return write(text)
	})
}

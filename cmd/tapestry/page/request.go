package page

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/viz"
)

// request is a [Request] that a route of the table matches.
type request struct {
	ctx    context.Context
	query  url.Values
	body   []byte
	places map[string]string // parts of the path, by the names that the route gives them
}

// place returns the part of the path that stands at a name of the route, as in {doc}.
func (r *request) place(name string) string { return r.places[name] }

// body reads the JSON object of a request into v. Unknown fields, and text after the object, are
// errors.
func body(r *request, v any) error {
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return badf("the request is not the JSON that is wanted: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return badf("the request has something after its JSON object")
	}
	return nil
}

// whole reads an integer parameter of a request between bounds. A missing one has the usual value.
func whole(r *request, name string, usual, least, most int) (int, error) {
	text := r.query.Get(name)
	if text == "" {
		return usual, nil
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < least || v > most {
		return 0, badf("%s=%.40s: want a whole number from %d to %d", name, text, least, most)
	}
	return v, nil
}

// stepOf returns the state that a request asks for, by default the last. The state of several
// documents is one that all have.
func stepOf(r *request, docs ...*document) (int, error) {
	last := maxSteps
	for _, d := range docs {
		last = min(last, d.session.steps())
	}
	return whole(r, "step", last, 0, last)
}

// yesNo reads 0 or 1.
func yesNo(r *request, name string) (bool, error) {
	v, err := whole(r, name, 0, 0, 1)
	return v == 1, err
}

// levelOf returns the level of detail that a request asks for.
func levelOf(r *request) (viz.Level, error) {
	text := r.query.Get("level")
	if text == "" {
		return viz.Notes, nil
	}
	for _, l := range levels {
		if l.String() == text {
			return l, nil
		}
	}
	return 0, badf("level=%.40s: want notes, ops, primitive or compiled", text)
}

// list reads a list of names separated by commas.
func list(r *request, name string) []string {
	return strings.FieldsFunc(r.query.Get(name), func(c rune) bool { return c == ',' })
}

// index reads an index into a list of n elements.
func index(text string, n int) (int, error) {
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= n || strconv.Itoa(i) != text {
		return 0, failf(notFound, "there is no %.40q: want a number below %d", text, n)
	}
	return i, nil
}

package page

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/viz"
)

// whole reads an integer parameter of a request between bounds. A missing one has the usual value.
func whole(r *http.Request, name string, usual, least, most int) (int, error) {
	text := r.URL.Query().Get(name)
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
func stepOf(r *http.Request, docs ...*document) (int, error) {
	last := maxSteps
	for _, d := range docs {
		last = min(last, d.session.steps())
	}
	return whole(r, "step", last, 0, last)
}

// yesNo reads 0 or 1.
func yesNo(r *http.Request, name string) (bool, error) {
	v, err := whole(r, name, 0, 0, 1)
	return v == 1, err
}

// levelOf returns the level of detail that a request asks for.
func levelOf(r *http.Request) (viz.Level, error) {
	text := r.URL.Query().Get("level")
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
func list(r *http.Request, name string) []string {
	return strings.FieldsFunc(r.URL.Query().Get(name), func(c rune) bool { return c == ',' })
}

// index reads an index into a list of n elements.
func index(text string, n int) (int, error) {
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= n || strconv.Itoa(i) != text {
		return 0, failf(http.StatusNotFound, "there is no %.40q: want a number below %d", text, n)
	}
	return i, nil
}

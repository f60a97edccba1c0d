package page

import (
	"net/http"
	"testing"
)

// TestPlanKept: what is drawn of a step does not depend on what was drawn before it: other steps,
// whose numbers that training feeds are others, other levels, overlays, times, or modules.
func TestPlanKept(t *testing.T) {
	for _, model := range []string{`{"model":"kmeans-softmax","data":"iris"}`, `{"model":"rnn-lstm"}`} {
		trained := func() (client, string) {
			c := newClient(t, Options{})
			id := c.open(model)
			c.train(id, 6)
			return c, "/api/docs/" + id
		}
		c, at := trained()
		for _, q := range []string{
			"/sheet?grad=1&level=notes&overlay=grad&step=0", "/sheet?grad=1&level=notes&overlay=grad&step=5", "/sheet?grad=1&level=notes&step=5", "/sheet?level=notes&step=3",
			"/sheet?grad=1&level=notes&overlay=memory&step=5", "/sheet?grad=1&level=ops&overlay=grad&step=2", "/sheet?grad=1&level=compiled&overlay=nan&step=2",
			"/sheet?grad=1&level=notes&overlay=grad&open=recurrent&step=4", "/sheet?grad=1&level=notes&overlay=grad&open=recurrent&times=3@recurrent/loop&step=4", "/sheet?grad=1&level=notes&overlay=grad&step=1",
			"/words?grad=1&level=notes&step=1", "/words?grad=1&level=notes&open=recurrent&step=6",
		} {
			once, alone := trained()
			want, got := once.ask(http.MethodGet, alone+q, ""), c.ask(http.MethodGet, at+q, "")
			if want.Code != http.StatusOK || got.Body.String() != want.Body.String() {
				t.Errorf("%s: %s after others is another than it is by itself (status %d)", model, q, want.Code)
			}
		}
	}
}

// TestPairingKept: the same of a comparison.
func TestPairingKept(t *testing.T) {
	trained := func() (c client, of string) {
		c = newClient(t, Options{})
		for _, model := range []string{"kmeans-softmax", "kmeans-goofy"} {
			id := c.open(`{"model":"` + model + `","data":"iris"}`)
			c.train(id, 6)
			of += "&" + map[string]string{"kmeans-softmax": "a", "kmeans-goofy": "b"}[model] + "=" + id
		}
		return c, of
	}
	c, of := trained()
	for _, q := range []string{
		"grad=1&level=notes&overlay=grad&step=0", "grad=1&level=notes&overlay=grad&step=5", "grad=1&level=notes&step=5", "level=notes&step=5", "grad=1&level=ops&overlay=memory&step=5",
		"grad=1&level=notes&overlay=nan&step=5", "grad=1&level=notes&overlay=grad&step=2",
	} {
		once, alone := trained()
		want, got := once.ask(http.MethodGet, "/api/compare?"+q+alone, ""), c.ask(http.MethodGet, "/api/compare?"+q+of, "")
		if want.Code != http.StatusOK || got.Body.String() != want.Body.String() {
			t.Errorf("%s after others is another comparison than it is by itself (status %d)", q, want.Code)
		}
	}
}

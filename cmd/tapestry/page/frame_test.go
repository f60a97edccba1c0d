package page

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
)

// TestFrame: the parts of a frame are what the same requests get by themselves, the failed ones too.
func TestFrame(t *testing.T) {
	c := newClient(t, Options{})
	c.open(`{"model":"kmeans-softmax","data":"iris"}`)
	c.train("d1", 3)
	parts := []string{
		"api/docs/d1/sheet?grad=1&overlay=grad&step=2", "api/docs/d1/chart?kind=loss&step=2", "api/docs/d1/node/n1/values?step=2", "api/docs/d9/sheet",
		"api/docs/d1/chart?kind=other", "api/none", "api/frame", "api/docs/d1/loss?step=3",
	}
	var got struct {
		Parts []struct {
			Status int
			Kind   string
			Body   json.RawMessage
		}
	}
	c.read(c.ask(http.MethodPost, "/api/frame", text(map[string]any{"parts": parts})), "a frame", &got)
	if len(got.Parts) != len(parts) {
		t.Fatalf("%d parts, want %d", len(got.Parts), len(parts))
	}
	for i, part := range parts {
		alone := c.ask(http.MethodGet, "/"+part, "")
		p := got.Parts[i]
		body := string(p.Body) + "\n"
		if p.Kind != jsonType {
			if err := json.Unmarshal(p.Body, &body); err != nil {
				t.Fatal(err)
			}
		}
		if p.Status != alone.Code || p.Kind != alone.Header().Get("Content-Type") || body != alone.Body.String() {
			t.Errorf("%s: status %d, %s, %.200q; by itself %d, %.200q", part, p.Status, p.Kind, body, alone.Code, alone.Body)
		}
	}
	many := strings.Repeat(`,"api/docs"`, maxFrameParts)
	for body, want := range map[string]string{
		`{"parts":[]}`:                               `0 parts: want from 1 to 64`,
		`{"parts":["api/docs"` + many + `]}`:         `65 parts: want from 1 to 64`,
		`{"parts":["assets/app.js"]}`:                `part "assets/app.js": want an address that begins with api/, of nothing to download`,
		`{"parts":["api/docs/d1/download/listing"]}`: `part "api/docs/d1/download/listing": want an address that begins with api/, of nothing to download`,
		`{"parts":["../api/docs"]}`:                  `part "../api/docs": want an address that begins with api/, of nothing to download`,
		`{"steps":["api/docs"]}`:                     `the request is not the JSON that is wanted: json: unknown field "steps"`,
	} {
		w := c.ask(http.MethodPost, "/api/frame", body)
		var said struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || w.Code != http.StatusBadRequest || said.Error != want {
			t.Errorf("%.60s: status %d, %q, want %q", body, w.Code, said.Error, want)
		}
	}
}

// TestLossAtTheLastState: the loss at a state is that of the step from it, also where that has not
// been done yet.
func TestLossAtTheLastState(t *testing.T) {
	for _, model := range []string{`{"model":"kmeans-goofy","data":"iris"}`, `{"model":"rnn-lstm"}`, `{"model":"regression-relu"}`, `{"model":"transformer-gpt"}`} {
		c := newClient(t, Options{})
		id := c.open(model)
		c.train(id, 3)
		var at [4]stateLoss
		for step := range at {
			c.get(fmt.Sprintf("/api/docs/%s/loss?step=%d", id, step), &at[step])
		}
		c.train(id, 1)
		var h historyView
		c.get("/api/docs/"+id+"/history", &h)
		for step, was := range at {
			got, want := float64(was.Loss), float64(h.Loss[step])
			if was.Step != step || math.Abs(got-want) > 1e-5*math.Abs(want) || step < 3 && got != want {
				t.Errorf("%s: the loss at step %d is said to be %v, and was %v", model, step, got, want)
			}
		}
		if h.Loss[3] == h.Loss[2] {
			t.Errorf("%s: the loss stays", model)
		}
	}
}

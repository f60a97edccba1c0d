package page

import (
	"math"
	"strings"
	"testing"
)

// TestWordsAreTrue: the parameters and shares of the modules add up to those of the model, the shares are
// those of the gradient's values, and each box names the instructions that the tape has for its node.
func TestWordsAreTrue(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"rnn-lstm"}`)
	c.train(id, 2)
	var words wordsView
	c.get("/api/docs/"+id+"/words?grad=1&step=1", &words)
	var doc docView
	c.get("/api/docs/"+id, &doc)
	params, shares := 0, 0.0
	for path, m := range words.Modules {
		if !strings.Contains(path, "/") {
			params += m.Params
			if m.Share != nil {
				shares += float64(*m.Share)
			}
		}
	}
	if params != doc.Params || math.Abs(shares-1) > 1e-9 {
		t.Errorf("the modules have %d of %d parameters and %v of the gradient", params, doc.Params, shares)
	}
	if m := words.Modules["recurrent/in"]; m.Formula == "" || m.Derivative == "" {
		t.Errorf("recurrent/in is %+v", m)
	}
	if m := words.Modules["recurrent/loop"]; m.Params != 0 || m.Share != nil {
		t.Errorf("the loop itself has parameters: %+v", m)
	}
	var tape tapeInfo
	c.get("/api/docs/"+id+"/tape", &tape)
	named := 0
	for node, computed := range words.Tape {
		if node[0] != asWritten {
			continue
		}
		for _, r := range computed.Rows {
			row := tape.Listing[r.I]
			if row.Op != r.Op || r.Time != nil {
				t.Errorf("%s: %+v is not %+v", node, r, row)
			}
			if row.Node != nil && *row.Node == node {
				named++
			}
		}
	}
	if named < 8 {
		t.Errorf("%d boxes are named by their own instructions", named)
	}
	var times sheetView
	c.get("/api/docs/"+id+"/sheet?grad=1&overlay=time", &times)
	c.get("/api/docs/"+id+"/words?grad=1&step=1", &words)
	for node, computed := range words.Tape {
		if computed.Time == nil || computed.Rows[0].Time == nil {
			t.Errorf("%s has no time after it was measured", node)
		}
	}
	for _, query := range []string{"step=9", "level=none", "grad=2"} {
		if w := c.ask("GET", "/api/docs/"+id+"/words?"+query, ""); w.Code != 400 {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
}

// TestWordsHaveTimes: where the drawing shows times, the words have them, whichever of both is asked
// for first.
func TestWordsHaveTimes(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"kmeans-softmax","seed":0}`)
	var words wordsView
	c.get("/api/docs/"+id+"/words?grad=1&level=notes&overlay=time", &words)
	if len(words.Tape) == 0 {
		t.Fatal("no words of the tape")
	}
	for box, w := range words.Tape {
		if w.Time == nil || *w.Time < 0 {
			t.Errorf("%s has no time", box)
		}
	}
}

package page

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"testing"
)

// TestRepaint: a sheet that the page has, with what it is sent of another step or overlay, is the
// sheet of that step.
func TestRepaint(t *testing.T) {
	for _, x := range []struct {
		models []string
		ways   []string
	}{
		{[]string{`{"model":"kmeans-softmax","data":"iris","courses":{"γ":"1"}}`}, []string{"level=notes", "level=ops&grad=1", "level=compiled&grad=1"}},
		{[]string{`{"model":"kmeans-goofy","data":"iris","courses":{"γ":"1"}}`, `{"model":"kmeans-softmax","data":"iris","courses":{"γ":"1"}}`}, []string{"level=notes", "level=primitive&grad=1"}},
		{[]string{`{"model":"rnn-lstm"}`}, []string{"grad=1&open=recurrent", "grad=1&open=recurrent&times=3@recurrent/loop"}},
		{[]string{`{"model":"transformer-gpt","settings":{"layers":3}}`}, []string{"grad=1", "grad=1&open=*"}},
	} {
		c := newClient(t, Options{})
		ids := []string{}
		for _, m := range x.models {
			ids = append(ids, c.open(m))
			c.train(ids[len(ids)-1], 4)
		}
		at := "/api/docs/" + ids[0] + "/sheet?"
		if len(ids) > 1 {
			at = "/api/compare?a=" + ids[0] + "&b=" + ids[1] + "&"
		}
		for _, way := range x.ways {
			t.Run(ids[0]+" "+way, func(t *testing.T) { repainted(t, c, at+way) })
		}
	}
}

// repainted repaints a sheet for all overlays and steps.
func repainted(t *testing.T, c client, at string) {
	var had map[string]any
	c.get(at+"&overlay=grad&step=0", &had)
	kept := "&kept=" + url.QueryEscape(had["kept"].(string))
	others := 0
	for _, overlay := range []string{"grad", "nan", "memory", "fusion"} {
		for _, step := range []string{"0", "3", "1"} {
			q := at + "&overlay=" + overlay + "&step=" + step
			var want map[string]any
			c.get(q, &want)
			w := c.ask(http.MethodGet, q+kept, "")
			var got repaintedView
			c.read(w, q, &got)
			if got.Kept == "" || got.Kept != had["kept"] || len(got.Nodes) == 0 {
				t.Fatalf("%s is not repainted: %.200s", q, w.Body)
			}
			var merged map[string]any
			text, _ := json.Marshal(had)
			if err := json.Unmarshal(text, &merged); err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, it := range merged["items"].([]any) {
				if it := it.(map[string]any); it["kind"] == "node" {
					if it["svg"] != got.Nodes[n].SVG {
						others++
					}
					b := got.Nodes[n].Box
					it["svg"], it["box"] = got.Nodes[n].SVG, map[string]any{"x": b.X, "y": b.Y, "w": b.W, "h": b.H}
					n++
				}
			}
			merged["legend"], merged["scale"], merged["step"] = got.Legend, got.Scale, float64(got.Step)
			if got.Legend == "" {
				delete(merged, "legend")
			}
			if n != len(got.Nodes) || !reflect.DeepEqual(merged, want) {
				t.Errorf("%s: what is repainted is another sheet", q)
			}
		}
	}
	if others == 0 {
		t.Errorf("%s: no node ever looks otherwise", at)
	}
	// What the page does not have is drawn whole.
	for _, q := range []string{at + "&overlay=grad&kept=other", at + kept} {
		var s sheetView
		if c.get(q, &s); len(s.Items) == 0 {
			t.Errorf("%s is not drawn whole", q)
		}
	}
}

// TestRateIsNotDrawn: steps that differ in the rate of training alone have one drawing, of a model
// and of a comparison.
func TestRateIsNotDrawn(t *testing.T) {
	c := newClient(t, Options{})
	for _, name := range []string{"kmeans-softmax", "kmeans-goofy"} {
		c.train(c.open(`{"model":"`+name+`","data":"iris","schedule":"0.1..0.01","courses":{"γ":"2"}}`), 4)
	}
	for _, at := range []string{"/api/docs/d1/sheet?", "/api/compare?a=d1&b=d2&"} {
		var had sheetView
		c.get(at+"grad=1&overlay=grad&step=1", &had)
		var got repaintedView
		if c.get(at+"grad=1&overlay=grad&step=3&kept="+had.Kept, &got); got.Kept != had.Kept || len(got.Nodes) == 0 {
			t.Errorf("%s is drawn anew at a step with another rate", at)
		}
	}
}

package page

import (
	"slices"
	"testing"
)

// TestLoopsOpenInPlace: a loop is a module of the drawing, which closes and opens as others do; the
// boxes of its step stand for the nodes of its body.
func TestLoopsOpenInPlace(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"rnn-lstm"}`)
	const path = "recurrent/loop"
	var open, closed, again sheetView
	c.get("/api/docs/"+id+"/sheet?grad=1", &open)
	listed := func(s *sheetView) (open, found bool) {
		i := slices.IndexFunc(s.Modules, func(m moduleView) bool { return m.Path == path })
		return found && i >= 0 && s.Modules[i].Open, i >= 0
	}
	steps := 0
	var step itemView
	for _, it := range open.Items {
		if it.Kind == "node" && it.Module == path {
			steps, step = steps+1, it
		}
	}
	if _, found := listed(&open); !found || steps < 12 {
		t.Fatalf("%d boxes in the step, the loop is listed: %v", steps, found)
	}
	var node map[string]any
	c.get("/api/docs/"+id+"/node/"+step.Node, &node)
	if node["op"] == "Scan" || node["id"] != step.ID+"@0" || step.Loop == "" {
		t.Errorf("box %s stands for %v", step.ID, node)
	}
	c.get("/api/docs/"+id+"/sheet?grad=1&closed="+path, &closed)
	boxes := 0
	for _, it := range closed.Items {
		if it.Kind == "node" && it.Closed == path {
			boxes++
			c.get("/api/docs/"+id+"/node/"+it.Node, &node)
		}
	}
	if boxes != 2 || !slices.Contains(closed.Folded, path) {
		t.Errorf("closed, the loop is %d boxes, want one of values and one of derivatives; folded are %q", boxes, closed.Folded)
	}
	query := "&open="
	for _, m := range open.Modules {
		query += m.Path + ","
	}
	c.get("/api/docs/"+id+"/sheet?grad=1"+query, &again)
	if len(again.Items) != len(open.Items) {
		t.Errorf("opened again, %d items, before %d", len(again.Items), len(open.Items))
	}
	for overlay := range overlays {
		var s sheetView
		c.get("/api/docs/"+id+"/sheet?grad=1&overlay="+overlay, &s)
		if len(s.Items) != len(open.Items) {
			t.Errorf("with overlay %s, %d items, without %d", overlay, len(s.Items), len(open.Items))
		}
	}
}

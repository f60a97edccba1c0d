package page

import (
	"math"
	"strings"
	"testing"
)

// TestEveryOverlayInSteps: in the step of a loop, every overlay shows what is true of its boxes,
// and says what that is where it is not the quantity at that time. No more than the loop's own is
// given to its parts.
func TestEveryOverlayInSteps(t *testing.T) {
	says := map[string]string{
		"grad": "largest |∂loss/∂v|", "nan": "", "time": "all its steps together", "memory": "every step uses anew", "fusion": "program that every step runs",
		"precision": "from what it is given", "blame": "the loop as a whole",
	}
	for _, model := range []string{"rnn-lstm", "rnn-gru", "rnn-stacked"} {
		c := newClient(t, Options{})
		id := c.open(`{"model":"` + model + `"}`)
		c.train(id, 1)
		d, err := c.s.shelf.find(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, overlay := range overlayList() {
			q := drawing{overlay: overlay, step: 1, gradients: true, open: []string{"*"}, times: map[string]int{"recurrent/loop": 2}}
			f, err := d.draw(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(f.scale, says[overlay]) {
				t.Errorf("%s: the scale of %s is %q", model, overlay, f.scale)
			}
			boxes, told, shown := 0, 0, 0
			for _, n := range f.Nodes {
				b := d.stepped[n.ID]
				if b == nil || b.Node.NumIn() == 0 || b.Backward {
					continue
				}
				boxes++
				if strings.Count(n.Title, "\n") > strings.Count(plain(t, d, q, n.ID), "\n") {
					told++
				}
				if n.Heat > 0 || n.Group > 0 || n.Badge != "" || n.Alarm != 0 {
					shown++
				}
			}
			if boxes == 0 || overlay != "nan" && (told < boxes || shown == 0 && overlay != "precision") {
				t.Errorf("%s: of %d boxes, %s says something of %d and shows something of %d", model, boxes, overlay, told, shown)
			}
		}
	}
}

// plain is the title that a box has without an overlay.
func plain(t *testing.T, d *document, q drawing, id string) string {
	t.Helper()
	q.overlay = ""
	f, err := d.draw(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range f.Nodes {
		if n.ID == id {
			return n.Title
		}
	}
	t.Fatalf("there is no %s", id)
	return ""
}

// TestPartsOfLoops: the boxes of an LSTM's step share in what its loops take, never in more, and
// all that the forward step runs is in one of them.
func TestPartsOfLoops(t *testing.T) {
	c := newClient(t, Options{})
	d, err := c.s.shelf.find(c.open(`{"model":"rnn-lstm"}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.program()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := d.measured(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for overlay, whole := range map[string]func(row int) float64{
		"time":   func(i int) float64 { return profile.Rows[i].Time.Seconds() },
		"memory": func(i int) float64 { return float64(p.rows[i].Body.Arena()) },
	} {
		f := layer{}
		v := d.asWritten
		q := drawing{overlay: overlay, gradients: true, open: []string{"*"}}
		planned, err := d.plan(t.Context(), v, q)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.openSteps(t.Context(), v, q, planned, &f); err != nil {
			t.Fatal(err)
		}
		for i, r := range p.rows {
			if r.Body == nil {
				continue
			}
			loop, sum, within := p.by(v)[i], 0.0, 0.0
			for id, x := range f.steps.values {
				if d.stepped[id].Loops[0] == loop {
					sum += x
				}
			}
			if sum <= 0 || sum > whole(i)*(1+1e-9) {
				t.Errorf("%s: the parts of instruction %d come to %v of %v", overlay, i, sum, whole(i))
			}
			for k, x := range holdings(r.Body.Rows()) {
				if overlay == "time" {
					within += profile.Rows[i].Within[k].Time.Seconds()
				} else {
					within += float64(x.counted)
				}
			}
			if !loop.IsBackward() && math.Abs(sum-within) > 1e-9*within {
				t.Errorf("%s: the boxes of the forward step come to %v, its instructions to %v", overlay, sum, within)
			}
		}
	}
}

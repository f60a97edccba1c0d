package page

import (
	"fmt"
	"testing"
)

// TestEveryNodeHasAPlace: whatever is drawn, a node is drawn, or the box that holds it is named and
// is there, or what hides it; and what is to be opened shows it.
func TestEveryNodeHasAPlace(t *testing.T) {
	c := newClient(t, Options{})
	for _, model := range []string{`{"model":"transformer-gpt","settings":{"layers":3}}`, `{"model":"rnn-lstm"}`} {
		id := c.open(model)
		d, err := c.s.shelf.find(id)
		if err != nil {
			t.Fatal(err)
		}
		hows := map[placeHow]int{}
		for _, drawing := range []string{"level=notes&grad=1", "level=ops&grad=0", "level=notes&grad=1&open=none"} {
			var sheet sheetView
			c.get("/api/docs/"+id+"/sheet?"+drawing, &sheet)
			items := map[string]bool{}
			for _, it := range sheet.Items {
				items[it.ID] = true
			}
			n := len(d.asWritten.cone)
			for i := 3; i < n; i += n / 8 {
				node := fmt.Sprintf("/api/docs/%s/node/%s/place?", id, d.asWritten.id(d.asWritten.cone[i]))
				var p placeView
				c.get(node+drawing, &p)
				hows[p.How]++
				if p.How == nowhere || p.Item != "" && !items[p.Item] {
					t.Errorf("%s, %s: %v of scope %q: %+v", model, drawing, d.asWritten.cone[i], d.asWritten.cone[i].First().Scope, p)
				}
				open := "level=notes&grad=1&open=decoder,"
				for more := 0; p.How == inModule; more++ {
					for _, path := range p.Open {
						open += path + ","
					}
					if more == 8 {
						t.Fatalf("%s: %v is still not drawn with %s: %+v", model, d.asWritten.cone[i], open, p)
					}
					p = placeView{}
					c.get(node+open, &p)
				}
			}
		}
		if hows[byItself] == 0 || hows[inFormula] == 0 || hows[noGradient] == 0 || hows[inModule] == 0 {
			t.Errorf("%s: %v", model, hows)
		}
	}
}

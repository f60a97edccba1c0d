package page

import (
	"math"
	"net/http"
	"testing"
)

// TestTerms: soft = goofy + spread at every step of either objective, and the term that a model is
// trained by is its loss at that step.
func TestTerms(t *testing.T) {
	c := newClient(t, Options{})
	const data = `"data":"iris","seed":1,"dtype":"f64"`
	ids := map[string]string{"soft": c.open(`{"model":"kmeans-softmax",` + data + `}`), "goofy": c.open(`{"model":"kmeans-goofy",` + data + `}`)}
	for name, id := range ids {
		c.train(id, 5)
		var history struct{ Loss []float64 }
		c.get("/api/docs/"+id+"/history", &history)
		for step := range 5 {
			var v struct {
				Soft, Goofy, Spread struct{ Value, Gradient float64 }
			}
			c.get("/api/docs/"+id+"/terms?step="+string(rune('0'+step)), &v)
			if d := v.Soft.Value - v.Goofy.Value - v.Spread.Value; math.Abs(d) > 1e-12*v.Soft.Value {
				t.Errorf("%s, step %d: %+v: off by %v", name, step, v, d)
			}
			own := map[string]float64{"soft": v.Soft.Value, "goofy": v.Goofy.Value}[name]
			if math.Abs(own-history.Loss[step]) > 1e-12*own {
				t.Errorf("%s, step %d: the term is %v and the loss %v", name, step, own, history.Loss[step])
			}
			if !(v.Soft.Gradient > 0 && v.Goofy.Gradient > 0 && v.Spread.Gradient > 0) {
				t.Errorf("%s, step %d: %+v", name, step, v)
			}
		}
	}
	if w := c.ask(http.MethodGet, "/api/docs/"+c.open(`{"model":"regression-relu"}`)+"/terms", ""); w.Code != http.StatusNotFound {
		t.Errorf("a regression has terms: %d %s", w.Code, w.Body)
	}
}

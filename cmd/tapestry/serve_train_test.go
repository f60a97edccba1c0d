package main

import (
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"testing"

	web "github.com/tapestry-ml/tapestry/cmd/tapestry/page"
)

// TestPageTrainsAsTheCommand: what is opened on the page by a name, and with what can be typed there, has
// the losses of the command train with the same flags: one default of rate, γ and optimiser for both.
func TestPageTrainsAsTheCommand(t *testing.T) {
	for name, c := range map[string]struct {
		asked string
		args  []string
	}{
		"clustering":      {`"model":"kmeans-softmax","data":"iris"`, []string{"kmeans-softmax", "--data", "iris"}},
		"in f32":          {`"model":"kmeans-goofy","data":"iris","dtype":"f32"`, []string{"kmeans-goofy", "--data", "iris", "--dtype", "f32"}},
		"rate":            {`"model":"kmeans-softmax","data":"wine","rate":0.02,"optimiser":"momentum"`, []string{"kmeans-softmax", "--data", "wine", "--rate", "0.02", "--optimiser", "momentum"}},
		"rate as text":    {`"model":"kmeans-softmax","data":"iris","schedule":"0.02"`, []string{"kmeans-softmax", "--data", "iris", "--rate", "0.02"}},
		"schedules":       {`"model":"kmeans-goofy","data":"iris","schedule":"0.1..0.01","courses":{"γ":"0.5..20"}`, []string{"kmeans-goofy", "--data", "iris", "--rate", "0.1..0.01", "--gamma", "0.5..20"}},
		"constant γ":      {`"model":"kmeans-goofy","data":"iris","courses":{"γ":"3"}`, []string{"kmeans-goofy", "--data", "iris", "--gamma", "3"}},
		"batches":         {`"model":"kmeans-sgd","data":"iris","seed":3`, []string{"kmeans-sgd", "--data", "iris", "--seed", "3"}},
		"as the notes":    {`"model":"kmeans-softmax","data":"iris","as_notes":true`, []string{"kmeans-softmax", "--data", "iris", "--as-notes"}},
		"own examples":    {`"model":"regression-relu","seed":2`, []string{"regression-relu", "--seed", "2"}},
		"own, scheduled":  {`"model":"regression-relu","schedule":"0.1..0.001"`, []string{"regression-relu", "--rate", "0.1..0.001"}},
		"own, by descent": {`"model":"regression-minimum-norm"`, []string{"regression-minimum-norm", "--batches", "fresh"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := trainedLosses(t, filepath.Join(t.TempDir(), "log.jsonl"), append(c.args, "--seeds", "1")...)
			s := web.New(web.Options{})
			defer s.Close()
			var doc struct{ ID, Error string }
			body := "{" + c.asked + "}"
			if name != "in f32" {
				body = `{"dtype":"f64",` + c.asked + "}"
			}
			if status := answer(t, s, http.MethodPost, "/api/open", body, &doc); status != http.StatusOK {
				t.Fatal(doc.Error)
			}
			answer(t, s, http.MethodPost, "/api/docs/"+doc.ID+"/train", fmt.Sprintf(`{"steps":%d}`, len(want)), nil)
			var h struct{ Loss []float64 }
			answer(t, s, http.MethodGet, "/api/docs/"+doc.ID+"/history", "", &h)
			if len(h.Loss) != len(want) || len(want) < 200 {
				t.Fatalf("%d steps, of the command %d", len(h.Loss), len(want))
			}
			for i := range want {
				if math.Abs(h.Loss[i]-want[i]) > 1e-12*math.Abs(want[i]) {
					t.Fatalf("step %d: the loss is %v, of the command %v", i, h.Loss[i], want[i])
				}
			}
		})
	}
}

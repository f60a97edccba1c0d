package page

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"
)

// TestIdentity: a document and one that its opening opens have one identity, whatever was left to
// the defaults; another setting, seed, rate, number type, text or table makes another.
func TestIdentity(t *testing.T) {
	c := newClient(t, Options{})
	open := func(request string) (v docView) {
		t.Helper()
		c.read(c.ask(http.MethodPost, "/api/open", request), request, &v)
		return v
	}
	first := open(`{"model":"kmeans-softmax","data":"iris","seed":1}`)
	if again := open(string(first.Opening)); again.Identity != first.Identity {
		t.Errorf("%s opens another document than it was said to", first.Opening)
	}
	if again := open(`{"model":"kmeans-softmax","data":"iris","seed":1,"dtype":"f32","settings":{"k":3}}`); again.Identity != first.Identity {
		t.Error("defaults that are written out make another identity")
	}
	met := map[string]string{first.Identity: "the first"}
	for _, request := range []string{
		`{"model":"kmeans-softmax","data":"iris","seed":2}`,
		`{"model":"kmeans-softmax","data":"iris","seed":1,"settings":{"k":4}}`,
		`{"model":"kmeans-softmax","data":"iris","seed":1,"dtype":"f64"}`,
		`{"model":"kmeans-softmax","data":"iris","seed":1,"rate":0.5}`,
		`{"model":"kmeans-softmax","data":"iris","seed":1,"optimiser":"sgd"}`,
		`{"model":"kmeans-softmax","seed":1}`,
		`{"model":"kmeans-goofy","data":"iris","seed":1}`,
		`{"model":"kmeans-softmax","data":"iris","seed":1,"scalars":{"gamma":2}}`,
	} {
		var v docView
		if w := c.ask(http.MethodPost, "/api/open", request); w.Code != http.StatusOK {
			continue
		} else if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		if before := met[v.Identity]; before != "" {
			t.Errorf("%s has the identity of %s", request, before)
		}
		met[v.Identity] = request
	}
	if len(met) < 8 {
		t.Errorf("only %d of the documents opened", len(met))
	}
}

// TestStanding: how far documents are is known while one of them is in use.
func TestStanding(t *testing.T) {
	c := newClient(t, Options{})
	c.read(c.ask(http.MethodPost, "/api/open", `{"model":"kmeans-softmax","data":"iris"}`), "open", &docView{})
	c.train("d1", 3)
	var v []standingView
	c.get("/api/shelf", &v)
	if want := []standingView{{"d1", 3}}; !reflect.DeepEqual(v, want) {
		t.Errorf("standing is %v, want %v", v, want)
	}
	c.ask(http.MethodDelete, "/api/docs/d1", "")
	c.get("/api/shelf", &v)
	if len(v) != 0 {
		t.Errorf("after closing it is %v", v)
	}
}

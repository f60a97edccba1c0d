package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestNamesStandAlone: where the name of a node stands alone, it says which node is meant, in
// words: no number tells apart what has one name, and nothing without a name is called by its
// number.
func TestNamesStandAlone(t *testing.T) {
	numbered := regexp.MustCompile(`[#%]\d+`)
	c := newClient(t, Options{})
	c.open(`{"model":"transformer-gpt","settings":{"layers":2}}`)
	c.train("d1", 2)
	d, err := c.s.shelf.find("d1")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{} // nodes, by what they are called
	for id, n := range d.asWritten.byID {
		if name := d.asWritten.called(n); ownName(n) != "" {
			all[name] = append(all[name], fmt.Sprint("n", id))
		}
		if id%4 > 0 {
			continue
		}
		at := strings.TrimSuffix(strings.Repeat("0,", n.Rank()), ",")
		for _, way := range []string{"operands", "sources"} {
			w := c.ask(http.MethodGet, fmt.Sprintf("/api/docs/d1/node/n%d/why?way=%s&step=1&at=%s", id, way, at), "")
			if w.Code != http.StatusOK {
				continue // of what is no float there is nothing to say
			}
			var why whyView
			if err := json.Unmarshal(w.Body.Bytes(), &why); err != nil {
				t.Fatal(err)
			}
			said := []string{why.Place}
			for _, s := range why.Shares {
				said = append(said, s.Label)
				for _, p := range append(s.Parts, s.Rows...) {
					said = append(said, p.Place)
				}
			}
			for _, s := range said {
				if numbered.MatchString(s) {
					t.Fatalf("why n%d, %s: %q", id, way, s)
				}
			}
		}
		var info nodeView
		c.get(fmt.Sprintf("/api/docs/d1/node/n%d?step=1", id), &info)
		for _, s := range append([]string{info.Label, info.Why}, values(info.Labels)...) {
			if numbered.MatchString(s) {
				t.Errorf("n%d: %q", id, s)
			}
		}
	}
	for name, nodes := range all {
		if len(nodes) > 1 {
			t.Errorf("%v are all called %q", nodes, name)
		}
	}
	for _, want := range []string{"block1 / norm1 / normed", "block2 / norm2 / normed", "block1 / self-attention / query / w", "loss", "output / w"} {
		if len(all[want]) != 1 {
			t.Errorf("%q is called of %v", want, all[want])
		}
	}
	var derived derivationView
	c.get("/api/docs/d1/derivation", &derived)
	if numbered.MatchString(derived.Derivation) && strings.Contains(derived.Derivation, "normed#") {
		t.Errorf("the derivation numbers names: %.100s", derived.Derivation[strings.Index(derived.Derivation, "normed#"):])
	}
	if by := strings.Join(derived.By, "; "); !strings.Contains(by, "block1 / self-attention / query / w") {
		t.Errorf("it is derived by %s", by)
	}
}

func values(m map[string]string) (out []string) {
	for _, s := range m {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

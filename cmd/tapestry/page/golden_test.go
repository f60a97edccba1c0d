package page

import (
	"encoding/json"
	"flag"
	"os"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// rounded brings numbers to four digits and drawings to their names, so that the golden
// file shows the protocol, and no processor's last digits.
func rounded(v any) any {
	switch v := v.(type) {
	case float64:
		f, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
		return f
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return strconv.FormatFloat(f, 'g', 4, 64)
		}
		if len(v) > 200 {
			return v[:strings.IndexAny(v, " >")] + "…"
		}
	case []any:
		for i, x := range v {
			v[i] = rounded(x)
		}
		if len(v) > 6 {
			return append(v[:6:6], "…")
		}
	case map[string]any:
		for k, x := range v {
			if k == "svg" || k == "time" || k == "box" || k == "pos" || k == "kept" || k == "width" || k == "height" {
				delete(v, k)
				continue
			}
			if items, is := x.([]any); is && k == "items" {
				x = oneOfEachKind(items)
			}
			v[k] = rounded(x)
		}
	}
	return v
}

// oneOfEachKind leaves out all but the first item of each kind.
func oneOfEachKind(items []any) (out []any) {
	met := map[any]bool{}
	for _, item := range items {
		if kind := item.(map[string]any)["kind"]; !met[kind] {
			met[kind] = true
			out = append(out, item)
		}
	}
	return out
}

// TestProtocol: the answers of one small model have the form that the page knows.
func TestProtocol(t *testing.T) {
	c := newClient(t, Options{})
	c.open(`{"model":"kmeans-softmax","data":"iris","dtype":"f64","seed":1}`)
	c.train("d1", 3)
	var got strings.Builder
	for _, path := range []string{
		"/api/docs/d1", "/api/docs/d1/sheet?grad=1&overlay=grad&step=2", "/api/docs/d1/node/n1?step=2", "/api/docs/d1/node/n1/values?step=2&at=1,0",
		"/api/docs/d1/history", "/api/docs/d1/derivation", "/api/compare?a=d1&b=d1&grad=1",
	} {
		var v any
		c.get(path, &v)
		got.WriteString("GET " + path + "\n")
		e := json.NewEncoder(&got)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		if err := e.Encode(rounded(v)); err != nil {
			t.Fatal(err)
		}
		got.WriteString("\n")
	}
	const file = "testdata/protocol.txt"
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w, g := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			t.Fatalf("%s:%d: %s, want %s (go test -update writes it anew)", file, i+1, g[i], w[i])
		}
	}
	if len(w) != len(g) {
		t.Errorf("%d lines, want %d", len(g), len(w))
	}
}

// TestOpenAndClose: modules open and close one by one, and the sheet says which are.
func TestOpenAndClose(t *testing.T) {
	c := newClient(t, Options{})
	id := c.open(`{"model":"transformer-seq2seq"}`)
	boxes := func(query string) (open, folded map[string]bool, n int) {
		t.Helper()
		var v sheetView
		c.get("/api/docs/"+id+"/sheet?level=primitive&grad=1&"+query, &v)
		open, folded = map[string]bool{}, map[string]bool{}
		for _, m := range v.Modules {
			open[m.Path] = m.Open
		}
		for _, p := range v.Folded {
			folded[p] = true
		}
		for _, item := range v.Items {
			if item.Kind == "node" {
				n++
				if strings.HasPrefix(item.Node, "m-") || strings.HasPrefix(item.Node, "d-") {
					var info moduleInfo
					c.get("/api/docs/"+id+"/node/"+item.Node, &info)
					if info.Name != item.Path || info.Module.Nodes == 0 {
						t.Errorf("the box of %s is told of as %+v", item.Path, info)
					}
				}
			}
		}
		return open, folded, n
	}
	open, folded, few := boxes("")
	if open["decoder"] || !folded["decoder"] {
		t.Errorf("without a wish the decoder is open: %v, folded: %v", open["decoder"], folded)
	}
	open, folded, more := boxes("open=decoder,nothing/there")
	if !open["decoder"] || folded["decoder"] || more <= few {
		t.Errorf("opened, the decoder is open: %v, folded: %v, %d boxes after %d", open["decoder"], folded, more, few)
	}
	open, folded, all := boxes("open=*")
	if len(folded) > 0 || all < 300 || !open["encoder"] {
		t.Errorf("all open: folded are %v, %d boxes", folded, all)
	}
	open, folded, less := boxes("open=*&closed=encoder")
	if open["encoder"] || !folded["encoder"] || !open["decoder"] || less >= all {
		t.Errorf("one closed: %v, folded %v, %d boxes of %d", open, folded, less, all)
	}
	if c.ask("DELETE", "/api/docs/"+id, "").Code != 200 {
		t.Error("it does not close")
	}
	small := c.open(`{"model":"kmeans-softmax","data":"iris"}`)
	var v sheetView
	c.get("/api/docs/"+small+"/sheet?level=ops&closed=assign", &v)
	if len(v.Folded) != 1 || v.Folded[0] != "assign" {
		t.Errorf("closed by hand: %v", v.Folded)
	}
}

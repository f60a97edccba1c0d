package main

import (
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLive: a report with the page inside has it as text, opens what is compared, with its
// settings, and says what that does not have.
func TestLive(t *testing.T) {
	const objective = "objective \"own\"\ninput x[n=4] ~ normal(0, 1)\nparam w[n]\nloss = mean((x - w)^2)\n"
	small, err := packed([]byte(objective))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(small)))); err != nil || string(text) != objective {
		t.Errorf("packed and unpacked the text is %q, %v", text, err)
	}
	dir := t.TempDir()
	wasm, rows, own := filepath.Join(dir, "tapestry.wasm"), filepath.Join(dir, "rows.csv"), filepath.Join(dir, "own.tapestry")
	for name, text := range map[string]string{wasm: "\x00asm", filepath.Join(dir, "wasm_exec.js"): "class Go {}", rows: "a,b\n1,2\n3,4\n5,9\n8,1\n",
		own: objective} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, address, note string }{
		{"kmeans-softmax kmeans-goofy --k 4 --gamma 0.5..9 --rate 0.1", "doc=model=kmeans-softmax;$k=4;seed=0;data=iris;~γ=0.5..9;rate=0.1&doc=model=kmeans-goofy;$k=4;seed=0;data=iris;~γ=0.5..9;rate=0.1&at=0&beside=1", ""},
		{"kmeans-softmax kmeans-goofy --data " + rows + " --k 2 --seed 7", "doc=model=kmeans-softmax;$k=2;seed=7&doc=model=kmeans-goofy;$k=2;seed=7&at=0&beside=1", "not on the rows of rows.csv"},
		{"kmeans-softmax kmeans-goofy --standardise --start points", "doc=model=kmeans-softmax;seed=0;data=iris", "It takes no heed of --standardise, --start."},
		{"regression-relu{h=9} regression-ridge-features --dtype float64", "doc=model=regression-relu;$h=9;seed=0;dtype=f64&doc=model=regression-ridge-features;seed=0;dtype=f64&at=0&beside=1", ""},
		{own + " --data iris --bind x=sepal_length --batch 4", "doc=text=" + small + ";name=own.tapestry;seed=0", "not on the rows of iris"},
		{"regression-relu " + own + " --set h=5 --optimiser sgd", "doc=model=regression-relu;$h=5;seed=0;optimiser=sgd&doc=text=" + small + ";name=own.tapestry;seed=0;optimiser=sgd", ""},
	} {
		out := filepath.Join(dir, "report.html")
		args := append(strings.Fields(c.args), "--live", "--wasm", wasm, "--seeds", "1", "--steps", "2", "--out", out)
		if code, _, errOut := tapestry(t, append([]string{"compare"}, args...)...); code != 0 {
			t.Errorf("%s: %s", c.args, errOut)
			continue
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), `data-address="`)
		address, _, _ := strings.Cut(rest, `"`)
		if address, err = url.PathUnescape(html.UnescapeString(address)); err != nil || !strings.Contains(address, c.address) {
			t.Errorf("%s: the address is %s, %v\nwant %s", c.args, address, err, c.address)
		}
		if !strings.Contains(string(text), c.note) {
			t.Errorf("%s: the report does not say %q", c.args, c.note)
		}
		_, rest, _ = strings.Cut(string(text), `<script type="application/json" id="live-page">`)
		inside, _, _ := strings.Cut(rest, "</script>")
		var page string
		if err := json.Unmarshal([]byte(inside), &page); err != nil || !strings.Contains(page, `data-engine="worker"`) {
			t.Errorf("%s: the page inside is %.100s, %v", c.args, page, err)
		}
	}
	for _, q := range []struct {
		args, want string
		code       int
	}{
		{"compare --wasm " + wasm, "want --live, too", 2},
		{"compare --live --wasm " + filepath.Join(dir, "none"), "no such file", 1},
		{"compare --live --wasm " + rows, "the engine is not WebAssembly", 1},
	} {
		if code, _, errOut := tapestry(t, strings.Fields(q.args)...); code != q.code || !strings.Contains(errOut, q.want) {
			t.Errorf("%s: exit code %d, %s", q.args, code, errOut)
		}
	}
}

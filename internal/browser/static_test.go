package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// standing writes the page without a server into a folder, once.
var standing = sync.OnceValues(func() (string, error) {
	dir := command + "-static"
	out, err := exec.Command(command, "page", "--static", dir).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return dir, err
})

// hosted serves the page without a server from a folder of a host of files, and gives the host's
// origin.
func hosted(t *testing.T, folder string) string {
	t.Helper()
	chromium(t)
	dir, err := standing()
	if err != nil {
		t.Fatal(err)
	}
	host := httptest.NewServer(http.StripPrefix(folder, http.FileServer(http.Dir(dir))))
	t.Cleanup(host.Close)
	return host.URL
}

// both opens soft k-means beside goofy and trains them.
const both = `(async () => {
	const api = await import(new URL("assets/api.js", document.baseURI));
	const losses = [];
	for (const model of ["kmeans-softmax", "kmeans-goofy"]) {
		const { id } = await api.open({ model, data: "iris", settings: {}, dtype: "f64", seed: 3 });
		await api.train(id, 100, () => {});
		losses.push((await api.history(id)).loss.map((v) => v.toPrecision(5)));
	}
	return JSON.stringify(losses);
})()`

// TestStatic: the page that a host of files serves, below a path of its own, is opened, trains two
// objectives side by side and saves files, and its numbers are those that the server shows.
func TestStatic(t *testing.T) {
	at := hosted(t, "/some/folder")
	p := browse(t, 1440, 900, at)
	p.do(chromedp.Navigate(at+"/some/folder/"), chromedp.WaitReady("body[data-ready]"))
	if said := p.text("[data-alone]"); !strings.Contains(said, "without a server") {
		t.Errorf("of files of the machine it says %q", said)
	}
	p.do(chromedp.Click("#starts button"))
	p.until("two drawings", `document.querySelectorAll("#panes .pane, #panes .items").length && document.querySelectorAll("#documents li").length === 2`)
	p.still()
	p.train(100)
	p.picture("static")
	got := eval[string](p, both)

	served := open(t, 1440, 900)
	if want := eval[string](served, both); got != want {
		t.Errorf("the losses are %.300s\nthe server's are %.300s", got, want)
	}

	// A step of a training that goes on: the engine lets other questions in, and ends when nobody
	// waits for it.
	steps := eval[int](p, `(async () => {
		const api = await import(new URL("assets/api.js", document.baseURI));
		const { id } = await api.open({ model: "kmeans-softmax", data: "iris", settings: {} });
		const stop = new AbortController();
		let n = 0, asked;
		try {
			await api.train(id, 100000, () => { n++; asked ??= api.models().then(() => stop.abort()); }, stop.signal);
		} catch (e) {
			if (e.name !== "AbortError") throw e;
		}
		return (await api.history(id)).steps;
	})()`)
	if steps < 1 || steps == 100_000 {
		t.Errorf("a training that is ended has done %d steps", steps)
	}

	// Links to files save them.
	saved := eval[string](p, `(async () => {
		const text = new Promise((is) => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then(is); return make(blob); }; });
		document.querySelector("#download").click();
		document.querySelector('#downloads [data-kind="listing"]').click();
		return text;
	})()`)
	if !strings.Contains(saved, "MatMul") && !strings.Contains(saved, "loss") {
		t.Errorf("the listing is saved as %.200q", saved)
	}
	mistake := eval[string](p, `import(new URL("assets/api.js", document.baseURI)).then((api) => api.open({ model: "none" })).then(() => "", (e) => e.status + " " + e.message)`)
	if !strings.HasPrefix(mistake, "404 ") {
		t.Errorf("an unknown model is told of as %q", mistake)
	}
}

// probe trains soft k-means in the page that it is part of, and tells the page around it.
const probe = `
addEventListener("load", async () => {
	while (!("ready" in document.body.dataset)) await new Promise((is) => setTimeout(is, 20));
	const api = await import(new URL("assets/api.js", document.baseURI));
	const { id } = await api.open({ model: "kmeans-softmax", data: "iris", settings: {} });
	await api.train(id, 100, () => {});
	const since = performance.now();
	await api.train(id, 500, () => {});
	const pace = 500e3 / (performance.now() - since);
	parent.postMessage({ steps: (await api.history(id)).steps, pace }, "*");
});`

// TestStaticInFrame: the page works in a frame of a page of another origin. How many steps of soft
// k-means on iris it makes a second is logged.
func TestStaticInFrame(t *testing.T) {
	chromium(t)
	dir, err := standing()
	if err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(dir))
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/probe.html":
			page, _ := os.ReadFile(filepath.Join(dir, "index.html"))
			_, _ = w.Write(bytes.Replace(page, []byte("</head>"), []byte(`<script src="probe.js"></script></head>`), 1))
		case "/probe.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(probe))
		default:
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(host.Close)
	notes := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!DOCTYPE html><link rel="icon" href="data:,"><title>notes</title><script>onmessage = (e) => (document.title = JSON.stringify(e.data))</script><iframe width="1200" height="800" src="%s/probe.html"></iframe>`, host.URL)
	}))
	t.Cleanup(notes.Close)
	p := browse(t, 1440, 900, host.URL)
	p.around = strings.Replace(notes.URL, "127.0.0.1", "localhost", 1) // another site
	p.do(chromedp.Navigate(p.around + "/"))
	p.until("what the frame tells", `document.title.startsWith("{")`)
	var did struct {
		Steps int
		Pace  float64
	}
	if text := eval[string](p, "document.title"); json.Unmarshal([]byte(text), &did) != nil || did.Steps != 600 {
		t.Errorf("the frame tells of %s", text)
	}
	t.Logf("%.0f steps a second", did.Pace)
}

// TestOneFile: the page as one file is opened from a disk, trains to the numbers of the server, and
// its address leads back to what was shown.
func TestOneFile(t *testing.T) {
	chromium(t)
	dir, err := standing()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if out, err := exec.Command(command, "page", "--static", file, "--wasm", filepath.Join(dir, "assets", "tapestry.wasm")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	at := "file://" + file
	p := browse(t, 1440, 900, "file://")
	p.do(chromedp.Navigate(at), chromedp.WaitReady("body[data-ready]"))
	p.do(chromedp.Click("#starts button"))
	p.until("two drawings", `document.querySelectorAll("#panes .pane, #panes .items").length && document.querySelectorAll("#documents li").length === 2`)
	p.still()
	// The driver loses the elements of a file whose address the page has changed: the script clicks.
	p.do(chromedp.Evaluate(`document.querySelector("#steps").value = 100; document.querySelector("#train").click()`, nil))
	p.until("the end of training", `document.querySelector("#train").textContent === "Train" && +document.querySelector("#step").max === 100`)
	p.still()
	p.picture("one-file")
	losses := strings.ReplaceAll(both, `import(new URL("assets/api.js", document.baseURI))`, `import("tapestry/api.js")`)
	got := eval[string](p, losses)
	served := open(t, 1440, 900)
	if want := eval[string](served, both); got != want {
		t.Errorf("the losses are %.300s\nthe server's are %.300s", got, want)
	}
	p.until("an address", `location.hash.includes("doc=")`)
	link := eval[string](p, "location.href")
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link), chromedp.WaitReady("body[data-ready]"))
	p.until("the models again, trained", `document.querySelectorAll("#documents li").length === 4 && +document.querySelector("#step").max === 100`)
}

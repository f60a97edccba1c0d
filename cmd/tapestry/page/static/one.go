package static

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/csp"
)

var imported = regexp.MustCompile(`(?m)^((?:import|export)\b[^"\n]*)"\./(\w+\.js)"`)

// One returns the page as one file, which a browser opens from a disk as well as from a host:
// styles, scripts and the engine, compressed, are inside, and its policy forbids everything else.
// The modules of its scripts are in an import map, under names that begin with tapestry/.
func One(e Engine) ([]byte, error) {
	files, err := e.files()
	if err != nil {
		return nil, err
	}
	modules := map[string]string{}
	for name, text := range files {
		name, script := strings.CutPrefix(name, "assets/")
		if !script || !strings.HasSuffix(name, ".js") || classic[name] {
			continue
		}
		modules["tapestry/"+name] = dataURL("text/javascript", imported.ReplaceAll(text, []byte(`$1"tapestry/$2"`)))
	}
	list, err := json.Marshal(map[string]any{"imports": modules})
	if err != nil {
		return nil, err
	}
	theme, first := string(files["assets/theme.js"]), `import "tapestry/app.js";`
	icon := dataURL("image/svg+xml", files["assets/icon.svg"])
	worker := string(files["assets/wasm_exec.js"]) + "\n" + strings.Replace(string(files["assets/worker.js"]), `importScripts("wasm_exec.js");`, "", 1)
	page := string(byWorker(files["index.html"]))
	for _, c := range [][2]string{
		{`<link rel="stylesheet" href="assets/app.css">`, "<style>" + string(files["assets/app.css"]) + "</style>"},
		{`<script src="assets/theme.js"></script>`, "<script>" + theme + "</script>"},
		{`<script type="module" src="assets/app.js"></script>`, `<script type="importmap">` + string(list) + "</script>\n" +
			`<script type="module">` + first + "</script>"},
		{"assets/icon.svg", icon},
		{"</body>", inside("worker.js", []byte(worker)) + inside("chart.css", files["assets/chart.css"]) + inside("tapestry.wasm.gz", files["assets/tapestry.wasm.gz"]) + "</body>"},
	} {
		if !strings.Contains(page, c[0]) {
			return nil, fmt.Errorf("the page has no %s", c[0])
		}
		page = strings.ReplaceAll(page, c[0], c[1])
	}
	return []byte(csp.SealProgram(page, theme, string(list), first)), nil
}

// classic has the scripts that are no modules.
var classic = map[string]bool{"theme.js": true, "worker.js": true, "wasm_exec.js": true}

// inside returns a file as an element that is read by its name.
func inside(name string, text []byte) string {
	return `<script type="text/plain" data-file="` + name + `">` + base64.StdEncoding.EncodeToString(text) + "</script>\n"
}

func dataURL(kind string, text []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(text)
}

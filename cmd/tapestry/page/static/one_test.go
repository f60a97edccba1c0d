package static

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
)

// TestOne: the file has all that it names inside: every module that one imports is in the import
// map, and the engine is the one that was given.
func TestOne(t *testing.T) {
	if _, err := One(Engine{Wasm: []byte("<html>")}); err == nil || err.Error() != "the engine is not WebAssembly" {
		t.Errorf("what is no engine: %v", err)
	}
	e := Engine{Wasm: []byte("\x00asm and the rest"), Exec: []byte("class Go {}")}
	text, err := One(e)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"#]*)"`).FindAllStringSubmatch(page, -1) {
		if m[1] != "" && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page names %s, which is outside", m[1])
		}
	}
	between := func(from, to string) string {
		_, rest, found := strings.Cut(page, from)
		inside, _, ends := strings.Cut(rest, to)
		if !found || !ends {
			t.Fatalf("the page has no %s", from)
		}
		return inside
	}
	var list struct{ Imports map[string]string }
	if err := json.Unmarshal([]byte(between(`<script type="importmap">`, "</script>")), &list); err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^(?:import|export)\b.* from "([^"]*)";`)
	for name, url := range list.Imports {
		code, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(url, "data:text/javascript;base64,"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range names.FindAllSubmatch(code, -1) {
			if _, there := list.Imports[string(m[1])]; !there {
				t.Errorf("%s imports %s, which is not there", name, m[1])
			}
		}
	}
	if len(list.Imports) < 30 || list.Imports["tapestry/app.js"] == "" {
		t.Errorf("%d modules", len(list.Imports))
	}
	file := func(name string) []byte {
		text, err := base64.StdEncoding.DecodeString(between(`data-file="`+name+`">`, "</script>"))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if code := file("worker.js"); !bytes.HasPrefix(code, e.Exec) || bytes.Contains(code, []byte("importScripts(")) {
		t.Errorf("the worker is %.100s", code)
	}
	z, err := gzip.NewReader(bytes.NewReader(file("tapestry.wasm.gz")))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, e.Wasm) {
		t.Errorf("the engine is %q, %v", got, err)
	}
}

package static

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWrite: the folder has the page, marked as one without a server, all that it names, and the
// engine twice; what is no engine is refused.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if _, err := Write(dir, Engine{Wasm: []byte("<!DOCTYPE html>")}); err == nil || err.Error() != "the engine is not WebAssembly" {
		t.Errorf("what is no engine: %v", err)
	}
	e := Engine{Wasm: []byte("\x00asm and the rest"), Exec: []byte("class Go {}")}
	w, err := Write(dir, e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Write(dir, e); err != nil {
		t.Errorf("again: %v", err)
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		return text
	}
	index := string(read("index.html"))
	for _, part := range []string{`<html data-engine="worker"`, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'`} {
		if strings.Count(index, part) != 1 {
			t.Errorf("the page has %d times %s", strings.Count(index, part), part)
		}
	}
	named := regexp.MustCompile(`(?:src|href)="([^"#]*)"`).FindAllStringSubmatch(index, -1)
	if len(named) < 5 {
		t.Errorf("the page names %d files", len(named))
	}
	for _, m := range named {
		if strings.HasPrefix(m[1], "/") || strings.Contains(m[1], ":") {
			t.Errorf("the page names %s, which is not below it", m[1])
			continue
		}
		read(m[1])
	}
	if len(read("assets/chart.css")) == 0 || !bytes.Equal(read("assets/tapestry.wasm"), e.Wasm) || !bytes.Equal(read("assets/wasm_exec.js"), e.Exec) {
		t.Error("the engine is not what was given")
	}
	z, err := gzip.NewReader(bytes.NewReader(read("assets/tapestry.wasm.gz")))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, e.Wasm) {
		t.Errorf("compressed it is %q, %v", text, err)
	}
	files := 0
	for _, name := range []string{".", "assets"} {
		entries, err := os.ReadDir(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files += len(entries)
	}
	if w.Files != files-1 || w.Loaded != w.Bytes-len(e.Wasm) { // but for the folder itself
		t.Errorf("%d files are there, %+v", files-1, w)
	}
}

// TestRead: an engine comes with the wasm_exec.js beside it.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tapestry.wasm")
	if _, err := Read(t.Context(), file); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	for name, text := range map[string]string{file: "code", filepath.Join(dir, "wasm_exec.js"): "class Go {}"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if e, err := Read(t.Context(), file); err != nil || string(e.Wasm) != "code" || string(e.Exec) != "class Go {}" {
		t.Errorf("%q, %q, %v", e.Wasm, e.Exec, err)
	}
}

// TestNoGo: without the Go command the error says what to do.
func TestNoGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Build(t.Context()); err == nil || !strings.Contains(err.Error(), "--wasm") {
		t.Errorf("without Go: %v", err)
	}
}

// TestSource: the source of a program that was built in a folder is that folder.
func TestSource(t *testing.T) {
	dir, err := source(t.Context())
	if err != nil {
		t.Skip(err) // built with -trimpath
	}
	if _, err := os.Stat(filepath.Join(dir, "cmd", "tapestry", "page", "worker", "main.go")); err != nil {
		t.Error(err)
	}
}

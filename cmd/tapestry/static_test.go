package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStaticPage: the page is written with an engine that was given, and mistakes are told of.
func TestStaticPage(t *testing.T) {
	dir := t.TempDir()
	wasm := filepath.Join(dir, "tapestry.wasm")
	for name, text := range map[string]string{wasm: "\x00asm", filepath.Join(dir, "wasm_exec.js"): "class Go {}", filepath.Join(dir, "page.wasm"): "<html>"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	if code, said, errOut := tapestry(t, "page", "--static", out, "--wasm", wasm); code != 0 || !strings.Contains(said, "out: ") || !strings.Contains(said, " files") {
		t.Errorf("exit code %d: %s%s", code, said, errOut)
	}
	if _, err := os.Stat(filepath.Join(out, "index.html")); err != nil {
		t.Error(err)
	}
	if code, said, errOut := tapestry(t, "page", "--static", out, "--wasm", wasm, "--json"); code != 0 || !strings.Contains(said, `"loaded":`) {
		t.Errorf("exit code %d: %s%s", code, said, errOut)
	}
	one := filepath.Join(dir, "page.html")
	if code, said, errOut := tapestry(t, "page", "--static", one, "--wasm", wasm); code != 0 || !strings.Contains(said, "page.html: ") || !strings.Contains(said, " MB") {
		t.Errorf("exit code %d: %s%s", code, said, errOut)
	}
	if text, err := os.ReadFile(one); err != nil || !strings.Contains(string(text), `data-engine="worker"`) {
		t.Errorf("the file is %.200s, %v", text, err)
	}
	for _, q := range []struct {
		args, want string
		code       int
	}{
		{"page", "want --static with the folder or file to write", 2},
		{"page kmeans-softmax", "want no arguments", 2},
		{"page --static " + out + " --wasm " + filepath.Join(dir, "page.wasm"), "the engine is not WebAssembly", 1},
		{"page --static " + out + " --wasm " + filepath.Join(dir, "none"), "no such file", 1},
		{"page --static " + wasm + "/out --wasm " + wasm, "not a directory", 1},
	} {
		if code, _, errOut := tapestry(t, strings.Fields(q.args)...); code != q.code || !strings.Contains(errOut, q.want) {
			t.Errorf("%s: exit code %d, %s", q.args, code, errOut)
		}
	}
}

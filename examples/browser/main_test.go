package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/interop/onnx"
)

// TestPage: the page has the runtime, the step and the training in Go in it, and loads nothing. What it
// does in a browser is tested in internal/browser.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "digits.html")
	err := made(context.Background(), out, dir, 30)
	if err == nil || !strings.HasSuffix(err.Error(), "want -runtime FOLDER, where npm put onnxruntime-web's dist") {
		t.Errorf("without the runtime: %v", err)
	}
	for _, file := range runtimeFiles {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(file), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := made(context.Background(), out, dir, 30); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`id="wasm"`, `id="step"`, `id="begin"`, `"losses":[`, "default-src 'none'"} {
		if !bytes.Contains(page, []byte(part)) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if bytes.Contains(page, []byte("src=")) || bytes.Contains(page, []byte("https://")) {
		t.Error("the page loads something")
	}
	if err := made(context.Background(), out, dir, 20); err == nil || err.Error() != "-steps 20: want more than the 20 in which the rate rises" {
		t.Error(err)
	}
}

// TestStep: the step takes any number of rows, and what it begins with is what it updates.
func TestStep(t *testing.T) {
	var step, begin bytes.Buffer
	if err := write(&step, &begin, nil, 100); err != nil {
		t.Fatal(err)
	}
	open := func(b bytes.Buffer) *onnx.File {
		f, err := onnx.Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "it")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	model, first := open(step), open(begin)
	if in := first.Inputs(); len(in) > 0 {
		t.Errorf("what it begins with takes %v", in)
	}
	given := map[string]bool{}
	for _, v := range first.Outputs() {
		given[v.Name] = true
	}
	for _, v := range model.Inputs() {
		if given[v.Name] == (v.Name == "x" || v.Name == "y") || v.Default {
			t.Errorf("%+v is given at the beginning: %v", v, given[v.Name])
		}
		if v.Name == "x" && v.Type != "float32[n=n p=64]" {
			t.Errorf("x is %s", v.Type)
		}
	}
	for _, v := range model.Outputs() {
		if name, next := strings.CutSuffix(v.Name, ".next"); next && !given[name] {
			t.Errorf("%s is updated, and not given at the beginning", name)
		}
	}
}

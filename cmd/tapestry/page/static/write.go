package static

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tapestry-ml/tapestry/cmd/tapestry/page"
	"github.com/tapestry-ml/tapestry/viz/chart"
)

// Engine is the code that a static page computes with.
type Engine struct {
	Wasm []byte // of the command in cmd/tapestry/page/worker
	Exec []byte // wasm_exec.js of the Go that compiled it
}

// Written says what was written.
type Written struct {
	Files  int
	Bytes  int // of all files
	Loaded int // of those that a browser loads, if it decompresses the engine itself
}

// policy lets the page load its own files and compile its engine, and nothing else.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'"

// Write writes the page into a folder, which it makes if there is none. Files there that have other
// names stay.
func Write(dir string, e Engine) (w Written, err error) {
	files, err := e.files()
	if err != nil {
		return w, err
	}
	files["assets/tapestry.wasm"] = e.Wasm
	files["index.html"] = alone(files["index.html"])
	if err := os.MkdirAll(filepath.Join(dir, "assets"), 0o777); err != nil {
		return w, err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o666); err != nil {
			return w, err
		}
		w.Files++
		w.Bytes += len(text)
	}
	w.Loaded = w.Bytes - len(e.Wasm)
	return w, nil
}

// files returns the files of the page by their names, with the engine compressed.
func (e Engine) files() (map[string][]byte, error) {
	if !bytes.HasPrefix(e.Wasm, []byte("\x00asm")) {
		return nil, errors.New("the engine is not WebAssembly")
	}
	var small bytes.Buffer
	z, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err = z.Write(e.Wasm); err == nil {
		err = z.Close()
	}
	files := map[string][]byte{
		"assets/chart.css":        []byte(chart.Style()),
		"assets/wasm_exec.js":     e.Exec,
		"assets/tapestry.wasm.gz": small.Bytes(),
	}
	return files, errors.Join(err, fs.WalkDir(page.Assets(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(page.Assets(), name)
		if name != "index.html" {
			name = "assets/" + name
		}
		files[name] = text
		return err
	}))
}

// alone marks the page as one without a server, and forbids it to ask anyone else.
func alone(index []byte) []byte {
	index = byWorker(index)
	return bytes.Replace(index, []byte("<title>"), []byte(`<meta http-equiv="Content-Security-Policy" content="`+policy+"\">\n<title>"), 1)
}

// byWorker marks the page as one whose engine is a worker.
func byWorker(index []byte) []byte {
	return bytes.Replace(index, []byte("<html "), []byte(`<html data-engine="worker" `), 1)
}

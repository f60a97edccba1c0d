package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
)

// onnxPage returns docs/onnx.md.
func onnxPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/onnx.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestONNXPage: the first command of docs/onnx.md prints what is there.
func TestONNXPage(t *testing.T) {
	page := onnxPage(t)
	t.Chdir(t.TempDir())
	m := regexp.MustCompile("(?s)```console\n\\$ tapestry (export [^\n]*)\n(.*?)```").FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no command")
	}
	if out := ok(t, strings.Fields(m[1])...); out != m[2] {
		t.Errorf("%s prints\n%swant\n%s", m[1], out, m[2])
	}
}

// TestONNXPageProgram: the program of docs/onnx.md trains in Node what the command before it wrote, and prints what is
// there. Node finds npm's onnxruntime-node around the library, and onnxruntime-common beside it.
func TestONNXPageProgram(t *testing.T) {
	rt, err := onnxruntime.Open("")
	if err != nil {
		t.Skip(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	root, _, ofNPM := strings.Cut(filepath.ToSlash(rt.File()), "/bin/napi-v3/")
	common := filepath.Join(root, "..", "..", "onnxruntime-common-1.20.1", "package")
	if _, err := os.Stat(common); !ofNPM || err != nil {
		t.Skipf("%s is not of npm's onnxruntime-node with onnxruntime-common beside it", rt.File())
	}
	page := onnxPage(t)
	m := regexp.MustCompile("(?s)```console\n\\$ tapestry (export [^\n]*--begin[^\n]*)\n.*?```js\n(.*?)```\n\n```\n(.*?)```").FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no program")
	}
	t.Chdir(t.TempDir())
	ok(t, strings.Fields(m[1])...)
	if err := os.WriteFile("train.js", []byte(m[2]), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("packages", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{"onnxruntime-node": root, "onnxruntime-common": common} {
		if err := os.Symlink(at, filepath.Join("packages", name)); err != nil {
			t.Skip(err)
		}
	}
	packages, err := filepath.Abs("packages")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "train.js")
	cmd.Env = append(os.Environ(), "NODE_PATH="+packages)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != m[3] {
		t.Errorf("%v: it prints\n%swant\n%s", err, out, m[3])
	}
}

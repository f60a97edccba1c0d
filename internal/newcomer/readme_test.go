package newcomer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme follows the README. Its programs are whole, are the examples of the root package,
// and print what is shown below them.
func TestReadme(t *testing.T) {
	h := newHome(t)
	h.install(t)
	p := readPage(t, "README.md")
	dir := t.TempDir()
	h.start(t, dir)
	programs := 0
	for i, b := range p.blocks {
		if b.lang != "go" {
			continue
		}
		programs++
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(b.text()), 0o666); err != nil {
			t.Fatal(err)
		}
		h.run(t, dir, "go", "vet", ".")
		out := h.run(t, dir, "go", "run", ".")
		if shown := p.blocks[i+1]; shown.lang != "" || shown.text() != out {
			t.Errorf("README.md:%d: the program prints\n%s", b.from, out)
		}
		if !isExample(t, b.text()) {
			t.Errorf("README.md:%d: the program is no example of the root package", b.from)
		}
	}
	if programs < 2 {
		t.Errorf("%d programs", programs)
	}
	p.follow(t, h, t.TempDir())
}

// isExample reports whether a program is an example of the root package, but for the names of
// package and function and for the output.
func isExample(t *testing.T, program string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "example_*_test.go"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "example_"), "_test.go")
		example, _, _ := strings.Cut(string(text), "\t// Output:")
		example = strings.Replace(example, "package tapestry_test\n", "package main\n", 1)
		example = strings.Replace(example, "func Example_"+name+"()", "func main()", 1)
		if example+"}\n" == program {
			return true
		}
	}
	return false
}

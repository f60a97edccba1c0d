package newcomer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadme follows the README. Its programs are whole: they are the examples of the root
// package, and print what is shown below them.
func TestReadme(t *testing.T) {
	h := newHome(t)
	h.install(t)
	p := readPage(t, "README.md")
	old := *p
	old.blocks = slices.Clone(p.blocks)
	dir := t.TempDir()
	h.start(t, dir)
	examples := []string{"objective", "classifier"}
	for i := range p.blocks {
		b := &p.blocks[i]
		if b.lang != "go" {
			continue
		}
		if len(examples) == 0 {
			t.Fatalf("README.md:%d: a program that is no example of the root package", b.from)
		}
		program := example(t, examples[0])
		if b.text() != program {
			if !*update {
				t.Errorf("README.md:%d: the program is not Example_%s of the root package", b.from, examples[0])
			}
			b.set(program)
		}
		examples = examples[1:]
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o666); err != nil {
			t.Fatal(err)
		}
		h.run(t, dir, "go", "vet", ".")
		out := h.run(t, dir, "go", "run", ".")
		if shown := &p.blocks[i+1]; shown.lang != "" || shown.text() != out {
			if !*update {
				t.Errorf("README.md:%d: the program prints\n%s", b.from, out)
			}
			shown.set(out)
		}
	}
	if len(examples) > 0 {
		t.Errorf("the README does not show the examples %q", examples)
	}
	if *update {
		p.write(t, old)
		p = readPage(t, "README.md")
	}
	p.follow(t, h, t.TempDir())
}

// example returns an example of the root package as a program.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "example_"+name+"_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	body, _, found := strings.Cut(string(text), "\t// Output:")
	if !found {
		t.Fatalf("Example_%s has no output", name)
	}
	return strings.NewReplacer("package tapestry_test\n", "package main\n", "func Example_"+name+"()", "func main()").Replace(body) + "}\n"
}

package tapestry_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
)

// TestNotesMap holds docs/notes-map.md true: every builder is in it, and every
// builder, command and function it names exists.
func TestNotesMap(t *testing.T) {
	text, err := os.ReadFile("docs/notes-map.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("builder `([^`]+)`").FindAllStringSubmatch(string(text), -1) {
		named[m[1]] = true
		if _, err := builders.Lookup(m[1]); err != nil {
			t.Errorf("the map names builder %s: %v", m[1], err)
		}
	}
	for _, b := range builders.Names() {
		if !named[b] {
			t.Errorf("builder %s is not in the map", b)
		}
	}
	for _, m := range regexp.MustCompile("command `([^`]+)`").FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat("cmd/tapestry/" + m[1] + ".go"); err != nil {
			t.Errorf("the map names command %s: %v", m[1], err)
		}
	}
	dirs := map[string]string{"train": "train", "data": "train/data", "lab": "lab", "graph": "graph", "ops": "ops", "tape": "tape", "viz": "viz"}
	for _, m := range regexp.MustCompile("`([a-z]+)\\.([A-Z][A-Za-z]+)`").FindAllStringSubmatch(string(text), -1) {
		dir, ok := dirs[m[1]]
		if !ok || !declares(t, dir, m[2]) {
			t.Errorf("the map names %s.%s, which does not exist", m[1], m[2])
		}
	}
}

// declares reports whether the package in dir has a function or type of the name.
func declares(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == name {
					return true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if ts, ok := s.(*ast.TypeSpec); ok && ts.Name.Name == name {
						return true
					}
				}
			}
		}
	}
	return false
}

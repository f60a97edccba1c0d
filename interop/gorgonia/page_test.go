package gorgonia_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPageNames: what docs/from-gorgonia.md says stands here for a name of gorgonia's exists.
func TestPageNames(t *testing.T) {
	page, err := os.ReadFile("../../docs/from-gorgonia.md")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{
		"graph": "graph", "initial": "graph/initial", "grad": "graph/grad", "ops": "ops", "nn": "nn", "rnn": "nn/rnn",
		"tape": "tape", "train": "train", "viz": "viz", "gorgonia": "interop/gorgonia",
	}
	known := map[string]map[string]bool{}
	seen := 0
	for _, m := range regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w*(?:\\.[A-Z]\\w*)?)[(`]").FindAllStringSubmatch(string(page), -1) {
		folder, ok := folders[m[1]]
		if !ok {
			continue // a variable
		}
		if known[folder] == nil {
			known[folder] = exportedBy(t, filepath.Join("../..", folder))
		}
		seen++
		if !known[folder][m[2]] {
			t.Errorf("the page has %s.%s, which is not there", m[1], m[2])
		}
	}
	if seen < 100 {
		t.Errorf("%d names: not all were found", seen)
	}
}

// exportedBy lists what a package exports, methods as Type.Method.
func exportedBy(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					of := d.Recv.List[0].Type
					if p, ok := of.(*ast.StarExpr); ok {
						of = p.X
					}
					if id, ok := of.(*ast.Ident); ok {
						name = id.Name + "." + name
					}
				}
				names[name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, id := range s.Names {
							names[id.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}

package tapestry_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportedDocs: every function, method and type that a public package exports has a doc of at least
// a sentence, which begins with its name.
func TestExportedDocs(t *testing.T) {
	symbols := 0
	check := func(pos token.Position, name, text string) {
		symbols++
		text = strings.TrimSpace(text)
		first, _, _ := strings.Cut(text, " ")
		for _, article := range []string{"A", "An", "The"} {
			if rest, ok := strings.CutPrefix(text, article+" "); ok {
				first, _, _ = strings.Cut(rest, " ")
			}
		}
		sentence, _, _ := strings.Cut(text, "\n\n")
		switch {
		case text == "":
			t.Errorf("%s:%d: %s has no doc", pos.Filename, pos.Line, name)
		case strings.TrimRight(first, ",:.") != name:
			t.Errorf("%s:%d: the doc of %s begins with %q", pos.Filename, pos.Line, name, first)
		case !strings.HasSuffix(strings.TrimSuffix(text, ")"), ".") && !strings.HasSuffix(sentence, "…") && sentence == text:
			t.Errorf("%s:%d: the doc of %s is no sentence: %q", pos.Filename, pos.Line, name, sentence)
		}
	}
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		switch name := d.Name(); {
		case dir == ".":
			return nil
		case strings.HasPrefix(name, "."), name == "testdata", name == "docs", name == "internal", name == "cmd", name == "examples", name == "bench":
			return fs.SkipDir
		}
		fset := token.NewFileSet()
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return err
		}
		var files []*ast.File
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		if len(files) == 0 {
			return nil
		}
		p, err := doc.NewFromFiles(fset, files, dir)
		if err != nil {
			return err
		}
		each := func(list []*doc.Func) {
			for _, f := range list {
				check(fset.Position(f.Decl.Pos()), f.Name, f.Doc)
			}
		}
		each(p.Funcs)
		for _, typ := range p.Types {
			check(fset.Position(typ.Decl.Pos()), typ.Name, typ.Doc)
			each(typ.Funcs)
			each(typ.Methods)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if symbols < 1000 {
		t.Errorf("%d symbols: not all were found", symbols)
	}
}

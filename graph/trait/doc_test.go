package trait

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestProtocolIsWritten: the documentation of the package lists every interface with its methods.
func TestProtocolIsWritten(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set, doc, count := token.NewFileSet(), "", 0
	found := map[string][]string{}
	for _, file := range files {
		tree, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if tree.Doc != nil {
			doc += tree.Doc.Text()
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if methods, ok := spec.Type.(*ast.InterfaceType); ok {
					for _, m := range methods.Methods.List {
						found[spec.Name.Name] = append(found[spec.Name.Name], m.Names[0].Name)
					}
				}
			}
			return true
		})
	}
	for name, methods := range found {
		count++
		written := false
		for line := range strings.Lines(doc) {
			f := strings.Fields(line)
			written = written || len(f) > 2 && f[0] == methods[0] && f[1] == "["+name+"]"
		}
		if !written || len(methods) != 1 {
			t.Errorf("the documentation does not list %s with its one method %v", name, methods)
		}
	}
	if count < 20 {
		t.Errorf("%d interfaces: is the search broken?", count)
	}
}

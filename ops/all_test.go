package ops_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/ops"
)

// declared gives the package's functions and, by receiver type, its methods.
func declared(t *testing.T) (functions []*ast.FuncDecl, methods map[string][]string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	methods = map[string][]string{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				functions = append(functions, fn)
			} else if ok {
				recv := fn.Recv.List[0].Type
				if p, ok := recv.(*ast.StarExpr); ok {
					recv = p.X
				}
				name := recv.(*ast.Ident).Name
				methods[name] = append(methods[name], fn.Name.Name)
			}
		}
	}
	return functions, methods
}

// TestAllIsComplete: every type with a name and cases is in the list, once, and
// the list is in order of name.
func TestAllIsComplete(t *testing.T) {
	_, methods := declared(t)
	var want, got, names []string
	for typ, has := range methods {
		if slices.Contains(has, "Name") && slices.Contains(has, "Cases") {
			want = append(want, typ)
		}
	}
	for _, op := range ops.List() {
		got = append(got, reflect.TypeOf(op).Name())
		names = append(names, op.Name())
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 50 || !slices.Equal(got, want) {
		t.Errorf("List has\n%v\nthe package declares\n%v", got, want)
	}
	if !slices.IsSorted(names) {
		t.Errorf("not in order of name: %v", names)
	}
	if v := ops.Vocabulary(); len(v) != len(names) || v[0].Name() != names[0] {
		t.Errorf("the vocabulary has %d operations of %d", len(v), len(names))
	}
}

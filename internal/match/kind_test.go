package match_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestKinds: an operation's kind is the constant of its name, and each constant is the kind of one operation.
func TestKinds(t *testing.T) {
	tree, err := parser.ParseFile(token.NewFileSet(), "kind.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(tree, func(n ast.Node) bool {
		if list, ok := n.(*ast.GenDecl); ok && list.Tok == token.CONST {
			for _, spec := range list.Specs {
				names = append(names, spec.(*ast.ValueSpec).Names[0].Name)
			}
		}
		return true
	})
	if len(names) < 2 || names[0] != "Other" {
		t.Fatalf("the kinds are %v", names)
	}
	of := map[match.Kind]string{}
	for _, op := range ops.List() {
		k := match.Of(op)
		if k == match.Other {
			continue
		}
		if names[k] != op.Name() {
			t.Errorf("%s says that it is %s", op.Name(), names[k])
		}
		of[k] = op.Name()
	}
	for k, name := range names[1:] {
		if of[match.Kind(k+1)] == "" {
			t.Errorf("no operation is %s", name)
		}
	}
}

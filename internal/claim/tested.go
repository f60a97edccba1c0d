package claim

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
)

// test is a test function of the module.
type test struct {
	comment string // in one line
	skipped bool   // whether it may be skipped
}

// Tests reads the tests below a folder, for the claims that name one.
func (c *Checker) Tests(root string) error {
	c.tests = map[string][]test{}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				name, folder := fn.Name.Name, filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), root+string(filepath.Separator)))
				t := test{strings.Join(strings.Fields(fn.Doc.Text()), " "), skips(fn.Body)}
				c.tests[name] = append(c.tests[name], t)
				c.tests[folder+"."+name] = []test{t}
			}
		}
		return nil
	})
}

// skips reports whether a test calls Skip.
func skips(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Skip") {
			found = true
		}
		return !found
	})
	return found
}

// tested checks that a test exists, always runs, and says of itself what is claimed: its comment
// ends with the sentence, after "Claim: " or the name of the test and a colon.
func (c *Checker) tested(cl Claim) error {
	found := c.tests[cl.Test]
	switch len(found) {
	case 0:
		return fmt.Errorf("%s\n    there is no test %s", cl.Text, cl.Test)
	case 1:
	default:
		return fmt.Errorf("%s\n    %d tests are called %s: name its folder, as in train/data.TestOrder", cl.Text, len(found), cl.Test)
	}
	t := found[0]
	says, named := strings.CutPrefix(t.comment, cl.Test[strings.LastIndex(cl.Test, ".")+1:]+": ")
	if _, after, marked := strings.Cut(says, "Claim: "); marked {
		says, named = after, true
	}
	switch {
	case t.skipped:
		return fmt.Errorf("%s\n    %s may be skipped", cl.Text, cl.Test)
	case !named || strings.TrimRight(says, ".") != strings.TrimRight(cl.Says, "."):
		return fmt.Errorf("%s\n    the comment of %s says %q, and must end with %q", cl.Text, cl.Test, t.comment, "Claim: "+cl.Says+".")
	}
	return nil
}

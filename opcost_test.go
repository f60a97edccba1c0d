package tapestry_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/ops"
)

// users are the packages that call operations to build graphs of them, run them by name from outside,
// or compute them: there an operation is named where it is used.
var users = map[string]string{
	"builders":           "models are made of operations",
	"nn":                 "layers are made of operations",
	"nn/attention":       "layers are made of operations",
	"nn/rnn":             "layers are made of operations",
	"nn/graphnet":        "layers are made of operations",
	"nn/augment":         "layers are made of operations",
	"interop/gorgonia":   "its table translates each operation",
	"internal/kernel":    "loops",
	"internal/simd":      "loops",
	"internal/exact":     "functions of real numbers",
	"internal/ranktrain": "models",
	"internal/workload":  "models",
	"internal/randgraph": "random graphs are made of operations",
	"lab":                "objectives",
}

// TestOneFileAndOneLine: what a new elementwise operation costs. The names of
// operations that are there stand in their own file, once in the list, and in no other
// package but the users. What else names them is
// listed here with the reason. Without a kernel its definition is run; a kernel of its
// own, for speed, is one more loop in internal/kernel and internal/simd.
func TestOneFileAndOneLine(t *testing.T) {
	var stages []string
	for pkg := range imports {
		if users[pkg] == "" && !translates(pkg) {
			stages = append(stages, pkg)
		}
	}
	for pkg := range users {
		if _, ok := imports[pkg]; !ok {
			t.Errorf("%s is no package", pkg)
		}
	}
	for op, besides := range map[string]map[string]int{
		"Tanh": {
			"ops/gelu.go":                   1, // GELU's approximation is written with it
			"ops/mish.go":                   1, // Mish is written with it
			"graph/rewrite/exponentials.go": 1, // a quotient of exponentials is written with it
			"internal/match/kind.go":        1, // gorgonia's table has its translation
			"viz/latex.go":                  1, // \tanh is a command of LaTeX's, as few names are
		},
		"Erf": {
			"ops/gelu.go":            1, // GELU is written with it
			"internal/match/kind.go": 1, // gorgonia's table says why it has no translation
		},
	} {
		if !slices.ContainsFunc(ops.List(), func(o ops.Op) bool { return o.Name() == op }) {
			t.Errorf("%s is no operation", op)
		}
		own := "ops/" + strings.ToLower(op) + ".go"
		want := maps.Clone(besides)
		want["ops/all.go"] = 1
		got := map[string]int{}
		for _, dir := range stages {
			files, err := filepath.Glob(filepath.Join(dir, "*.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				file = filepath.ToSlash(filepath.Clean(file))
				if n := mentions(t, file, op); n > 0 && !strings.HasSuffix(file, "_test.go") {
					got[file] = n
				}
			}
		}
		if got[own] == 0 {
			t.Errorf("%s does not name %s: is the count broken?", own, op)
		}
		delete(got, own)
		if !maps.Equal(got, want) {
			t.Errorf("%s is named, besides its own file, in %v, want %v: what another file needs to know of an operation is a method in the operation's own file",
				op, inOrder(got), inOrder(want))
		}
	}
}

// translates reports whether a package is of ONNX, whose operators have names of their own, many of
// which are those of operations here: its tables are by these names, and by the kinds of operations.
func translates(pkg string) bool { return strings.HasPrefix(pkg, "interop/onnx") }

// mentions counts the identifiers and texts of a file that are a name, whatever its
// capital.
func mentions(t *testing.T, file, name string) int {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(file, -1, len(src)), src, nil, 0)
	n := 0
	for {
		_, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return n
		case (tok == token.IDENT || tok == token.STRING) && strings.EqualFold(strings.Trim(text, "\"`"), name):
			n++
		}
	}
}

// TestNoOperationByName: outside package ops no operation is recognised by the text of its name: what is
// true of an operation is a trait that it has, and which one of the library's it is, its kind. Texts that
// are names of operations stand nowhere but where a mistake is recorded in the name of a function.
func TestNoOperationByName(t *testing.T) {
	names := map[string]bool{}
	for _, op := range ops.List() {
		names[op.Name()] = true
	}
	found := byName(t, "ops/tanh.go", names) // which says its own name
	if len(found) != 1 {
		t.Errorf("in ops/tanh.go stand %v: is the search broken?", found)
	}
	for pkg := range imports {
		if pkg == "ops" || translates(pkg) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				for _, at := range byName(t, file, names) {
					t.Errorf("%s names an operation: ask for a trait of package graph/trait, or for its kind", at)
				}
			}
		}
	}
	for _, dir := range []string{"cmd/tapestry", "cmd/tapestry/page", "cmd/tapestry/firing", "cmd/tapestry/marks"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files: %v", dir, len(files), err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				for _, at := range byName(t, file, names) {
					t.Errorf("%s names an operation: ask for a trait of package graph/trait, or for its kind", at)
				}
			}
		}
	}
}

// byName lists where texts of a file are among the names, but for the first argument of Fail and calling.
func byName(t *testing.T, file string, names map[string]bool) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	reports := map[ast.Expr]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch f := n.Fun.(type) {
			case *ast.SelectorExpr:
				name = f.Sel.Name
			case *ast.Ident:
				name = f.Name
			}
			if slices.Contains([]string{"Fail", "Calling", "calling"}, name) && len(n.Args) > 0 {
				reports[n.Args[0]] = true
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && names[text] && !reports[n] {
				found = append(found, fmt.Sprintf("%v: %s", set.Position(n.Pos()), n.Value))
			}
		}
		return true
	})
	return found
}

func inOrder(m map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprint(k, " ×", m[k]))
	}
	return strings.Join(out, ", ")
}

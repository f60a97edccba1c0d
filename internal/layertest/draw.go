package layertest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
)

// Drawing returns the exported functions of the package in the working folder that draw random
// numbers, themselves or through another, as its source says, in alphabetical order. The packages
// that it imports and that draw are given by their folders.
func Drawing(t *testing.T, imported ...string) []string {
	t.Helper()
	draws := map[string]bool{}
	for _, law := range []string{"Uniform", "Normal", "TruncatedNormal", "Gumbel", "Int", "Bernoulli", "Categorical"} {
		draws["ops.Random"+law] = true
	}
	for _, folder := range imported {
		follow(t, folder, draws)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	follow(t, here, draws)
	var found []string
	for f := range draws {
		if name, own := strings.CutPrefix(f, filepath.Base(here)+"."); own && ast.IsExported(name[strings.LastIndex(name, ".")+1:]) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// follow adds the functions of the package in a folder that call one that draws.
func follow(t *testing.T, folder string, draws map[string]bool) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no package in %s: %v", folder, err)
	}
	set, files := token.NewFileSet(), []*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	known := types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Error: func(error) {}} // without imports, it knows the package's own functions
	config.Check(path.Base(filepath.ToSlash(folder)), set, files, &known)
	calls := map[string][]string{} // what a function uses
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := known.Defs[f.Name].(*types.Func).FullName()
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					if used, ok := known.Uses[n].(*types.Func); ok {
						calls[name] = append(calls[name], used.FullName())
					}
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok {
						calls[name] = append(calls[name], x.Name+"."+n.Sel.Name)
					}
				}
				return true
			})
		}
	}
	for more := true; more; {
		more = false
		for f, called := range calls {
			if !draws[f] && slices.ContainsFunc(called, func(c string) bool { return draws[c] }) {
				draws[f], more = true, true
			}
		}
	}
}

// DrawsAnew runs a node several times on a VM that updates nothing, and compares each run with the
// definition, and what is drawn with the runs before.
func DrawsAnew(t *testing.T, name string, feed graph.Values, y *graph.Node) {
	t.Helper()
	const seed = 3
	nodes := []*graph.Node{y}
	for _, n := range graph.Reachable(y) {
		if match.Is(n, match.Random) {
			nodes = append(nodes, n)
		}
	}
	got, err := reftest.Runs(3, seed, feed, nodes)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for k := range got {
		want, err := ref.Eval(trait.Env{Seed: seed, Runs: uint64(k)}, feed, nodes...)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range nodes {
			tolerance := 0.0
			if i == 0 {
				tolerance = 1e-9 * (1 + reftest.Largest(want[0].Data))
			}
			if err := reftest.Near(got[k][i].Data, want[i].Data, tolerance); err != nil {
				t.Errorf("%s, run %d: %v: %v", name, k, n, err)
			}
			for _, before := range got[:k] {
				if slices.Equal(got[k][i].Data, before[i].Data) {
					t.Errorf("%s, run %d: %v is what it was before", name, k, n)
				}
			}
		}
	}
}

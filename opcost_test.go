package tapestry_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/ops"
)

// TestOneFileAndOneLine: what a new elementwise operation costs. The names of
// operations that are there stand in their own file, once in the list, and in no
// stage that works on operations: not in the graph, its derivatives and rewrites, the
// tape, the drawings, the reference evaluator or the checks. What else names them is
// listed here with the reason. Without a kernel its definition is run; a kernel of its
// own, for speed, is one more loop in internal/kernel and internal/simd.
func TestOneFileAndOneLine(t *testing.T) {
	stages := []string{"ops", "graph", "graph/grad", "graph/rewrite", "graph/vmap", "tape", "viz", "viz/figure", "internal/ref", "internal/ref/reftest", "check", "train"}
	for op, besides := range map[string]map[string]int{
		"Tanh": {
			"ops/gelu.go":                   1, // GELU's approximation is written with it
			"graph/rewrite/exponentials.go": 1, // a quotient of exponentials is written with it
			"viz/latex.go":                  1, // \tanh is a command of LaTeX's, as few names are
		},
		"Erf": {
			"ops/gelu.go": 1, // GELU is written with it
		},
	} {
		if !slices.ContainsFunc(ops.All(), func(o ops.Op) bool { return o.Name() == op }) {
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
				file = filepath.ToSlash(file)
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

func inOrder(m map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprint(k, " ×", m[k]))
	}
	return strings.Join(out, ", ")
}

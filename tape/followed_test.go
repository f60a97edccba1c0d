package tape_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestOneValueFollowed holds the section "One value followed" of ARCHITECTURE.md to the code: the
// functions are in the files that it names, the counts are those of its table, and the forms that
// it shows are those that the compiler prints.
func TestOneValueFollowed(t *testing.T) {
	text, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## One value followed\n")
	section, _, _ = strings.Cut(section, "\n## ")

	var walk []string
	files, packages := map[string]bool{}, map[string]int{}
	for _, stop := range regexp.MustCompile("`"+`([\w/]+\.(?:go|s))`+"`:((?:,? `"+`[\w.]+`+"`)+)").FindAllStringSubmatch(section, -1) {
		file := stop[1]
		for _, name := range regexp.MustCompile(`[\w.]+`).FindAllString(stop[2], -1) {
			if !declares(t, "../"+file, name) {
				t.Errorf("%s does not declare %s", file, name)
			}
		}
		walk = append(walk, file)
		if !files[file] {
			files[file] = true
			packages[path.Dir(file)]++
		}
	}
	changes, crossings := 0, 0
	for i := 1; i < len(walk); i++ {
		if walk[i] != walk[i-1] {
			changes++
		}
		if path.Dir(walk[i]) != path.Dir(walk[i-1]) {
			crossings++
		}
	}
	counts := fmt.Sprintf("%d files in %d packages, %d of them in `tape`, by %d changes of file, %d of them from package to package",
		len(files), len(packages), packages["tape"], changes, crossings)
	if !strings.Contains(strings.Join(strings.Fields(section), " "), counts) {
		t.Errorf("the walk is through %s", counts)
	}

	forms := formsOf(t, "kmeans-softmax")
	_, block, _ := strings.Cut(section, "```\n")
	block, _, _ = strings.Cut(block, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	for _, line := range lines {
		if form := strings.TrimLeft(line, "0123456789 "); !strings.Contains(forms, form) {
			t.Errorf("no form has the line %q", form)
		}
	}
	if len(walk) == 0 || len(lines) < 9 {
		t.Errorf("the section has %d stops and %d lines of forms", len(walk), len(lines))
	}
}

// formsOf returns all that the compiler prints of a model's training step: the graph as it is
// written and as it is run, the form after each phase, and the listing.
func formsOf(t *testing.T, model string) string {
	b, err := builders.Lookup(model)
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Build(nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	r := m.Params()[0]
	d := grad.Of(m.Loss, r)[0]
	written := m.Graph.String()
	var forms strings.Builder
	p := compile(t, m.Graph, tape.Debug(&forms), tape.Fetch(m.Loss), tape.Do(graph.Step{m.Graph.Assign(r, ops.Sub(r, d))}))
	return written + p.Graph().String() + forms.String()
}

// declares reports whether a file declares a function, a method, as Type.Name, or a variable.
func declares(t *testing.T, file, name string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return false
	}
	if path.Ext(file) == ".s" {
		return strings.Contains(string(text), "TEXT ·"+name+"(SB)")
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			full := d.Name.Name
			if d.Recv != nil {
				of := d.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				full = of.(*ast.Ident).Name + "." + full
			}
			if full == name {
				return true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && v.Names[0].Name == name {
					return true
				}
			}
		}
	}
	return false
}

package tapestry_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// notesSections are the five notes, and what they use without a heading.
var notesSections = []string{
	"k-means made differentiable, and the first ideas of transformers",
	"From gradient descent to word embeddings: the long course",
	"Transformers and graph neural networks",
	"Attention and learning from structured data",
	"Self-attention and the transformer in detail",
	"Beyond the notes",
}

// place matches what a row of the map may name: a builder, a setting of the builder
// before it, a command, an example, a test, or a symbol of a package.
var place = regexp.MustCompile("(builder|command|example|test) `([^`]+)`|`--set ([^`=]+)=([^`]+)`|`([a-z]+)\\.([A-Z][A-Za-z0-9]*(?:\\.[A-Z][A-Za-z0-9]*)?)`")

// TestNotesMap holds docs/notes-map.md true: it has a section with topics for each of
// the notes, every topic has a place in the code or a reason why not, every builder is
// a place, and all that is named exists.
func TestNotesMap(t *testing.T) {
	text, err := os.ReadFile("docs/notes-map.md")
	if err != nil {
		t.Fatal(err)
	}
	m := notesMap{t, declared(t), map[string]bool{}}
	var sections []string
	topics := map[string]int{}
	for _, line := range strings.Split(string(text), "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			sections = append(sections, title)
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| ") || line == "| topic | where |" {
			continue
		}
		if len(cells) != 2 {
			t.Fatalf("%q has %d cells, want a topic and where it is", line, len(cells))
		}
		topic, where := strings.TrimSpace(cells[0]), cells[1]
		if len(sections) == 0 {
			t.Fatalf("%q stands in no section", topic)
		}
		topics[sections[len(sections)-1]]++
		m.row(topic, where)
	}
	if !slices.Equal(sections, notesSections) {
		t.Errorf("the map has sections %q, want %q", sections, notesSections)
	}
	for _, section := range sections {
		if topics[section] < 5 {
			t.Errorf("section %q has only %d topics", section, topics[section])
		}
	}
	for _, b := range builders.Names() {
		if !m.builders[b] {
			t.Errorf("builder %s is not in the map", b)
		}
	}
}

// notesMap is what rows of the map are checked against.
type notesMap struct {
	*testing.T
	symbols  map[string]bool // lab.Config.Lloyd, TestElbows
	builders map[string]bool // that rows have named
}

// row checks one topic.
func (m notesMap) row(topic, where string) {
	m.Helper()
	if strings.Contains(where, "not built yet") {
		m.Errorf("%q: not built yet", topic)
	}
	found := place.FindAllStringSubmatch(where, -1)
	if len(found) == 0 && !strings.Contains(where, "because ") {
		m.Errorf("%q has neither a place nor a reason: %s", topic, where)
	}
	// Nothing in code type goes unchecked, but the name of a setting's value in brackets.
	rest := regexp.MustCompile("\\(`[a-z]+`\\)").ReplaceAllString(place.ReplaceAllString(where, ""), "")
	if strings.Contains(rest, "`") {
		m.Errorf("%q: what is named here? %s", topic, rest)
	}
	var last builders.Builder
	for _, f := range found {
		kind, name := f[1], f[2]
		switch {
		case kind == "builder":
			b, err := builders.Lookup(name)
			if err != nil {
				m.Errorf("%q: %v", topic, err)
			}
			last, m.builders[name] = b, true
		case f[3] != "":
			if err := settable(last, f[3], f[4]); err != nil {
				m.Errorf("%q: builder %s --set %s=%s: %v", topic, last.Name, f[3], f[4], err)
			}
		case kind == "command":
			if _, err := os.Stat("cmd/tapestry/" + name + ".go"); err != nil {
				m.Errorf("%q: %v", topic, err)
			}
		case kind == "example":
			if _, err := os.Stat("examples/" + name + "/main.go"); err != nil {
				m.Errorf("%q: %v", topic, err)
			}
		case kind == "test":
			if !m.symbols[name] {
				m.Errorf("%q: there is no test %s", topic, name)
			}
		case !m.symbols[f[5]+"."+f[6]]:
			m.Errorf("%q: there is no %s.%s", topic, f[5], f[6])
		}
	}
}

// settable builds a model with one setting as the command line would have it.
func settable(b builders.Builder, name, value string) error {
	for _, z := range b.Hyperparameters {
		if z.Name == name {
			v, err := z.Parse(value)
			if err != nil {
				return err
			}
			_, err = b.Build(builders.Settings{name: v}, graph.F32)
			return err
		}
	}
	_, err := builders.Build(b.Name, builders.Settings{name: 0}, graph.F32)
	return err
}

// declared are the tests of the module by name, and the functions, types and methods of
// its packages with the package before them.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		prefix, test := f.Name.Name+".", strings.HasSuffix(path, "_test.go")
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				switch {
				case test:
					out[d.Name.Name] = true
				case d.Recv == nil:
					out[prefix+d.Name.Name] = true
				default:
					out[prefix+receiver(d)+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if ts, ok := s.(*ast.TypeSpec); ok && !test {
						out[prefix+ts.Name.Name] = true
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// receiver is the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	typ := d.Recv.List[0].Type
	if p, ok := typ.(*ast.StarExpr); ok {
		typ = p.X
	}
	if p, ok := typ.(*ast.IndexExpr); ok {
		typ = p.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

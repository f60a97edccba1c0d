package tapestry_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/claim"
)

// notesSections are the five notes, what they use without a heading, and what is no claim.
var notesSections = []string{
	"k-means made differentiable, and the first ideas of transformers",
	"From gradient descent to word embeddings: the long course",
	"Transformers and graph neural networks",
	"Attention and learning from structured data",
	"Self-attention and the transformer in detail",
	"Beyond the notes",
	"What the notes say that is no claim about a program",
}

// place matches what a row of the map may name: a builder, a setting of the builder
// before it, a command, an example, a test, or a symbol of a package.
var place = regexp.MustCompile("(builder|command|example|test) `([^`]+)`|`--set ([^`=]+)=([^`]+)`|`([a-z]+)\\.([A-Z][A-Za-z0-9]*(?:\\.[A-Z][A-Za-z0-9]*)?)`")

// notesPage reads docs/notes-map.md, and the claims of its rows.
func notesPage(t *testing.T) (page string, rows []claim.Row, claims map[string]claim.Claim) {
	t.Helper()
	text, err := os.ReadFile("docs/notes-map.md")
	if err != nil {
		t.Fatal(err)
	}
	if rows, err = claim.Rows(string(text)); err != nil {
		t.Fatal(err)
	}
	claims = map[string]claim.Claim{}
	for _, r := range rows {
		if len(r.Claims) == 0 {
			t.Errorf("%q claims nothing", r.Topic)
		}
		for _, c := range r.Claims {
			if claims[c], err = claim.Parse(c); err != nil {
				t.Errorf("%q: %v", r.Topic, err)
			}
		}
	}
	return string(text), rows, claims
}

// TestNotesMap holds docs/notes-map.md true: it has a section for each of the notes, every
// topic has a place in the code and claims something of it, everything that is claimed holds, every
// builder is in the map, and all that is named exists. What is no claim has a reason.
func TestNotesMap(t *testing.T) {
	page, rows, claims := notesPage(t)
	m := notesMap{t, declared(t), map[string]bool{}}
	var sections []string
	remarks := 0
	for _, line := range strings.Split(page, "\n") {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			sections = append(sections, title)
		}
		if cells := strings.Split(strings.Trim(line, "|"), "|"); strings.HasPrefix(line, "| ") && len(cells) == 2 && line != "| topic | why |" {
			remarks++
			m.named(strings.TrimSpace(cells[0]), cells[1])
		}
	}
	if !slices.Equal(sections, notesSections) {
		t.Errorf("the map has sections %q, want %q", sections, notesSections)
	}
	checker := &claim.Checker{}
	if err := checker.Tests("."); err != nil {
		t.Fatal(err)
	}
	for _, text := range slices.Sorted(maps.Keys(claims)) {
		c := claims[text]
		m.builders[c.Model()] = true
		if err := checker.Check(t.Context(), c); err != nil {
			t.Error(err)
		}
	}
	count := map[claim.Kind]int{}
	for _, r := range rows {
		if m.named(r.Topic, r.Where) == 0 {
			m.Errorf("%q has no place: %s", r.Topic, r.Where)
		}
		kind := claim.Tested // the strongest that a row has
		for _, c := range r.Claims {
			kind = min(kind, claims[c].Kind)
		}
		count[kind]++
	}
	for _, b := range builders.Names() {
		if !m.builders[b] {
			t.Errorf("builder %s is not in the map", b)
		}
	}
	t.Logf("%d rows with %d claims: %d rows by equation, %d by experiment, %d by test alone; %d remarks", len(rows), len(claims),
		count[claim.Equation], count[claim.Experiment], count[claim.Tested], remarks)
}

// notesMap is what rows of the map are checked against.
type notesMap struct {
	*testing.T
	symbols  map[string]bool // lab.Config.Lloyd, TestElbows
	builders map[string]bool // that rows have named
}

// named checks that what a cell of the map names exists, and returns how much it names.
func (m notesMap) named(topic, where string) int {
	m.Helper()
	found := place.FindAllStringSubmatch(where, -1)
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
	return len(found)
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

// slips are mistakes of one sign or word that people make, in the order in which they are looked
// for.
var slips = []struct{ right, wrong string }{
	{"softmax(", "logsoftmax("}, {"tanh(", "sin("}, {"relu(", "abs("}, {" − ", " + "}, {" + ", " − "}, {"max(", "min("}, {"sum(", "mean("}, {"mean(", "sum("},
	{"dot(", "−dot("}, {"take(", "−take("}, {"·", "/"}, {"/", "·"}, {"sigmoid(", "tanh("}, {"where(", "−where("}, {"prod(", "sum("}, {"argmin(", "argmax("}, {"argmax(", "argmin("},
}

// TestWrongRowsFail changes one sign or word of every statement of the map, and expects the claim
// to fail: what the map says could be wrong.
func TestWrongRowsFail(t *testing.T) {
	_, _, claims := notesPage(t)
	checker := &claim.Checker{}
	changed := map[claim.Kind]int{}
	for _, text := range slices.Sorted(maps.Keys(claims)) {
		head, says, _ := strings.Cut(text, ": ")
		if claims[text].Kind == claim.Tested {
			continue
		}
		statements := strings.Split(says, " and ")
		for i, statement := range statements {
			wrong := slices.Clone(statements)
			wrong[i] = slip(statement)
			c, err := claim.Parse(head + ": " + strings.Join(wrong, " and "))
			if err == nil {
				err = checker.Check(t.Context(), c)
			}
			if err == nil {
				t.Errorf("the map says\n    %s\nand this passes, too:\n    %s", text, c.Text)
			}
			changed[c.Kind]++
		}
	}
	t.Logf("%d statements of equations and %d of experiments were made wrong", changed[claim.Equation], changed[claim.Experiment])
}

// slip returns a statement with a mistake on the right of its sign.
func slip(statement string) string {
	left, right, equation := strings.Cut(statement, " = ")
	if !equation {
		return strings.NewReplacer("<", ">", ">", "<", "≈", "≈ 2·", "==", "≠").Replace(statement)
	}
	for _, s := range slips {
		if i := strings.Index(right, s.right); i >= 0 {
			return left + " = " + right[:i] + s.wrong + right[i+len(s.right):]
		}
	}
	return left + " = 2·" + right
}

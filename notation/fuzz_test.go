package notation

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// shape has the parts of an expression that must agree for two to be equal: all except places and
// the checker's results.
func shape(e *expr) any {
	if e == nil {
		return nil
	}
	parts := []any{e.kind, e.text}
	for _, r := range e.refs {
		parts = append(parts, [2]string{r.axis, r.as})
	}
	for _, a := range e.args {
		parts = append(parts, shape(a))
	}
	return parts
}

func shapes(f *File) (out []any) {
	for _, s := range f.lines {
		var axes [][2]string
		for _, a := range s.axes {
			axes = append(axes, [2]string{a.name, a.size})
		}
		out = append(out, []any{s.kind, s.name, axes, shape(s.value), s.comment, s.hasNote})
	}
	return out
}

// reparsed prints a file, reads it again and wants the same.
func reparsed(t *testing.T, f *File) {
	t.Helper()
	text := f.String()
	again, err := Parse(f.name, strings.NewReader(text))
	if err != nil {
		t.Fatalf("what was printed is refused:\n%s\n%v", text, err)
	}
	if !reflect.DeepEqual(shapes(f), shapes(again)) {
		t.Fatalf("read again it differs:\n%s\n%s", text, again)
	}
	if again.String() != text {
		t.Fatalf("printed again it differs:\n%s\n%s", text, again)
	}
}

func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("../examples/notation/*" + Extension)
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, c := range mistakes {
		f.Add(c.text)
	}
	for _, text := range oddities {
		f.Add(text)
	}
	f.Fuzz(survives)
}

// survives parses a text. An error must have a place; a correct file must print as itself, and is
// built if it is small.
func survives(t *testing.T, text string) {
	file, err := Parse("f.tapestry", strings.NewReader(text))
	if err != nil {
		if all := (Errors{}); errors.As(err, &all) {
			for _, e := range all {
				if e.Line < 1 || e.Column < 1 || e.View() == "" {
					t.Fatalf("%#v has no place", e)
				}
			}
		}
		return
	}
	reparsed(t, file)
	small := builders.Settings{}
	for _, z := range file.Builder().Hyperparameters {
		if z.Kind == builders.Count {
			small[z.Name] = 2
		}
	}
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		m, err := file.Build(small, dt)
		if dt == graph.F32 && err != nil && strings.Contains(err.Error(), "is no value of type f32") {
			continue // its numbers are float64
		}
		if err != nil {
			t.Fatalf("with all sizes 2: %v\n%s", err, text)
		}
		if err := graph.Verify(m.Graph); err != nil {
			t.Fatal(err)
		}
		m.Examples(rand.New(rand.NewPCG(1, 2)))
	}
}

// TestMixedTokens: files whose words are exchanged for others, most of which are
// wrong, and some right in a way that nobody thought of.
func TestMixedTokens(t *testing.T) {
	paths, err := filepath.Glob("../examples/notation/*" + Extension)
	if err != nil {
		t.Fatal(err)
	}
	var files [][]string
	pool := []string{"-", "2", "0.5", "\n", "[i→j]", "[t→u]", "~", "size(d)", "(", ")", "==", "stopgrad", "loss"}
	for _, f := range functions {
		pool = append(pool, f.name)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := newSource("", string(text))
		var words []string
		for _, w := range s.tokens() {
			word := s.text[w.from:w.to]
			if w.kind == tokenName || w.kind == tokenNumber {
				word += " "
			}
			if w.kind != tokenComment {
				words = append(words, word)
			}
		}
		files, pool = append(files, words), append(pool, words...)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	right := 0
	for range 15000 {
		words := slices.Clone(files[rng.IntN(len(files))])
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(words))
			switch rng.IntN(4) {
			case 0:
				words = slices.Delete(words, at, at+1)
			case 1:
				words = slices.Insert(words, at, pool[rng.IntN(len(pool))])
			default:
				words[at] = pool[rng.IntN(len(pool))]
			}
		}
		text := strings.Join(words, "")
		if _, err := Parse("m.tapestry", strings.NewReader(text)); err == nil {
			right++
		}
		survives(t, text)
	}
	if right < 200 {
		t.Errorf("only %d texts were right", right)
	}
}

// oddities are right, but written or sized in a strange way.
var oddities = []string{
	"input x[i=1]\ny[i]=x",
	"input x[i=2]~0\nloss=mean(x²)",
	"input x[i=2] ~ normal(0,1)  # note\r\n\r\n\r\nloss = mean(\r\n\t# inner\n\tx^-x^2, i) #\n",
	"input x[i=2,j=2]\nloss=mean(x[j,i]**2)",
	"input x[i=2,\n  j=3]\nloss=mean(x[\n\ti→k])",
	"scalar α=-1.5e-3\nloss=alpha·alpha−2",
	"index a[i=3]~integers(size(j))\nparam r[j=2]\nloss=sum(onehot(a,j)*float(a<=1)*r)",
	"input x[i=3,j=i]\nloss=sum(x-x[i→j,j→i])",
	"input x[i=2]\nstate s[i]\ns<-s+x\ny=sum(s)\noutput y",
	"input x[a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1]\nminimise z\nz=prod(x)",
	"loss = 1e308*1e308",
	"loss = --1",
	"input x[i=5] ~ clusters(3)\nloss = var(x)/norm(x)",
}

func TestOdditiesPrintAgain(t *testing.T) {
	for _, text := range oddities {
		f, err := Parse("odd.tapestry", strings.NewReader(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		reparsed(t, f)
		if _, err := f.Build(nil, graph.F64); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPrintedExpressions: any expression, printed, is read as itself, with no bracket
// that could be left out.
func TestPrintedExpressions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var random func(depth int) *expr
	random = func(depth int) *expr {
		if depth == 0 || rng.IntN(6) == 0 {
			if rng.IntN(3) == 0 {
				return &expr{kind: exprNumber, text: []string{"1", "2.5", "1e-3"}[rng.IntN(3)]}
			}
			return &expr{kind: exprName, text: []string{"x", "γ", "r̂", "r_a", "x′"}[rng.IntN(5)]}
		}
		a := random(depth - 1)
		switch rng.IntN(8) {
		case 0:
			return &expr{kind: exprNeg, args: []*expr{a}}
		case 1:
			return &expr{kind: exprCall, text: "f", args: []*expr{a, random(depth - 1)}}
		}
		signs := append([]string{"+", "-", "*", "/", "^", "+", "-", "*", "/", "^"}, comparisons...)
		return &expr{kind: exprBinary, text: signs[rng.IntN(len(signs))], args: []*expr{a, random(depth - 1)}}
	}
	read := func(text string) (*expr, Errors) {
		s := newSource("e", text)
		p := parser{source: &s, tokens: s.tokens()}
		e := p.expression()
		if p.peek().kind != tokenNewline {
			p.unexpected("the end", "")
		}
		return e, s.errors
	}
	for range 3000 {
		e := random(1 + rng.IntN(5))
		text := e.String()
		again, errs := read(text)
		if len(errs) > 0 || !reflect.DeepEqual(shape(e), shape(again)) {
			t.Fatalf("%s is read as %v: %v", text, again, errs)
		}
		for open := range text {
			if text[open] != '(' || open > 0 && text[open-1] == 'f' {
				continue
			}
			close, depth := open, 0
			for ; ; close++ {
				if text[close] == '(' {
					depth++
				} else if text[close] == ')' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			bare := text[:open] + text[open+1:close] + text[close+1:]
			if again, errs := read(bare); len(errs) == 0 && reflect.DeepEqual(shape(e), shape(again)) && !strings.HasPrefix(text[open+1:], "-") {
				t.Fatalf("%s has brackets that %s does without", text, bare)
			}
		}
	}
}

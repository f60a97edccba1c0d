package notation_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/notation"
)

// open reads one of the examples.
func open(t *testing.T, name string) *notation.File {
	t.Helper()
	r, err := os.Open(filepath.Join("../examples/notation", name+notation.Extension))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := notation.Parse(name+notation.Extension, r)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// models has the examples with the registered model that each corresponds to, and the names of
// its leaves there.
var models = []struct {
	file, builder string
	names         map[string]string
	file_, other  builders.Settings
}{
	{"kmeans-lloyd", "kmeans-lloyd", nil, builders.Settings{"i": 20, "j": 4, "d": 3}, builders.Settings{"n": 20, "k": 4, "d": 3}},
	{"kmeans-sgd", "kmeans-sgd", nil, builders.Settings{"i": 20, "j": 4, "d": 3}, builders.Settings{"n": 20, "k": 4, "d": 3}},
	{"kmeans-softmax", "kmeans-softmax", nil, builders.Settings{"gamma": 0.5}, builders.Settings{"gamma": 0.5}},
	{"kmeans-goofy", "kmeans-goofy", nil, builders.Settings{"i": 7, "j": 2, "d": 2, "gamma": 3}, builders.Settings{"n": 7, "k": 2, "d": 2, "gamma": 3}},
	{"regression-relu", "regression-relu", nil, builders.Settings{"i": 9}, builders.Settings{"n": 9}},
	{"attention", "attention-self", map[string]string{"Wq": "query/w", "Wk": "key/w", "Wv": "value/w"}, builders.Settings{"b": 2, "t": 3}, builders.Settings{"b": 2, "t": 3}},
}

// TestModelsOfTheRegistry: the examples compute what the registered models do, value
// and derivative, at the same inputs and parameters; by the definitions and on the tape.
func TestModelsOfTheRegistry(t *testing.T) {
	for _, c := range models {
		f := open(t, c.file)
		if lines := strings.Count(strings.TrimSpace(f.String()), "\n") + 1; lines >= 15 {
			t.Errorf("%s has %d lines", c.file, lines)
		}
		mine, err := f.Build(c.file_, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := builders.Build(c.builder, c.other, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		here, there := graph.Values{}, graph.Values{}
		var by, byTheirs []*graph.Node
		for _, n := range mine.Graph.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState) {
			name := n.Path()
			if other, renamed := c.names[name]; renamed {
				name = other
			}
			twin := theirs.Graph.Lookup(name)
			if twin == nil || !twin.Shape().SameSizes(n.Shape()) || twin.Role() != n.Role() || twin.Initialiser() != n.Initialiser() {
				t.Fatalf("%s: %v is %v in the registry", c.file, n.Type(), twin)
			}
			v := graph.NewValue(n.Type())
			for i := range v.Data {
				v.Data[i] = rng.NormFloat64()
			}
			if d, has := n.Default(); has {
				if e, _ := twin.Default(); d != e {
					t.Errorf("%s: %s is %v, in the registry %v", c.file, name, d, e)
				}
				v.Data[0] = d
			}
			here[n], there[twin] = v, graph.Value{Type: twin.Type(), Data: v.Data}
			if n.Role() == graph.RoleParam || n.Role() == graph.RoleInput && n.Rank() > 0 && c.file != "kmeans-lloyd" {
				by, byTheirs = append(by, n), append(byTheirs, twin)
			}
		}
		if len(here) != len(theirs.Graph.Leaves(graph.RoleInput, graph.RoleParam, graph.RoleState)) {
			t.Errorf("%s has other leaves than the registry's", c.file)
		}
		wanted, wantedTheirs := []*graph.Node{mine.Loss}, []*graph.Node{theirs.Loss}
		wanted, wantedTheirs = append(wanted, grad.Of(mine.Loss, by...)...), append(wantedTheirs, grad.Of(theirs.Loss, byTheirs...)...)
		if len(mine.Step) != len(theirs.Step) {
			t.Fatalf("%s: %d updates, in the registry %d", c.file, len(mine.Step), len(theirs.Step))
		}
		for i := range mine.Step {
			wanted, wantedTheirs = append(wanted, mine.Step[i].Value), append(wantedTheirs, theirs.Step[i].Value)
		}
		if c.file == "attention" {
			wanted, wantedTheirs = append(wanted, mine.Output), append(wantedTheirs, theirs.Output)
		}
		if err := graph.Verify(mine.Graph); err != nil {
			t.Error(err)
		}
		got, err := ref.Eval(trait.Env{}, here, wanted...)
		if err != nil {
			t.Fatal(err)
		}
		run, err := reftest.Tape(0, here, wanted)
		if err != nil {
			t.Fatal(err)
		}
		want, err := ref.Eval(trait.Env{}, there, wantedTheirs...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if err := reftest.Near(got[i].Data, want[i].Data, 1e-12); err != nil {
				t.Errorf("%s: %v: %v", c.file, wanted[i], err)
			}
			if err := reftest.Near(run[i].Data, want[i].Data, 1e-9*(1+reftest.Largest(want[i].Data))); err != nil {
				t.Errorf("%s on the tape: %v: %v", c.file, wanted[i], err)
			}
		}
		if (mine.Centres() == nil) != (theirs.Centres() == nil) {
			t.Errorf("%s: a clustering here or there only", c.file)
		} else if r := mine.Centres(); r != nil && (mine.Points().Path() != "x" || r.Path() != "r" || (mine.Gamma() == nil) != (theirs.Gamma() == nil)) {
			t.Errorf("%s: the clustering has centres %v, points %v and temperature %v", c.file, r, mine.Points(), mine.Gamma())
		}
	}
}

// TestExamplesArePrintedAsWritten: the examples are in canonical form.
func TestExamplesArePrintedAsWritten(t *testing.T) {
	for _, c := range models {
		text, err := os.ReadFile(filepath.Join("../examples/notation", c.file+notation.Extension))
		if err != nil {
			t.Fatal(err)
		}
		if got := open(t, c.file).String(); got != string(text) {
			t.Errorf("%s is printed as\n%s", c.file, got)
		}
	}
}

// TestPositions: nodes stand at the lines of the file, by the names in it.
func TestPositions(t *testing.T) {
	m, err := open(t, "kmeans-softmax").Build(nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	for name, line := range map[string]int{"x": 3, "r": 4, "γ": 5, "D": 7, "α": 8, "loss": 9} {
		n := m.Graph.Lookup(name)
		if n == nil || n.Name() != name || n.First().Pos != (graph.Pos{File: "kmeans-softmax.tapestry", Line: line}) {
			t.Errorf("%s: %v at %v", name, n, n.First().Pos)
		}
	}
	if m.Graph.Name() != "soft k-means" || m.Output != m.Loss {
		t.Errorf("%q gives %v", m.Graph.Name(), m.Output)
	}
}

// drawnFor is one batch of the examples of a text.
func drawnFor(t *testing.T, text string, seed uint64) map[string]graph.Value {
	t.Helper()
	f, err := notation.Parse("e.tapestry", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Build(nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]graph.Value{}
	for n, v := range m.Examples(rand.New(rand.NewPCG(seed, 1))) {
		if v.Type != n.Type() {
			t.Errorf("%v is drawn as %v", n, v.Type)
		}
		out[n.Path()] = v
	}
	return out
}

// TestExampleDraws checks that inputs get the examples that the expressions after ~ describe.
func TestExampleDraws(t *testing.T) {
	const text = `input s[b=40, d=3] ~ signs(b)
input x[b, t=50, d] ~ s[d→d] + normal(0, 0.1)
index a[b] ~ integers(3)
input n[t] ~ uniform(2, 5)
input y[d, b] ~ 2*s - float(a)
input free[t]
scalar c = 4
input k[b] ~ c
loss = mean(x)*mean(n)*mean(y)*mean(s)*mean(free)*mean(float(a))*mean(k)`
	v := drawnFor(t, text, 1)
	var sum, squares float64
	for b := range 40 {
		s := v["s"].Data[3*b]
		if s != 1 && s != -1 || v["s"].Data[3*b+2] != s {
			t.Errorf("signs %v", v["s"].Data[3*b:3*b+3])
		}
		a := v["a"].Data[b]
		if a != 0 && a != 1 && a != 2 {
			t.Errorf("an index %v", a)
		}
		for d := range 3 {
			if got := v["y"].Data[d*40+b]; got != 2*s-a {
				t.Errorf("y is %v for s = %v, a = %v", got, s, a)
			}
		}
		for i := range 150 {
			e := v["x"].Data[150*b+i] - s
			sum, squares = sum+e, squares+e*e
		}
		if v["k"].Data[b] != 4 {
			t.Errorf("k is %v", v["k"].Data[b])
		}
	}
	if mean, variance := sum/6000, squares/6000; mean*mean > 1e-4 || variance < 0.009 || variance > 0.011 {
		t.Errorf("noise of mean %v and variance %v", mean, variance)
	}
	for _, x := range v["n"].Data {
		if x < 2 || x >= 5 {
			t.Errorf("uniform(2, 5) gives %v", x)
		}
	}
	again, other := drawnFor(t, text, 1), drawnFor(t, text, 2)
	for name := range v {
		same := reftest.Near(again[name].Data, v[name].Data, 0) == nil
		if !same {
			t.Errorf("%s differs for the same seed", name)
		}
		if name != "k" && reftest.Near(other[name].Data, v[name].Data, 0) == nil {
			t.Errorf("%s is the same for another seed", name)
		}
	}
}

// TestGuide checks that the files in docs/notation.md are correct, or cause the errors shown
// there.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../docs/notation.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "```")
	files := 0
	for i := 1; i < len(parts); i += 2 {
		file, is := strings.CutPrefix(parts[i], "tapestry\n")
		if !is {
			continue
		}
		files++
		f, err := notation.Parse("kmeans.tapestry", strings.NewReader(file))
		if i+2 < len(parts) && strings.HasPrefix(parts[i+2], "\nkmeans.tapestry:") {
			if said := strings.TrimSuffix(parts[i+2][1:], "\n"); err == nil || err.Error() != said {
				t.Errorf("of\n%s\nis said\n%v\nthe guide has\n%s", file, err, said)
			}
			continue
		}
		if err != nil {
			t.Error(err)
		} else if f.String() != file {
			t.Errorf("the guide has\n%s\nin canonical form\n%s", file, f)
		}
	}
	if files < 5 {
		t.Errorf("%d files", files)
	}
}

// TestSumOfParameters: a mean of products with one parameter, and another added to it, is
// compiled with its derivatives by any of the parameters.
func TestSumOfParameters(t *testing.T) {
	const text = `objective "a line"
param w[i=3]
param a
m = mean(w*a, i)
param b
loss = m + b
`
	values := map[string][]float64{"w": {1, 2, 6}, "a": {0.5}, "b": {-4}}
	derivatives := map[string][]float64{"w": {0.5 / 3, 0.5 / 3, 0.5 / 3}, "a": {3}, "b": {1}}
	for _, by := range []string{"", "w", "a", "b", "a b", "b a", "w a", "w a b"} {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			f, err := notation.Parse("line.tapestry", strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			m, err := f.Build(nil, dt)
			if err != nil {
				t.Fatal(err)
			}
			feed := graph.Values{}
			for name, v := range values {
				p := m.Graph.Lookup(name)
				feed[p] = graph.Value{Type: p.Type(), Data: v}
			}
			fetched, want := []*graph.Node{m.Loss}, [][]float64{{1.5 - 4}}
			var params []*graph.Node
			for _, name := range strings.Fields(by) {
				params, want = append(params, m.Graph.Lookup(name)), append(want, derivatives[name])
			}
			if len(params) > 0 {
				fetched = append(fetched, grad.Of(m.Loss, params...)...)
			}
			got, err := reftest.Tape(0, feed, fetched)
			if err != nil {
				t.Fatalf("by %q in %v: %v", by, dt, err)
			}
			for i, w := range want {
				if err := reftest.Near(got[i].Data, w, 1e-6); err != nil {
					t.Errorf("by %q in %v: %v: %v", by, dt, fetched[i], err)
				}
			}
		}
	}
}

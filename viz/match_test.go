package viz

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// attention builds soft attention on distances, with names for its leaves and axes, and with axes in
// front of all others.
func attention(x, r, i, j, d string, front ...graph.Axis) []*graph.Node {
	g := graph.New("attention")
	axes := func(last ...graph.Axis) []graph.Axis { return append(front[:len(front):len(front)], last...) }
	q := g.Input(x, graph.F32, axes(graph.Ax(i, 6), graph.Ax(d, 2))...).As(x)
	k := g.Param(r, graph.F32, axes(graph.Ax(j, 3), graph.Ax(d, 2))...).As(r)
	α := ops.Softmax(ops.Neg(ops.SqDist(q, k)), j).As("α")
	return []*graph.Node{ops.Sum(ops.Square(ops.Sub(q, ops.MatMul(α, k)))).As("loss")}
}

// TestNamesDoNotHinder: names of leaves and axes, sizes and axes in front change nothing of what is
// matched, even where each leaf has the name of the other.
func TestNamesDoNotHinder(t *testing.T) {
	a := attention("x", "r", "i", "j", "d")
	for _, c := range []struct {
		b        []*graph.Node
		sentence string
	}{
		{attention("q", "k", "t", "s", "c"), "Same computation; x is q and r is k."},
		{attention("r", "x", "j", "i", "d"), "Same computation; x is r and r is x."},
		{attention("x", "r", "i", "j", "d", graph.Ax("b", 4)), "Same computation."},
	} {
		d := diff(t, a, c.b)
		if len(d.Shared) != len(d.a.shown) || len(d.OnlyB) > 0 {
			t.Errorf("%s", d.Text())
		}
		if got := d.Sentence(); got != c.sentence {
			t.Errorf("got %s, want %s", got, c.sentence)
		}
	}
}

// TestNamesDecideBetweenEquals: of two leaves that are used alike, each is matched with that of its
// name.
func TestNamesDecideBetweenEquals(t *testing.T) {
	build := func(first, second string) []*graph.Node {
		g := graph.New("g")
		x, y := g.Input(first, graph.F32, graph.Ax("i", 3)).As(first), g.Input(second, graph.F32, graph.Ax("i", 3)).As(second)
		return []*graph.Node{ops.Add(ops.Sum(ops.Exp(x)), ops.Sum(ops.Exp(y))).As("s")}
	}
	d := diff(t, build("x", "y"), build("y", "x"))
	if got := d.pairs(d.Shared); !strings.HasPrefix(got, "x y ") {
		t.Errorf("shared: %s", got)
	}
}

// TestAxesCount: what is summed, normalised or laid out along another axis is not the same.
func TestAxesCount(t *testing.T) {
	build := func(end func(x *graph.Node) *graph.Node) []*graph.Node {
		g := graph.New("g")
		return []*graph.Node{end(ops.Exp(g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("j", 3))).As("y")).As("z")}
	}
	along := func(axis string) func(*graph.Node) *graph.Node {
		return func(x *graph.Node) *graph.Node { return ops.Softmax(x, axis) }
	}
	by := func(turned bool) func(*graph.Node) *graph.Node {
		return func(x *graph.Node) *graph.Node {
			if turned {
				return ops.MatMul(x, ops.Transpose(x.Graph().Input("w", graph.F32, graph.Ax("k", 3), graph.Ax("j", 3))))
			}
			return ops.MatMul(x, x.Graph().Input("w", graph.F32, graph.Ax("j", 3), graph.Ax("k", 3)))
		}
	}
	for _, c := range [][2][]*graph.Node{
		{build(along("i")), build(along("j"))},
		{build(by(true)), build(by(false))},
		{build(func(x *graph.Node) *graph.Node { return ops.Sum(x, "i") }), build(func(x *graph.Node) *graph.Node { return ops.Sum(x, "j") })},
		{build(func(x *graph.Node) *graph.Node { return ops.Slice(x, "j", 0, 2) }), build(func(x *graph.Node) *graph.Node { return ops.Slice(x, "j", 1, 3) })},
	} {
		d := diff(t, c[0], c[1])
		for _, p := range d.Shared {
			if p.A.NumIn() > 0 && d.a.names.of(p.A) != "y" {
				t.Errorf("%v is the same\n%s", p.A, d.Text())
			}
		}
	}
}

// TestNoCircle: two sides that do two things in another order have one drawing all the same.
func TestNoCircle(t *testing.T) {
	build := func(first, second func(*graph.Node) *graph.Node) []*graph.Node {
		g := graph.New("g")
		return []*graph.Node{ops.Sum(second(first(g.Input("x", graph.F32, graph.Ax("i", 3))))).As("s")}
	}
	exp := func(x *graph.Node) *graph.Node { return ops.Exp(x).As("e") }
	sin := func(x *graph.Node) *graph.Node { return ops.Sin(x).As("w") }
	d := diff(t, build(exp, sin), build(sin, exp)) // which validates the figure
	if len(d.OnlyA) != 1 || len(d.OnlyB) != 1 {
		t.Errorf("%s", d.Text())
	}
}

// TestDistanceWrittenOut: a difference, a square and a sum are the operation that does the three in
// one, at level notes; at the others the steps are what is looked at.
func TestDistanceWrittenOut(t *testing.T) {
	build := func(distance func(x, r *graph.Node) *graph.Node) []*graph.Node {
		g := graph.New("g")
		x, r := g.Input("x", graph.F32, graph.Ax("i", 6), graph.Ax("d", 2)), g.Input("r", graph.F32, graph.Ax("j", 3), graph.Ax("d", 2))
		return []*graph.Node{ops.Sum(ops.Exp(distance(x, r).As("D"))).As("loss")}
	}
	steps := func(x, r *graph.Node) *graph.Node {
		Δ := ops.Sub(ops.Over(x, "i", "j", "d"), ops.Over(r, "i", "j", "d")).As("Δ")
		return ops.Sum(ops.Square(Δ), "d")
	}
	a, b := build(steps), build(ops.SqDist)
	d := diff(t, a, b)
	if got, want := d.pairs(d.Shared), "x r D loss"; got != want || len(d.OnlyA)+len(d.OnlyB) > 0 {
		t.Errorf("shared %s\n%s", got, d.Text())
	}
	if got := d.a.equation(d.match.b[d.b.shown[2]]).String(); got != "Dᵢⱼ = ‖xᵢ − rⱼ‖²" {
		t.Errorf("with its step hidden, D is %s", got)
	}
	if d := diff(t, a, b, At(Ops)); len(d.OnlyA) < 2 {
		t.Errorf("at level ops: %s", d.Text())
	}
	if d := diff(t, a, a); !strings.Contains(d.nodes(d.a.shown, d.a), "Δ") {
		t.Errorf("the step is hidden where both sides have it: %s", d.Text())
	}
}

// TestGoofyIsAttention: the points ask, the centres are keys and values, the distance is the score.
func TestGoofyIsAttention(t *testing.T) {
	d := diff(t, modelRoots(t, builderNamed(t, "kmeans-goofy")), modelRoots(t, builderNamed(t, "attention-kernel")), At(Notes))
	values := func(list []Pair) string {
		var forward []Pair
		for _, p := range list {
			if !d.a.backward[p.A] {
				forward = append(forward, p)
			}
		}
		return d.pairs(forward)
	}
	for _, c := range []struct{ what, got, want string }{
		{"shared", values(d.Shared), "x|q r|k D"},
		{"upstream", values(d.Upstream), "%12|e α r̂|y"},
		{"sentence", d.Sentence(), "Same D, −γ·Dᵢⱼ (in B e), α and r̂ (in B y); γ and loss differ; only B has target and g; B has v where A has r; x is q and r is k."},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, c.got, c.want)
		}
	}
	for _, n := range d.Figure().Nodes {
		if n.Main == "k" && n.PanelMain == [2]string{"r", "k"} && (n.PanelRole[0] == nil || n.PanelRole[0].String() != "param" || n.PanelRole[1].String() != "input") {
			t.Errorf("the centres are drawn as %v", n.PanelRole)
		}
	}
}

// TestSentence says in words how models differ.
func TestSentence(t *testing.T) {
	for _, c := range []struct {
		a, b string
		set  builders.Settings // of b
		want string
	}{
		{"transformer-encoder", "transformer-gpt", nil, "Same encoder (in B decoder) and read (in B output); x and loss differ; only A has target; only B has text, tokens, next, places, embedding, causal, ẽ and ℓ."},
		{"resnet", "resnet-plain", nil, "Same stem, x₀, block1, block2, x̄, head and cross-entropy; A adds a term to block1.y and block2.y."},
		{"resnet-plain", "resnet", nil, "Same stem, x₀, block1, block2, x̄, head and cross-entropy; B adds a term to block1.y and block2.y."},
		{"transformer-encoder", "transformer-encoder", builders.Settings{"norm": 1}, "Same encoder, read and squared error; only A has norm1; x₂ (in B sum) has other operands."},
		{"transformer-gpt", "transformer-gpt", builders.Settings{"layers": 6}, "Same tokens, next, places, embedding, x, block1, norm, output and cross-entropy; only B has block2 … block6."},
		{"kmeans-goofy", "kmeans-goofy", builders.Settings{"k": 5}, "Same computation; sizes differ: j = 3 in A and 5 in B."},
		{"kmeans-goofy", "kmeans-goofy", nil, "Same computation."},
		{"conv-1d-narrow", "regression-ridge", nil, "No computation in common"},
	} {
		b, err := builderNamed(t, c.b).Build(c.set, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		a, err := builderNamed(t, c.a).Build(nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		d := diff(t, []*graph.Node{a.Loss}, []*graph.Node{b.Loss}, At(Notes))
		if got := d.Sentence(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s against %s %v: got %s, want %s", c.a, c.b, c.set, got, c.want)
		}
	}
}

// TestSentenceOfDerivatives: what is the same but for its derivatives is said to be.
func TestSentenceOfDerivatives(t *testing.T) {
	o := soft(t)
	if got, want := diff(t, o.roots(), []*graph.Node{o.loss}).Sentence(), "Same values; derivatives differ."; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestAddedTerm: a sum of which one side has a term more is Δ on that side, whatever is done with
// the sum.
func TestAddedTerm(t *testing.T) {
	build := func(skip bool) []*graph.Node {
		g := graph.New("g")
		x := g.Input("x", graph.F32, graph.Ax("i", 3))
		f := ops.Sin(x).As("F")
		if skip {
			return []*graph.Node{ops.Sum(ops.ReLU(ops.Add(x, f)).As("y")).As("loss")}
		}
		return []*graph.Node{ops.Sum(ops.ReLU(f).As("y")).As("loss")}
	}
	d := diff(t, build(true), build(false))
	if d.pairs(d.TermA) != "y" || len(d.OnlyA)+len(d.OnlyB)+len(d.TermB) > 0 {
		t.Errorf("%s", d.Text())
	}
}

// TestScopesOfOneDrawing: a module that stands for two scopes has the name of each in its panel.
func TestScopesOfOneDrawing(t *testing.T) {
	d := diff(t, modelRoots(t, builderNamed(t, "transformer-encoder")), modelRoots(t, builderNamed(t, "transformer-gpt")), At(Notes))
	titles := [2]map[string]string{{}, {}}
	for _, m := range d.Figure().Modules {
		for side := range titles {
			if !m.Backward && (m.Panel == 0 || m.Panel == side+1) {
				titles[side][d.ScopeOf(side, m.Path)] = m.Title
			}
		}
	}
	for side, want := range []string{"encoder/block1/norm1", "decoder/block1/norm1"} {
		if titles[side][want] != "norm1" || titles[side][parent(parent(want))] != parent(parent(want)) {
			t.Errorf("side %d has the modules %v", side, titles[side])
		}
	}
}

// TestRenamedModels: a model whose leaves and quantities all have other names, and whose scopes do,
// is the same computation.
func TestRenamedModels(t *testing.T) {
	for i, b := range builders.All() {
		if testing.Short() && i%5 > 0 {
			continue
		}
		m, err := b.Build(nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		other, err := graph.Parse(strings.NewReader(otherNames(t, m.Graph)), ops.Vocabulary()...)
		if err != nil {
			t.Fatalf("%s: %v", b.Name, err)
		}
		d, err := Diff(Roots(m.Graph), Roots(other), At(Primitive))
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Shared) != len(d.a.shown) || len(d.OnlyB) > 0 {
			t.Errorf("%s: %s\n%s", b.Name, d.Summary(), d.Text())
		}
	}
}

// otherNames returns the text form of a graph with other names of leaves, quantities and scopes.
func otherNames(t *testing.T, g *graph.Graph) string {
	t.Helper()
	var text strings.Builder
	if err := g.Dump(&text); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	other := func(name string) string {
		if names[name] == "" {
			names[name] = "name" + strconv.Itoa(len(names))
		}
		return names[name]
	}
	out := regexp.MustCompile(`path="([^"]+)"`).ReplaceAllStringFunc(text.String(), func(s string) string {
		return `path="` + other(s[len(`path="`):len(s)-1]) + `"`
	})
	out = regexp.MustCompile(`([;|]) "([^"]+)"`).ReplaceAllStringFunc(out, func(s string) string { return s[:2] + `"` + other(s[3:len(s)-1]) + `"` })
	return regexp.MustCompile(` in "([^"]+)"`).ReplaceAllStringFunc(out, func(s string) string {
		parts := strings.Split(s[len(` in "`):len(s)-1], "/")
		for i, p := range parts {
			parts[i] = other(p)
		}
		return ` in "` + strings.Join(parts, "/") + `"`
	})
}

// The sides of a difference are found once, however many modules are asked about; what a context
// that ended left undone is found later.
func TestSidesAreFoundOnce(t *testing.T) {
	g := graph.New("g")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	a, b := ops.Sum(x).As("a"), ops.Sum(ops.Square(x)).As("b")
	d, err := Diff([]*graph.Node{a}, []*graph.Node{b})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.FigureContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	first, _ := d.sides()
	if f := d.Figure(); len(f.Nodes) == 0 || d.ScopeOf(0, "") != "" {
		t.Error("nothing is drawn after a context that has ended")
	}
	if again, _ := d.sides(); first != again {
		t.Error("the sides are found again at every question")
	}
}

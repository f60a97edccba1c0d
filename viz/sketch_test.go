package viz

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// sketchOf draws a model of the registry, with the derivatives by its parameters if asked.
func sketchOf(t *testing.T, name string, set builders.Settings, derivatives bool, opts ...Option) *figure.Sketch {
	t.Helper()
	b, err := builders.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Build(set, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	roots := []*graph.Node{m.Result()}
	if derivatives {
		roots = append(roots, grad.Of(m.Loss, m.Params()...)...)
	}
	s, err := Sketch(roots, append([]Option{WithoutLines()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drawnSigns lists what is written in the signs of a sketch, in order, with their roles; inside
// leads to what is inside a sign.
func drawnSigns(s *figure.Sketch) (texts []string, role map[string]figure.Role) {
	role = map[string]figure.Role{}
	for _, n := range s.Signs {
		text := strings.Join(n.Lines, " ")
		if n.Sub != "" {
			text += " | " + n.Sub
		}
		texts = append(texts, text)
		role[text] = n.Role
	}
	slices.Sort(texts)
	return texts, role
}

// leads reports whether an arrow leads from a sign with a text to one with another.
func leads(s *figure.Sketch, from, to string) bool {
	text := map[string]string{}
	for _, n := range s.Signs {
		text[n.ID] = strings.Join(n.Lines, " ") + "|" + n.Sub
	}
	return slices.ContainsFunc(s.Arrows, func(a figure.Arrow) bool {
		return !a.Hidden && strings.HasPrefix(text[a.From], from) && strings.HasPrefix(text[a.To], to)
	})
}

// The two figures of the lecture on clustering: x and each centre by itself at the left,
// a difference and a squared norm for each, one softmax with γ, and α apart.
func TestSketchOfClustering(t *testing.T) {
	want := []string{
		"r₁", "r₂", "r₃", "softmax | softmaxⱼ(−γ·Dⱼ)", "x", "×", "×", "×", "α₁", "α₂", "α₃", "γ = 1",
		"‖·‖² | D₁ = ‖Δ₁‖²", "‖·‖² | D₂ = ‖Δ₂‖²", "‖·‖² | D₃ = ‖Δ₃‖²", "− | Δ₁ = x − r₁", "− | Δ₂ = x − r₂", "− | Δ₃ = x − r₃",
	}
	soft, goofy := sketchOf(t, "kmeans-softmax", nil, false), sketchOf(t, "kmeans-goofy", nil, false)
	for _, c := range []struct {
		s    *figure.Sketch
		more []string
	}{
		{soft, []string{"Σ | loss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ"}},
		{goofy, []string{"Σ | r̂ = Σⱼ αⱼ·rⱼ", "−", "‖·‖² | loss = meanᵢ ‖r̂ᵢ − xᵢ‖²"}},
	} {
		got, role := drawnSigns(c.s)
		all := append(slices.Clone(want), c.more...)
		slices.Sort(all)
		if !slices.Equal(got, all) {
			t.Errorf("%s has\n%q\nwant\n%q", c.s.Title, got, all)
		}
		for text, r := range map[string]figure.Role{"x": figure.Input, "r₂": figure.Param, "γ = 1": figure.Hyper, "×": figure.Op, c.more[len(c.more)-1]: figure.Loss} {
			if role[text] != r {
				t.Errorf("%s: %q is drawn as %v, want %v", c.s.Title, text, role[text], r)
			}
		}
		for _, k := range []string{"₁", "₂", "₃"} {
			for _, a := range [][2]string{{"x", "−|Δ" + k}, {"r" + k, "−|Δ" + k}, {"−|Δ" + k, "‖·‖²|D" + k}, {"‖·‖²|D" + k, "softmax"}, {"softmax", "α" + k}, {"α" + k, "×"}, {"γ", "softmax"}} {
				if !leads(c.s, a[0], a[1]) {
					t.Errorf("%s: no arrow from %s to %s", c.s.Title, a[0], a[1])
				}
			}
			if leads(c.s, "r₁", "−|Δ₂") || leads(c.s, "−|Δ₁", "‖·‖²|D₂") {
				t.Errorf("%s: parts are mixed", c.s.Title)
			}
		}
	}
	if leads(soft, "r₁", "×") || !leads(soft, "‖·‖²|D₁", "×") || !leads(goofy, "r₁", "×") || !leads(goofy, "x", "−|") {
		t.Error("the objectives do not use what they are made of")
	}
	// Leaves keep their order, and with it their sides.
	for _, s := range []*figure.Sketch{soft, goofy} {
		if at := func(id string) int {
			return slices.IndexFunc(s.Signs, func(n figure.Sign) bool { return strings.Join(n.Lines, "") == id })
		}; at("x") > at("r₁") || at("r₁") > at("r₂") || at("r₂") > at("r₃") {
			t.Errorf("%s: x is not above r₁, r₂, r₃", s.Title)
		}
	}
}

// Of many parts the first two and the last are drawn.
func TestSketchOfManyParts(t *testing.T) {
	got, _ := drawnSigns(sketchOf(t, "kmeans-softmax", builders.Settings{"k": 7}, false))
	for _, want := range []string{"r₁", "r₂", "⋮", "r₇", "α₇"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	if slices.Contains(got, "r₃") || slices.Contains(got, "r₆") {
		t.Errorf("parts in between are drawn: %q", got)
	}
}

// A derivative leads back along each arrow whose operand moves, and along no other.
func TestSketchOfDerivatives(t *testing.T) {
	s := sketchOf(t, "kmeans-goofy", nil, true)
	text := map[string]string{}
	for _, n := range s.Signs {
		text[n.ID] = strings.Join(n.Lines, " ")
	}
	for _, a := range s.Arrows {
		still := text[a.From] == "x" || text[a.From] == "γ = 1"
		if a.Grad == still {
			t.Errorf("the arrow from %s to %s: derivative %v", text[a.From], text[a.To], a.Grad)
		}
	}
	var derivatives []string
	for _, n := range s.Signs {
		derivatives = append(derivatives, n.Grad)
	}
	for _, want := range []string{"∂r₁", "∂Δ₂ = 2·Δ₂·∂D₂", "∂r̂ = 2/150·(r̂ − x)", "∂loss = 1"} {
		if !slices.Contains(derivatives, want) {
			t.Errorf("no %q in %q", want, derivatives)
		}
	}
	g := graph.New("stopped")
	w := g.Param("w", graph.F32, graph.Ax("i", 3))
	y := ops.Mul(w, ops.StopGradient(ops.Exp(w).As("e"))).As("y")
	loss := ops.Sum(y).As("loss")
	s, err := Sketch([]*graph.Node{loss, grad.Of(loss, w)[0]})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range s.Arrows {
		if strings.Contains(a.From+a.To, "n1") && a.Grad { // n1 is e
			t.Errorf("a derivative flows to e, which is cut off: %+v", a)
		}
	}
}

// Heads are apart, and joined at the end.
func TestSketchOfHeads(t *testing.T) {
	s := sketchOf(t, "attention-multihead", nil, false)
	got, _ := drawnSigns(s)
	for _, want := range []string{"· | q₁", "· | q₂", "· | head₁", "· | head₂", "concat | heads"} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if !leads(s, "·|head₂", "concat") || leads(s, "·|q₁", "·|e₂") {
		t.Error("heads are mixed")
	}
}

// A loop is a cell with the gates inside, and what it carries leads back.
func TestSketchOfLoop(t *testing.T) {
	s := sketchOf(t, "rnn-lstm", nil, false)
	i := slices.IndexFunc(s.Signs, func(n figure.Sign) bool { return n.Inner != nil })
	if i < 0 {
		t.Fatal("no cell")
	}
	cell := s.Signs[i]
	got, _ := drawnSigns(cell.Inner)
	for _, want := range []string{"h₋₁", "c₋₁", "Wx", "σ | i", "σ | f", "σ | o", "tanh | c̃", "h", "c"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in the cell: %q", want, got)
		}
	}
	var folds []string
	name := map[string]string{}
	for _, n := range cell.Inner.Signs {
		name[n.ID] = strings.Join(n.Lines, " ")
	}
	for _, a := range s.Arrows {
		if a.Fold {
			folds = append(folds, name[a.FromPin]+" "+name[a.ToPin])
		}
	}
	if !slices.Equal(folds, []string{"h h₋₁", "c c₋₁"}) {
		t.Errorf("what leads back: %q", folds)
	}
}

// A U-Net has levels, one for each size of its maps; a net whose maps only shrink has none.
func TestSketchOfLevels(t *testing.T) {
	s := sketchOf(t, "unet", nil, false)
	if !slices.Equal(s.Levels, []string{"8×8", "4×4", "2×2"}) {
		t.Fatalf("levels %q", s.Levels)
	}
	for _, n := range s.Signs {
		if want := map[string]int{"s₁": 0, "s₂": 1, "y₃": 2, "u₂": 1, "y₂": 1, "y₁": 0}[n.Sub]; n.Level != want {
			t.Errorf("%s is on level %d, want %d", n.Sub, n.Level, want)
		}
	}
	for _, name := range []string{"resnet", "conv-2d", "attention-query-norm"} {
		if s := sketchOf(t, name, nil, false); len(s.Levels) > 0 {
			t.Errorf("%s has levels %q", name, s.Levels)
		}
	}
}

// Only what does not depend on other examples is said to be drawn for one.
func TestSketchOfExamples(t *testing.T) {
	for name, want := range map[string][]string{
		"kmeans-softmax": {"Drawn for one i of 150."}, "resnet": nil, "norm-batch": nil, "resnet-plain": nil, "rnn-lstm": {"Drawn for one b of 8."},
		"conv-2d": {"Drawn for one n of 8."}, "graph-gat": nil,
	} {
		if got := sketchOf(t, name, nil, false).Footer; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestSketchMistakes(t *testing.T) {
	b, err := builders.Lookup("kmeans-softmax")
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Build(nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		roots []*graph.Node
		axis  string
		want  string
	}{
		{[]*graph.Node{m.Loss}, "k", `viz: no array has an axis "k" to draw apart: want one of ["d" "i" "j"]`},
		{nil, "", "viz: nothing to draw: no node is given"},
		{[]*graph.Node{nil}, "", "viz: node 0 to draw is nil"},
	} {
		if _, err := Sketch(c.roots, Apart(c.axis)); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// The figures in docs are drawn anew from the models, and are the same every time.
func TestFiguresInDocs(t *testing.T) {
	for file, model := range map[string]string{
		"figure-1": "kmeans-softmax", "figure-3": "kmeans-goofy", "rnn-lstm": "rnn-lstm", "unet": "unet", "attention-multihead": "attention-multihead", "resnet": "resnet",
	} {
		var first, second bytes.Buffer
		for _, b := range []*bytes.Buffer{&first, &second} {
			if err := sketchOf(t, model, nil, false).SVG(b); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s is drawn in two ways", model)
		}
		golden(t, filepath.Join("..", "..", "docs", "figures", file+".svg"), first.String())
	}
	if entries, err := os.ReadDir("../docs/figures"); err != nil || len(entries) != 6 {
		t.Errorf("docs/figures has %d files, %v", len(entries), err)
	}
}

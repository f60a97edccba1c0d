package viz

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// trained is the loss of a registered model and its derivatives by the parameters.
func trained(t testing.TB, name string, s builders.Settings) (roots, params []*graph.Node) {
	t.Helper()
	b, err := builders.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.Build(s, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range graph.Reachable(m.Loss) {
		if n.Role() == graph.RoleParam {
			params = append(params, n)
		}
	}
	return append([]*graph.Node{m.Loss}, grad.Of(m.Loss, params...)...), params
}

func module(f *figure.Figure, path string, backward bool) *figure.Module {
	for i := range f.Modules {
		if f.Modules[i].Path == path && f.Modules[i].Backward == backward {
			return &f.Modules[i]
		}
	}
	return nil
}

// What a model repeats is drawn once, with its derivatives.
func TestModelsAreFolded(t *testing.T) {
	for _, c := range []struct {
		model    string
		settings builders.Settings
		path     string
		title    string
		copies   int
	}{
		{"transformer-gpt", builders.Settings{"layers": 12}, "decoder/block1…12", "block1 … 12 × 12", 12},
		{"transformer-encoder", builders.Settings{"layers": 12}, "encoder/block1…12", "block1 … 12 × 12", 12},
		{"transformer-seq2seq", builders.Settings{"layers": 6}, "decoder/block1…6", "block1 … 6 × 6", 6},
		{"resnet", builders.Settings{"depth": 5}, "block1…5", "block1 … 5 × 5", 5},
		{"rnn-lstm", builders.Settings{"run": 1}, "recurrent/step 0…4", "step 0 … 4 × 5", 5},
		{"rnn-gru", builders.Settings{"run": 1}, "recurrent/step 0…4", "step 0 … 4 × 5", 5},
	} {
		roots, params := trained(t, c.model, c.settings)
		for _, level := range []Level{Ops, Primitive} {
			f := draw(t, roots, At(level), CollapseAbove(-1))
			for _, backward := range []bool{false, true} {
				m := module(f, c.path, backward)
				if m == nil {
					t.Errorf("%s: no module %q among %v", c.model, c.path, f.Modules)
					continue
				}
				if title := strings.TrimPrefix(m.Title, "∂ "); title != c.title || len(m.Copies) != c.copies {
					t.Errorf("%s: %q stands for %q", c.model, m.Title, m.Copies)
				}
			}
			open := draw(t, roots, At(level), CollapseAbove(-1), Unfolded())
			if len(f.Nodes)*2 > len(open.Nodes)*3/2 && c.copies > 2 {
				t.Errorf("%s: %d boxes of %d are left", c.model, len(f.Nodes), len(open.Nodes))
			}
		}
		closed := draw(t, roots, At(Ops), CollapseAbove(0))
		var numbers, want int
		for _, n := range closed.Nodes {
			if _, count, ok := strings.Cut(n.Sub, ", "); ok && n.Closed != "" {
				var k int
				fmt.Sscanf(count, "%d parameters", &k)
				numbers += k
			}
		}
		for _, p := range params {
			if p.First().Scope != "" {
				want += p.Shape().Len()
			}
		}
		if numbers != want {
			t.Errorf("%s: closed boxes hold %d parameters, the model %d", c.model, numbers, want)
		}
	}
}

// Within a block all edges are drawn that there are in each, and nothing flows from
// one block to another or back.
func TestFoldedBlockIsWhole(t *testing.T) {
	roots := deep(t, 1, 12)
	open, folded := draw(t, roots, At(Ops), Unfolded(), CollapseAbove(-1), DenseAbove(-1)), draw(t, roots, At(Ops), DenseAbove(-1))
	within := func(f *figure.Figure, module string) []string {
		inside := map[string]string{}
		for _, n := range f.Nodes {
			if n.Module == module {
				inside[n.ID] = n.Sub[strings.LastIndexByte(n.Sub, ' ')+1:] + fmt.Sprint(n.Role, n.Backward)
			}
		}
		var out []string
		for _, e := range f.Edges {
			if a, b := inside[e.From], inside[e.To]; a != "" && b != "" && (!strings.Contains(a, "grad") || !strings.Contains(b, "grad")) {
				out = append(out, fmt.Sprint(e.Kind, " ", e.Label))
			}
		}
		slices.Sort(out)
		return out
	}
	want, got := within(open, "stage0/block5"), within(folded, "stage0/block0…11")
	if !slices.Equal(got, want) || len(want) < 10 {
		t.Errorf("a block has the edges\n%q, drawn for all are\n%q", want, got)
	}
	blocks := module(folded, "stage0/block0…11", true)
	if blocks == nil || len(blocks.Copies) != 12 || blocks.Copies[3] != "stage0/block3" {
		t.Fatalf("folded into %+v", blocks)
	}
	x, into := box1(t, folded, "x").ID, 0
	for _, e := range folded.Edges {
		if e.From == x && e.Kind == figure.Forward {
			into++
		}
	}
	if into != 2 {
		t.Errorf("the input goes to %d boxes of the block, want its product and its sum", into)
	}
}

func TestSeriesInSeries(t *testing.T) {
	roots := deep(t, 4, 10)
	f := draw(t, roots, At(Ops))
	if m := module(f, "stage0…3", false); m == nil || m.Title != "stage0 … 3 × 4" {
		t.Errorf("stages: %+v", m)
	}
	if m := module(f, "stage0…3/block0…9", true); m == nil || m.Title != "∂ block0 … 9 × 10" {
		t.Errorf("blocks: %+v among %v", m, f.Modules)
	}
	f = draw(t, roots, At(Ops), CollapseAbove(0))
	if b := box1(t, f, "stage0 … 3 × 4"); b.Sub != "160 ops, 10880 parameters" || b.Closed != "stage0…3" || len(b.Copies) != 4 || b.ID != figure.ModuleID("stage0…3", false) {
		t.Errorf("closed stages are drawn as %+v", b)
	}
	f = draw(t, roots, At(Ops), CollapseAbove(0), Expand("stage0...3"))
	if b := box1(t, f, "block0 … 9 × 10"); b.Module != "stage0…3" || b.Sub != "160 ops, 10880 parameters" {
		t.Errorf("closed blocks of open stages are drawn as %+v", b)
	}
	var dot bytes.Buffer
	if err := DOT(&dot, roots, At(Ops)); err != nil || !strings.Contains(dot.String(), "stage0 … 3 × 4") || !strings.Contains(dot.String(), "modules stage0, stage1, stage2, stage3") {
		t.Errorf("DOT does not tell of the stages: %v", err)
	}
}

// A block can be taken out of its series; those before and after stay folded.
func TestExpandTakesABlockOut(t *testing.T) {
	roots := deep(t, 2, 10)
	f := draw(t, roots, At(Ops), CollapseAbove(0), Expand("stage1/block4"))
	for _, want := range []string{"stage0", "block0 … 3 × 4", "block5 … 9 × 5", "∂ block5 … 9 × 5"} {
		box1(t, f, want)
	}
	var chain []string
	for _, e := range f.Edges {
		for _, n := range f.Nodes {
			if n.ID == e.From && n.Main == "block0 … 3 × 4" && e.Kind == figure.Forward {
				chain = append(chain, e.To)
			}
		}
	}
	if w := box1(t, f, "w"); w.Module != "stage1/block4" || len(chain) != 2 {
		t.Errorf("w is in %q; the blocks before feed %q", w.Module, chain)
	}
	if _, err := Draw(roots, Expand("stage1/block40")); err == nil {
		t.Error("a block that there is not is expanded")
	}
}

// towers has n scopes NAME0, NAME1, … of a few steps each; join makes the values that pass from
// one to the next.
func towers(t *testing.T, n, steps int, name func(k int) string, width func(k int) int, join func(k int, x, h *graph.Node) *graph.Node) []*graph.Node {
	t.Helper()
	g := graph.New("towers")
	x := g.Input("x", graph.F32, graph.Dims(4, 8)...)
	h := x
	var sum *graph.Node
	for k := range n {
		in := join(k, x, h)
		end := g.Scope(name(k))
		w := g.Param("w", graph.F32, graph.Dims(8, width(k))...)
		h = ops.MatMul(in, w)
		for i := range steps {
			h = ops.Tanh(ops.Square(h)).As(fmt.Sprint("h", i))
		}
		h = ops.MatMul(h, ops.Transpose(w, 1, 0))
		end()
		if sum == nil {
			sum = h
		} else {
			sum = ops.Add(sum, h)
		}
	}
	loss := ops.Mean(sum).As("loss")
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	return []*graph.Node{loss}
}

func TestWhatIsFolded(t *testing.T) {
	named := func(k int) string { return fmt.Sprint("tower", k) }
	eight := func(int) int { return 8 }
	chained := func(_ int, _, h *graph.Node) *graph.Node { return h }
	for what, c := range map[string]struct {
		roots []*graph.Node
		want  []string // titles of modules
	}{
		"one after the other":     {towers(t, 4, 20, named, eight, chained), []string{"tower0 … 3 × 4"}},
		"side by side":            {towers(t, 4, 20, named, eight, func(_ int, x, _ *graph.Node) *graph.Node { return x }), []string{"tower0 … 3 × 4"}},
		"with something between":  {towers(t, 3, 20, named, eight, func(_ int, _, h *graph.Node) *graph.Node { return ops.Exp(h) }), []string{"tower0", "tower1", "tower2"}},
		"without numbers":         {towers(t, 3, 20, func(k int) string { return string(rune('a' + k)) }, eight, chained), []string{"a", "b", "c"}},
		"with a number left out":  {towers(t, 5, 20, func(k int) string { return fmt.Sprint("t", k+k/3) }, eight, chained), []string{"t0 … 2 × 3", "t4 … 5 × 2"}},
		"of two shapes":           {towers(t, 5, 20, named, func(k int) int { return 8 + 8*(k/2) }, chained), []string{"tower0 … 1 × 2", "tower2 … 3 × 2", "tower4"}},
		"in a small drawing":      {towers(t, 3, 2, named, eight, chained), []string{"tower0", "tower1", "tower2"}},
		"ten, in order of number": {towers(t, 12, 6, named, eight, chained), []string{"tower0 … 11 × 12"}},
	} {
		f := draw(t, c.roots, At(Ops), CollapseAbove(-1))
		var got []string
		for _, m := range f.Modules {
			got = append(got, m.Title)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// A comparison shows every block, since any may differ.
func TestDifferencesAreNotFolded(t *testing.T) {
	roots := deep(t, 2, 10)
	d, err := Diff(roots, deep(t, 2, 10), At(Ops))
	if err != nil {
		t.Fatal(err)
	}
	f := d.Figure()
	if module(f, "stage0/block7", false) == nil || len(d.OnlyA)+len(d.OnlyB) > 0 {
		t.Errorf("%s; %d modules", d.Summary(), len(f.Modules))
	}
}

// The marks of all blocks appear on the one that is drawn for them.
func TestOverlayOfFoldedBlocks(t *testing.T) {
	roots := deep(t, 1, 12)
	marks := map[*graph.Node]Mark{}
	for _, n := range graph.Reachable(roots...) {
		if n.Path() == "stage0/block7/b" {
			marks[n] = Mark{Alarm: NotFinite, Badge: "NaN", Note: "b[3]"}
		}
	}
	f := draw(t, roots, At(Ops), Overlay(marks))
	if b := box1(t, f, "b"); b.Alarm != NotFinite || b.Badge != "NaN" || !strings.Contains(b.Title, "b[3]") || !strings.Contains(b.Title, "block7") {
		t.Errorf("b is drawn as %+v", b)
	}
}

// Drawing does not depend on the order of a map.
func TestFoldingIsDeterministic(t *testing.T) {
	roots, _ := trained(t, "transformer-gpt", builders.Settings{"layers": 3})
	want := fmt.Sprint(draw(t, roots, At(Primitive)))
	for range 5 {
		if fmt.Sprint(draw(t, roots, At(Primitive))) != want {
			t.Fatal("another drawing")
		}
	}
}

// A step's part of the sequence is drawn in the step, and the contributions of all steps to a
// derivative as one sum.
func TestStepsAreFoldedWithWhatTheyTake(t *testing.T) {
	roots, _ := trained(t, "rnn-lstm", builders.Settings{"run": 1})
	f := draw(t, roots, At(Ops), DenseAbove(-1))
	taken, sums := 0, 0
	for _, n := range f.Nodes {
		if opOf(n) == "Slice" && n.Module == "recurrent" {
			t.Errorf("%s is drawn outside of the steps", n.Main)
		}
		if opOf(n) == "Slice" && strings.HasPrefix(n.Main, "Wx_") && n.Module == "recurrent/step 0…4" {
			taken++
		}
		if n.Module == "recurrent/hidden" && n.Backward {
			sums++
		}
	}
	if taken != 1 || sums != 1 {
		t.Errorf("%d slices in the steps, %d boxes of the derivative by the weights; want one of each", taken, sums)
	}
}

package inspect_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// scan lists the instructions of steps 0 to last at which something holds, by records
// taken without a session.
func scan(t *testing.T, sub inspect.Subject, last int, holds func(n *graph.Node, a tape.Array) bool) (at [][2]int) {
	t.Helper()
	prog, err := tape.Compile(sub.Graph, tape.Fetch(sub.Wanted...), tape.Do(sub.Step))
	if err != nil {
		t.Fatal(err)
	}
	store := sub.Store.Clone()
	vm := tapetest.VM(t, prog, store)
	defer vm.Close()
	var roots []*graph.Node
	for _, r := range prog.Rows() {
		roots = append(roots, r.Node)
	}
	for k := range last + 1 {
		feed, err := sub.Feed(k)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := inspect.Take(ctx, inspect.Feed(feed, prog.Graph()), store, roots...)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range prog.Rows() {
			if holds(r.Node, rec.Value(r.Node)) {
				at = append(at, [2]int{k, i})
			}
		}
		if err := vm.Run(ctx, feed); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// TestBreaks: going on stops exactly where a scan of all values says, forwards and
// back, across training steps.
func TestBreaks(t *testing.T) {
	const last = 3
	above := func(bound float64) func(*graph.Node, tape.Array) bool {
		return func(_ *graph.Node, a tape.Array) bool {
			for i := range a.Type.Shape.Len() {
				if math.Abs(a.At(i)) > bound {
					return true
				}
			}
			return false
		}
	}
	for _, c := range []struct {
		text  string
		holds func(*graph.Node, tape.Array) bool
	}{
		{"|any|>0.9", above(0.9)},
		{"|logits| > 0.3", func(n *graph.Node, a tape.Array) bool { return n.Name() == "logits" && above(0.3)(n, a) }},
		{"shape 8x5", func(n *graph.Node, _ tape.Array) bool { return slices.Equal(n.Shape().Sizes(), []int{8, 5}) }},
		{"logits", func(n *graph.Node, _ tape.Array) bool { return n.Name() == "logits" }},
		{"∂loss/∂logits", func(n *graph.Node, _ tape.Array) bool { return n.Name() == "∂loss/∂logits" }},
	} {
		sub := subject(t, "rnn-elman")
		s := open(t, sub)
		b, err := s.ParseBreak(c.text)
		if err != nil {
			t.Fatal(err)
		}
		want := scan(t, sub, last, c.holds)
		if len(want) < last {
			t.Fatalf("%s: a test that holds at %v tests nothing", c.text, want)
		}
		var got [][2]int
		if want[0] == [2]int{0, 0} { // continuing begins behind the present instruction
			got = append(got, want[0])
		}
		for {
			hit, ok, err := s.Continue(ctx, last, b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if hit.String() != b.String() {
				t.Errorf("%q stopped, want %q", hit, b)
			}
			got = append(got, [2]int{s.Step(), s.At()})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: stops at %v, want %v", c.text, got, want)
		}
		if s.Step() != last || s.At() != s.Len()-1 {
			t.Errorf("%s: ends at step %d, instruction %d", c.text, s.Step(), s.At())
		}
		var back [][2]int
		if end := [2]int{last, s.Len() - 1}; want[len(want)-1] == end {
			back = append(back, end)
		}
		for {
			_, ok, err := s.ContinueBack(ctx, b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			back = append(back, [2]int{s.Step(), s.At()})
		}
		slices.Reverse(back)
		if !slices.Equal(back, want) {
			t.Errorf("%s: going back stops at %v, want %v", c.text, back, want)
		}
	}
}

// TestBreakOnWhatHasNoInstruction breaks on a view where its values are computed, on an input
// where it is read, and on a parameter where it is read and where it is updated.
func TestBreakOnWhatHasNoInstruction(t *testing.T) {
	s := open(t, subject(t, "rnn-elman"))
	for name, op := range map[string]string{"h_T": "Scan", "tokens": "Gather", "output/w": "Sub", "first": "OneHot"} {
		b, err := s.ParseBreak(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if i := s.First(b); i < 0 || s.Rows()[i].Op != op {
			t.Errorf("%s: stops at %d, want at a %s", name, i, op)
		}
	}
}

// TestBreakAtStep: the session stops at the first instruction of the training step that it reaches,
// from either side.
func TestBreakAtStep(t *testing.T) {
	s := open(t, subject(t, "dropout"))
	if _, ok, err := s.Continue(ctx, 10, inspect.AtStep(4)); err != nil || !ok || s.Step() != 4 || s.At() != 0 {
		t.Fatalf("step %d, instruction %d, %v %v", s.Step(), s.At(), ok, err)
	}
	if _, ok, _ := s.Continue(ctx, 6, inspect.AtStep(4)); ok || s.Step() != 6 {
		t.Fatalf("stopped again at step %d, instruction %d", s.Step(), s.At())
	}
	if _, ok, _ := s.ContinueBack(ctx, inspect.AtStep(4)); !ok || s.Step() != 4 || s.At() != s.Len()-1 {
		t.Fatalf("back at step %d, instruction %d", s.Step(), s.At())
	}
}

// TestBreakNotFinite: training that diverges is stopped at the first number that is
// not finite, which a scan of single steps finds too.
func TestBreakNotFinite(t *testing.T) {
	g := graph.New("diverging")
	x := g.Input("x", graph.F32, graph.Ax("i", 4))
	w := g.Param("w", graph.F32).Init(initial.Fill(1))
	loss := ops.Mean(ops.Exp(ops.Mul(ops.Square(x), ops.Mul(w, w)).As("u")), "i").As("loss")
	sub := inspect.Subject{Graph: g, Wanted: []*graph.Node{loss}, Step: train.SGD(3).Minimize(loss, w), Store: tape.NewStore(g),
		Feed: func(int) (tape.Feed, error) {
			return tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{0, 0.5, 1, 1.5}})}, nil
		}}
	want := scan(t, sub, 6, func(_ *graph.Node, a tape.Array) bool {
		for i := range a.Type.Shape.Len() {
			if v := a.At(i); math.IsNaN(v) || math.IsInf(v, 0) {
				return true
			}
		}
		return false
	})
	if len(want) == 0 || want[0][0] == 0 {
		t.Fatalf("the model does not diverge as it should: %v", want)
	}
	s := open(t, sub)
	if _, ok, err := s.Continue(ctx, 6, inspect.NotFinite()); err != nil || !ok || [2]int{s.Step(), s.At()} != want[0] {
		t.Errorf("stopped at step %d, instruction %d (%v, %v), want %v", s.Step(), s.At(), ok, err, want[0])
	}
}

// TestBreakWhen: a predicate of the user's sees operands and gradients.
func TestBreakWhen(t *testing.T) {
	s := open(t, subject(t, "kmeans-softmax"))
	_, ok, err := s.Continue(ctx, 0, inspect.When("softmax with a gradient", func(ins *inspect.Instruction) bool {
		return ins.Row.Op == "Softmax" && len(ins.Operands) == 1 && ins.Result.Gradient != nil
	}))
	if err != nil || !ok || s.Rows()[s.At()].Op != "Softmax" {
		t.Errorf("stopped at %v: %v, %v", s.Rows()[s.At()], ok, err)
	}
}

func TestParseBreak(t *testing.T) {
	s := open(t, subject(t, "kmeans-softmax"))
	for text, want := range map[string]string{
		"alpha": "α", "α": "α", " loss ": "loss", "r": "r", "|any|>3": "|any| > 3", "any <= −1e-3": "any <= -0.001", "|alpha|≥.9": "|α| >= 0.9", "loss<0.4": "loss < 0.4", "γ == 1": "γ = 1", "∂loss/∂r > inf": "∂loss/∂r > +Inf", "nan": "nan", "inf": "inf", "step 40": "step 40",
		"shape 150x3": "shape 150x3", "shape": "shape", "shape 150×3": "shape 150x3",
	} {
		if b, err := s.ParseBreak(text); err != nil || b.String() != want {
			t.Errorf("%q is read as %q, %v", text, b, err)
		}
	}
	for text, want := range map[string]string{
		"":           `break "": want where to stop, such as alpha, |α| > 0.9, loss < 0.4, |any| > 3, nan, inf, step 40, shape 150x3`,
		"|q|<3":      `break "|q|<3": the program has no quantity "q": it has `,
		"loss>nan":   `break "loss>nan": want a number after >, as in loss < 0.4`,
		"loss<>1":    `break "loss<>1": want a number after <, as in loss < 0.4`,
		"|α>0.9":     `break "|α>0.9": want a bar on either side, as in |α| > 0.9`,
		"< 1":        `break "< 1": want a quantity before <, as in loss < 0.4, or any for any result`,
		"nan = 1":    `break "nan = 1": nan is not a quantity: want one of alpha, `,
		"step -1":    `break "step -1": want the number of a training step, as in step 40`,
		"shape 3xa":  `break "shape 3xa": want at most 8 sizes, as in shape 150x3`,
		"Delta Delt": `break "Delta Delt": the program has no quantity "Delta Delt": it has `,
	} {
		if _, err := s.ParseBreak(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What has a path is listed by it, and not by its name besides.
func TestNamesAreListedOnce(t *testing.T) {
	m, err := builders.Build("kmeans-softmax", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	task, err := lab.Config{Optimisers: []train.Optimiser{train.Adam(0.05)}}.Task(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	names := open(t, inspect.Subject{Graph: m.Graph, Wanted: []*graph.Node{m.Loss}, Step: task.Step, Feed: task.Feed, Store: task.Store}).Names()
	for _, want := range []string{"r", "α", "loss", "adam/rate", "adam/m/r"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q lacks %q", names, want)
		}
	}
	for _, name := range []string{"rate", "m/r"} {
		if slices.Contains(names, name) {
			t.Errorf("%q lists %q beside its path", names, name)
		}
	}
}

// FuzzParseBreak checks that no text panics, and that a parsed break prints as a text that parses
// to itself.
func FuzzParseBreak(f *testing.F) {
	for _, s := range []string{"alpha", "|any|>3", "loss<.4", "|α|≥−1", "nan", "step 4", "shape 1x2", "||", "shape x", "step 99999999999999999999"} {
		f.Add(s)
	}
	m, err := builders.Build("kmeans-softmax", nil, graph.F32)
	if err != nil {
		f.Fatal(err)
	}
	s, err := inspect.Open(context.Background(), inspect.Subject{Graph: m.Graph, Wanted: []*graph.Node{m.Loss}, Store: tape.NewStore(m.Graph),
		Feed: func(int) (tape.Feed, error) { return nil, nil }})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := s.ParseBreak(text)
		if err != nil {
			return
		}
		if again, err := s.ParseBreak(b.String()); err != nil || again.String() != b.String() {
			t.Errorf("%q is read as %q, which is read as %q, %v", text, b, again, err)
		}
	})
}

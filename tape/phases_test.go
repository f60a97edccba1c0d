package tape

import (
	"context"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// before compiles as far as the form that a phase takes, as the graph is written.
func before[F form](t *testing.T, g *graph.Graph, options ...Option) F {
	t.Helper()
	l, _, err := (&compilation{ctx: context.Background()}).front(g, append([]Option{Passes(), Debug(nil)}, options...))
	if err != nil {
		t.Fatal(err)
	}
	return advance[F](l, l.how)
}

// golden holds the forms before and after a phase to a file.
func golden(t *testing.T, file string, before, after string) {
	t.Helper()
	file = "testdata/phases/" + file + ".txt"
	got := before + "→\n" + after
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the phase gives\n%s\nwant\n%s", got, want)
	}
}

// spread is y = e^(v − Σ v) with v = x².
func spread() (g *graph.Graph, y *graph.Node) {
	g = graph.New("spread")
	x := g.Input("x", graph.F32, graph.Ax("i", 64))
	v := ops.Square(x).As("v")
	return g, ops.Exp(ops.Sub(v, ops.Sum(v).As("s"))).As("y")
}

// chain is the derivative of Σ sin sin sin sin x.
func chain() (g *graph.Graph, dx *graph.Node) {
	g = graph.New("chain")
	x := g.Input("x", graph.F32, graph.Ax("i", 64))
	y := x
	for _, name := range []string{"a", "b", "c", "d"} {
		y = ops.Sin(y).As(name)
	}
	return g, grad.Of(ops.Sum(y).As("loss"), x)[0]
}

func TestFuse(t *testing.T) {
	g, y := spread()
	l := before[*lowered](t, g, Fetch(y))
	in := l.String()
	golden(t, "fuse", in, fuse(l).String())
	if l.String() != in {
		t.Error("fuse changes what it is given")
	}
}

func TestSink(t *testing.T) {
	g, y := spread()
	f := before[*fused](t, g, Fetch(y))
	golden(t, "sink", f.String(), sink(f).String())
}

func TestWatchedGroups(t *testing.T) {
	g, y := spread()
	s := before[*sunk](t, g, Fetch(y), Watch(ops.Sin(y.In(0)).As("seen")))
	golden(t, "watch", s.String(), watch(s).String())
}

func TestPostpone(t *testing.T) {
	g := graph.New("postpone")
	w, x := g.Param("w", graph.F32, graph.Ax("i", 64)), g.Input("x", graph.F32, graph.Ax("i", 64))
	p := ops.Softmax(w, "i").As("p") // reads the old value, and so comes first
	next := ops.Add(w, x).As("w′")
	q := ops.Softmax(x, "i").As("q")
	f := before[*watched](t, g, Do(graph.Step{g.Assign(w, next)}), Fetch(p, q))
	golden(t, "postpone", f.String(), postpone(f).String())
}

func TestStage(t *testing.T) {
	g := graph.New("stage")
	x, w := g.Input("x", graph.F32, graph.Ax("i", 256), graph.Ax("d", 64)), g.Param("w", graph.F32, graph.Ax("d", 64), graph.Ax("k", 8))
	f := before[*postponed](t, g, Fetch(ops.Mean(ops.Tanh(ops.MatMul(x, w)).As("h")).As("mean")))
	golden(t, "stage", f.String(), stageGroups(f).String())
}

func TestLay(t *testing.T) {
	golden(t, "lay", lengthsOf[*postponed](t).String(), lengthsOf[*staged](t).String())
}

// lengthsOf is x/‖x‖² for rows of three, as far as a form.
func lengthsOf[F form](t *testing.T) F {
	t.Helper()
	g := graph.New("lengths")
	x := g.Input("x", graph.F32, graph.Ax("p", 4096), graph.Ax("v", 3))
	return before[F](t, g, Fetch(ops.Div(x, ops.Expand(ops.Sum(ops.Square(x), "v"), 1, "v"))))
}

func TestOrder(t *testing.T) {
	g := graph.New("order")
	x := g.Input("x", graph.F32, graph.Ax("i", 1024))
	a, b := ops.Sin(x).As("a"), ops.Cos(x).As("b")
	s := before[*staged](t, g, Fetch(ops.Add(ops.Sum(a).As("Σa"), ops.Sum(b).As("Σb")).As("y")), Unfused())
	golden(t, "order", s.String(), order(s).String())
}

func TestPlan(t *testing.T) {
	g := graph.New("four")
	x := g.Input("x", graph.F32, graph.Ax("i", 64))
	a, c := ops.Sin(x).As("a"), ops.Cos(x).As("c")
	bc := ops.Mul(ops.Tanh(a).As("b"), c).As("bc")
	o := before[*ordered](t, g, Fetch(ops.Sum(bc).As("d")), Unfused())
	in := o.String() + o.staged.String()
	golden(t, "plan", in, plan(o).String())
}

func TestGuard(t *testing.T) {
	g := graph.New("guard")
	full := g.Input("full", graph.Bool)
	w, x := g.Param("w", graph.F32, graph.Ax("i", 64)), g.Input("x", graph.F32, graph.Ax("i", 64))
	next := ops.Select(full, ops.Softmax(x, "i").As("p"), w).As("w′")
	p := before[*planned](t, g, Do(graph.Step{g.Assign(w, next)}))
	golden(t, "guard", p.String(), guard(p).String())
}

func TestBind(t *testing.T) {
	g, y := spread()
	f := before[*guarded](t, g, Fetch(y))
	in := f.String()
	p := bind(f)
	golden(t, "bind", in, p.String())
	for i, s := range p.stages {
		for k, c := range s.calls {
			if len(c.bound) == 0 || s.steps[k].open != nil {
				t.Errorf("step %d of stage %d is not bound", k, i)
			}
		}
	}
	if p.calls != 5 || p.operands != 6 || len(p.fed) != 1 {
		t.Errorf("%d calls with %d operands, %d inputs: want 5, 6, 1", p.calls, p.operands, len(p.fed))
	}
}

// TestExamples: the examples in the comments of sink.go, plan.go and recompute.go are what the
// phases give.
func TestExamples(t *testing.T) {
	g, y := spread()
	f := before[*fused](t, g, Fetch(y))
	example(t, "sink.go", f, func() form { return sink(f) })

	g = graph.New("four")
	x := g.Input("x", graph.F32, graph.Ax("i", 64))
	a, c := ops.Sin(x).As("a"), ops.Cos(x).As("c")
	sum := ops.Sum(ops.Mul(ops.Tanh(a).As("b"), c).As("bc")).As("d")
	l := before[*lowered](t, g, Fetch(sum), Unfused())
	example(t, "plan.go", l, func() form { return advance[*planned](l, l.how) })

	g, dx := chain()
	l = before[*lowered](t, g, Fetch(dx), Unfused())
	example(t, "recompute.go", l, func() form {
		next, changed := thin(l, advance[*planned](l, l.how), 512, manner{})
		if !changed {
			t.Error("nothing is dropped")
		}
		return next
	})
}

// example holds the indented part of a file's comments to two forms.
func example(t *testing.T, file string, in form, out func() form) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, line := range regexp.MustCompile(`(?m)^//\t.*$`).FindAllString(string(text), -1) {
		got.WriteString(strings.TrimPrefix(line, "//\t") + "\n")
	}
	want := in.String()
	want += out().String()
	if got.String() != want {
		t.Errorf("the example of %s is\n%s\nwant\n%s", file, got.String(), want)
	}
}

// TestDocsNameThePhases: ARCHITECTURE.md and the package's doc name the phases in their order.
func TestDocsNameThePhases(t *testing.T) {
	names := []string{"rewrite", "lower"}
	for _, p := range phases {
		names = append(names, p.name)
		if p.why == "" {
			t.Errorf("phase %s has no reason", p.name)
		}
	}
	want := strings.Join(names, " → ")
	for _, file := range []string{"doc.go", "../ARCHITECTURE.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.Join(strings.Fields(regexp.MustCompile(`(?m)^//`).ReplaceAllString(string(text), " ")), " ")
		if !strings.Contains(plain, want) {
			t.Errorf("%s does not name the phases in their order: %s", file, want)
		}
	}
}

// TestPhasesFit: each phase takes what the one before it gives, and nothing else does.
func TestPhasesFit(t *testing.T) {
	forms := []form{(*lowered)(nil), (*fused)(nil), (*sunk)(nil), (*watched)(nil), (*postponed)(nil), (*staged)(nil),
		(*ordered)(nil), (*planned)(nil), (*guarded)(nil), (*Program)(nil)}
	for i, p := range phases {
		for k, f := range forms {
			if p.takes(f) != (i == k) {
				t.Errorf("phase %s takes a %T: %v", p.name, f, p.takes(f))
			}
		}
	}
	if len(forms) != len(phases)+1 {
		t.Errorf("%d phases, %d forms", len(phases), len(forms))
	}
}

// TestChecksFindPlantedMistakes: each form's check refuses a form that is wrong in the way that it
// is for.
func TestChecksFindPlantedMistakes(t *testing.T) {
	g, y := spread()
	options := []Option{Fetch(y), Unfused()}
	plant := func(f form, change func()) {
		t.Helper()
		if err := f.check(); err != nil {
			t.Errorf("%T is wrong from the start: %v", f, err)
		}
		change()
		if f.check() == nil {
			t.Errorf("%T: check finds nothing wrong with\n%v", f, f)
		}
	}
	l := before[*lowered](t, g, options...)
	plant(l, func() { l.instrs[0], l.instrs[1] = l.instrs[1], l.instrs[0] })
	f := before[*fused](t, g, options...)
	plant(f, func() { f.groups[0].members, f.groups[1].members = f.groups[1].members, f.groups[0].members })
	f = before[*fused](t, g, Fetch(y))
	plant(f, func() {
		f.groups[0].members = append(f.groups[0].members, f.groups[1].members...)
		f.groups[1].members = nil
	})
	s := before[*sunk](t, g, Fetch(y))
	plant(s, func() { s.instrs[len(s.instrs)-1].repeated, s.buffers[s.instrs[3].out.buf].pinned = true, false })
	w := before[*watched](t, g, Fetch(y))
	plant(w, func() { w.instrs[0].extra = true })
	o := before[*ordered](t, g, options...)
	plant(o, func() { o.orders[0][0], o.orders[0][1] = 1, 0 })
	p := before[*planned](t, g, options...)
	plant(p, func() { p.buffers[p.instrs[1].out.buf].offset = p.buffers[p.instrs[0].out.buf].offset })
	st := before[*staged](t, g, Fetch(ops.Exp(ops.Mul(ops.Sin(y), ops.Cos(y)))))
	plant(st, func() {
		for b := range st.buffers {
			st.buffers[b].offset = 0
		}
	})
	st = lengthsOf[*staged](t)
	if len(st.stages) != 1 || !st.stages[0].steps[1].open.lies[0] {
		t.Errorf("no rows are turned\n%v", st)
	}
	plant(st, func() { st.stages[0].steps[1].open.lies[0] = false })
	gd := before[*guarded](t, g, options...)
	plant(gd, func() { gd.stages[0].conditional, gd.stages[0].mask = true, 0 })
	pr := before[*Program](t, g, options...)
	plant(pr, func() { pr.stages[0].calls = nil })

	g = graph.New("postpone")
	v, x := g.Param("w", graph.F32, graph.Ax("i", 64)), g.Input("x", graph.F32, graph.Ax("i", 64))
	total := ops.Sum(v)
	po := before[*postponed](t, g, Do(graph.Step{g.Assign(v, ops.Add(v, x))}), Fetch(total), Unfused())
	plant(po, func() { po.late = len(po.groups) })
	po = before[*postponed](t, g, Do(graph.Step{g.Assign(v, ops.Add(v, x))}), Fetch(total), Unfused())
	plant(po, func() { // the sum now comes after the update of what it adds up
		po.groups = []*group{po.groups[1], po.groups[0]}
		po.of[0], po.of[1], po.late = 1, 0, 0
	})
}

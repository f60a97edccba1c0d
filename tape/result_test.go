package tape_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

func TestCompileMistakes(t *testing.T) {
	g, x, a, step := line()
	other, _, b, otherStep := line()
	wide := g.Input("wide", graph.F32, graph.Ax("i", 2))
	best := ops.ArgMax(wide, 0).As("best")
	at := func(n *graph.Node, text string) string { return n.First().Pos.String() + ": " + text }
	twice := at(step[0].Value, "do: a is updated twice in one program: compile one for each step")
	for _, c := range []struct {
		name    string
		options []tape.Option
		want    string
	}{
		{"nothing", []tape.Option{tape.Fetch(), tape.Do(nil), nil}, "compile: nothing to compute: name results with tape.Fetch or updates with tape.Do"},
		{"nil", []tape.Option{tape.Fetch(nil)}, `fetch: nil is no node of graph "line"`},
		{"another graph's node", []tape.Option{tape.Fetch(b)}, `fetch: a[] is no node of graph "line"`},
		{"another graph's watch", []tape.Option{tape.Watch(b)}, `fetch: a[] is no node of graph "line"`},
		{"no scalar", []tape.Option{tape.CheckFinite(wide)}, at(wide, `check finite: wide[i=2] is no float scalar`)},
		{"no float", []tape.Option{tape.CheckFinite(best)}, at(best, `check finite: best[] is no float scalar`)},
		{"twice", []tape.Option{tape.Do(step, step)}, twice},
		{"another graph's step", []tape.Option{tape.Do(otherStep)}, `do: an update of graph "line" has no target or value there`},
		{"an empty update", []tape.Option{tape.Do(graph.Step{{}})}, `do: an update of graph "line" has no target or value there`},
		{"an update of an input", []tape.Option{tape.Do(graph.Step{{Target: x, Value: a}})}, at(a, "do: x[] is not a parameter or state")},
		{"an update of another type", []tape.Option{tape.Do(graph.Step{{Target: a, Value: wide}})}, at(wide, "do: a of type f32[] cannot take a value of type f32[i=2]")},
		{"several", []tape.Option{tape.Fetch(nil, b), tape.Do(step, step)},
			"fetch: nil is no node of graph \"line\"\nfetch: a[] is no node of graph \"line\"\n" + twice},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := tape.Compile(g, c.options...)
			wantError(t, err, c.want)
		})
	}
	_, err := tape.Compile(nil)
	wantError(t, err, "compile: the graph is nil")
	if _, err := tape.Compile(other, tape.Fetch(b), tape.Do(otherStep)); err != nil {
		t.Error(err)
	}
}

// TestMistakeWithoutAGraph: a call without any operand has no graph, and its
// mistake comes to light where its result is fetched.
func TestMistakeWithoutAGraph(t *testing.T) {
	g, x, _, _ := line()
	for _, n := range []*graph.Node{ops.Concat(0), ops.Exp(ops.Concat(0)), ops.Sum(ops.Concat(0))} {
		_, err := tape.Compile(g, tape.Fetch(x, n))
		if err == nil || !strings.HasPrefix(err.Error(), "tape/result_test.go:") || !strings.Contains(err.Error(), ": Concat: ") {
			t.Errorf("got %v: want the mistake of Concat at its line", err)
		}
	}
}

// TestCompileGivesAllMistakesOfTheGraph, whether what is fetched needs them or not.
func TestCompileGivesAllMistakesOfTheGraph(t *testing.T) {
	g := graph.New("wrong")
	x := g.Input("x", graph.F32, graph.Ax("i", 2))
	y := g.Input("y", graph.F32, graph.Ax("i", 3))
	ops.Tanh(ops.Add(x, y)) // one mistake, and what follows from it
	ops.MatMul(x, y)
	_, err := tape.Compile(g, tape.Fetch(x))
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "Add: sizes differ") || !strings.Contains(lines[1], "MatMul: inner axes differ (2 ≠ 3)") {
		t.Errorf("errors\n%v\nwant one of Add and one of MatMul", err)
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, "tape/result_test.go:") {
			t.Errorf("%q does not name the line", l)
		}
	}
}

func TestValueMistakes(t *testing.T) {
	g, x, a, step := line()
	y := ops.Tanh(x).As("y")
	z := ops.Sin(x).As("z")
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y), tape.Do(step)), tape.NewStore(g))
	tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g, nil), nil).Close() // an option that is nil sets nothing
	_, err := vm.Value(y)
	wantError(t, err, "y[] has no value: no run has ended well")
	_, err = vm.Float(y)
	wantError(t, err, "y[] has no value: no run has ended well")
	run(t, vm, tape.Feed{x: tape.Scalar(graph.F32, 1)})
	for n, want := range map[*graph.Node]string{
		z: "z[] is not kept: name it in tape.Fetch or tape.Watch",
		a: "a[] is not kept: name it in tape.Fetch or tape.Watch",
	} {
		_, err := vm.Value(n)
		wantError(t, err, want)
	}
	_, err = vm.Value(nil)
	wantError(t, err, "nil is not kept: name it in tape.Fetch or tape.Watch")
	for n, want := range map[*graph.Node]string{
		nil: "nil is not kept: name it in tape.Fetch or tape.Watch",
		z:   "z[] is not kept: name it in tape.Fetch or tape.Watch",
	} {
		_, err := vm.Float(n)
		wantError(t, err, want)
	}
}

// TestResultsOfEveryKind: results that need no instruction, and every element type.
func TestResultsOfEveryKind(t *testing.T) {
	g := graph.New("kinds")
	x := g.Input("x", graph.F32, graph.Ax("i", 2), graph.Ax("d", 3))
	γ := g.Scalar("γ", 0.5)
	w := g.Param("w", graph.F64, graph.Ax("k", 2)).Init(initial.Fill(1.5))
	n := g.State("n", graph.I32).Init(initial.Fill(7))
	c := g.Constant(graph.I64, []float64{3, 4}, graph.Ax("k", 2))
	th := ops.Tanh(x)
	best := ops.ArgMax(x, "d")
	for _, passes := range []tape.Option{tape.Watch(), tape.Passes()} {
		cases := []struct {
			n     *graph.Node
			want  []float64
			shape string
		}{
			{x, []float64{1, 2, 3, 4, 5, 0}, "(2, 3)"},
			{γ, []float64{0.5}, "()"},
			{w, []float64{1.5, 1.5}, "(2)"},
			{n, []float64{7}, "()"},
			{c, []float64{3, 4}, "(2)"},
			{ops.Transpose(x), []float64{1, 4, 2, 5, 3, 0}, "(3, 2)"},
			{ops.Slice(x, "i", 0, 1), []float64{1, 2, 3}, "(1, 3)"},
			{ops.Slice(x, "i", 1, 2), []float64{4, 5, 0}, "(1, 3)"},
			{ops.Slice(ops.Neg(x), "i", 0, 1), []float64{-1, -2, -3}, "(1, 3)"},
			{ops.Slice(ops.Neg(x), "i", 1, 2), []float64{-4, -5, 0}, "(1, 3)"},
			{ops.Reshape(ops.Slice(ops.Slice(ops.Neg(x), "i", 0, 1), "d", 0, 1), 1), []float64{-1}, "(1)"},
			{ops.Reverse(ops.Neg(x), "d"), []float64{-3, -2, -1, 0, -5, -4}, "(2, 3)"},
			{ops.BroadcastTo(γ, x.Shape()), []float64{.5, .5, .5, .5, .5, .5}, "(2, 3)"},
			{ops.Reshape(x, 6), []float64{1, 2, 3, 4, 5, 0}, "(6)"},
			{best, []float64{2, 1}, "(2)"},
			{ops.Less(x, ops.Lit(x, 3)), []float64{1, 1, 0, 0, 0, 1}, "(2, 3)"},
			{ops.Sum(ops.Cast(best, graph.I32)), []float64{3}, "()"},
			{ops.Slice(w, 0, 0, 1), []float64{1.5}, "(1)"},
			{ops.Sign(ops.Slice(th, "i", 0, 1)), []float64{1, 1, 1}, "(1, 3)"},
		}
		options := []tape.Option{passes, tape.Fetch(th)}
		for _, c := range cases {
			options = append(options, tape.Fetch(c.n))
		}
		vm := tapetest.VM(t, compile(t, g, options...), tape.NewStore(g))
		run(t, vm, tape.Feed{x: f32([]int{2, 3}, 1, 2, 3, 4, 5, 0)})
		for _, c := range cases {
			v, err := vm.Value(c.n)
			if err != nil {
				t.Error(err)
				continue
			}
			if got := numbers(v); !slices.Equal(got, c.want) {
				t.Errorf("%v is %v: want %v", c.n, got, c.want)
			}
			if got := fmt.Sprint(v.Shape()); got != c.shape {
				t.Errorf("%v has shape %v: want %v", c.n, got, c.shape)
			}
			if c.shape == "()" && tapetest.Float(t, vm, c.n) != c.want[0] {
				t.Errorf("Float(%v) is %v: want %v", c.n, tapetest.Float(t, vm, c.n), c.want[0])
			}
		}
	}
}

func TestFloatOfBool(t *testing.T) {
	g := graph.New("bool")
	x := g.Input("x", graph.F32)
	y := ops.Less(x, ops.Lit(x, 0))
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	for v, want := range map[float64]float64{-1: 1, 1: 0} {
		run(t, vm, tape.Feed{x: tape.Scalar(graph.F32, v)})
		if got := tapetest.Float(t, vm, y); got != want {
			t.Errorf("%v < 0 is %v: want %v", v, got, want)
		}
	}
}

// TestResultsAreTensors: what comes out prints, and computes, as a tensor does.
func TestResultsAreTensors(t *testing.T) {
	g, x, _, _, y := doubled()
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	run(t, vm, tape.Feed{x: f32([]int{2, 3}, 1, 2, 3, 4, 5, 6)})
	v, err := vm.Value(y)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%v", v), "⎡ 2   4   6⎤\n⎣ 8  10  12⎦\n"; got != want {
		t.Errorf("printed:\n%swant\n%s", got, want)
	}
	sum, err := tensor.Sum(v)
	if err != nil || sum.Data() != float32(42) {
		t.Errorf("its sum is %v, %v: want 42", sum, err)
	}
	if got := fmt.Sprint(tape.Scalar(graph.F64, 1.5)); got != "1.5" {
		t.Errorf("a scalar prints as %q", got)
	}
}

func TestResultsChangeWithTheNextRun(t *testing.T) {
	g, x, a, step := line()
	y := ops.Scale(x, 3)
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y, a), tape.Do(step)), tape.NewStore(g))
	run(t, vm, tape.Feed{x: tape.Scalar(graph.F32, 1)})
	v, err := vm.Value(y)
	if err != nil {
		t.Fatal(err)
	}
	kept := v.Clone().(*tensor.Dense)
	// A parameter's value is that at the step's start.
	if got := tapetest.Float(t, vm, a); got != 1 {
		t.Errorf("the first step read a = %v: want 1", got)
	}
	run(t, vm, tape.Feed{x: tape.Scalar(graph.F32, 2)})
	if got := numbers(v)[0]; got != 6 {
		t.Errorf("the result is %v after the next run: want 6", got)
	}
	if got := numbers(kept)[0]; got != 3 {
		t.Errorf("the clone is %v after the next run: want 3", got)
	}
	if got := tapetest.Float(t, vm, a); got != 2 {
		t.Errorf("the second step read a = %v: want 2", got)
	}
	if got := stored(t, vm.Store(), "a")[0]; got != 4 {
		t.Errorf("the store holds a = %v: want 4", got)
	}
	vm.Close()
	vm.Close()
	if got := numbers(v)[0]; got != 6 {
		t.Errorf("the result is %v after Close: want 6", got)
	}
	wantError(t, vm.Run(t.Context(), tape.Feed{x: tape.Scalar(graph.F32, 2)}), "the VM is closed")
}

// TestRunnerSeesItsOperandOnly, which may be the first part of a larger buffer.
func TestRunnerSeesItsOperandOnly(t *testing.T) {
	g := graph.New("part")
	x := g.Input("x", graph.F64, graph.Ax("i", 3), graph.Ax("d", 2))
	y := graph.Apply(cube{}, ops.Slice(ops.Neg(x), "i", 0, 1))
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	run(t, vm, tape.Feed{x: tensor.New(tensor.WithShape(3, 2), tensor.WithBacking([]float64{1, 2, 3, 4, 5, 6}))})
	if got, want := value(t, vm, y), []float64{-1, -8}; !slices.Equal(got, want) {
		t.Errorf("y is %v: want %v", got, want)
	}
}

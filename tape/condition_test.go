package tape

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
)

// gated is a graph of two parameters with moments, moved where the input due is not 0.
type gated struct {
	g           *graph.Graph
	x, due, not *graph.Node
	w, v        *graph.Node
	full        *graph.Node // the mask
	loss        *graph.Node
	sum         *graph.Node // of squares of what w moves by
	step        graph.Step
}

func newGated() *gated {
	m := &gated{g: graph.New("gated")}
	i, j := graph.Ax("i", 24), graph.Ax("j", 40)
	m.x, m.due, m.not = m.g.Input("x", graph.F32, i, j), m.g.Input("due", graph.I32), m.g.Input("not", graph.I32)
	m.w, m.v = m.g.Param("w", graph.F32, i, j).Init(initial.Fill(0.5)), m.g.State("v", graph.F32, i, j)
	m.loss = ops.Mean(ops.Square(ops.Sub(m.w, m.x)))
	m.full = ops.NotEqual(m.due, ops.Lit(m.due, 0)).As("full")
	v := m.g.Assign(m.v, ops.Select(m.full, ops.Add(ops.Scale(m.v, 0.5), ops.Sub(m.w, m.x)), m.v))
	m.sum = ops.Sum(ops.Square(v.Value))
	m.step = graph.Step{v, m.g.Assign(m.w, ops.Select(m.full, ops.Sub(m.w, ops.Div(v.Value, ops.Shift(ops.Sqrt(m.sum), 1))), m.w))}
	return m
}

// less is an operation of the user's.
type less struct{}

func (less) Name() string                               { return "Less1" }
func (less) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }
func (less) Run(_ *graph.Node, out Array, in []Array) {
	for i, x := range in[0].F32 {
		out.F32[i] = x - 1
	}
}

// conditionals counts the conditional stages.
func conditionals(p *Program) (n int) {
	for i := range p.stages {
		if p.stages[i].conditional {
			n++
		}
	}
	return n
}

// TestConditions: stages are conditional where a run can do without them, and then runs give the
// same bits with and without them, whatever the masks are.
func TestConditions(t *testing.T) {
	for name, c := range map[string]struct {
		with func(m *gated) []Option
		want int // conditional stages of the program whose instructions run one by one
	}{
		"all":               {func(m *gated) []Option { return nil }, 11},
		"the sum wanted":    {func(m *gated) []Option { return []Option{Fetch(m.sum)} }, 9},
		"the sum looked at": {func(m *gated) []Option { return []Option{Watch(m.sum)} }, 9},
		"the sum checked":   {func(m *gated) []Option { return []Option{CheckFinite(m.sum)} }, 6},
		"another mask": {func(m *gated) []Option {
			other := ops.NotEqual(m.not, ops.Lit(m.not, 0))
			b := m.g.Param("b", graph.F32)
			return []Option{Do(graph.Step{m.g.Assign(b, ops.Select(other, ops.Add(b, m.sum), b))})}
		}, 11},
		"a mask known too late": {func(m *gated) []Option {
			b := m.g.Param("b", graph.F32, graph.Ax("j", 40))
			return []Option{Do(graph.Step{m.g.Assign(b, ops.Select(ops.Less(m.sum, ops.Lit(m.sum, 400)), ops.Exp(ops.Neg(b)), b))})}
		}, 10},
		"a mask for each": {func(m *gated) []Option {
			b := m.g.Param("b", graph.F32, graph.Ax("j", 40))
			return []Option{Do(graph.Step{m.g.Assign(b, ops.Select(ops.Less(b, ops.Mean(m.x, "i")), ops.Shift(b, 1), b))})}
		}, 11},
		"two masks in a block": {func(m *gated) []Option {
			b := m.g.Param("b", graph.F32, m.w.Shape().Axes()...)
			other := ops.NotEqual(m.not, ops.Lit(m.not, 0))
			return []Option{Do(graph.Step{m.g.Assign(b, ops.Select(other, ops.Sub(m.step[0].Value, b), b))})}
		}, 13},
		"what may fail": {func(m *gated) []Option {
			b := m.g.Param("b", graph.F32, graph.Ax("j", 40))
			return []Option{Do(graph.Step{m.g.Assign(b, ops.Select(m.full, graph.Apply(less{}, b), b))})}
		}, 12},
		"the old where true": {func(m *gated) []Option {
			b := m.g.Param("b", graph.F32)
			return []Option{Do(graph.Step{m.g.Assign(b, ops.Select(m.full, b, ops.Shift(b, 1)))})}
		}, 11},
		"another's old": {func(m *gated) []Option {
			b, c := m.g.Param("b", graph.F32), m.g.Param("c", graph.F32).Init(initial.Fill(2))
			return []Option{Do(graph.Step{m.g.Assign(b, ops.Select(m.full, ops.Shift(b, 1), c))})}
		}, 11},
		"a mask in the store": {func(m *gated) []Option {
			on, b := m.g.State("on", graph.Bool), m.g.Param("b", graph.F32)
			return []Option{Do(graph.Step{m.g.Assign(b, ops.Select(on, ops.Shift(b, 1), b)), m.g.Assign(on, ops.Equal(m.due, m.not))})}
		}, 13},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, options := range map[string][]Option{"unfused": {Unfused()}, "fused": nil, "fine": {Fine()}} {
				m := newGated()
				options = append(append(options, Fetch(m.loss), Do(m.step), CheckFinite(m.loss)), c.with(m)...)
				p, err := Compile(m.g, options...)
				if err != nil {
					t.Fatal(err)
				}
				if n := conditionals(p); kind == "unfused" && n != c.want || n == 0 {
					t.Errorf("%s: %d stages are conditional, want %d\n%v", kind, n, c.want, p)
				}
				for i := range p.stages { // in a block of one row, a mask for each row is one element
					if s := &p.stages[i]; s.conditional && p.buffers[s.mask].home == inScratch {
						t.Errorf("%s: stage %d has a condition that each row has its own of\n%v", kind, i, p)
					}
				}
				always, err := Compile(m.g, options...)
				if err != nil {
					t.Fatal(err)
				}
				for i := range always.stages {
					always.stages[i].conditional = false
				}
				sameRuns(t, m, p, always)
			}
		})
	}
}

// join is NewVM, which must not fail.
func join(t *testing.T, p *Program, s *Store, options ...VMOption) *VM {
	t.Helper()
	vm, err := p.NewVM(s, options...)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// sameRuns does runs with two programs and compares what they leave in the store and in the arena's
// results.
func sameRuns(t *testing.T, m *gated, p, q *Program) {
	t.Helper()
	a, b := NewStore(nil), NewStore(nil)
	vm, other := join(t, p, a), join(t, q, b)
	defer vm.Close()
	defer other.Close()
	for run := range 12 {
		x := graph.NewValue(m.x.Type())
		for i := range x.Data {
			x.Data[i] = math.Sin(float64(7*run + i))
		}
		feed := Feed{m.x: Tensor(x), m.due: Scalar(graph.I32, float64(run*run%3)), m.not: Scalar(graph.I32, float64(run%2))}
		for _, vm := range []*VM{vm, other} {
			if err := vm.Run(context.Background(), feed); err != nil {
				t.Fatalf("run %d: %v\n%v", run, err, vm.prog)
			}
		}
		for _, path := range b.Paths() {
			got, _ := a.Get(path)
			want, _ := b.Get(path)
			if !got.Eq(want) {
				t.Fatalf("run %d: %s is %v, want %v\n%v", run, path, got, want, p)
			}
		}
		for n := range q.result {
			got, err := vm.Float(n)
			want, failed := other.Float(n)
			if got != want || err != nil || failed != nil {
				t.Fatalf("run %d: %v is %v (%v), want %v (%v)\n%v", run, n, got, err, want, failed, p)
			}
		}
	}
}

// TestConditionIsListed: the listing tells the condition of an instruction, and of a block.
func TestConditionIsListed(t *testing.T) {
	g := graph.New("listed")
	i, due := graph.Ax("i", 4), g.Input("due", graph.Bool)
	w, v, s := g.Param("w", graph.F32, i), g.Param("v", graph.F32, i), g.State("s", graph.F32)
	full := ops.Less(s, ops.Lit(s, 1)).As("full")
	p, err := Compile(g, Do(graph.Step{
		g.Assign(w, ops.Select(full, ops.Exp(w), w)), g.Assign(v, ops.Select(due, ops.Neg(v), v)), g.Assign(s, ops.Select(due, ops.Shift(s, 1), s)),
	}))
	if err != nil {
		t.Fatal(err)
	}
	var only []string
	for _, s := range p.Stages() {
		only = append(only, s.Only)
	}
	if want := []string{"", "due", "due", "full[]", "due"}; !slices.Equal(only, want) {
		t.Errorf("conditions %q, want %q\n%v", only, want, p)
	}
	for _, want := range []string{"╭ 4 rows, 4 at a time, only if full[]\n", "Select due[], %12[], s[]  · apart: what it reads is made as a whole  · only if due\n"} {
		if !strings.Contains(p.String(), want) {
			t.Errorf("no %q in\n%v", want, p)
		}
	}
}

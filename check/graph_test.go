package check_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

type node = *graph.Node

// wrong is an identity whose methods can be made wrong one at a time.
type wrong struct{ What string }

func (wrong) Name() string { return "Wrong" }
func (wrong) Infer(in []node) (graph.Type, error) {
	if len(in) != 1 || !in[0].DType().IsFloat() {
		return graph.Type{}, errors.New("want one float operand")
	}
	return in[0].Type(), nil
}
func (w wrong) Scalar(x ...float64) float64 { return max(x[0], 0) }
func (w wrong) Run(_ node, out tape.Array, in []tape.Array) {
	for i, x := range in[0].F64 {
		out.F64[i] = max(x, 0)
	}
	if w.What == "run" {
		out.F64[len(out.F64)-1] += 1e-6
	}
}
func (w wrong) Grad(y, dy node, _ int) node {
	slope := ops.Cast(ops.Less(ops.Lit(y, 0), y), y.DType())
	if w.What == "gradient" {
		slope = ops.Scale(slope, 1.00001)
	}
	return ops.Mul(dy, slope)
}

// model is a small net of the operation over a square, so that there are second derivatives.
func model(what string) node {
	g := graph.New("net")
	x := g.Input("x", graph.F64, graph.Ax("i", 9), graph.Ax("d", 4))
	w := g.Param("w", graph.F64, graph.Ax("d", 4), graph.Ax("h", 6))
	b := g.Param("b", graph.F64, graph.Ax("h", 6))
	h := graph.Apply(wrong{what}, ops.Add(ops.MatMul(x, w), b))
	return ops.Mean(ops.Square(h))
}

func status(verdicts []check.Verdict) string {
	var s []string
	for _, v := range verdicts {
		if !v.OK() {
			s = append(s, v.Check)
		}
	}
	return strings.Join(s, " ")
}

// TestFindsWhatIsWrong: each mistake fails the check that is for it, and none fails
// where there is none.
func TestFindsWhatIsWrong(t *testing.T) {
	for what, want := range map[string]string{"": "", "gradient": "gradient second", "run": "tape vmap"} {
		got := check.Graph(t.Context(), model(what), check.Vocabulary(wrong{}))
		if names := status(got); names != want {
			t.Errorf("%q: failed %q, want %q: %v", what, names, want, got)
		}
	}
	// Second derivatives alone are wrong where the rule of the derivative is.
	g := graph.New("second")
	x := g.Input("x", graph.F64, graph.Ax("i", 5))
	got := check.Graph(t.Context(), ops.Sum(graph.Apply(bent{}, x)), check.Vocabulary(bent{}, bentSlope{}))
	if names := status(got); names != "second" {
		t.Errorf("a wrong second derivative: failed %q: %v", names, got)
	}
}

// bent is a cube; the derivative of its derivative is wrong.
type bent struct{ wrong }

func (bent) Name() string                { return "Bent" }
func (bent) Scalar(x ...float64) float64 { return x[0] * x[0] * x[0] }
func (bent) Grad(y, dy node, _ int) node { return ops.Mul(dy, graph.Apply(bentSlope{}, y.In(0))) }
func (bent) Run(_ node, out tape.Array, in []tape.Array) {
	for i, x := range in[0].F64 {
		out.F64[i] = x * x * x
	}
}

type bentSlope struct{ wrong }

func (bentSlope) Name() string                { return "BentSlope" }
func (bentSlope) Scalar(x ...float64) float64 { return 3 * x[0] * x[0] }
func (bentSlope) Grad(y, dy node, _ int) node { return ops.Mul(dy, ops.Scale(y.In(0), 5)) }
func (bentSlope) Run(_ node, out tape.Array, in []tape.Array) {
	for i, x := range in[0].F64 {
		out.F64[i] = 3 * x * x
	}
}

// TestKinks: derivatives are right next to a kink and where the point lies on one,
// and a wrong derivative is found there too.
func TestKinks(t *testing.T) {
	for _, near := range []float64{0, 1e-12, 1e-7, 3e-5, -2e-4, 1e-3, -0.01} {
		for _, what := range []string{"", "gradient"} {
			g := graph.New("kink")
			x := g.Input("x", graph.F64, graph.Ax("i", 8))
			v := graph.NewValue(x.Type())
			for i := range v.Data {
				v.Data[i] = near * float64(1+i%3)
			}
			v.Data[0], v.Data[1] = 2, -1
			y := ops.Sum(ops.Square(ops.Shift(graph.Apply(wrong{what}, x), 1)))
			got := check.Graph(t.Context(), y, check.Vocabulary(wrong{}), check.Feed(tape.Feed{x: tape.Tensor(v)}))
			want := ""
			if what != "" {
				want = "gradient second"
			}
			if names := status(got); names != want && names != what {
				t.Errorf("%v from a kink, %q: failed %q: %v", near, what, names, got)
			}
		}
	}
}

// TestEdgeOfDomain: inputs at which there is no derivative are held, parameters are
// checked all the same, and the verdict says so.
func TestEdgeOfDomain(t *testing.T) {
	for _, wrongly := range []bool{false, true} {
		g := graph.New("entropy")
		p := g.Input("p", graph.F64, graph.Ax("i", 4))
		w := g.Param("w", graph.F64, graph.Ax("i", 4))
		v := graph.NewValue(p.Type())
		v.Data = []float64{0, 1, 0, 0.5}
		what := ""
		if wrongly {
			what = "gradient"
		}
		y := ops.Sum(ops.Add(ops.Sqrt(p), ops.Mul(p, ops.Square(graph.Apply(wrong{what}, ops.Shift(w, 2))))))
		for _, v := range check.Graph(t.Context(), y, check.Vocabulary(wrong{}), check.Feed(tape.Feed{p: tape.Tensor(v)})) {
			if v.Check != "gradient" {
				continue
			}
			if v.OK() == wrongly || !strings.Contains(v.Note, "inputs held") {
				t.Errorf("wrong %v: %v", wrongly, v)
			}
		}
	}
}

// TestHeldAndDrawn: what is stopped counts as constant, and draws are the same in
// every evaluation.
func TestHeldAndDrawn(t *testing.T) {
	g := graph.New("stopped and noisy")
	x := g.Input("x", graph.F64, graph.Ax("i", 6))
	ε := ops.RandomUniform(g, "ε", graph.F64, graph.Ax("i", 6))
	kept := ops.Cast(ops.Less(ε, ops.Lit(ε, 0.5)), graph.F64)
	y := ops.Mul(ops.Mul(ops.StopGradient(ops.Square(x)), ops.Sin(x)), kept)
	n := g.State("n", graph.F64)
	step := graph.Step{g.Assign(n, ops.Shift(n, 1))}
	if got := check.Graph(t.Context(), y, check.Seed(3), check.Do(step), check.Also(ε, ops.ArgMax(x, 0))); status(got) != "" {
		t.Error(got)
	}
}

// TestWithoutDerivative: what is no float is compared, and nothing is differentiated.
func TestWithoutDerivative(t *testing.T) {
	g := graph.New("index")
	x := g.Input("x", graph.F64, graph.Ax("i", 6))
	for _, v := range check.Graph(t.Context(), ops.ArgMax(x, 0)) {
		if v.Err != nil && !v.Skipped || v.Skipped != (v.Check == "gradient" || v.Check == "second" || v.Check == "jvp") {
			t.Error(v)
		}
	}
}

// TestMistakes are verdicts, not panics.
func TestMistakes(t *testing.T) {
	g := graph.New("wrong")
	x, y := g.Input("x", graph.F64, graph.Dims(2)...), g.Input("y", graph.F64, graph.Dims(3)...)
	bad := ops.Add(x, y)
	fine := graph.New("fine")
	z := fine.Input("z", graph.F64, graph.Dims(2)...)
	k := fine.Input("k", graph.I32, graph.Dims(2)...)
	for want, got := range map[string][]check.Verdict{
		"got nil":                     check.Graph(t.Context(), nil, nil),
		"Add":                         check.Graph(t.Context(), bad),
		"is no input":                 check.Graph(t.Context(), z, check.Feed(tape.Feed{x: tape.Tensor(graph.NewValue(x.Type()))})),
		"is 0, want 2":                check.Graph(t.Context(), z, check.Feed(tape.Feed{z: tape.Tensor(graph.Value{Type: z.Type()})})),
		"0.5 is no value of type i32": check.Graph(t.Context(), ops.Cast(k, graph.F64), check.Feed(tape.Feed{k: tape.Tensor(graph.Value{Type: k.Type(), Data: []float64{1, .5}})})),
		"unknown operation":           check.Graph(t.Context(), graph.Apply(wrong{}, z)),
	} {
		if len(got) != 1 || got[0].OK() || got[0].Check != "verify" || !strings.Contains(got[0].Err.Error(), want) {
			t.Errorf("want a failure that says %q: %v", want, got)
		}
	}
}

// TestEngines: an engine is compared with the definition, and may not have what it
// takes.
func TestEngines(t *testing.T) {
	m, err := builders.Build("kmeans-goofy", nil, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	engine := func(off float64) check.Engine {
		return func(ctx context.Context, g *graph.Graph, feed tape.Feed, store *tape.Store, nodes []node) ([]*tensor.Dense, error) {
			p, err := tape.Compile(g, tape.Fetch(nodes...))
			if err != nil {
				return nil, err
			}
			vm := tapetest.VM(t, p, store)
			defer vm.Close()
			if err := vm.Run(ctx, feed); err != nil {
				return nil, err
			}
			out := make([]*tensor.Dense, len(nodes))
			for i, n := range nodes {
				if out[i], err = vm.Value(n); err != nil {
					return nil, err
				}
			}
			out[0].Float64s()[0] += off
			return out, nil
		}
	}
	refuses := func(context.Context, *graph.Graph, tape.Feed, *tape.Store, []node) ([]*tensor.Dense, error) {
		return nil, fmt.Errorf("here: %w", check.Inapplicable(errors.New("it has no logarithm")))
	}
	got := check.Graph(t.Context(), m.Loss, check.Feed(tape.Tensors(m.Examples(rand.New(rand.NewPCG(1, 1))))),
		check.On("same", engine(0)), check.On("other", engine(1e-3)), check.On("none", refuses))
	if names := status(got); names != "other" {
		t.Errorf("failed %q: %v", names, got)
	}
	if last := got[len(got)-1]; !last.Skipped || last.Detail() != "here: it has no logarithm" {
		t.Errorf("%v", last)
	}
}

// TestVerdicts holds the three outcomes apart.
func TestVerdicts(t *testing.T) {
	all := []check.Verdict{{Check: "a", Diff: 0.5, Limit: 1}, {Check: "b", Err: errors.New("off")}, {Check: "c", Err: errors.New("not here"), Skipped: true}}
	var text []string
	for _, v := range all {
		text = append(text, v.String())
	}
	want := []string{"a         ok     difference 5.0e-01, allowed 1e+00", "b         FAILED off", "c         n/a    not here"}
	if !slices.Equal(text, want) {
		t.Errorf("%q", text)
	}
	if err := check.Failed(all); err == nil || err.Error() != "b: off" {
		t.Errorf("%v", err)
	}
	if math.Abs(all[0].Diff) != 0.5 || check.Failed(all[:1]) != nil {
		t.Error("nothing is wrong with the first")
	}
}

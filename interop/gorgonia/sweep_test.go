package gorgonia

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// swept is the row of a sweep: the value, and the gradient of a weighted sum of it. Ours are held
// to difference quotients.
func swept(t *testing.T, o own) string {
	t.Helper()
	s := newSetting(o)
	y, first, _ := s.mine(t)
	if len(y) > len(s.weights) {
		t.Fatalf("%s has %d elements", o.op, len(y))
	}
	if err := s.differences(t); err != nil {
		t.Errorf("%s: %v", o.op, err)
	}
	return fmt.Sprintf("| %s | %s | %s |\n", o.op, s.judged(t, 0, y), s.judged(t, 1, first))
}

// dropped is the row of Dropout. Its mask is random, but the value says which elements it kept:
// the derivative of each of these by its operand is the value divided by the operand, and those of
// the others are 0.
func dropped(t *testing.T) string {
	t.Helper()
	const p = 0.2
	g := G.NewGraph()
	data := make([]float64, 40)
	for i := range data {
		data[i] = 1 + float64(i)/10
	}
	x := fixed(g, "x", data, []int{40})
	y, err := G.Dropout(x, p)
	if err != nil {
		t.Fatal(err)
	}
	loss, err := G.Sum(y)
	if err != nil {
		t.Fatal(err)
	}
	d, err := G.Grad(loss, x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := valuesOf(g, nil, y, d[0])
	if err != nil {
		t.Fatal(err)
	}
	kept, want := make([]float64, len(data)), make([]float64, len(data))
	for i, v := range got[:len(data)] {
		if v != 0 {
			kept[i] = data[i] / (1 - p)
		}
		want[i] = v / data[i]
	}
	return fmt.Sprintf("| Dropout of 0.2 | %s | %s |\n", judge(got[:len(data)], nil, kept), judge(got[len(data):], nil, want))
}

// parameter is what gorgonia's solvers change.
type parameter struct{ value, gradient G.Value }

func (p parameter) Value() G.Value         { return p.value }
func (p parameter) Grad() (G.Value, error) { return p.gradient, nil }

// solver is one of gorgonia's with the formula of the same name of package train.
type solver struct {
	name   string
	theirs G.Solver
	ours   string
	step   func(p, g float64, t int, m, v *float64) float64
}

func solvers() []solver {
	const rate, eps, β, β2 = 0.1, 0.5, 0.9, 0.8
	return []solver{
		{"Vanilla", G.NewVanillaSolver(G.WithLearnRate(rate)), "p − rate·g", func(p, g float64, _ int, _, _ *float64) float64 { return p - rate*g }},
		{"Momentum", G.NewMomentum(G.WithLearnRate(rate), G.WithMomentum(β)), "v ← βv + g, p − rate·v", func(p, g float64, _ int, _, v *float64) float64 {
			*v = β**v + g
			return p - rate**v
		}},
		{"Adam", G.NewAdamSolver(G.WithLearnRate(rate), G.WithEps(eps), G.WithBeta1(β), G.WithBeta2(β2)), "p − rate·m̂/(√v̂ + ε)", func(p, g float64, t int, m, v *float64) float64 {
			*m, *v = β**m+(1-β)*g, β2**v+(1-β2)*g*g
			return p - rate*(*m/(1-math.Pow(β, float64(t))))/(math.Sqrt(*v/(1-math.Pow(β2, float64(t))))+eps)
		}},
		{"RMSProp", G.NewRMSPropSolver(G.WithLearnRate(rate), G.WithEps(eps), G.WithRho(β)), "v ← βv + (1−β)g², p − rate·g/(√v + ε)", func(p, g float64, _ int, _, v *float64) float64 {
			*v = β**v + (1-β)*g*g
			return p - rate*g/(math.Sqrt(*v)+eps)
		}},
		{"AdaGrad", G.NewAdaGradSolver(G.WithLearnRate(rate), G.WithEps(eps)), "v ← v + g², p − rate·g/(√v + ε)", func(p, g float64, _ int, _, v *float64) float64 {
			*v += g * g
			return p - rate*g/(math.Sqrt(*v)+eps)
		}},
	}
}

// solved is the row of a solver: the parameters after three steps with fixed gradients.
func solved(t *testing.T, s solver) string {
	t.Helper()
	p := []float64{1, -2, 0.5, 3}
	m, v := make([]float64, len(p)), make([]float64, len(p))
	value := tensor.New(tensor.WithShape(len(p)), tensor.WithBacking(slices.Clone(p)))
	got, err := guard(func() ([]float64, error) {
		for step := 1; step <= 3; step++ {
			g := []float64{0.3, -0.2 * float64(step), 1, 0.7 / float64(step)}
			for i := range p {
				p[i] = s.step(p[i], g[i], step, &m[i], &v[i])
			}
			gradient := tensor.New(tensor.WithShape(len(p)), tensor.WithBacking(g))
			if err := s.theirs.Step([]G.ValueGrad{parameter{value, gradient}}); err != nil {
				return nil, err
			}
		}
		return value.Float64s(), nil
	})
	outcome := strings.Replace(string(judge(got, err, p)), "wrong", "another", 1)
	if outcome == string(right) {
		outcome = "the same"
	}
	return fmt.Sprintf("| %s | %s | %s |\n", s.name, s.ours, outcome)
}

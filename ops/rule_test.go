package ops_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestEveryDerivativeHasARule: what can be differentiated can say by which rule.
func TestEveryDerivativeHasARule(t *testing.T) {
	for _, op := range ops.List() {
		rule, ok := op.(interface {
			Rule(moves []bool) (string, expr.Expr)
		})
		flows := false
		for _, c := range op.Cases() {
			g := graph.New(op.Name())
			var in []*graph.Node
			for _, o := range c.Operands {
				in = append(in, g.Input("x"+string(rune('a'+len(in))), typeOf(t, o.Type).DType, typeOf(t, o.Type).Shape.Axes()...))
			}
			for _, n := range graph.Reachable(c.Make(in)) {
				if n.Op().Name() != op.Name() || !n.DType().IsFloat() {
					continue
				}
				dy := ops.BroadcastTo(ops.Lit(n, 1), n.Shape())
				moves := make([]bool, n.NumIn())
				for i := range n.NumIn() {
					if n.In(i).DType().IsFloat() && op.Name() != "Scan" && n.Op().(ops.Op).Grad(n, dy, i) != nil {
						moves[i], flows = true, true
					}
				}
				if !flows || !ok {
					continue
				}
				if name, _ := rule.Rule(moves); name == "" {
					t.Errorf("%s: its rule has no name", op.Name())
				}
			}
		}
		if flows && !ok {
			t.Errorf("%s has a derivative, but no rule", op.Name())
		}
	}
}

// TestLawsOfReductions compares the laws that are written by hand with difference
// quotients: ∂f_j/∂u_k for each j and k.
func TestLawsOfReductions(t *testing.T) {
	u := []float64{0.3, -1.2, 0.8, 0.1}
	n := float64(len(u))
	mean, variance, total := 0.0, 0.0, 0.0
	for _, v := range u {
		mean += v / n
		total += math.Exp(v)
	}
	for _, v := range u {
		variance += (v - mean) * (v - mean) / n
	}
	δ := func(j, k int) float64 {
		if j == k {
			return 1
		}
		return 0
	}
	const eps = 0.01
	for _, c := range []struct {
		f    func(x *graph.Node) *graph.Node
		text string
		law  func(f []float64, j, k int) float64
	}{
		{func(x *graph.Node) *graph.Node { return ops.Softmax(x, 0) }, "f_j·(δ_jk − f_k)", func(f []float64, j, k int) float64 { return f[j] * (δ(j, k) - f[k]) }},
		{func(x *graph.Node) *graph.Node { return ops.LogSoftmax(x, 0) }, "δ_jk − e^f_k", func(f []float64, j, k int) float64 { return δ(j, k) - math.Exp(f[k]) }},
		{func(x *graph.Node) *graph.Node { return ops.LogSumExp(x, 0) }, "softmax_k(u_k)", func(_ []float64, _, k int) float64 { return math.Exp(u[k]) / total }},
		{func(x *graph.Node) *graph.Node { return ops.Mean(x, 0) }, "1 / n", func([]float64, int, int) float64 { return 1 / n }},
		{func(x *graph.Node) *graph.Node { return ops.Standardise(x, eps, 0) }, "(δ_jk − 1 / n − f_j·f_k / n) / σ", func(f []float64, j, k int) float64 {
			return (δ(j, k) - 1/n - f[j]*f[k]/n) / math.Sqrt(variance+eps)
		}},
	} {
		g := graph.New("law")
		x := g.Input("x", graph.F64, graph.Ax("k", len(u)))
		y := c.f(x)
		at := func(values []float64) []float64 {
			out, err := ref.Eval(trait.Env{}, graph.Values{x: {Type: x.Type(), Data: values}}, y)
			if err != nil {
				t.Fatal(err)
			}
			return out[0].Data
		}
		f := at(u)
		for k := range u {
			const h = 1e-6
			moved := append([]float64(nil), u...)
			moved[k] += h
			up := at(moved)
			moved[k] -= 2 * h
			down := at(moved)
			for j := range f {
				if got, want := (up[j]-down[j])/(2*h), c.law(f, j, k); math.Abs(got-want) > 1e-6 {
					t.Errorf("%s: element %d by %d is %v, the law says %v", y.Op().Name(), j, k, got, want)
				}
			}
		}
		rule := y.Op().(interface {
			Rule(moves []bool) (string, expr.Expr)
		})
		if _, law := rule.Rule([]bool{true}); plain(law.Args[1]) != c.text {
			t.Errorf("%s: the law shown is %s, the law tested %s", y.Op().Name(), plain(law.Args[1]), c.text)
		}
	}
}

func typeOf(t *testing.T, text string) (typ graph.Type) {
	t.Helper()
	if len(text) > 6 && text[:6] == "float[" {
		text = "f64[" + text[6:]
	}
	if err := typ.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return typ
}

// plain writes the few kinds of expressions that laws consist of.
func plain(e expr.Expr) string {
	subs := ""
	for _, s := range e.Subs {
		subs += s
	}
	if subs != "" {
		subs = "_" + subs
	}
	switch e.Kind {
	case expr.KindAdd:
		s := plain(e.Args[0])
		for _, a := range e.Args[1:] {
			if a.Kind == expr.KindNeg {
				s += " − " + plain(a.Args[0])
			} else {
				s += " + " + plain(a)
			}
		}
		return s
	case expr.KindMul, expr.KindDiv:
		sign := "·"
		if e.Kind == expr.KindDiv {
			sign = " / "
		}
		s := ""
		for i, a := range e.Args {
			if i > 0 {
				s += sign
			}
			if a.Kind == expr.KindAdd {
				s += "(" + plain(a) + ")"
			} else {
				s += plain(a)
			}
		}
		return s
	case expr.KindPower:
		return plain(e.Args[0]) + "^" + plain(e.Args[1])
	case expr.KindCall:
		return e.Text + subs + "(" + plain(e.Args[0]) + ")"
	}
	return e.Text + subs
}

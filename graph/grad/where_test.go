package grad_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// poison are values at which operations are undefined, infinite or steep.
var poison = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1, 1e300}

// masked is f of x where the mask holds, and 0 elsewhere, as a scalar loss; derivatives are
// taken of it twice, forwards too, and for a batch.
func masked(mask node, xs []node, f func(xs []node) node) (names []string, values []node) {
	y := f(xs)
	loss := ops.Sum(ops.Mul(ops.Select(mask, y, ops.Lit(y, 0)), varied(y)))
	add := func(name string, nodes ...node) {
		for i, n := range nodes {
			names, values = append(names, fmt.Sprint(name, i)), append(values, n)
		}
	}
	first := grad.OrZero(loss, xs...)
	add("first", first...)
	bend := ops.Lit(loss, 0)
	var along []node
	for _, d := range first {
		bend = ops.Add(bend, ops.Sum(ops.Mul(d, varied(d))))
		along = append(along, varied(d))
	}
	add("second", grad.OrZero(bend, xs...)...)
	add("tangent", grad.JVP([]node{loss}, xs, along)...)
	add("product", grad.HVP(loss, xs, along)...)
	return names, values
}

// varied is a constant like x of numbers that differ.
func varied(x node) node {
	v := make([]float64, x.Shape().Len())
	for i := range v {
		v[i] = 0.5 + float64(i)/8
	}
	return x.Graph().Constant(x.DType(), v, x.Shape().Axes()...)
}

// TestWhatIsNotChosen: what a Select does not choose leaves no trace in derivatives, for any
// elementwise operation, whatever is in the operands there: they are 0 there and have the
// same bits elsewhere as with harmless operands.
func TestWhatIsNotChosen(t *testing.T) {
	keep := []float64{1, 0, 0, 1, 0, 0, 0, 0, 0, 1}
	type row struct {
		name string
		in   []ops.Operand
		f    func(xs []node) node
	}
	var rows []row
	for _, op := range ops.List() {
		if _, ok := op.(interface{ Scalar(...float64) float64 }); !ok {
			continue
		}
		if _, relation := op.(interface {
			Rule([]bool) (string, expr.Expr)
		}); !relation || slices.Contains([]string{"Cast", "Sign", "Floor", "Ceil", "Round", "Trunc"}, op.Name()) {
			continue // through masks, integers and steps nothing flows
		}
		if c := op.Cases()[0]; !slices.ContainsFunc(c.Operands, func(o ops.Operand) bool { return o.Type[:5] != "float" }) {
			rows = append(rows, row{op.Name(), c.Operands, c.Make})
		}
	}
	one := func(name string, f func(x node) node) {
		rows = append(rows, row{name, []ops.Operand{{Domain: ops.Positive}}, func(xs []node) node { return f(xs[0]) }})
	}
	one("a chain", func(x node) node { return ops.Tanh(ops.Add(ops.Sqrt(ops.Log(ops.Shift(x, 1))), x)) })
	one("several users", func(x node) node { y := ops.Sqrt(x); return ops.Mul(ops.Log(y), ops.Add(y, ops.Exp(y))) })
	one("norm of one", func(x node) node { return ops.Norm(ops.Expand(x, -1, "d"), "d") })
	one("other layouts", func(x node) node {
		return ops.Reshape(ops.Transpose(ops.Sqrt(ops.Transpose(ops.Reshape(x, 2, 5)))), 10)
	})
	one("parts", func(x node) node {
		return ops.Concat(0, ops.Slice(ops.Sqrt(x), 0, 0, 4), ops.Log(ops.Slice(ops.Pad(x, 0, 1, 1, 0), 0, 5, 11)))
	})
	one("average", func(x node) node {
		return ops.Mean(ops.Sqrt(ops.Stack(-1, "", x, ops.Log(ops.Shift(x, 1)))), 1)
	})
	one("nested", func(x node) node {
		return ops.Select(ops.Less(x, ops.Lit(x, 1)), ops.Sqrt(x), ops.Div(ops.Lit(x, 1), x))
	})
	one("both branches", func(x node) node {
		y := ops.Log(x)
		return ops.Select(ops.Less(x, ops.Lit(x, 1)), ops.Neg(y), ops.Square(y))
	})
	one("GELU", ops.GELU)
	one("a quotient of powers", func(x node) node { return ops.Div(ops.Pow(x, ops.Lit(x, .3)), ops.Square(x)) })
	for _, row := range rows {
		for at := range poison {
			g := graph.New(row.name)
			mask := g.Constant(graph.Bool, keep, graph.Dims(len(keep))...)
			var xs []node
			harmless, hostile := graph.Values{}, graph.Values{}
			for k, o := range row.in {
				x := g.Input(fmt.Sprint("x", k), graph.F64, graph.Dims(len(keep))...)
				a, b := graph.NewValue(x.Type()), graph.NewValue(x.Type())
				for i := range a.Data {
					a.Data[i] = o.Domain.Lo + (o.Domain.Hi-o.Domain.Lo)*(float64(i)+.3+float64(k)/4)/float64(len(keep)+1)
					if b.Data[i] = a.Data[i]; keep[i] == 0 {
						b.Data[i] = poison[(i+at*(k+1))%len(poison)]
					}
				}
				xs, harmless[x], hostile[x] = append(xs, x), a, b
			}
			names, values := masked(mask, xs, row.f)
			if err := g.Err(); err != nil {
				t.Fatalf("%s: %v", row.name, err)
			}
			want, err := ref.Eval(trait.Env{}, harmless, values...)
			if err != nil {
				t.Fatal(err)
			}
			for engine, eval := range map[string]func() ([]graph.Value, error){
				"definition": func() ([]graph.Value, error) { return ref.Eval(trait.Env{}, hostile, values...) },
				"tape":       func() ([]graph.Value, error) { return reftest.Tape(0, hostile, values) },
			} {
				if engine == "tape" && at > 1 {
					continue
				}
				got, err := eval()
				if err != nil {
					t.Fatal(err)
				}
				for k, v := range got {
					for i, d := range v.Data {
						w := want[k].Data[i]
						if engine == "definition" && d != w || math.Abs(d-w) > 1e-9*(1+math.Abs(w)) || d != d || len(v.Data) == len(keep) && keep[i] == 0 && d != 0 {
							t.Errorf("%s, %s: %s[%d] is %v, want %v", row.name, engine, names[k], i, d, w)
						}
					}
				}
			}
		}
	}
}

// TestWhatIsNotChosenOfRepeated: elements that are chosen in some of their copies.
func TestWhatIsNotChosenOfRepeated(t *testing.T) {
	g := graph.New("repeated")
	x := g.Input("x", graph.F64, graph.Ax("j", 3))
	mask := g.Constant(graph.Bool, []float64{1, 0, 0, 1, 0, 1}, graph.Ax("i", 2), graph.Ax("j", 3))
	y := ops.Select(mask, ops.Log(x), ops.Lit(x, 0))
	d := grad.Of(ops.Sum(y), x)[0]
	v, err := ref.Eval(trait.Env{}, graph.Values{x: {Data: []float64{2, 0, 4}}}, d)
	if err != nil {
		t.Fatal(err, g.Err())
	}
	if got := v[0].Data; !slices.Equal(got, []float64{1, 0, .25}) {
		t.Errorf("got %v", got)
	}
}

// TestWhatIsNotChosenInBatch: the derivative of one example, mapped over many.
func TestWhatIsNotChosenInBatch(t *testing.T) {
	g := graph.New("batch")
	x := g.Input("x", graph.F64, graph.Ax("b", 4))
	d := vmap.Each(func(in []node) []node {
		x := in[0]
		return grad.Of(ops.Select(ops.Greater(x, ops.Lit(x, 0)), ops.Sqrt(x), ops.Lit(x, 0)), x)
	}, x)[0]
	v, err := ref.Eval(trait.Env{}, graph.Values{x: {Data: []float64{-1, 0, 4, math.Inf(-1)}}}, d)
	if err != nil {
		t.Fatal(err, g.Err())
	}
	if got := v[0].Data; !slices.Equal(got, []float64{0, 0, .25, 0}) {
		t.Errorf("got %v", got)
	}
}

// TestOrdinaryDerivatives: where a rule leaves zeros as they are, and where a node is used by
// both branches, nothing is added.
func TestOrdinaryDerivatives(t *testing.T) {
	for name, f := range map[string]func(x node) node{
		"masked scores": func(x node) node {
			s := ops.Scale(x, .125)
			return ops.Softmax(ops.Select(ops.Less(varied(x), ops.Lit(x, .6)), s, ops.Lit(s, math.Inf(-1))), 0)
		},
		"leaky relu of a tanh": func(x node) node { return ops.LeakyReLU(ops.Tanh(x), .01) },
		"clipped": func(x node) node {
			return ops.Maximum(ops.ReLU(ops.Select(ops.Less(x, ops.Lit(x, 1)), ops.Sub(x, varied(x)), x)), ops.Lit(x, .1))
		},
	} {
		g := graph.New(name)
		x := g.Input("x", graph.F64, graph.Dims(4)...)
		y := f(x)
		selects := func() (n int) {
			for _, m := range g.Nodes() {
				if match.Is(m, match.And) || match.Is(m, match.Or) || match.Is(m, match.Not) {
					n++
				}
			}
			return n
		}
		before := selects()
		grad.Of(ops.Sum(ops.Square(y)), x)
		if err := g.Err(); err != nil || selects() != before {
			t.Errorf("%s: masks are added: %v\n%v", name, err, g)
		}
	}
}

package ops

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// CumSum returns the running sum of x along an axis, in the shape of x: y_t = Σ_{s≤t} x_s. As with
// [Sum], that of numbers has their element type, that of a mask is i32. Its derivative is the running
// sum from the other end. See [LinearRecurrence].
func CumSum(x *graph.Node, axis any) *graph.Node {
	defer calling("CumSum", x)()
	return withAxes("CumSum", x, []any{axis}, func(list []int) *graph.Node {
		x := counted(x, graph.I32)
		return LinearRecurrence(Lit(x, 1), x, list[0])
	})
}

// CumProd returns the running product of x along an axis, in the shape of x: y_t = Π_{s≤t} x_s. That of
// numbers has their element type, that of a mask is i32. It never divides: derivatives of every order
// are right even where factors are 0. See [LinearRecurrence].
func CumProd(x *graph.Node, axis any) *graph.Node {
	defer calling("CumProd", x)()
	return withAxes("CumProd", x, []any{axis}, func(list []int) *graph.Node {
		a, x := list[0], counted(x, graph.I32)
		first := x
		if n := x.Dim(a); n > 1 {
			first = Pad(Slice(x, a, 0, 1), a, 0, n-1, 0)
		}
		return LinearRecurrence(x, first, a)
	})
}

// CumMax returns the running maximum of x, of any element type, along an axis, in the shape of x:
// y_t = max_{s≤t} x_s, and NaN from the first NaN on. Of a mask it is true from the first true element
// on. The derivative of floats goes to the element that is the maximum; of equal ones to the first.
func CumMax(x *graph.Node, axis any) *graph.Node { return cumExtremum("CumMax", x, axis, true) }

// CumMin returns the running minimum of x along an axis; it is otherwise like [CumMax].
func CumMin(x *graph.Node, axis any) *graph.Node { return cumExtremum("CumMin", x, axis, false) }

func cumExtremum(what string, x *graph.Node, axis any, most bool) *graph.Node {
	defer calling(what, x)()
	return withAxes(what, x, []any{axis}, func(list []int) *graph.Node {
		chosen := graph.Apply(cumArg{Axis: list[0], Max: most}, x)
		if !chosen.IsValid() {
			return chosen
		}
		return TakeAlong(x, chosen, list[0])
	})
}

// LogCumSumExp returns the logarithm of the running sum of eˣ along an axis of floats x, in the
// shape of x: y_t = log Σ_{s≤t} exp(x_s). The running maximum is taken out, so that nothing
// overflows, and sums of small terms keep their digits. It is −∞ as long as all elements are; there
// the derivative is NaN.
func LogCumSumExp(x *graph.Node, axis any) *graph.Node {
	defer calling("LogCumSumExp", x)()
	return withAxes("LogCumSumExp", x, []any{axis}, func(list []int) *graph.Node {
		if err := wantFloat(x); err != nil {
			return x.Graph().Fail("LogCumSumExp", err, x)
		}
		defer x.Graph().Scope("logarithm of a running sum")()
		a, most := list[0], math.MaxFloat64
		if x.DType() == graph.F32 {
			most = math.MaxFloat32
		}
		m := Clip(CumMax(StopGradient(x), a), Lit(x, -most), Lit(x, most)) // infinities have no difference
		before := m                                                        // the running maximum at the index before, of which the first does not count
		if n := x.Dim(a); n > 1 {
			before = Concat(a, Slice(m, a, 0, 1), Slice(m, a, 0, n-1))
		}
		decay := Exp(Sub(before, m))
		return Add(m, Log(LinearRecurrence(decay, Exp(Sub(x, m)), a)))
	})
}

// cumArg gives the index of the largest element, or the smallest, up to each index of an axis.
type cumArg struct {
	flat
	Axis int
	Max  bool
}

func (cumArg) Name() string     { return "CumArg" }
func (cumArg) Kind() match.Kind { return match.CumArg }
func (cumArg) Doc() string {
	return "index of the largest element up to each index of an axis, or of the smallest"
}

func (op cumArg) Infer(in []*graph.Node) (graph.Type, error) {
	if err := wantAxis(in, op.Axis); err != nil {
		return graph.Type{}, err
	}
	return graph.Type{DType: graph.I64, Shape: in[0].Shape()}, nil
}

func (op cumArg) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	op.Axis++
	return graph.Apply(op, in[0])
}

func (op cumArg) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	eachRow(y.Shape(), op.Axis, func(places []int) {
		best := 0
		for i, p := range places {
			v, most := in[0].Data[p], in[0].Data[places[best]]
			if most == most && (v != v || op.Max && v > most || !op.Max && v < most) {
				best = i
			}
			out.Data[p] = float64(best)
		}
	})
	return out
}

func (op cumArg) Kernel(*graph.Node) kernel.Kernel { return kernel.CumArg{Axis: op.Axis, Max: op.Max} }

func (op cumArg) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	if op.Max {
		return functionAlong("cumargmax", y, op.Axis, in[0])
	}
	return functionAlong("cumargmin", y, op.Axis, in[0])
}

func (cumArg) Cases() []Case {
	of := func(most bool) []Case {
		return argCases(func(x *graph.Node, axis any) *graph.Node {
			return withAxes("CumArg", x, []any{axis}, func(list []int) *graph.Node { return graph.Apply(cumArg{Axis: list[0], Max: most}, x) })
		})
	}
	return append(of(true), of(false)...)
}

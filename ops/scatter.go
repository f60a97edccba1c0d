package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// scatter is an array in which slices at indices have met others.
type scatter struct {
	Axis int
	How  string // "set", "add", "max" or "min"
}

// SetAt returns x with other slices at some indices along an axis: into table[v d] at index[b t] along v
// it puts values[b t d]. Values are broadcast to that shape, so that [t d] or a scalar will do. Of equal
// indices the last one counts, in row-major order. x and values have one element type, which may be any; the
// indices are i32 or i64. An index outside the axis is a [trait.IndexError] when the program runs, and a
// mistake if it is a constant. [Gather] reads what SetAt writes.
func SetAt(x, index, values *graph.Node, axis any) *graph.Node {
	return scattered("SetAt", "set", x, index, values, axis)
}

// AddAt returns x with slices added at some indices along an axis, in the order of the indices; it is
// otherwise like [SetAt], for numbers. Slices with equal indices all count.
func AddAt(x, index, values *graph.Node, axis any) *graph.Node {
	return scattered("AddAt", "add", x, index, values, axis)
}

// MaxAt returns x where every slice at an index is the largest, element by element, of itself and the
// values for it; it is otherwise like [SetAt], for numbers. Equal largest elements share the derivative
// equally.
func MaxAt(x, index, values *graph.Node, axis any) *graph.Node {
	return scattered("MaxAt", "max", x, index, values, axis)
}

// MinAt returns x where every slice at an index is the smallest, element by element, of itself and the
// values for it; it is otherwise like [SetAt], for numbers. Equal smallest elements share the
// derivative equally.
func MinAt(x, index, values *graph.Node, axis any) *graph.Node {
	return scattered("MinAt", "min", x, index, values, axis)
}

func scattered(what, how string, x, index, values *graph.Node, axis any) *graph.Node {
	defer calling(what, x, index, values)()
	if !x.IsValid() || !index.IsValid() || !values.IsValid() || !index.DType().IsInt() {
		return graph.Apply(scatter{How: how}, x, index, values)
	}
	return withAxes(what, x, []any{axis}, func(list []int) *graph.Node {
		want, err := pickedShape(x.Shape(), list[0], index.Shape())
		if err == nil && !values.Shape().SameSizes(want) {
			axes := slices.Replace(x.Shape().Axes(), list[0], list[0]+1, index.Shape().Axes()...)
			if named, clash := graph.NewShape(axes...); clash == nil {
				want = named // so that values are repeated along the axes that they lack
			}
			if s, bad := graph.Align(values.Shape(), want); bad != nil || !s.SameSizes(want) {
				err = fmt.Errorf("values of shape %v: want %v", values.Shape(), want)
			} else {
				values = BroadcastTo(values, want)
			}
		}
		if err != nil {
			return x.Graph().Fail(what, err, x, index, values)
		}
		return placed(graph.Apply(scatter{list[0], how}, x, index, values))
	})
}

// pickedShape is the shape of what indices pick of a table along an axis.
func pickedShape(table graph.Shape, axis int, index graph.Shape) (graph.Shape, error) {
	axes := table.Axes()
	sizes := append(append(axes[:axis:axis], graph.Dims(index.Sizes()...)...), axes[axis+1:]...)
	return graph.NewShape(sizes...)
}

func (scatter) Name() string                            { return "Scatter" }
func (scatter) Kind() match.Kind                        { return match.Scatter }
func (scatter) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (scatter) Doc() string {
	return "an array with slices set, added, or compared at indices"
}

// Rule returns the name of the rule of its derivative.
func (scatter) Rule(_ []bool) (name string, law expr.Expr) {
	return named("each slice counts where it is written")
}

func (scatter) Convention() string {
	return "equal largest or smallest elements share the derivative equally, as with scatter_reduce in PyTorch"
}

func (op scatter) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 3); err != nil {
		return graph.Type{}, err
	}
	x, index, values := in[0], in[1], in[2]
	switch {
	case !index.DType().IsInt():
		return graph.Type{}, fmt.Errorf("indices of type %v: want i32 or i64", index.DType())
	case x.DType() != values.DType():
		return graph.Type{}, dtypesDiffer(x, values)
	case op.How != "set" && op.How != "add" && op.How != "max" && op.How != "min":
		return graph.Type{}, fmt.Errorf("how=%q: want set, add, max or min", op.How)
	case op.Axis < 0 || op.Axis >= x.Rank():
		return graph.Type{}, fmt.Errorf("axis %d of %v", op.Axis, x.Shape())
	}
	if op.How != "set" {
		if err := wantNumber(x, values); err != nil {
			return graph.Type{}, err
		}
	}
	want, err := pickedShape(x.Shape(), op.Axis, index.Shape())
	if err == nil && !want.SameSizes(values.Shape()) {
		err = fmt.Errorf("values of shape %v: want %v", values.Shape(), want)
	}
	if err == nil {
		err = wantPlaces(index, x.Dim(op.Axis))
	}
	return x.Type(), err
}

// along brings a mask or factors of the indices to the rank of the slices.
func (op scatter) along(m, values *graph.Node, index *graph.Node) *graph.Node {
	axes := make([]graph.Axis, values.Rank())
	for a := range axes {
		axes[a] = graph.Axis{Size: 1}
		if k := a - op.Axis; k >= 0 && k < index.Rank() {
			axes[a].Size = index.Dim(k)
		}
	}
	s, err := graph.NewShape(axes...)
	if err != nil {
		return m.Graph().Fail("Scatter", err, m)
	}
	return ReshapeTo(m, s)
}

// picked returns the slices of a table at the indices. The names of the indices' axes may be those of
// the table's, so they are left out.
func (op scatter) picked(table, index, like *graph.Node) *graph.Node {
	plain, _ := graph.NewShape(graph.Dims(index.Shape().Sizes()...)...)
	return ReshapeTo(graph.Apply(gather{op.Axis}, table, ReshapeTo(index, plain)), like.Shape())
}

// counts is the mask of the indices whose slices count: in the axis, and of equal ones the last.
func (op scatter) counts(x, index *graph.Node) *graph.Node {
	ok := below(index, x.Dim(op.Axis))
	if op.How != "set" {
		return ok
	}
	n := index.Shape().Len()
	flat, _ := graph.NewShape(graph.Axis{Size: n})
	back := func(x *graph.Node) *graph.Node { return Reverse(x, 0) }
	first := FirstEqual(back(ReshapeTo(index, flat)))
	last := back(Equal(first, x.Graph().ConstantFunc(graph.I64, func(p []float64) {
		for i := range p {
			p[i] = float64(i)
		}
	}, flat.Axes()...)))
	return And(ok, ReshapeTo(last, index.Shape()))
}

// shares returns, for max and min, how much of the derivative x and values have: 1 over the number of
// elements that equal the result, and 0 for the others.
func (op scatter) shares(y *graph.Node) (x, values *graph.Node) {
	index := y.In(1)
	own := Cast(Equal(y.In(0), y), y.DType())
	theirs := Cast(Equal(y.In(2), op.picked(y, index, y.In(2))), y.DType())
	number := graph.Apply(scatter{op.Axis, "add"}, own, index, theirs)
	number = Maximum(number, Lit(number, 1))
	return Div(own, number), Div(theirs, op.picked(number, index, theirs))
}

func (op scatter) Grad(y, dy *graph.Node, i int) *graph.Node {
	x, index, values := y.In(0), y.In(1), y.In(2)
	if i == 1 || !y.DType().IsFloat() {
		return nil
	}
	zeros := BroadcastTo(Lit(dy, 0), values.Shape())
	if i == 0 {
		switch op.How {
		case "set":
			return graph.Apply(scatter{op.Axis, "set"}, dy, index, zeros)
		case "add":
			return dy
		}
		share, _ := op.shares(y)
		return Mul(share, dy)
	}
	taken := op.picked(dy, index, values)
	if op.How == "max" || op.How == "min" {
		_, share := op.shares(y)
		taken = Mul(share, taken)
	}
	return Select(op.along(op.counts(x, index), values, index), taken, Lit(taken, 0))
}

// JVP of the largest and smallest elements is the mean of the tangents of those that are equal.
func (op scatter) JVP(y *graph.Node, dx []*graph.Node) *graph.Node {
	if op.How == "set" || op.How == "add" {
		return linearly(y, dx)
	}
	if dx[0] == nil && dx[2] == nil {
		return nil
	}
	own, theirs := op.shares(y)
	a := BroadcastTo(Lit(own, 0), own.Shape())
	if dx[0] != nil {
		a = Mul(own, dx[0])
	}
	if dx[2] == nil {
		return a
	}
	return graph.Apply(scatter{op.Axis, "add"}, a, y.In(1), Mul(theirs, dx[2]))
}

// Batch lays the arrays of all examples one after the other where each has indices of its own.
func (op scatter) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	all := repeated(in, batched, b)
	if !batched[1] {
		return graph.Apply(scatter{op.Axis + 1, op.How}, all[0], in[1], all[2])
	}
	x, values := all[0], all[2]
	rows := y.In(0).Shape().Axis(op.Axis)
	x = merged(moved(x, op.Axis+1, 1, 1), 0)
	values = moved(values, 1+op.Axis, y.In(1).Rank(), 1)
	done := graph.Apply(scatter{0, op.How}, x, inTurn(in[1], b, rows.Size), values)
	return moved(parted(done, 0, b, rows), 1, 1, 1+op.Axis)
}

func (op scatter) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	copy(out.Data, in[0].Data)
	meetAt(op, y, out.Data, in[1], in[2].Data)
	return out
}

// EvalWhole is Eval of integers, whose sums wrap around.
func (op scatter) EvalWhole(y *graph.Node, in [][]int64) []int64 {
	out, index := slices.Clone(in[0]), graph.NewValue(y.In(1).Type())
	for i, v := range in[1] {
		index.Data[i] = float64(v)
	}
	meetAt(op, y, out, index, in[2])
	return out
}

// meetAt lets the elements of out meet the values for them.
func meetAt[T int64 | float64](op scatter, y *graph.Node, out []T, index graph.Value, values []T) {
	p := 0
	walk(y.In(2).Shape(), func(ix []int) {
		v := values[p]
		p++
		row, to := (gather{op.Axis}).source(ix, index)
		if row < 0 || row >= float64(y.Dim(op.Axis)) {
			return
		}
		slot := &out[at(y.Shape(), to)]
		switch op.How {
		case "set":
			*slot = v
		case "add":
			*slot += v
		case "max":
			*slot = max(*slot, v)
		default:
			*slot = min(*slot, v)
		}
	})
}

// Places says that the second operand is an index.
func (op scatter) Places(y *graph.Node) (operand, size int) { return 1, y.Dim(op.Axis) }

// Scatters returns the axis of the indices.
func (op scatter) Scatters() int { return op.Axis }

func (op scatter) Kernel(*graph.Node) kernel.Kernel {
	how := map[string]kernel.How{"set": kernel.ScatterSet, "add": kernel.ScatterSum, "max": kernel.ScatterMax, "min": kernel.ScatterMin}
	return kernel.Scatter{Axis: op.Axis, How: how[op.How]}
}

func (op scatter) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call(op.How+" at", in...)
}

func (scatter) Cases() []Case {
	var out []Case
	for _, f := range []func(x, index, values *graph.Node, axis any) *graph.Node{SetAt, AddAt, MaxAt, MinAt} {
		out = append(out,
			Case{[]Operand{{"float[j=5 d=2]", Apart}, {"i64[i=4]", Index(5)}, {"float[i=4 d=2]", Apart}}, func(in []*graph.Node) *graph.Node { return f(in[0], in[1], in[2], "j") }},
			Case{[]Operand{{"float[a=2 j=3 d=2]", Apart}, {"i32[i=2 k=2]", Index(3)}, {"float[]", Apart}}, func(in []*graph.Node) *graph.Node { return f(in[0], in[1], in[2], 1) }},
		)
	}
	return append(out, Case{[]Operand{{"i32[j=5]", Domain{Lo: -9, Hi: 9}}, {"i64[i=3]", Index(5)}, {"i32[i=3]", Domain{Lo: -9, Hi: 9}}}, func(in []*graph.Node) *graph.Node {
		return MaxAt(in[0], in[1], in[2], 0)
	}})
}

// firstEqual is the position of the first equal integer; axes before From are of examples.
type firstEqual struct {
	flat
	From int
}

// FirstEqual returns, for every integer, the position (i64) of the first one that equals it, in
// row-major order: of [7 3 7 7] it makes [0 1 0 0], in the shape of x. x is i32 or i64. So equal indices
// have one number, below their count, whatever they are: what belongs to a row of a large table can
// be added up in a small one.
func FirstEqual(x *graph.Node) *graph.Node { return graph.Apply(firstEqual{}, x) }

func (firstEqual) Name() string     { return "FirstEqual" }
func (firstEqual) Kind() match.Kind { return match.FirstEqual }
func (firstEqual) Doc() string      { return "position of the first equal integer" }

func (op firstEqual) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if !in[0].DType().IsInt() {
		return graph.Type{}, fmt.Errorf("an operand of type %v: want i32 or i64", in[0].DType())
	}
	if op.From < 0 || op.From > in[0].Rank() {
		return graph.Type{}, fmt.Errorf("from axis %d of %v", op.From, in[0].Shape())
	}
	return graph.Type{DType: graph.I64, Shape: in[0].Shape()}, nil
}

func (op firstEqual) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(firstEqual{From: op.From + 1}, in[0])
}

func (op firstEqual) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	n := 1
	for a := op.From; a < y.Rank(); a++ {
		n *= y.Dim(a)
	}
	for p, v := range in[0].Data {
		for q := p / n * n; q <= p; q++ {
			if in[0].Data[q] == v {
				out.Data[p] = float64(q % n)
				break
			}
		}
	}
	return out
}

func (op firstEqual) Kernel(*graph.Node) kernel.Kernel { return kernel.FirstEqual{From: op.From} }

func (firstEqual) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("first", in[0]) }

func (firstEqual) Cases() []Case {
	return []Case{
		{[]Operand{{"i64[i=7]", Index(3)}}, func(in []*graph.Node) *graph.Node { return FirstEqual(in[0]) }},
		{[]Operand{{"i32[i=3 k=2]", Domain{Lo: -3, Hi: 3}}}, func(in []*graph.Node) *graph.Node { return FirstEqual(in[0]) }},
	}
}

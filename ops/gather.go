package ops

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type oneHot struct {
	flat
	Axis graph.Axis
	To   graph.DType
}

// OneHot returns, for each index of an array of i32 or i64, a vector of floats of type to that is 1
// at the index and 0 elsewhere. The vectors lie along a new axis, inserted before axis number at of
// the index array; negative numbers count from the end, and -1 makes it the last.
//
// An index outside the axis is a [trait.IndexError] when the program runs, and a mistake if it is a
// constant. To have no 1 at all, give any index of the axis and clear the vector with [Select]. No
// derivative flows to the indices.
func OneHot(index *graph.Node, at int, axis graph.Axis, to graph.DType) *graph.Node {
	defer calling("OneHot", index)()
	if !index.IsValid() {
		return graph.Apply(oneHot{Axis: axis, To: to}, index)
	}
	n := index.Rank()
	if at < 0 {
		at += n + 1
	}
	if at < 0 || at > n {
		return index.Graph().Fail("OneHot", fmt.Errorf("place %d among %d axes", at, n), index)
	}
	order := make([]int, 0, n+1)
	for i := range n {
		order = append(order, i)
	}
	hot := placed(graph.Apply(oneHot{Axis: axis, To: to}, index))
	if !hot.IsValid() {
		return hot
	}
	return transposeTo(hot, slices.Insert(order, at, n))
}

func (oneHot) Name() string     { return "OneHot" }
func (oneHot) Kind() match.Kind { return match.OneHot }
func (oneHot) Labels() int      { return 0 }
func (oneHot) Doc() string      { return "indices as vectors with a single 1 along a new last axis" }

func (op oneHot) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 1); err != nil {
		return graph.Type{}, err
	}
	if !in[0].DType().IsInt() {
		return graph.Type{}, fmt.Errorf("indices of type %v: want i32 or i64", in[0].DType())
	}
	if !op.To.IsFloat() {
		return graph.Type{}, fmt.Errorf("element type %v: want %s", op.To, anyFloat)
	}
	s, err := graph.NewShape(append(in[0].Shape().Axes(), op.Axis)...)
	if err == nil {
		err = wantPlaces(in[0], op.Axis.Size)
	}
	return graph.Type{DType: op.To, Shape: s}, err
}

func (op oneHot) Batch(_ *graph.Node, in []*graph.Node, _ []bool, _ graph.Axis) *graph.Node {
	return graph.Apply(op, in[0])
}

func (op oneHot) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	n := op.Axis.Size
	for p := range out.Data {
		out.Data[p] = truth(in[0].Data[p/n] == float64(p%n))
	}
	return out
}

// Places says that the operand is an index.
func (op oneHot) Places(*graph.Node) (operand, size int) { return 0, op.Axis.Size }

func (oneHot) Kernel(*graph.Node) kernel.Kernel { return kernel.OneHot{} }

func (op oneHot) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	if op.Axis.Name == "" {
		return expr.Call("onehot", in[0])
	}
	return bracket("=", []expr.Expr{expr.Sym(op.Axis.Name), in[0]})
}

func (oneHot) Cases() []Case {
	hot := func(at int) Case {
		return Case{[]Operand{{"i64[i=3 k=2]", Index(5)}}, func(in []*graph.Node) *graph.Node { return OneHot(in[0], at, graph.Ax("j", 5), graph.F64) }}
	}
	return []Case{hot(-1), hot(0), hot(1)}
}

type gather struct{ Axis int }

// Gather looks slices of a table up by their indices along one axis, and puts the axes of the
// indices in its place: from table[v d] and index[b t] along v it makes [b t d], the rows of an
// embedding. The table is of any element type, the indices are i32 or i64. An index outside the axis is a
// [trait.IndexError] when the program runs, and a mistake if it is a constant. An axis of the indices
// that has the name of another axis of the table gets a prime. PyTorch's gather, an index at every place,
// is [TakeAlong]; with one index at each place, it is [Pick].
func Gather(table, index *graph.Node, axis any) *graph.Node {
	defer calling("Gather", table, index)()
	if !table.IsValid() {
		return graph.Apply(gather{}, table, index)
	}
	return withAxes("Gather", table, []any{axis}, func(list []int) *graph.Node {
		return placed(graph.Apply(gather{list[0]}, table, besideRest(table, index, list[0])))
	})
}

// besideRest returns an index array whose axes have primes where others of the table than the given
// one have their names.
func besideRest(table, index *graph.Node, axis int) *graph.Node {
	if !index.IsValid() || index.Rank() == 0 {
		return index
	}
	rest := slices.Delete(table.Shape().Axes(), axis, axis+1)
	own := graph.Primed(append(rest, index.Shape().Axes()...)...)[len(rest):]
	if slices.Equal(own, index.Shape().Axes()) {
		return index
	}
	return reshapeAxes("Gather", index, own)
}

// placed is y, whose indices must be places where they are constants.
func placed(y *graph.Node) *graph.Node {
	op, ok := y.Op().(trait.Indexing)
	if !ok {
		return y
	}
	in := make([]graph.Value, y.NumIn())
	operand, _ := op.Places(y)
	in[operand], _ = y.In(operand).Constant()
	var outside *trait.IndexError
	if errors.As(trait.CheckIndex(y, in), &outside) {
		return y.Graph().Fail(y.Op().Name(), outside.Place(), y.Inputs()...)
	}
	return y
}

func (gather) Name() string                            { return "Gather" }
func (gather) Kind() match.Kind                        { return match.Gather }
func (gather) Blames(w trait.Wrong, c, v float64) bool { return keepsSign(w, c, v) }
func (gather) Doc() string                             { return "slices of a table at indices" }

// Rule returns the name of the rule of its derivative.
func (gather) Rule(_ []bool) (name string, law expr.Expr) {
	return named("each row adds up what was taken of it")
}

func (op gather) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 2); err != nil {
		return graph.Type{}, err
	}
	s := in[0].Shape()
	switch {
	case !in[1].DType().IsInt():
		return graph.Type{}, fmt.Errorf("indices of type %v: want i32 or i64", in[1].DType())
	case op.Axis < 0 || op.Axis >= s.Rank():
		return graph.Type{}, fmt.Errorf("axis %d of %v", op.Axis, s)
	}
	to, err := graph.NewShape(slices.Replace(s.Axes(), op.Axis, op.Axis+1, in[1].Shape().Axes()...)...)
	if err == nil {
		err = wantPlaces(in[1], s.Dim(op.Axis))
	}
	return graph.Type{DType: in[0].DType(), Shape: to}, err
}

func (op gather) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i != 0 || !y.DType().IsFloat() {
		return nil
	}
	return graph.Apply(scatterAdd{op.Axis, y.In(0).Shape()}, y.In(1), dy)
}

// source maps an index of y to the index into the table's row and the element.
func (op gather) source(ix []int, index graph.Value) (row float64, rest []int) {
	k := index.Type.Shape.Rank()
	row = index.Data[at(index.Type.Shape, ix[op.Axis:op.Axis+k])]
	return row, slices.Replace(slices.Clone(ix), op.Axis, op.Axis+k, int(row))
}

func (gather) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

// Batch lays the tables of all examples one after the other where each has its own.
func (op gather) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	table, index := in[0], in[1]
	switch {
	case !batched[0]:
		return moved(graph.Apply(op, table, index), op.Axis, 1, 0)
	case !batched[1]:
		return graph.Apply(gather{op.Axis + 1}, table, index)
	}
	table = merged(moved(table, op.Axis+1, 1, 1), 0)
	taken := graph.Apply(gather{0}, table, inTurn(index, b, y.In(0).Dim(op.Axis)))
	return moved(taken, 1, y.In(1).Rank(), 1+op.Axis)
}

// inTurn turns the indices of each example, below n, into indices of the n·b rows of all examples.
// Indices outside stay outside.
func inTurn(index *graph.Node, b graph.Axis, n int) *graph.Node {
	index = graph.Apply(inRange{Size: n}, Cast(index, graph.I64))
	axes := graph.Dims(slices.Repeat([]int{1}, index.Rank())...)
	axes[0] = b
	return Add(index, index.Graph().ConstantFunc(graph.I64, func(first []float64) {
		for e := range first {
			first[e] = float64(e * n)
		}
	}, axes...))
}

// below is the mask of indices from 0 to n − 1.
func below(index *graph.Node, n int) *graph.Node {
	return And(GreaterEqual(index, Lit(index, 0)), Less(index, Lit(index, float64(n))))
}

func (op gather) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	n := float64(in[0].Type.Shape.Dim(op.Axis))
	p := 0
	walk(y.Shape(), func(ix []int) {
		if y.DType().IsFloat() {
			out.Data[p] = math.NaN()
		}
		if row, from := op.source(ix, in[1]); row >= 0 && row < n {
			out.Data[p] = in[0].Data[at(in[0].Type.Shape, from)]
		}
		p++
	})
	return out
}

// Places says that the second operand is an index.
func (op gather) Places(y *graph.Node) (operand, size int) { return 1, y.In(0).Dim(op.Axis) }

func (op gather) Kernel(*graph.Node) kernel.Kernel { return kernel.Gather{Axis: op.Axis} }

// Notation puts the index expression into a bracket: r[a_i].
func (op gather) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("gather", in...)
}

func (gather) Cases() []Case {
	return []Case{
		{[]Operand{{"float[j=5 d=4]", Reals}, {"i64[i=3]", Index(5)}}, func(in []*graph.Node) *graph.Node { return Gather(in[0], in[1], "j") }},
		{[]Operand{{"float[a=2 j=3 d=4]", Reals}, {"i32[i=2 k=2]", Index(3)}}, func(in []*graph.Node) *graph.Node { return Gather(in[0], in[1], 1) }},
		{[]Operand{{"float[j=5]", Reals}, {"i64[]", Index(5)}}, func(in []*graph.Node) *graph.Node { return Gather(in[0], in[1], 0) }},
		{[]Operand{{"i32[j=5 d=2]", Domain{Lo: -9, Hi: 9}}, {"i64[i=3]", Index(5)}}, func(in []*graph.Node) *graph.Node { return Gather(in[0], in[1], 0) }},
		{[]Operand{{"bool[j=5]", Truth}, {"i64[i=3]", Index(5)}}, func(in []*graph.Node) *graph.Node { return Gather(in[0], in[1], 0) }},
	}
}

type scatterAdd struct {
	Axis int
	To   graph.Shape
}

// ScatterAdd adds slices of values to zeros over the axes to, at the indices along one of these
// axes; it is the reverse of [Gather]. From index[b t] and values[b t d] along v it makes [v d].
// Values are floats, the indices are i32 or i64. Slices with equal indices add up. To leave a slice
// out, make it 0 with [Select]. An index outside the axis is a [trait.IndexError] when the program
// runs, and a mistake if it is a constant.
func ScatterAdd(index, values *graph.Node, axis any, to ...graph.Axis) *graph.Node {
	defer calling("ScatterAdd", index, values)()
	s, err := graph.NewShape(to...)
	var at []int
	if err == nil {
		at, err = s.Resolve(axis)
	}
	if err != nil {
		return graph.Of(index, values).Fail("ScatterAdd", err, index, values)
	}
	return placed(graph.Apply(scatterAdd{at[0], s}, index, values))
}

func (scatterAdd) Name() string     { return "ScatterAdd" }
func (scatterAdd) Kind() match.Kind { return match.ScatterAdd }
func (scatterAdd) Doc() string      { return "slices added into zeros at indices: Gather's derivative" }

// Rule returns the name of the rule of its derivative.
func (scatterAdd) Rule(_ []bool) (name string, law expr.Expr) {
	return named("each row counts where it was added")
}

func (op scatterAdd) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 2); err != nil {
		return graph.Type{}, err
	}
	switch {
	case !in[0].DType().IsInt():
		return graph.Type{}, fmt.Errorf("indices of type %v: want i32 or i64", in[0].DType())
	case !in[1].DType().IsFloat():
		return graph.Type{}, fmt.Errorf("values of type %v: want %s", in[1].DType(), anyFloat)
	case op.Axis < 0 || op.Axis >= op.To.Rank():
		return graph.Type{}, fmt.Errorf("axis %d of %v", op.Axis, op.To)
	}
	want, err := graph.NewShape(slices.Replace(op.To.Axes(), op.Axis, op.Axis+1, in[0].Shape().Axes()...)...)
	if err != nil {
		return graph.Type{}, err
	}
	if !want.SameSizes(in[1].Shape()) {
		return graph.Type{}, fmt.Errorf("values of shape %v: want %v", in[1].Shape(), want)
	}
	return graph.Type{DType: in[1].DType(), Shape: op.To}, wantPlaces(in[0], op.To.Dim(op.Axis))
}

func (op scatterAdd) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i != 1 {
		return nil
	}
	index, x := y.In(0), y.In(1)
	taken := ReshapeTo(graph.Apply(gather{op.Axis}, dy, index), x.Shape())
	// Where indices are trusted, values that were not added have no influence, but Gather makes
	// them NaN.
	sizes := slices.Repeat([]int{1}, x.Rank())
	copy(sizes[op.Axis:], index.Shape().Sizes())
	shape, err := graph.NewShape(graph.Dims(sizes...)...)
	if err != nil {
		return x.Graph().Fail("ScatterAdd", err, x)
	}
	return Select(ReshapeTo(below(index, op.To.Dim(op.Axis)), shape), taken, Lit(taken, 0))
}

func (scatterAdd) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return linearly(y, dx) }

// Batch lays the results of all examples one after the other where each has indices
// of its own.
func (op scatterAdd) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	if !batched[0] {
		return graph.Apply(scatterAdd{op.Axis + 1, inFront(b, op.To)}, in...)
	}
	rows, values := op.To.Axis(op.Axis), repeated(in, batched, b)[1]
	if !values.IsValid() {
		return values
	}
	values = moved(values, 1+op.Axis, y.In(0).Rank(), 1)
	axes := slices.Delete(op.To.Axes(), op.Axis, op.Axis+1)
	to, _ := graph.NewShape(slices.Insert(axes, 0, graph.Axis{Size: b.Size * rows.Size})...)
	added := graph.Apply(scatterAdd{0, to}, inTurn(in[0], b, rows.Size), values)
	return moved(parted(added, 0, b, rows), 1, 1, 1+op.Axis)
}

func (op scatterAdd) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	n := float64(op.To.Dim(op.Axis))
	p := 0
	walk(in[1].Type.Shape, func(ix []int) {
		if row, to := (gather{op.Axis}).source(ix, in[0]); row >= 0 && row < n {
			out.Data[at(op.To, to)] += in[1].Data[p]
		}
		p++
	})
	return out
}

// Places says that the first operand is an index.
func (op scatterAdd) Places(*graph.Node) (operand, size int) { return 0, op.To.Dim(op.Axis) }

// Scatters returns the axis of the indices.
func (op scatterAdd) Scatters() int { return op.Axis }

func (op scatterAdd) Kernel(*graph.Node) kernel.Kernel { return kernel.ScatterAdd{Axis: op.Axis} }

func (scatterAdd) Notation(_ *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call("scatter", in...)
}

func (scatterAdd) Cases() []Case {
	return []Case{
		{[]Operand{{"i64[i=6]", Index(4)}, {"float[i=6 d=2]", Reals}}, func(in []*graph.Node) *graph.Node {
			return ScatterAdd(in[0], in[1], 0, graph.Ax("j", 4), graph.Ax("d", 2))
		}},
		{[]Operand{{"i32[i=2 k=3]", Index(4)}, {"float[a=2 i=2 k=3 d=2]", Reals}}, func(in []*graph.Node) *graph.Node {
			return ScatterAdd(in[0], in[1], "j", graph.Ax("a", 2), graph.Ax("j", 4), graph.Ax("d", 2))
		}},
	}
}

package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// Three operations on all pairs of rows of x[… i d] and r[… j d], none of which
// holds the i×j×d array of differences:
//
//	SqDist        s_ij = Σ_d (x_id − r_jd)²
//	WeightedDiff  p_id = Σ_j w_ij (x_id − r_jd)
//	DiffDot       q_ij = Σ_d u_id (x_id − r_jd)
//
// They are closed under differentiation, to any order, together with sums and
// matrix products. All three take differences before they multiply: the
// expansion x² + r² − 2xr loses every digit where rows are close and far from
// the origin.

// pairs checks x[… i d] and r[… j d] and gives their types' parts.
func pairs(x, r *graph.Node) (batch []graph.Axis, i, j, d graph.Axis, err error) {
	if err = wantFloat(x, r); err != nil {
		return
	}
	n := x.Rank()
	if n < 2 || r.Rank() != n {
		err = fmt.Errorf("want arrays of equal rank, at least 2")
		return
	}
	for k := range n - 2 {
		if x.Shape().Axis(k) != r.Shape().Axis(k) {
			err = fmt.Errorf("batch axes %v and %v differ", x.Shape().Axis(k), r.Shape().Axis(k))
			return
		}
	}
	batch = x.Shape().Axes()[:n-2]
	i, j, d = x.Shape().Axis(n-2), r.Shape().Axis(n-2), x.Shape().Axis(n-1)
	e := r.Shape().Axis(n - 1)
	if d.Size != e.Size || d.Name != "" && e.Name != "" && d.Name != e.Name {
		err = fmt.Errorf("rows differ: %v and %v", d, e)
	}
	if d.Name == "" {
		d.Name = e.Name
	}
	if err == nil { // the three meet in no result, but in the derivatives
		_, err = graph.NewShape(append(x.Shape().Axes()[:n-2], i, j, d)...)
	}
	return
}

// wantLike returns an error unless x has the wanted type.
func wantLike(what string, x *graph.Node, want graph.Type) error {
	_, err := graph.Align(x.Shape(), want.Shape)
	if err != nil || !want.Shape.SameSizes(x.Shape()) || want.DType != x.DType() {
		return fmt.Errorf("%s of type %v: want %v", what, x.Type(), want)
	}
	return nil
}

// typeOf is a type over axes that pairs has found to fit.
func typeOf(x *graph.Node, batch []graph.Axis, a, b graph.Axis) graph.Type {
	s, _ := graph.NewShape(append(append([]graph.Axis(nil), batch...), a, b)...)
	return graph.Type{DType: x.DType(), Shape: s}
}

// eachPair calls f for every batch, i, j, d with places in x (and p, u), r, and
// s (and w, q).
func eachPair(x, r graph.Value, f func(xp, rp, sp int)) {
	n := x.Type.Shape.Rank()
	ni, nj, nd := x.Type.Shape.Dim(n-2), r.Type.Shape.Dim(n-2), x.Type.Shape.Dim(n-1)
	if ni*nd == 0 {
		return
	}
	for b := range x.Type.Shape.Len() / (ni * nd) {
		for i := range ni {
			for j := range nj {
				for d := range nd {
					f((b*ni+i)*nd+d, (b*nj+j)*nd+d, (b*ni+i)*nj+j)
				}
			}
		}
	}
}

// batchPairs makes one operation of all examples where the rows r are the same for
// all: the rows x of the examples follow each other.
func batchPairs(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	last := len(in) - 1
	if y.Rank() > 2 || batched[last] {
		return graph.Apply(y.Op(), repeated(in, batched, b)...)
	}
	rows := repeated(in[:last], batched[:last], b)
	for i, x := range rows {
		rows[i] = merged(x, 0)
	}
	return parted(graph.Apply(y.Op(), append(rows, in[last])...), 0, b, y.Shape().Axis(0))
}

type sqDist struct{}

// SqDist returns the squared Euclidean distances D[… i j] of every row of x[… i d] to every row of
// r[… j d], for floats:
//
//	D_ij = Σ_d (x_id − r_jd)²
//
// Differences are taken before they are squared, so that no digits are lost where rows are close
// and far from the origin; no array [… i j d] is held. Both operands have the same axes before the
// last two. Where i and j have one name, as between the rows of one array, j gets a prime: SqDist(x, x)
// is [i i′].
func SqDist(x, r *graph.Node) *graph.Node {
	defer calling("SqDist", x, r)()
	if x.IsValid() && r.IsValid() && x.Rank() >= 2 && r.Rank() == x.Rank() {
		axes, j := x.Shape().Axes(), r.Rank()-2
		rows := r.Shape().Axes()
		if rows[j] = graph.Primed(append(axes[:j+1:j+1], rows[j])...)[j+1]; rows[j] != r.Shape().Axis(j) {
			r = reshapeAxes("SqDist", r, rows)
		}
	}
	return graph.Apply(sqDist{}, x, r)
}

func (sqDist) Name() string                   { return "SqDist" }
func (sqDist) Kind() match.Kind               { return match.SqDist }
func (sqDist) Magnifies() trait.Magnification { return trait.Cancellation }
func (sqDist) Doc() string                    { return "squared distances between all pairs of rows" }

// Rule returns the name of the rule of its derivative, and the law.
func (sqDist) Rule(_ []bool) (name string, law expr.Expr) {
	return lawful("squared distance", nil, nil, expr.Num(2).Times(expr.Sym("u").Minus(expr.Sym("v"))))
}

func (sqDist) Kernel(*graph.Node) kernel.Kernel { return kernel.SqDist{} }

func (sqDist) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 2); err != nil {
		return graph.Type{}, err
	}
	batch, i, j, _, err := pairs(in[0], in[1])
	if err != nil {
		return graph.Type{}, err
	}
	return typeOf(in[0], batch, i, j), nil
}

// Grad is dx = 2 Σ_j dy_ij (x_i − r_j), dr = 2 Σ_i dy_ij (r_j − x_i).
func (sqDist) Grad(y, dy *graph.Node, i int) *graph.Node {
	x, r := y.In(0), y.In(1)
	if i == 0 {
		return Scale(WeightedDiff(dy, x, r), 2)
	}
	return Scale(WeightedDiff(swapLast(dy), r, x), 2)
}

// JVP is 2 Σ_d (x_i − r_j)·(dx_i − dr_j).
func (sqDist) JVP(y *graph.Node, d []*graph.Node) *graph.Node {
	x, r := y.In(0), y.In(1)
	var dy *graph.Node
	if d[0] != nil {
		dy = DiffDot(d[0], x, r)
	}
	if d[1] != nil {
		dy = plus(dy, swapLast(DiffDot(d[1], r, x)))
	}
	return Scale(dy, 2)
}

func (sqDist) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return batchPairs(y, in, batched, b)
}

func (sqDist) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	eachPair(in[0], in[1], func(x, r, s int) {
		d := in[0].Data[x] - in[1].Data[r]
		out.Data[s] += d * d
	})
	return out
}

func (sqDist) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Norm2(difference(y.In(0), y.In(1), in[0], in[1]))
}

// difference is x_i − r_j without the rows' own index.
func difference(x, r *graph.Node, ex, er expr.Expr) expr.Expr {
	drop := func(n *graph.Node, e expr.Expr) expr.Expr {
		return e.Subst([]string{n.Shape().Axis(n.Rank() - 1).Name}, []string{""})
	}
	return drop(x, ex).Minus(drop(r, er))
}

func pairCases(f func(in []*graph.Node) *graph.Node, first ...string) []Case {
	var out []Case
	for _, b := range []string{"", "b=2 "} {
		var operands []Operand
		for _, t := range append(first, "i=3 d=4", "j=5 d=4") {
			operands = append(operands, Operand{"float[" + b + t + "]", Reals})
		}
		out = append(out, Case{operands, f})
	}
	return out
}

func (sqDist) Cases() []Case {
	return pairCases(func(in []*graph.Node) *graph.Node { return SqDist(in[0], in[1]) })
}

type weightedDiff struct{}

// WeightedDiff returns Σ_j w_ij (x_id − r_jd), [… i d], for floats w[… i j], x[… i d] and r[… j d],
// with the same axes before the last two. No array [… i j d] is held.
func WeightedDiff(w, x, r *graph.Node) *graph.Node { return graph.Apply(weightedDiff{}, w, x, r) }

func (weightedDiff) Name() string                   { return "WeightedDiff" }
func (weightedDiff) Kind() match.Kind               { return match.WeightedDiff }
func (weightedDiff) Linear(i int) bool              { return i == 0 }
func (weightedDiff) Magnifies() trait.Magnification { return trait.Cancellation }
func (weightedDiff) Doc() string                    { return "weighted sums of differences between rows" }

// Rule returns the name of the rule of its derivative.
func (weightedDiff) Rule(_ []bool) (name string, law expr.Expr) {
	return named("sum of weighted differences")
}

func (weightedDiff) Kernel(*graph.Node) kernel.Kernel { return kernel.WeightedDiff{} }

func (weightedDiff) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 3); err != nil {
		return graph.Type{}, err
	}
	batch, i, j, d, err := pairs(in[1], in[2])
	if err != nil {
		return graph.Type{}, err
	}
	if err := wantLike("weights", in[0], typeOf(in[1], batch, i, j)); err != nil {
		return graph.Type{}, err
	}
	return typeOf(in[1], batch, i, d), nil
}

// Grad is dw = DiffDot(dy, x, r), dx = dy·Σ_j w, dr = −wᵀ·dy.
func (weightedDiff) Grad(y, dy *graph.Node, i int) *graph.Node {
	w, x, r := y.In(0), y.In(1), y.In(2)
	switch i {
	case 0:
		return DiffDot(dy, x, r)
	case 1:
		return scaleRows(dy, w)
	}
	return Neg(product(swapLast(w), dy))
}

// scaleRows is x_id·Σ_j w_ij.
func scaleRows(x, w *graph.Node) *graph.Node {
	s := Sum(w, -1, Keep)
	return Mul(x, BroadcastTo(ReshapeTo(s, rowsOf(x)), x.Shape()))
}

// rowsOf is x's shape with its last axis at size 1.
func rowsOf(x *graph.Node) graph.Shape {
	s, _ := dropAxis(x.Shape(), x.Rank()-1, true)
	return s
}

// JVP is Σ_j dw_ij (x_i − r_j) + Σ_j w_ij (dx_i − dr_j).
func (weightedDiff) JVP(y *graph.Node, d []*graph.Node) *graph.Node {
	w, x, r := y.In(0), y.In(1), y.In(2)
	var dy *graph.Node
	if d[0] != nil {
		dy = WeightedDiff(d[0], x, r)
	}
	switch {
	case d[1] != nil && d[2] != nil:
		dy = plus(dy, WeightedDiff(w, d[1], d[2]))
	case d[1] != nil:
		dy = plus(dy, scaleRows(d[1], w))
	case d[2] != nil:
		dy = plus(dy, Neg(product(w, d[2])))
	}
	return dy
}

func (weightedDiff) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return batchPairs(y, in, batched, b)
}

func (weightedDiff) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	eachPair(in[1], in[2], func(x, r, s int) {
		out.Data[x] += in[0].Data[s] * (in[1].Data[x] - in[2].Data[r])
	})
	return out
}

func (weightedDiff) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	w := y.In(0)
	return expr.Big("Σ", indices(w, attr.AxesOf(w.Rank()-1)), in[0].Times(in[1].Minus(in[2])))
}

func (weightedDiff) Cases() []Case {
	return pairCases(func(in []*graph.Node) *graph.Node { return WeightedDiff(in[0], in[1], in[2]) }, "i=3 j=5")
}

type diffDot struct{}

// DiffDot returns Σ_d u_id (x_id − r_jd), [… i j], for floats u[… i d], x[… i d] and r[… j d], with
// the same axes before the last two. No array [… i j d] is held.
func DiffDot(u, x, r *graph.Node) *graph.Node { return graph.Apply(diffDot{}, u, x, r) }

func (diffDot) Name() string                   { return "DiffDot" }
func (diffDot) Kind() match.Kind               { return match.DiffDot }
func (diffDot) Linear(i int) bool              { return i == 0 }
func (diffDot) Magnifies() trait.Magnification { return trait.Cancellation }
func (diffDot) Doc() string                    { return "products of rows with the differences of rows" }

// Rule returns the name of the rule of its derivative.
func (diffDot) Rule(_ []bool) (name string, law expr.Expr) {
	return named("product of differences")
}

func (diffDot) Kernel(*graph.Node) kernel.Kernel { return kernel.DiffDot{} }

func (diffDot) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 3); err != nil {
		return graph.Type{}, err
	}
	batch, i, j, d, err := pairs(in[1], in[2])
	if err != nil {
		return graph.Type{}, err
	}
	if err := wantLike("rows", in[0], typeOf(in[1], batch, i, d)); err != nil {
		return graph.Type{}, err
	}
	return typeOf(in[1], batch, i, j), nil
}

// Grad is du = WeightedDiff(dy, x, r), dx = u·Σ_j dy, dr = −dyᵀ·u.
func (diffDot) Grad(y, dy *graph.Node, i int) *graph.Node {
	u, x, r := y.In(0), y.In(1), y.In(2)
	switch i {
	case 0:
		return WeightedDiff(dy, x, r)
	case 1:
		return scaleRows(u, dy)
	}
	return Neg(product(swapLast(dy), u))
}

// JVP is Σ_d du_i (x_i − r_j) + Σ_d u_i (dx_i − dr_j).
func (diffDot) JVP(y *graph.Node, d []*graph.Node) *graph.Node {
	u, x, r := y.In(0), y.In(1), y.In(2)
	var dy *graph.Node
	if d[0] != nil {
		dy = DiffDot(d[0], x, r)
	}
	switch {
	case d[1] != nil && d[2] != nil:
		dy = plus(dy, DiffDot(u, d[1], d[2]))
	case d[1] != nil:
		dots := Sum(Mul(u, d[1]), -1, Keep)
		dy = plus(dy, BroadcastTo(ReshapeTo(dots, rowsOf(y)), y.Shape()))
	case d[2] != nil:
		dy = plus(dy, Neg(product(u, swapLast(d[2]))))
	}
	return dy
}

func (diffDot) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	return batchPairs(y, in, batched, b)
}

func (diffDot) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	eachPair(in[1], in[2], func(x, r, s int) {
		out.Data[s] += in[0].Data[x] * (in[1].Data[x] - in[2].Data[r])
	})
	return out
}

func (diffDot) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	x := y.In(1)
	return expr.Big("Σ", indices(x, attr.AxesOf(x.Rank()-1)), in[0].Times(in[1].Minus(in[2])))
}

func (diffDot) Cases() []Case {
	return pairCases(func(in []*graph.Node) *graph.Node { return DiffDot(in[0], in[1], in[2]) }, "i=3 d=4")
}

package ops

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

type matMul struct{}

// MatMul returns the matrix product over the last two axes, for floats: [… m k] and [… k n] give […
// m n]. Leading axes are a batch, and broadcast like the operands of [Add]. Transposing an operand
// costs nothing. A vector, an operand of one axis, is a row on the left and a column on the right, as
// of @ in NumPy and PyTorch, and the result lacks that axis:
//
//	[… m k]·[… k n] = [… m n]    [k]·[… k n] = [… n]    [… m k]·[k] = [… m]    [k]·[k] = []
//
// The axes k must have the same name, primes aside, unless one has none. A name that the result would
// have twice gets a prime: K = x[n d]·xᵀ is [n n′], and so is K·K. An operand without axes is a
// mistake.
func MatMul(a, b *graph.Node) *graph.Node {
	g, in := graph.Join(a, b)
	a, b = in[0], in[1]
	if a == nil || b == nil || a.Graph() != b.Graph() || !a.IsValid() || !b.IsValid() || a.Rank() == 0 || b.Rank() == 0 {
		return g.Apply(matMul{}, a, b)
	}
	if a.Rank() == 1 || b.Rank() == 1 {
		return vectorProduct(a, b)
	}
	if err := multiplies(a, b); err != nil {
		return g.Fail("MatMul", err, a, b) // names the operands that were given, not their repetitions
	}
	ba, _ := graph.NewShape(a.Shape().Axes()[:a.Rank()-2]...)
	bb, _ := graph.NewShape(b.Shape().Axes()[:b.Rank()-2]...)
	batch, err := graph.Align(ba, bb)
	if err != nil {
		return g.Fail("MatMul", err, a, b)
	}
	return g.Apply(matMul{}, inBatch(a, batch), inBatch(b, batch))
}

// vectorProduct is MatMul where one operand is a vector or both are.
func vectorProduct(a, b *graph.Node) *graph.Node {
	defer calling("MatMul", a, b)()
	row, column := a.Rank() == 1, b.Rank() == 1
	if err := multiplies(a, b); err != nil {
		return graph.Of(a, b).Fail("MatMul", err, a, b)
	}
	if row {
		a = Expand(a, 0, "")
	}
	if column {
		b = Expand(b, -1, "")
	}
	y := MatMul(a, b)
	if row {
		y = Squeeze(y, -2)
	}
	if column {
		y = Squeeze(y, -1)
	}
	return y
}

// inBatch repeats a matrix over the batch axes.
func inBatch(x *graph.Node, batch graph.Shape) *graph.Node {
	own, err := graph.NewShape(x.Shape().Axes()[:x.Rank()-2]...)
	if err == nil && own.SameSizes(batch) {
		return x
	}
	s, err := graph.NewShape(append(batch.Axes(), x.Shape().Axes()[x.Rank()-2:]...)...)
	if err != nil {
		return x.Graph().Fail("MatMul", err, x)
	}
	return BroadcastTo(x, s)
}

func (matMul) Name() string      { return "MatMul" }
func (matMul) Kind() match.Kind  { return match.MatMul }
func (matMul) Linear(i int) bool { return i < 2 }
func (matMul) Doc() string       { return "matrix product over the last two axes" }

// Rule returns the name of the rule of its derivative.
func (matMul) Rule(_ []bool) (name string, law expr.Expr) {
	return named("matrix product: the other factor, summed over the other index")
}

func (matMul) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 2); err != nil {
		return graph.Type{}, err
	}
	if err := multiplies(in[0], in[1]); err != nil {
		return graph.Type{}, err
	}
	a, b := in[0].Shape(), in[1].Shape()
	ra, rb := a.Rank(), b.Rank()
	if ra < 2 || rb < 2 {
		return graph.Type{}, fmt.Errorf("operands of %d and %d axes: want matrices", ra, rb)
	}
	if ra != rb {
		return graph.Type{}, fmt.Errorf("batches of %d and %d axes", ra-2, rb-2)
	}
	axes := make([]graph.Axis, ra)
	for i := range ra - 2 {
		m, err := graph.Align(oneAxis(a.Axis(i)), oneAxis(b.Axis(i)))
		if err != nil || a.Dim(i) != b.Dim(i) {
			return graph.Type{}, fmt.Errorf("batch axes %v and %v differ", a.Axis(i), b.Axis(i))
		}
		axes[i] = m.Axis(0)
	}
	axes[ra-2], axes[ra-1] = a.Axis(ra-2), b.Axis(rb-1)
	s, err := graph.NewShape(graph.Primed(axes...)...)
	return graph.Type{DType: in[0].DType(), Shape: s}, err
}

// multiplies says why two arrays are no vectors or matrices that can be multiplied, whatever their
// batch axes.
func multiplies(a, b *graph.Node) error {
	if err := wantFloat(a, b); err != nil {
		return err
	}
	if a.Rank() == 0 || b.Rank() == 0 {
		which := "first"
		if a.Rank() > 0 {
			which = "second"
		}
		return &graph.Mistake{Problem: fmt.Sprintf("the %s operand is a number: want vectors or matrices", which), Fix: "multiply by a number with ops.Mul"}
	}
	k, l := a.Shape().Axis(a.Rank()-1), b.Shape().Axis(max(0, b.Rank()-2))
	if k.Size != l.Size {
		problem := fmt.Sprintf("inner axes differ (%d ≠ %d)", k.Size, l.Size)
		if a.Rank() == 1 || b.Rank() == 1 {
			return &graph.Mistake{Problem: problem, Fix: "a vector [k] is a row on the left and a column on the right: [k]·[… k n], [… m k]·[k]"}
		}
		return errors.New(problem)
	}
	if unprimed(k.Name) != unprimed(l.Name) && k.Name != "" && l.Name != "" {
		return &graph.Mistake{Problem: fmt.Sprintf("inner axes are called %q and %q", k.Name, l.Name), Fix: "transpose an operand, or rename one axis"}
	}
	return nil
}

// unprimed returns the name that primes were put behind.
func unprimed(name string) string { return strings.TrimRight(name, "′") }

func oneAxis(a graph.Axis) graph.Shape {
	s, _ := graph.NewShape(a)
	return s
}

// Grad is da = dy·bᵀ, db = aᵀ·dy.
func (matMul) Grad(y, dy *graph.Node, i int) *graph.Node {
	if i == 0 {
		return product(dy, swapLast(y.In(1)))
	}
	return product(swapLast(y.In(0)), dy)
}

// product is MatMul for derivatives, whose sizes fit: names that an axis without
// one, or a prime, kept apart in the forward node, and that meet here, are dropped.
func product(a, b *graph.Node) *graph.Node {
	y, err := (matMul{}).Infer([]*graph.Node{a, b})
	if r := y.Shape.Rank(); err != nil || y.Shape.Axis(r-2) != a.Shape().Axis(r-2) || y.Shape.Axis(r-1) != b.Shape().Axis(r-1) {
		a, b = unnamed(a), unnamed(b)
	}
	return MatMul(a, b)
}

// unnamed is x without the names of its axes.
func unnamed(x *graph.Node) *graph.Node {
	s, _ := graph.NewShape(graph.Dims(x.Shape().Sizes()...)...)
	return ReshapeTo(x, s)
}

func (matMul) JVP(y *graph.Node, dx []*graph.Node) *graph.Node { return multilinearly(y, dx) }

// Batch makes one product where the matrix is the same for all examples: their rows, or their
// columns, are the rows of one matrix.
func (matMul) Batch(y *graph.Node, in []*graph.Node, batched []bool, b graph.Axis) *graph.Node {
	to := inFront(b, y.Shape())
	switch {
	case y.Rank() == 2 && !batched[1]:
		return ReshapeTo(product(rowsOfAll(in[0]), in[1]), to)
	case y.Rank() == 2 && !batched[0] && y.Dim(1) == 1:
		return ReshapeTo(product(rowsOfAll(swapLast(in[1])), swapLast(in[0])), to)
	case y.Rank() == 2 && !batched[0]:
		columns := product(merged(unnamed(swapLast(in[1])), 0), swapLast(in[0]))
		return ReshapeTo(swapLast(reshapeAxes("Batch", columns, graph.Dims(b.Size, y.Dim(1), y.Dim(0)))), to)
	}
	both := repeated(in, batched, b)
	return product(both[0], both[1])
}

// rowsOfAll makes one matrix of the matrices x[b m k]. Where each is a single row, the
// rows keep the name b, by which formulas know them.
func rowsOfAll(x *graph.Node) *graph.Node {
	if x.Dim(1) == 1 {
		return Squeeze(x, 1)
	}
	return merged(x, 0)
}

func (matMul) Eval(_ trait.Env, y *graph.Node, in []graph.Value) graph.Value {
	out := graph.NewValue(y.Type())
	r := y.Rank()
	inner := y.In(0).Dim(r - 1)
	a, b := make([]int, r), make([]int, r)
	p := 0
	walk(y.Shape(), func(ix []int) {
		copy(a, ix)
		copy(b, ix)
		for k := range inner {
			a[r-1], b[r-2] = k, k
			out.Data[p] += in[0].Data[at(in[0].Type.Shape, a)] * in[1].Data[at(in[1].Type.Shape, b)]
		}
		p++
	})
	return out
}

func (matMul) Kernel(*graph.Node) kernel.Kernel { return kernel.MatMul{} }

// Notation names the contracted axis where it has a name: Σ_j α_ij r_jd.
func (matMul) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	a, b := y.In(0), y.In(1)
	r := y.Rank()
	left, right := a.Shape().Axis(r-1).Name, b.Shape().Axis(r-2).Name
	name := cmp.Or(left, right)
	if name == "" {
		return expr.Call("matmul", in...)
	}
	for y.Shape().Index(name) >= 0 {
		name += "′"
	}
	from, to := []string{right}, []string{name}
	if column := b.Shape().Axis(r - 1).Name; column != "" {
		from, to = append(from, column), append(to, y.Shape().Axis(r-1).Name)
	}
	return expr.Big("Σ", []string{name}, in[0].Subst([]string{left}, []string{name}).Times(in[1].Subst(from, to)))
}

func (matMul) Cases() []Case {
	mul := func(a, b string) Case {
		return Case{[]Operand{{a, Reals}, {b, Reals}}, func(in []*graph.Node) *graph.Node { return MatMul(in[0], in[1]) }}
	}
	return []Case{
		mul("float[i=3 j=4]", "float[j=4 d=2]"),
		mul("float[b=2 i=3 j=4]", "float[j=4 d=2]"),
		mul("float[1 3]", "float[3 1]"),
		mul("float[n=3 d=2]", "float[d=2 n=3]"),
		{[]Operand{{"float[j=4 i=3]", Reals}, {"float[d=2 j=4]", Reals}},
			func(in []*graph.Node) *graph.Node { return MatMul(Transpose(in[0]), Transpose(in[1])) }},
	}
}

// Terms returns the products of a row and a column.
func (matMul) Terms(in [][]float64) (terms []float64, what string, ok bool) {
	a, b := in[0], in[1]
	if len(a) != len(b) {
		return nil, "", false
	}
	terms = make([]float64, len(a))
	for i := range a {
		terms[i] = a[i] * b[i]
	}
	return terms, "the products of MatMul", true
}

// Window is a row of the first operand and a column of the second.
func (matMul) Window(y *graph.Node, i int, index []int) (lo, hi []int, ok bool) {
	x := y.In(i)
	if x.Rank() != y.Rank() {
		return nil, nil, false
	}
	lo, hi = slices.Clone(index), slices.Clone(index)
	for a := range hi {
		hi[a]++
	}
	a := y.Rank() - 1 - i
	lo[a], hi[a] = 0, x.Dim(a)
	return lo, hi, true
}

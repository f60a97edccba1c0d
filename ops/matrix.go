package ops

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// Functions of matrices that are made of other operations, and what those of linear algebra share.
// The matrices are in the last two axes; the axes before them are a batch.

// Tril returns the lower triangle of the matrices x[… m n], of any element type, with zeros elsewhere.
// With k it keeps the elements of row i up to column i + k: k = −1 leaves the diagonal out.
func Tril(x *graph.Node, k ...int) *graph.Node {
	return triangleOf("Tril", x, k, func(i, j, k int) bool { return j <= i+k })
}

// Triu returns the upper triangle of the matrices x[… m n], of any element type, with zeros elsewhere.
// With k it keeps the elements of row i from column i + k on: k = 1 leaves the diagonal out.
func Triu(x *graph.Node, k ...int) *graph.Node {
	return triangleOf("Triu", x, k, func(i, j, k int) bool { return j >= i+k })
}

func triangleOf(what string, x *graph.Node, k []int, keep func(i, j, k int) bool) *graph.Node {
	defer calling(what, x)()
	if x, ok := asMatrix(what, x); !ok {
		return x
	}
	offset := 0
	switch {
	case len(k) > 1:
		return x.Graph().Fail(what, fmt.Errorf("%d offsets: want one at most", len(k)), x)
	case len(k) == 1:
		offset = k[0]
	}
	zero := BroadcastTo(Lit(x, 0), x.Shape())
	return Select(pattern(x, x.Dim(-2+x.Rank()), x.Dim(x.Rank()-1), func(i, j int) bool { return keep(i, j, offset) }), x, zero)
}

// Diagonal returns the diagonals of the matrices x[… m n], of any element type: [… d] with the smaller
// of m and n elements and the name of the rows' axis. It moves nothing.
func Diagonal(x *graph.Node) *graph.Node {
	defer calling("Diagonal", x)()
	if x, ok := asMatrix("Diagonal", x); !ok {
		return x
	}
	r := x.Rank()
	m, n := x.Dim(r-2), x.Dim(r-1)
	d := min(m, n)
	batch := x.Shape().Axes()[:r-2]
	flat := reshapeAxes("Diagonal", x, append(slices.Clone(batch), graph.Axis{Size: m * n}))
	y := SliceStep(flat, r-2, 0, (d-1)*(n+1)+1, n+1)
	return reshapeAxes("Diagonal", y, append(slices.Clone(batch), graph.Axis{Name: x.Shape().Axis(r - 2).Name, Size: d}))
}

// DiagonalMatrix returns the matrices [… n n′] that have x[… n] as their diagonals and zeros elsewhere,
// for x of any element type. Their last axis has the name of x's last axis with a prime.
func DiagonalMatrix(x *graph.Node) *graph.Node {
	defer calling("DiagonalMatrix", x)()
	if x == nil || !x.IsValid() || x.Rank() == 0 {
		return graph.Of(x).Fail("DiagonalMatrix", fmt.Errorf("the operand has no axis"), x)
	}
	axes := x.Shape().Axes()
	n := axes[len(axes)-1]
	to, err := graph.NewShape(graph.Primed(append(axes, n)...)...)
	if err != nil {
		return x.Graph().Fail("DiagonalMatrix", err, x)
	}
	y := BroadcastTo(Expand(x, -1, ""), to)
	return Select(pattern(x, n.Size, n.Size, func(i, j int) bool { return i == j }), y, BroadcastTo(Lit(x, 0), to))
}

// Trace returns the sums of the diagonals of the matrices x[… m n] of numbers: an array over the batch
// axes.
func Trace(x *graph.Node) *graph.Node {
	defer calling("Trace", x)()
	d := Diagonal(x)
	if !d.IsValid() {
		return d
	}
	return Sum(d, d.Rank()-1)
}

// pattern is a constant mask of matrices like those of x.
func pattern(x *graph.Node, m, n int, holds func(i, j int) bool) *graph.Node {
	return x.Graph().ConstantFunc(graph.Bool, func(v []float64) {
		for p := range v {
			if holds(p/n, p%n) {
				v[p] = 1
			}
		}
	}, graph.Dims(m, n)...)
}

// identity is the unit matrix of n rows, of x's element type.
func identity(x *graph.Node, n int) *graph.Node {
	return onDiagonal(x, n, n, func(int) float64 { return 1 })
}

// onDiagonal is a matrix of zeros but for its diagonal, of x's element type.
func onDiagonal(x *graph.Node, m, n int, element func(i int) float64) *graph.Node {
	return x.Graph().ConstantFunc(x.DType(), func(v []float64) {
		for i := range min(m, n) {
			v[i*n+i] = element(i)
		}
	}, graph.Dims(m, n)...)
}

// whole is an operand x of a formula as the matrices in its last two axes, of which e is an element.
func whole(x *graph.Node, e expr.Expr) expr.Expr {
	var indices []string
	for _, a := range x.Shape().Axes()[x.Rank()-2:] {
		if slices.Contains(e.Subs, a.Name) {
			indices = append(indices, a.Name)
		}
	}
	return expr.Array(e, indices...)
}

// elementOf is the element of matrices y that a formula gives as a whole.
func elementOf(y *graph.Node, matrix expr.Expr) expr.Expr {
	var indices []string
	for _, a := range y.Shape().Axes()[y.Rank()-2:] {
		if a.Name != "" {
			indices = append(indices, a.Name)
		}
	}
	return expr.Element(matrix, indices...)
}

// partsOf are views of the results that lie below each other in y.
func partsOf(y *graph.Node, parts []trait.PackedPart) []*graph.Node {
	list := make([]*graph.Node, len(parts))
	for i, p := range parts {
		list[i] = stretch(y, y.Rank()-2, p.At, p.Rows)
	}
	return list
}

// inverse is A⁻¹.
func inverse(a expr.Expr) expr.Expr { return a.Pow(expr.Sym("−1")) }

// asMatrix reports whether x has two axes or more; what it returns otherwise is the mistake.
func asMatrix(what string, x *graph.Node) (*graph.Node, bool) {
	switch {
	case x == nil || !x.IsValid():
		return graph.Of(x).Fail(what, fmt.Errorf("operand is nil"), x), false
	case x.Rank() < 2:
		return x.Graph().Fail(what, fmt.Errorf("the operand is no matrix: it has %v", x.Shape()), x), false
	}
	return x, true
}

// wantMatrix says why x is no matrix of floats.
func wantMatrix(x *graph.Node) error {
	if err := wantFloat(x); err != nil {
		return err
	}
	if x.Rank() < 2 {
		return fmt.Errorf("the operand is no matrix: it has %v", x.Shape())
	}
	return nil
}

// oneMatrix returns the rows and columns of the only operand.
func oneMatrix(in []*graph.Node) (rows, columns int, err error) {
	if err := arity(in, 1); err != nil {
		return 0, 0, err
	}
	if err := wantMatrix(in[0]); err != nil {
		return 0, 0, err
	}
	r := in[0].Rank()
	return in[0].Dim(r - 2), in[0].Dim(r - 1), nil
}

// wantSquare says why x is no square matrix of floats.
func wantSquare(x *graph.Node) error {
	if err := wantMatrix(x); err != nil {
		return err
	}
	r := x.Rank()
	if x.Dim(r-2) != x.Dim(r-1) {
		return fmt.Errorf("the matrix is not square: it has %d rows and %d columns", x.Dim(r-2), x.Dim(r-1))
	}
	return nil
}

// symmetric is ½(x + xᵀ), without names of axes.
func symmetric(x *graph.Node) *graph.Node {
	x = unnamed(x)
	return Scale(Add(x, swapLast(x)), 0.5)
}

// likeOperand gives the derivative by an operand, computed without names, that operand's names.
func likeOperand(d, x *graph.Node) *graph.Node { return ReshapeTo(d, x.Shape()) }

package notation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Functions of the matrices over two axes of an array, the rows first; other axes are a batch.
var matrices = []*function{
	ofMatrix("inv", "inverse: A⁻¹ over the columns and the rows", func(rows, columns string) []string {
		if mapsToItself(rows, columns) {
			return []string{rows, columns}
		}
		return []string{columns, rows}
	}, ops.Inv),
	solve,
	ofMatrix("det", "determinant", noAxes, ops.Det),
	ofMatrix("logdet", "log|det A|, which neither overflows nor underflows", noAxes, ops.LogDet),
	ofMatrix("trace", "sum of the diagonal", noAxes, ops.Trace),
	ofMatrix("diag", "the diagonal, over the rows", func(rows, _ string) []string { return []string{rows} }, ops.Diagonal),
	ofMatrix("cholesky", "lower triangular L with L·Lᵀ = A", bothAxes, ops.Cholesky),
	ofMatrix("tril", "lower triangle, and 0 above", bothAxes, func(x *graph.Node) *graph.Node { return ops.Tril(x) }),
	ofMatrix("triu", "upper triangle, and 0 below", bothAxes, func(x *graph.Node) *graph.Node { return ops.Triu(x) }),
	ofMatrix("matrixexp", "eᴬ = I + A + A²/2! + …", bothAxes, ops.MatrixExp),
	ofMatrix("eigenvalues", "of the symmetric part, ascending over the columns", func(_, columns string) []string { return []string{columns} },
		func(x *graph.Node) *graph.Node {
			values, _ := ops.Eigh(x)
			return ops.Rename(values, -1, x.Shape().Axis(x.Rank()-1).Name)
		}),
	ofMatrix("eigenvectors", "of the symmetric part, as columns", bothAxes, func(x *graph.Node) *graph.Node {
		_, vectors := ops.Eigh(x)
		return ops.Rename(vectors, -1, x.Shape().Axis(x.Rank()-1).Name)
	}),
	matrixPower,
	eye,
}

var eye = &function{name: "eye", usage: "eye(row, column)", doc: "the unit matrix, as large as the axis of the rows", fewest: 2, most: 2,
	infer: func(c *checker, e *expr, _ []typ, axes []string) typ {
		if c.axis(axes[0]) == nil {
			c.fail(e.args[0].span, "axis "+axes[0]+" has no size", "declare it with an input, a parameter or a state", "")
			return typ{}
		}
		return typ{real, slices.Clone(axes)}
	},
	node: func(b *assembly, _ *expr, axes []string) *graph.Node {
		rows, columns := b.axis(axes[0]), b.axis(axes[1])
		if columns.Size == 0 { // it comes from an axis that was renamed
			columns.Size = rows.Size
		}
		return ops.Eye(b.g, b.dt, rows, columns)
	},
}

func noAxes(_, _ string) []string            { return nil }
func bothAxes(rows, columns string) []string { return []string{rows, columns} }

// mapsToItself reports whether two axes have one name, primes aside.
func mapsToItself(rows, columns string) bool {
	return strings.TrimRight(rows, "′") == strings.TrimRight(columns, "′")
}

// ofMatrix returns a function of the matrices over two axes; keeps gives those of its result, which come
// last.
func ofMatrix(name, doc string, keeps func(rows, columns string) []string, op func(*graph.Node) *graph.Node) *function {
	return &function{name: name, usage: name + "(A, row, column)", doc: doc, takes: []kind{real}, fewest: 2, most: 2,
		infer: func(c *checker, e *expr, in []typ, axes []string) typ {
			if !c.has(e, 0, axes) {
				return typ{}
			}
			return typ{real, append(without(in[0].axes, axes), keeps(axes[0], axes[1])...)}
		},
		node: func(b *assembly, e *expr, axes []string) *graph.Node { return op(b.matrix(e.args[0], axes...)) },
	}
}

// matrix returns an array with the given axes last.
func (b *assembly) matrix(e *expr, axes ...string) *graph.Node {
	order := append(without(e.typ.axes, axes), axes...)
	if slices.Equal(order, e.typ.axes) {
		return b.node(e)
	}
	list := make([]any, len(order))
	for i, a := range order {
		list[i] = a
	}
	return ops.Transpose(b.node(e), list...)
}

var solve = &function{name: "solve", usage: "solve(A, b, row, column)", doc: "x with A·x = b, where b has the axis of the rows: A⁻¹·b", takes: []kind{real, real}, fewest: 2, most: 2,
	infer: func(c *checker, e *expr, in []typ, axes []string) typ {
		rows, columns := axes[0], axes[1]
		switch {
		case !c.has(e, 0, axes) || !slices.Contains(in[1].axes, rows) && !c.has(e, 1, axes):
			return typ{}
		case slices.Contains(in[1].axes, columns):
			c.fail(e.args[1].span, fmt.Sprintf("%s has the axis %s of the columns", e.args[1], columns), "rename it where it is used, as in b["+columns+"→k]", "")
			return typ{}
		}
		last := columns
		if mapsToItself(rows, columns) {
			last = rows
		}
		batch, others := solveBatch(in[0], in[1], axes)
		return typ{real, append(append(batch, last), others...)}
	},
	node: func(b *assembly, e *expr, axes []string) *graph.Node {
		matrix, right := e.args[0], e.args[1]
		batch, others := solveBatch(matrix.typ, right.typ, axes)
		a := b.matrix(matrix, axes...)
		if own := without(matrix.typ.axes, axes); !slices.Equal(own, batch) {
			a = ops.Over(a, append(slices.Clone(batch), axes...)...)
		}
		y := b.matrix(right, append([]string{axes[0]}, others...)...)
		if !slices.Equal(without(right.typ.axes, append(slices.Clone(others), axes[0])), batch) {
			y = ops.Over(y, append(append(slices.Clone(batch), axes[0]), others...)...)
		}
		first := len(batch)
		columns := y.Shape().Axes()[first+1:]
		size := 1
		for _, x := range columns {
			size *= x.Size
		}
		if len(columns) == 1 {
			return ops.Solve(a, y)
		}
		x := ops.Solve(a, withLast(y, first+1, graph.Axis{Size: size}))
		return withLast(x, first+1, columns...)
	},
}

// withLast lays out the axes from the nth on as others.
func withLast(x *graph.Node, n int, axes ...graph.Axis) *graph.Node {
	s, err := graph.NewShape(append(slices.Clone(x.Shape().Axes()[:min(n, x.Rank())]), axes...)...)
	if err != nil {
		return x.Graph().Fail("solve", err, x)
	}
	return ops.ReshapeTo(x, s)
}

// solveBatch returns the axes of the batch of a solution, which are those of the matrix, and those of the
// right sides that the matrix lacks.
func solveBatch(a, b typ, axes []string) (batch, others []string) {
	batch = without(a.axes, axes)
	return batch, without(b.axes, append(slices.Clone(batch), axes[0]))
}

var matrixPower = &function{name: "matrixpower", usage: "matrixpower(A, p, row, column)", doc: "Aᵖ for a whole number p, of the inverse where it is negative", takes: []kind{real, number}, fewest: 2, most: 2,
	infer: func(c *checker, e *expr, in []typ, axes []string) typ {
		if p, ok := literal(e.args[1]); !ok || !isWhole(p) || p > 1000 || p < -1000 {
			c.fail(e.args[1].span, fmt.Sprintf("%s is no power of a matrix", e.args[1]), "want a whole number from −1000 to 1000", "")
			return typ{}
		}
		at := e.args[2:]
		for i, a := range axes {
			if !slices.Contains(in[0].axes, a) {
				c.fail(at[i].span, fmt.Sprintf("%s has no axis %s", e.args[0], a), "", "it has "+axesText(in[0].axes))
				return typ{}
			}
		}
		return typ{real, append(without(in[0].axes, axes), axes...)}
	},
	node: func(b *assembly, e *expr, axes []string) *graph.Node {
		p, _ := literal(e.args[1])
		return ops.MatrixPower(b.matrix(e.args[0], axes...), int(p))
	},
}

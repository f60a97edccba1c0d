package notation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/ops"
)

// function is a row of the table of functions. Its arguments are values, followed by names of
// axes.
type function struct {
	name, usage, doc string
	takes            []kind // of the values
	fewest, most     int    // number of axes
	draws            bool   // allowed after ~ only
	// infer returns the type of a call with values of the given types.
	infer func(c *checker, e *expr, in []typ, over []string) typ
	// node adds the call to the graph; its type is in e.
	node func(b *assembly, e *expr, over []string) *graph.Node
}

// What a function may take, besides the kinds of values.
const (
	anything kind = 100 + iota
	number        // known when the model is built
)

// many is the number of axes of a function that takes any number.
const many = graph.MaxRank

// tiny is added to the variance by standardise, as in layer norm.
const tiny = 1e-5

// functions has every function: those of [ofOneNumber], and those of the table.
var functions = append(ofOneNumber(), table...)

// table has the functions that are more than an operation's name. The package documentation
// repeats it.
var table = slices.Concat(
	[]*function{
		each("elu", "x, or eˣ − 1 where x is negative", ops.ELU),
		each("gelu", "x·Φ(x)", ops.GELU),
		each("silu", "x·σ(x)", ops.SiLU),
		each("mish", "x·tanh(log(1 + eˣ))", ops.Mish),
		each("trigamma", "derivative of digamma", func(x *graph.Node) *graph.Node { return ops.Polygamma(1, x) }),
	},
	[]*function{
		pointwise("maximum(a, b)", "the larger, element by element", real, func(in ...*graph.Node) *graph.Node { return ops.Maximum(in[0], in[1]) }, real, real),
		pointwise("minimum(a, b)", "the smaller, element by element", real, func(in ...*graph.Node) *graph.Node { return ops.Minimum(in[0], in[1]) }, real, real),
		pointwise("atan2(y, x)", "angle of the point (x, y), from −π to π", real, func(in ...*graph.Node) *graph.Node { return ops.Atan2(in[0], in[1]) }, real, real),
		pointwise("mod(a, b)", "remainder of a/b, with the sign of b", real, func(in ...*graph.Node) *graph.Node { return ops.Remainder(in[0], in[1]) }, real, real),
		pointwise("floordiv(a, b)", "a/b, rounded down", real, func(in ...*graph.Node) *graph.Node { return ops.FloorDiv(in[0], in[1]) }, real, real),
		pointwise("xlogy(x, y)", "x·log(y), and 0 where x is 0", real, func(in ...*graph.Node) *graph.Node { return ops.Xlogy(in[0], in[1]) }, real, real),
		pointwise("clip(x, low, high)", "x, or the nearer bound outside", real, func(in ...*graph.Node) *graph.Node { return ops.Clip(in[0], in[1], in[2]) }, real, real, real),
		pointwise("where(mask, a, b)", "a where the mask is true, b elsewhere", real, func(in ...*graph.Node) *graph.Node { return ops.Select(in[0], in[1], in[2]) }, mask, real, real),
		pointwise("and(a, b)", "both masks", mask, func(in ...*graph.Node) *graph.Node { return ops.And(in[0], in[1]) }, mask, mask),
		pointwise("or(a, b)", "either mask", mask, func(in ...*graph.Node) *graph.Node { return ops.Or(in[0], in[1]) }, mask, mask),
		pointwise("not(a)", "the opposite of the mask", mask, func(in ...*graph.Node) *graph.Node { return ops.Not(in[0]) }, mask),
		toFloat,
	},
	[]*function{
		reduction("sum", "sum over the axes, or over all", real, ops.Sum),
		reduction("mean", "mean over the axes, or over all", real, ops.Mean),
		reduction("prod", "product over the axes, or over all", real, ops.Prod),
		reduction("max", "largest over the axes, or over all", real, ops.Max),
		reduction("min", "smallest over the axes, or over all", real, ops.Min),
		reduction("var", "variance over the axes, or over all", real, ops.Var),
		reduction("norm", "√Σx² over the axes, or over all", real, ops.Norm),
		reduction("logsumexp", "log Σ eˣ over the axes, or over all", real, ops.LogSumExp),
		reduction("any", "whether the mask is true anywhere over the axes, or over all", mask, ops.Any),
		reduction("all", "whether the mask is true everywhere over the axes, or over all", mask, ops.All),
		along("argmax", "index of the largest along the axis", whole, false, ops.ArgMax),
		along("argmin", "index of the smallest along the axis", whole, false, ops.ArgMin),
		along("softmax", "eˣ over its sum along the axis", real, true, ops.Softmax),
		along("logsoftmax", "logarithm of softmax", real, true, ops.LogSoftmax),
		along("sparsemax", "max(x − τ, 0) with the sum 1 along the axis", real, true, ops.Sparsemax),
		along("cumsum", "running sum along the axis", real, true, ops.CumSum),
		along("cumprod", "running product along the axis", real, true, ops.CumProd),
		along("cummax", "running maximum along the axis", real, true, ops.CumMax),
		along("cummin", "running minimum along the axis", real, true, ops.CumMin),
		along("logcumsumexp", "logarithm of the running sum of eˣ", real, true, ops.LogCumSumExp),
		along("sort", "the elements along the axis, smallest first", real, true, func(x *graph.Node, axis any) *graph.Node { return ops.Sort(x, axis) }),
		along("argsort", "indices along the axis, of the smallest first", whole, true, func(x *graph.Node, axis any) *graph.Node { return ops.ArgSort(x, axis) }),
		standardise,
	},
	[]*function{dot, conv,
		pooling("maxpool", "the largest of so many elements around each, along the axes", ops.MaxPool1D, ops.MaxPool2D, ops.MaxPool3D),
		pooling("avgpool", "the average of so many elements around each, those that there are", ops.AvgPool1D, ops.AvgPool2D, ops.AvgPool3D),
		oneHot, take, searchSorted, sizeOf},
	matrices,
	draws,
)

// functionNamed returns the function of a name, nil if there is none.
func functionNamed(name string) *function {
	if i := slices.IndexFunc(functions, func(f *function) bool { return f.name == name }); i >= 0 {
		return functions[i]
	}
	return nil
}

// Reference returns a line for each function: how it is called, and what it computes.
func Reference() string { return reference(functions) }

func reference(functions []*function) string {
	width := 0
	for _, f := range functions {
		width = max(width, len([]rune(f.usage)))
	}
	var b strings.Builder
	for _, f := range functions {
		fmt.Fprintf(&b, "%-*s  %s\n", width, f.usage, f.doc)
	}
	return b.String()
}

// pointwise returns a function that is computed element by element.
func pointwise(usage, doc string, gives kind, op func(in ...*graph.Node) *graph.Node, takes ...kind) *function {
	name, _, _ := strings.Cut(usage, "(")
	return &function{name: name, usage: usage, doc: doc, takes: takes,
		infer: func(_ *checker, _ *expr, in []typ, _ []string) typ { return together(gives, in...) },
		node:  func(b *assembly, e *expr, _ []string) *graph.Node { return op(b.aligned(e.typ.axes, e.args...)...) },
	}
}

func each(name, doc string, op func(*graph.Node) *graph.Node) *function {
	return pointwise(name+"(x)", doc, real, func(in ...*graph.Node) *graph.Node { return op(in[0]) }, real)
}

// ofOneNumber returns the functions that come from package ops, in order of name: each operation
// that is applied element by element to one array of numbers, under its name in lower case.
func ofOneNumber() (out []*function) {
	x := graph.New("function").Input("x", graph.F64)
	for _, op := range ops.List() {
		typ, err := op.Infer([]*graph.Node{x})
		if trait.IsElementwise(op) && err == nil && typ.DType == x.DType() {
			doc := strings.TrimSuffix(op.Doc(), ", element by element")
			apply := func(n *graph.Node) *graph.Node { return ops.Elementwise(op, n) }
			out = append(out, each(strings.ToLower(op.Name()), doc, apply))
		}
	}
	return out
}

var toFloat = &function{name: "float", usage: "float(a)", doc: "a mask as 0 and 1, indices as numbers", takes: []kind{anything},
	infer: func(_ *checker, _ *expr, in []typ, _ []string) typ { return together(real, in...) },
	node:  func(b *assembly, e *expr, _ []string) *graph.Node { return ops.Cast(b.node(e.args[0]), b.dt) },
}

// over returns the axes of a call as package ops takes them, all axes if none is named.
func over(e *expr, axes []string) []any {
	if len(axes) == 0 {
		axes = e.args[0].typ.axes
	}
	out := make([]any, len(axes))
	for i, a := range axes {
		out[i] = a
	}
	return out
}

// reduction returns a function that removes axes, of a kind of values that it keeps.
func reduction(name, doc string, of kind, op func(*graph.Node, ...any) *graph.Node) *function {
	return &function{name: name, usage: name + "(x, axis, …)", doc: doc, takes: []kind{of}, most: many,
		infer: func(c *checker, e *expr, in []typ, axes []string) typ {
			if len(in[0].axes) == 0 {
				c.fail(e.span, fmt.Sprintf("%s has no axis to take the %s over", e.args[0], name), "", "it is one number")
				return typ{}
			}
			if !c.has(e, 0, axes) {
				return typ{}
			}
			if len(axes) == 0 {
				if s := spanning(e.args[0], in[0].axes); s != nil {
					all := listed(in[0].axes)
					c.fail(e.span, fmt.Sprintf("%s over all axes, but no one quantity has all of %s", name, all), fmt.Sprintf("if they are meant, name them: %s(…, %s)", name, all), origin(e.args[0], in[0].axes))
					return typ{}
				}
				return typ{kind: of}
			}
			return typ{of, without(in[0].axes, axes)}
		},
		node: func(b *assembly, e *expr, axes []string) *graph.Node {
			return op(b.node(e.args[0]), over(e, axes)...)
		},
	}
}

// along returns a function that works along one axis, which it keeps or removes.
func along(name, doc string, gives kind, keeps bool, op func(*graph.Node, any) *graph.Node) *function {
	return &function{name: name, usage: name + "(x, axis)", doc: doc, takes: []kind{real}, fewest: 1, most: 1,
		infer: func(c *checker, e *expr, in []typ, axes []string) typ {
			switch {
			case !c.has(e, 0, axes):
				return typ{}
			case keeps:
				return typ{gives, in[0].axes}
			}
			return typ{gives, without(in[0].axes, axes)}
		},
		node: func(b *assembly, e *expr, axes []string) *graph.Node { return op(b.node(e.args[0]), axes[0]) },
	}
}

var standardise = &function{name: "standardise", usage: "standardise(x, axis, …)", doc: "(x − mean)/√(variance + 10⁻⁵) over the axes: layer norm", takes: []kind{real}, fewest: 1, most: many,
	infer: func(c *checker, e *expr, in []typ, axes []string) typ {
		if !c.has(e, 0, axes) {
			return typ{}
		}
		return in[0]
	},
	node: func(b *assembly, e *expr, axes []string) *graph.Node {
		return ops.Standardise(b.node(e.args[0]), tiny, over(e, axes)...)
	},
}

var dot = &function{name: "dot", usage: "dot(a, b, axis, …)", doc: "Σ a·b over axes that both have: a matrix product", takes: []kind{real, real}, fewest: 1, most: many,
	infer: func(c *checker, e *expr, in []typ, axes []string) typ {
		if !c.has(e, 0, axes) || !c.has(e, 1, axes) {
			return typ{}
		}
		return typ{real, without(merged(in[0].axes, in[1].axes), axes)}
	},
	node: func(b *assembly, e *expr, _ []string) *graph.Node {
		names := func(t typ) string { return strings.Join(t.axes, " ") }
		spec := names(e.args[0].typ) + ", " + names(e.args[1].typ) + " -> " + names(e.typ)
		return ops.Einsum(spec, b.node(e.args[0]), b.node(e.args[1]))
	},
}

var oneHot = &function{name: "onehot", usage: "onehot(index, axis)", doc: "1 at the index along a new axis, 0 elsewhere", takes: []kind{whole}, fewest: 1, most: 1,
	infer: func(c *checker, e *expr, in []typ, axes []string) typ {
		at := e.args[1].span
		switch {
		case slices.Contains(in[0].axes, axes[0]):
			c.fail(at, fmt.Sprintf("%s has axis %s already", e.args[0], axes[0]), "", "")
			return typ{}
		case c.axis(axes[0]) == nil:
			c.fail(at, "axis "+axes[0]+" has no size", "declare it with an input, a parameter or a state", "")
			return typ{}
		}
		return typ{real, append(slices.Clone(in[0].axes), axes[0])}
	},
	node: func(b *assembly, e *expr, axes []string) *graph.Node {
		return ops.OneHot(b.node(e.args[0]), -1, b.axis(axes[0]), b.dt)
	},
}

var take = &function{name: "take", usage: "take(x, index, axis)", doc: "the elements of x at the indices along the axis", takes: []kind{real, whole}, fewest: 1, most: 1,
	infer: func(c *checker, e *expr, in []typ, axes []string) typ {
		if !c.has(e, 0, axes) {
			return typ{}
		}
		var out []string
		for _, a := range in[0].axes {
			if a == axes[0] {
				out = append(out, in[1].axes...)
			} else {
				out = append(out, a)
			}
		}
		for i, a := range out {
			if slices.Contains(out[:i], a) {
				c.fail(e.span, fmt.Sprintf("%s and %s both have axis %s", e.args[0], e.args[1], a), fmt.Sprintf("one element for each %s is sum(%s*onehot(%s, %s), %s)", a, e.args[0].within(precedenceProduct), e.args[1], axes[0], axes[0]), "")
				return typ{}
			}
		}
		return typ{real, out}
	},
	node: func(b *assembly, e *expr, axes []string) *graph.Node {
		return ops.Gather(b.node(e.args[0]), b.node(e.args[1]), axes[0])
	},
}

var searchSorted = &function{name: "searchsorted", usage: "searchsorted(limits, x, axis)", doc: "how many of the sorted limits, along the axis, are less than x", takes: []kind{real, real}, fewest: 1, most: 1,
	infer: func(c *checker, e *expr, in []typ, axes []string) typ {
		if !c.has(e, 0, axes) {
			return typ{}
		}
		if rest := without(in[0].axes, axes); len(rest) > 0 {
			c.fail(e.args[0].span, fmt.Sprintf("%s has %s beside axis %s: want one row of limits", e.args[0], listed(rest), axes[0]), "", "")
			return typ{}
		}
		return typ{whole, in[1].axes}
	},
	node: func(b *assembly, e *expr, axes []string) *graph.Node {
		return ops.SearchSorted(b.node(e.args[0]), b.node(e.args[1]), axes[0])
	},
}

var sizeOf = &function{name: "size", usage: "size(axis)", doc: "the size of an axis, a number", fewest: 1, most: 1,
	infer: func(c *checker, e *expr, _ []typ, axes []string) typ {
		if c.axis(axes[0]) == nil {
			fix := ""
			if names := c.axisNames(); len(names) > 0 {
				fix = "the axes are " + listed(names)
			}
			c.fail(e.args[0].span, "unknown axis "+axes[0], fix, "")
			return typ{}
		}
		return typ{kind: real}
	},
	node: func(b *assembly, _ *expr, axes []string) *graph.Node {
		return b.g.Constant(b.dt, []float64{float64(b.sizes[axes[0]])})
	},
}

// elsewhere has functions of other languages, with what to write here.
var elsewhere = map[string]string{
	"ln":     "did you mean log?",
	"matmul": "a matrix product is dot(a, b, axis)", "mm": "a matrix product is dot(a, b, axis)",
	"slogdet": "did you mean logdet?", "chol": "did you mean cholesky?", "inverse": "did you mean inv?", "eigh": "did you mean eigenvalues or eigenvectors?",
	"expm": "did you mean matrixexp?", "matrix_power": "did you mean matrixpower?", "diagonal": "did you mean diag?", "fmod": "did you mean mod?", "remainder": "did you mean mod?",
	"bmm": "a matrix product is dot(a, b, axis)", "einsum": "a matrix product is dot(a, b, axis)",
	"inner": "did you mean dot?", "outer": "a product is a*b: arrays meet by the names of their axes",
	"transpose": "arrays meet by the names of their axes, in any order",
	"pow":       "a power is a^b", "power": "a power is a^b", "sqr": "a square is x^2",
	"stopgrad": "did you mean stopgradient?", "stop_gradient": "did you mean stopgradient?", "detach": "did you mean stopgradient?",
	"average": "did you mean mean?", "avg": "did you mean mean?", "std": "sqrt(var(x, axis))",
	"standardize": "did you mean standardise?", "layernorm": "did you mean standardise?",
	"logistic": "did you mean sigmoid?", "expit": "did you mean sigmoid?", "lse": "did you mean logsumexp?",
	"if": "where(mask, a, b) is a where the mask is true, else b", "len": "did you mean size?",
	"gaussian": "did you mean normal?", "randn": "normal(0, 1)", "rand": "uniform(0, 1)",
}

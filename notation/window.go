package notation

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// An axis of a file has one size, so windows lie around every element and the result has as many:
// they move by 1, and reach out of the array by half of what they reach, as ops.Same has them.

// Windows have at most so many axes, and places along each.
const (
	mostSpatial = 3
	mostPlaces  = 1 << 20
)

var conv = &function{name: "conv", usage: "conv(x, w, c, axis, window, …)", doc: "Σ x·w over channels c and the window around each element, 0 outside", takes: []kind{real, real}, fewest: 3, most: 1 + 2*mostSpatial,
	infer: func(c *checker, e *expr, in []typ, axes []string) typ {
		if len(axes)%2 == 0 {
			c.fail(e.span, "conv needs an axis of w for the window of each axis of x", "write conv(x, w, c, axis, window, …)", "")
			return typ{}
		}
		_, windows := slid(axes)
		for k, a := range axes {
			for operand, has := range []bool{k == 0 || k%2 == 1, k%2 == 0} {
				if has && !slices.Contains(in[operand].axes, a) {
					c.fail(e.args[2+k].span, fmt.Sprintf("%s has no axis %s", e.args[operand], a), didYouMean(a, in[operand].axes), "it has "+axesText(in[operand].axes))
					return typ{}
				}
			}
		}
		results := without(in[1].axes, append(windows, axes[0]))
		if len(results) > 1 || len(results) == 1 && slices.Contains(without(in[0].axes, axes[:1]), results[0]) {
			c.fail(e.args[1].span, fmt.Sprintf("%s has axes [%s] besides the windows and %s", e.args[1], listed(results), axes[0]), "it may have one, of the channels of the result, which x does not have", "")
			return typ{}
		}
		var out []string
		for _, a := range in[0].axes {
			if a != axes[0] {
				out = append(out, a)
			} else {
				out = append(out, results...)
			}
		}
		return typ{real, out}
	},
	node: func(b *assembly, e *expr, axes []string) *graph.Node {
		along, windows := slid(axes)
		x, w := b.node(e.args[0]), b.node(e.args[1])
		results := without(e.args[1].typ.axes, append(windows, axes[0]))
		w = ops.Transpose(w, named(windows, axes[:1], results)...)
		if len(results) == 0 {
			w = ops.Expand(w, -1, "")
		}
		f := []func(x, w *graph.Node, options ...ops.Window) *graph.Node{ops.Conv1D, ops.Conv2D, ops.Conv3D}[len(along)-1]
		y := f(x, w, ops.Same(), ops.Along(named(along)...), ops.Channels(axes[0]))
		if len(results) == 0 {
			return ops.Squeeze(y, slices.Index(e.args[0].typ.axes, axes[0]))
		}
		return y
	},
}

// slid returns the axes of x and the windows of conv.
func slid(axes []string) (along, windows []string) {
	for k := 1; k+1 < len(axes); k += 2 {
		along, windows = append(along, axes[k]), append(windows, axes[k+1])
	}
	return along, windows
}

// named returns lists of names as package ops takes them.
func named(lists ...[]string) (out []any) {
	for _, list := range lists {
		for _, name := range list {
			out = append(out, name)
		}
	}
	return out
}

// pooling returns a function of the windows of a size around each element.
func pooling(name, doc string, f ...func(x *graph.Node, options ...ops.Window) *graph.Node) *function {
	return &function{name: name, usage: name + "(x, size, axis, …)", doc: doc, takes: []kind{real, number}, fewest: 1, most: mostSpatial,
		infer: func(c *checker, e *expr, in []typ, axes []string) typ {
			if v, ok := literal(e.args[1]); ok && (!isWhole(v) || v < 1 || v > mostPlaces) {
				c.fail(e.args[1].span, fmt.Sprintf("windows of size %s", e.args[1]), fmt.Sprintf("want a whole number from 1 to %d", mostPlaces), "")
				return typ{}
			}
			if !c.has(e, 0, axes) {
				return typ{}
			}
			return in[0]
		},
		node: func(b *assembly, e *expr, axes []string) *graph.Node {
			size, ok := literal(e.args[1])
			if !ok { // the size of an axis
				size = float64(b.sizes[e.args[1].args[0].text])
			}
			options := []ops.Window{ops.Size(int(size)), ops.Stride(1), ops.Same(), ops.Along(named(axes)...)}
			if name == "avgpool" {
				options = append(options, ops.ExcludePadding())
			}
			return ops.Squeeze(f[len(axes)-1](ops.Expand(b.node(e.args[0]), -1, ""), options...), -1)
		},
	}
}

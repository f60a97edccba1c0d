package notation

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/greek"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// draws has the functions that draw examples. Their axes are those of the input, or those named
// in the call; examples with fewer axes are repeated along the others.
var draws = []*function{
	draw("normal(mean, deviation, axis, …)", "normal numbers", real, func(rng *rand.Rand, t graph.Type, n []float64) graph.Value {
		return drawn(t, func() float64 { return n[0] + n[1]*rng.NormFloat64() })
	}, number, number),
	draw("uniform(low, high, axis, …)", "uniform numbers", real, func(rng *rand.Rand, t graph.Type, n []float64) graph.Value {
		return drawn(t, func() float64 { return n[0] + (n[1]-n[0])*rng.Float64() })
	}, number, number),
	draw("signs(axis, …)", "1 or −1", real, func(rng *rand.Rand, t graph.Type, _ []float64) graph.Value {
		return drawn(t, func() float64 { return float64(2*rng.IntN(2) - 1) })
	}),
	draw("integers(n, axis, …)", "indices below n", whole, func(rng *rand.Rand, t graph.Type, n []float64) graph.Value {
		return drawn(t, func() float64 { return float64(rng.IntN(int(n[0]))) })
	}, number),
	draw("clusters(k, axis, …)", "points of k widely separated groups; the last axis has the features", real, func(rng *rand.Rand, t graph.Type, n []float64) graph.Value {
		return builders.Separated(rng, t, int(n[0]))
	}, number),
}

func drawn(t graph.Type, next func() float64) graph.Value {
	v := graph.NewValue(t)
	for i := range v.Data {
		v.Data[i] = t.DType.Round(next())
	}
	return v
}

// drawing is one call of a draw: an input of the graph of examples, with new values each time.
type drawing struct {
	node *graph.Node
	fill func(rng *rand.Rand) graph.Value
}

// draw returns a function that may be used after ~.
func draw(usage, doc string, gives kind, fill func(*rand.Rand, graph.Type, []float64) graph.Value, takes ...kind) *function {
	f := pointwise(usage, doc, gives, nil, takes...)
	f.draws, f.most = true, many
	f.infer = func(c *checker, e *expr, in []typ, axes []string) typ {
		if len(axes) == 0 {
			axes = namesOf(c.input.axes)
		}
		for i, a := range axes {
			if c.axis(a) == nil {
				c.fail(e.args[len(takes)+i].span, "axis "+a+" has no size", "", "")
				return typ{}
			}
		}
		if f.name == "clusters" && len(axes) == 0 {
			c.fail(e.span, "clusters are of points, and "+c.input.name+" has no axes", "", "")
			return typ{}
		}
		for i, k := range takes {
			v, ok := literal(e.args[i])
			if k == number && len(takes) == 1 && ok && (!isWhole(v) || v < 1) {
				c.fail(e.args[i].span, fmt.Sprintf("%s of %v", f.name, v), fmt.Sprintf("want a whole number from 1 to %d", int64(1<<53-1)), "")
				return typ{}
			}
		}
		return typ{gives, axes}
	}
	f.node = func(b *assembly, e *expr, _ []string) *graph.Node {
		numbers := make([]float64, len(takes))
		for i := range takes {
			numbers[i] = b.number(e.args[i])
		}
		dt := b.dt
		if gives == whole {
			dt = graph.I64
		}
		n := b.g.Input(fmt.Sprintf("draw/%d", b.g.Len()), dt, b.axesOf(e.typ.axes)...)
		t := n.Type()
		b.draws = append(b.draws, drawing{n, func(rng *rand.Rand) graph.Value { return fill(rng, t, numbers) }})
		return n
	}
	return f
}

// number returns the value of a constant.
func (b *assembly) number(e *expr) float64 {
	if v, ok := literal(e); ok {
		return v
	}
	return float64(b.sizes[e.args[0].text])
}

// examples returns a function that draws a value for every input of a model, in order, by the
// expression after the input's ~, or from the standard normal distribution. The second result has
// the nodes that the function evaluates.
func (f *File) examples(m *assembly, s builders.Settings) (make func(*rand.Rand) graph.Values, nodes []*graph.Node) {
	b := &assembly{File: f, g: graph.New("examples"), dt: m.dt, sizes: m.sizes, nodes: map[string]*graph.Node{}}
	type task struct {
		of, input, value *graph.Node // of is the model's input; input and value are nodes of b.g
		draws            []drawing
	}
	var tasks []task
	counted, total, large := 0, 0, false // nodes, elements
	for _, q := range f.lines {
		key := greek.Symbol(q.name)
		line, _ := f.line(q.from)
		b.at(line, func() {
			switch q.kind {
			case wordScalar:
				b.nodes[key] = b.g.Scalar(key, s[greek.Spelled(key)], b.dt)
			case wordInput, wordIndex:
				t := task{of: m.nodes[key]}
				if q.value != nil {
					t.value = ops.BroadcastTo(ops.Over(b.node(q.value), namesOf(q.axes)...), t.of.Shape())
				}
				t.input = b.g.Input(key, t.of.DType(), b.axesOf(namesOf(q.axes))...)
				t.draws, b.draws = b.draws, nil
				b.nodes[key] = t.input
				tasks = append(tasks, t)
				for _, n := range b.g.Nodes()[counted:] {
					total = min(total+n.Shape().Len(), maxDrawn+1)
				}
				if counted = b.g.Len(); total > maxDrawn && !large {
					large = true
					b.g.Fail("examples", &graph.Mistake{Problem: fmt.Sprintf("the values that examples are computed from have more than %d elements with those of %s", maxDrawn, q.name), Fix: "draw fewer numbers: values with fewer axes are repeated along the others"})
				}
			}
		})
	}
	var mistakes graph.Errors
	if errors.As(b.g.Err(), &mistakes) {
		for _, e := range mistakes {
			m.at(e.Pos.Line, func() { m.g.Fail("examples", e.Err) })
		}
		return nil, nil
	}
	return func(rng *rand.Rand) graph.Values {
		out, known := graph.Values{}, graph.Values{}
		for _, t := range tasks {
			v := graph.NewValue(t.of.Type())
			if t.value == nil {
				v = drawn(t.of.Type(), rng.NormFloat64)
			} else {
				for _, d := range t.draws {
					known[d.node] = d.fill(rng)
				}
				got, err := ref.Eval(trait.Env{}, known, t.value)
				if err != nil {
					panic("notation: examples of " + t.of.Path() + ": " + err.Error()) // the checker accepts only operations with a definition
				}
				for i, x := range got[0].Data {
					v.Data[i] = v.Type.DType.Round(x)
				}
			}
			known[t.input] = v
			out[t.of] = graph.Value{Type: v.Type, Data: slices.Clone(v.Data)}
		}
		return out
	}, b.g.Nodes()
}

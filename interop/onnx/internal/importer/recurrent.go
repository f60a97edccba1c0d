package importer

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// recurrent has the layers over sequences. Each direction is a loop of one node, or the step itself
// where the sequence has one element; what does not depend on the state is computed before the loop.
var recurrent = map[string]rule{
	"GRU":  func(c *call) []value { return c.layer(3, 1, (*direction).gru, "Sigmoid", "Tanh") },
	"LSTM": func(c *call) []value { return c.layer(4, 2, (*direction).lstm, "Sigmoid", "Tanh", "Tanh") },
	"RNN":  func(c *call) []value { return c.layer(1, 1, (*direction).rnn, "Tanh") },
}

// direction is one direction of a layer.
type direction struct {
	*call
	hidden     int
	bw, br     *graph.Node // biases of the input and of the state, [gates·hidden]; nil for none
	r          *graph.Node // weights of the state, [hidden gates·hidden]
	peepholes  *graph.Node // [3·hidden]; nil for none
	activation []func(*graph.Node) *graph.Node
}

// layer adds a layer with so many gates and states. Operands are x[t b in], W[d g·h in], R[d g·h h],
// B[d 2g·h], the lengths [b], the initial states [d b h], and peepholes [d 3h]; results are all
// states [t d b h] and the last ones [d b h]. With layout 1 the batch comes first.
func (c *call) layer(gates, states int, step func(d *direction, x *graph.Node, state []*graph.Node) []*graph.Node, activations ...string) []value {
	x, batchFirst := bare(c.x(0)), c.int("layout", 0) != 0
	if x.Rank() != 3 || c.x(1).Rank() != 3 || c.x(2).Rank() != 3 {
		c.fail("operands with %d, %d and %d axes: want 3 each", x.Rank(), c.x(1).Rank(), c.x(2).Rank())
	}
	if batchFirst {
		x = moved(x, 1, 0)
	}
	h := c.x(2).Dim(2)
	if c.int("hidden_size", h) != h || c.x(1).Dim(1) != gates*h || c.x(2).Dim(1) != gates*h {
		c.fail("hidden_size %d does not fit weights %v and %v", c.int("hidden_size", h), c.x(1).Shape(), c.x(2).Shape())
	}
	backwards := map[string][]bool{"forward": {false}, "reverse": {true}, "bidirectional": {false, true}}[strings.ToLower(c.text("direction", "forward"))]
	if backwards == nil {
		c.fail("direction %q: want forward, reverse or bidirectional", c.text("direction", ""))
	}
	if c.x(1).Dim(0) != len(backwards) || c.x(2).Dim(0) != len(backwards) {
		c.fail("weights of %d directions: want %d", c.x(1).Dim(0), len(backwards))
	}
	functions := c.activations(activations, len(backwards))
	var all, last [][]*graph.Node // by state: of each direction
	all, last = make([][]*graph.Node, 1), make([][]*graph.Node, states)
	for k, backward := range backwards {
		d := &direction{call: c, hidden: h, activation: functions[k]}
		of := func(i int) *graph.Node { return ops.At(bare(c.x(i)), 0, k) }
		laid := func(i int) *graph.Node { return ops.At(relaid(bare(c.x(i)), 0, 2, 1), 0, k) } // [in gates·h]
		w := laid(1)
		d.r = laid(2)
		if c.has(3) {
			b := of(3)
			d.bw, d.br = ops.Slice(b, 0, 0, gates*h), ops.Slice(b, 0, gates*h, 2*gates*h)
		}
		if states == 2 && c.has(7) {
			d.peepholes = of(7)
		}
		var start []*graph.Node
		for s := range states {
			if !c.has(5 + s) {
				start = append(start, ops.Zeros(c.g, x.DType(), graph.Dims(x.Dim(1), h)...))
				continue
			}
			s0 := bare(c.x(5 + s))
			if batchFirst {
				s0 = moved(s0, 1, 0)
			}
			start = append(start, ops.At(s0, 0, k))
		}
		y, final := d.run(ops.MatMul(x, w), start, backward, step)
		all[0] = append(all[0], y)
		for s, n := range final {
			last[s] = append(last[s], n)
		}
	}
	y := ops.Stack(1, "", all[0]...) // [t d b h]
	if batchFirst {
		y = ops.Transpose(y, 2, 0, 1, 3)
	}
	out := []value{c.is(0, y)}
	for _, of := range last {
		n := ops.Stack(0, "", of...)
		if batchFirst {
			n = moved(n, 1, 0)
		}
		out = append(out, c.is(0, n))
	}
	return out
}

// run runs the steps over xw[t b g·h], the products of the inputs and their weights. It returns all
// outputs [t b h] and the last states.
func (d *direction) run(xw *graph.Node, start []*graph.Node, backward bool, step func(d *direction, x *graph.Node, state []*graph.Node) []*graph.Node) (y *graph.Node, final []*graph.Node) {
	if d.bw != nil {
		xw = ops.Add(xw, d.bw)
	}
	length := d.length(xw)
	if xw.Dim(0) == 1 && length == nil {
		final = step(d, ops.At(xw, 0, 0), start)
		return ops.Expand(final[0], 0, ""), final
	}
	loop := ops.Loop{Carry: start, Over: []*graph.Node{xw}, Axis: 0, Reverse: backward}
	if length != nil {
		loop.Over = append(loop.Over, length)
	}
	r := ops.Scan(loop, func(carry, x, _ []*graph.Node) (next, out []*graph.Node) {
		next = step(d, x[0], carry)
		for i, name := range []string{"h", "c"}[:len(next)] {
			next[i].As(name)
		}
		y := next[0]
		if length != nil { // beyond its end, a sequence keeps its state and gives zeros
			on := ops.Expand(x[1], 1, "")
			y = ops.Select(on, y, ops.Lit(y, 0))
			for i := range next {
				next[i] = ops.Select(on, next[i], carry[i])
			}
		}
		return next, []*graph.Node{y}
	})
	if len(r.Out) == 0 {
		return &graph.Node{}, r.Final
	}
	return r.Out[0], r.Final
}

// length returns a mask[t b] of the times within the sequences; nil if all are whole.
func (d *direction) length(xw *graph.Node) *graph.Node {
	if !d.has(4) {
		return nil
	}
	if d.isKnown(4) && !slices.ContainsFunc(d.ints(4), func(n int) bool { return n != xw.Dim(0) }) {
		return nil
	}
	times := ops.Arange(d.g, graph.I64, graph.Ax("", xw.Dim(0)))
	return ops.Less(ops.Expand(times, 1, ""), ops.Expand(ops.Cast(bare(d.x(4)), graph.I64), 0, ""))
}

// gate returns part i of n[b g·h].
func (d *direction) gate(n *graph.Node, i int) *graph.Node {
	return ops.Slice(n, -1, i*d.hidden, (i+1)*d.hidden)
}

// affine returns h·R + b.
func (d *direction) affine(h *graph.Node) *graph.Node {
	z := ops.MatMul(h, d.r)
	if d.br != nil {
		z = ops.Add(z, d.br)
	}
	return z
}

// clipped limits what goes into an activation.
func (d *direction) clipped(n *graph.Node) *graph.Node {
	if limit := d.float("clip", 0); d.attr("clip") != nil && limit > 0 {
		return ops.Clip(n, ops.Lit(n, -limit), ops.Lit(n, limit))
	}
	return n
}

func (d *direction) f(i int, n *graph.Node) *graph.Node { return d.activation[i](d.clipped(n)) }

func (d *direction) rnn(x *graph.Node, state []*graph.Node) []*graph.Node {
	return []*graph.Node{d.f(0, ops.Add(x, d.affine(state[0])))}
}

// lstm has the gates i, o, f and c (Hochreiter & Schmidhuber, 1997; peepholes of Gers et al., 2002).
func (d *direction) lstm(x *graph.Node, state []*graph.Node) []*graph.Node {
	z := ops.Add(x, d.affine(state[0]))
	peep := func(gate, i int, c *graph.Node) *graph.Node {
		n := d.gate(z, gate)
		if d.peepholes != nil {
			n = ops.Add(n, ops.Mul(d.gate(d.peepholes, i), c))
		}
		return n
	}
	i := d.f(0, peep(0, 0, state[1]))
	f := ops.OneMinus(i)
	if d.int("input_forget", 0) == 0 {
		f = d.f(0, peep(2, 2, state[1]))
	}
	c := ops.Add(ops.Mul(f, state[1]), ops.Mul(i, d.f(1, d.gate(z, 3))))
	return []*graph.Node{ops.Mul(d.f(0, peep(1, 1, c)), d.activation[2](c)), c}
}

// gru has the gates z, r and h (Cho et al., 2014).
func (d *direction) gru(x *graph.Node, state []*graph.Node) []*graph.Node {
	h := state[0]
	part := func(i int) *graph.Node { // of the weights of the state
		r := ops.MatMul(h, d.gate(d.r, i))
		if d.br != nil {
			r = ops.Add(r, d.gate(d.br, i))
		}
		return r
	}
	var z, r, candidate *graph.Node
	if d.int("linear_before_reset", 0) != 0 {
		all := d.affine(h)
		z, r = d.f(0, ops.Add(d.gate(x, 0), d.gate(all, 0))), d.f(0, ops.Add(d.gate(x, 1), d.gate(all, 1)))
		candidate = ops.Mul(r, d.gate(all, 2))
	} else {
		z, r = d.f(0, ops.Add(d.gate(x, 0), part(0))), d.f(0, ops.Add(d.gate(x, 1), part(1)))
		candidate = ops.MatMul(ops.Mul(r, h), d.gate(d.r, 2))
		if d.br != nil {
			candidate = ops.Add(candidate, d.gate(d.br, 2))
		}
	}
	candidate = d.f(1, ops.Add(d.gate(x, 2), candidate))
	return []*graph.Node{ops.Add(ops.Mul(ops.OneMinus(z), candidate), ops.Mul(z, h))}
}

// activations returns the functions of each direction, as the attributes say.
func (c *call) activations(otherwise []string, directions int) [][]func(*graph.Node) *graph.Node {
	names := slices.Repeat(otherwise, directions)
	if a := c.attr("activations"); a != nil {
		if len(a.Strings) != len(names) {
			c.fail("%d activations: want %d", len(a.Strings), len(names))
		}
		names = a.Strings
	}
	var alphas, betas []float32
	if a := c.attr("activation_alpha"); a != nil {
		alphas = a.Floats
	}
	if a := c.attr("activation_beta"); a != nil {
		betas = a.Floats
	}
	// Numbers are for those functions that take one, in order.
	next := func(from *[]float32, otherwise float64) float64 {
		if len(*from) == 0 {
			return otherwise
		}
		v := (*from)[0]
		*from = (*from)[1:]
		return float64(v)
	}
	out := make([][]func(*graph.Node) *graph.Node, directions)
	for i, name := range names {
		var f func(*graph.Node) *graph.Node
		switch strings.ToLower(name) {
		case "relu":
			f = ops.ReLU
		case "tanh":
			f = ops.Tanh
		case "sigmoid":
			f = ops.Sigmoid
		case "softsign":
			f = func(x *graph.Node) *graph.Node { return ops.Div(x, ops.Shift(ops.Abs(x), 1)) }
		case "softplus":
			f = ops.Softplus
		case "leakyrelu":
			α := next(&alphas, 0.01)
			f = func(x *graph.Node) *graph.Node { return ops.LeakyReLU(x, α) }
		case "thresholdedrelu":
			α := next(&alphas, 1)
			f = func(x *graph.Node) *graph.Node {
				return ops.Select(ops.Greater(x, ops.Lit(x, α)), x, ops.Lit(x, 0))
			}
		case "elu":
			α := next(&alphas, 1)
			f = func(x *graph.Node) *graph.Node {
				positive := ops.Greater(x, ops.Lit(x, 0))
				return ops.Select(positive, x, ops.Scale(ops.Expm1(ops.Select(positive, ops.Lit(x, 0), x)), α))
			}
		case "affine":
			α, β := next(&alphas, 1), next(&betas, 0)
			f = func(x *graph.Node) *graph.Node { return ops.Shift(ops.Scale(x, α), β) }
		case "scaledtanh":
			α, β := next(&alphas, 1), next(&betas, 1)
			f = func(x *graph.Node) *graph.Node { return ops.Scale(ops.Tanh(ops.Scale(x, β)), α) }
		case "hardsigmoid":
			α, β := next(&alphas, 0.2), next(&betas, 0.5)
			f = func(x *graph.Node) *graph.Node {
				return ops.Clip(ops.Shift(ops.Scale(x, α), β), ops.Lit(x, 0), ops.Lit(x, 1))
			}
		default:
			c.fail("there is no activation %q here", cut(name))
		}
		out[i/len(otherwise)] = append(out[i/len(otherwise)], f)
	}
	return out
}

package ops

import (
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// The value of a loop is an array of one float type. In a loop whose carries and outs have several
// types, or are no floats, that is f64 if one of them is, or if none is a float, and f32 otherwise.
// A carry or an out of another type lies in it as one or several floats, which hold it exactly: an
// i64 as v = hi·2³² + lo of two f64, or of three f32; an i32 as one f64 or two f32; a bool as 0 or 1.
// The body that the loop runs takes the step's carries from them and makes them again, so that all
// rules of loops are those of floats, and no derivative flows through integers.

// common returns the type of the value of a loop with results of these types.
func common(results []*graph.Node) graph.DType {
	float := graph.InvalidDType
	for _, n := range results {
		if n.DType().IsFloat() && float != graph.F64 {
			float = graph.F32
		}
		if n.DType() == graph.F64 {
			float = graph.F64
		}
	}
	if float == graph.InvalidDType {
		return graph.F64
	}
	return float
}

// commonFloat returns the type of a vector that holds floats of any types: their own, if it is one.
func commonFloat(nodes []*graph.Node) graph.DType {
	if mixed(nodes) {
		return common(nodes)
	}
	return nodes[0].DType()
}

// mixed reports whether the results of a step have several types, or are no floats.
func mixed(results []*graph.Node) bool {
	for _, n := range results {
		if !n.DType().IsFloat() || n.DType() != results[0].DType() {
			return true
		}
	}
	return false
}

// digitsOf returns the powers of two by which an integer type is divided into floats: as many floats
// and one more.
func digitsOf(from, to graph.DType) []float64 {
	switch {
	case from == graph.I32 && to == graph.F32:
		return []float64{16}
	case from == graph.I64 && to == graph.F32:
		return []float64{44, 22}
	case from == graph.I64:
		return []float64{32}
	}
	return nil
}

// stored returns the floats in which x lies in the value of a loop. The float nearest to x says the
// upper digit to within 1; what it leaves is exact, in the arithmetic of integers.
func stored(x *graph.Node, to graph.DType) (list []*graph.Node) {
	from := x.DType()
	for _, p := range digitsOf(from, to) {
		digit := Cast(Scale(Cast(x, to), math.Ldexp(1, -int(p))), from)
		list = append(list, Cast(digit, to))
		x = Sub(x, times2(digit, p))
	}
	return append(list, Cast(x, to))
}

// restored returns the array of a type that lies in floats.
func restored(list []*graph.Node, to graph.DType) *graph.Node {
	last := len(list) - 1
	x := Cast(list[last], to)
	for i, p := range digitsOf(to, list[0].DType()) {
		x = Add(x, times2(Cast(list[i], to), p))
	}
	return x
}

// times2 returns x·2ᵖ, for integers and p up to 44.
func times2(x *graph.Node, p float64) *graph.Node { return Scale(x, math.Ldexp(1, int(p))) }

// places says which of the floats' results each result of a step is: those from places[k] to
// places[k+1], without it.
func places(results []*graph.Node, to graph.DType) []int {
	at := []int{0}
	for k, n := range results {
		at = append(at, at[k]+len(digitsOf(n.DType(), to))+1)
	}
	return at
}

// digitName is the name of digit i of n, from the highest on, of a value before or after a step.
func digitName(name string, i, n int) string {
	if n == 1 {
		return name
	}
	which := " low"
	switch {
	case i == 0:
		which = " high"
	case i < n-1:
		which = " middle"
	}
	if of, before := strings.CutSuffix(name, "₋₁"); before {
		return of + which + "₋₁"
	}
	return name + which
}

// overFloats makes a loop over a body of any types one over floats, and returns its node.
func (op scan) overFloats(g *graph.Graph, body *graph.Body, operands []*graph.Node) *graph.Node {
	results := body.Out()
	to := common(results)
	var in gathered
	for k, x := range body.In() {
		if k >= op.Carries {
			in = in.with(x.Name(), x.Type(), operands[k])
			continue
		}
		list := stored(operands[k], to)
		for i, n := range list {
			in = in.with(digitName(x.Name(), i, len(list)), graph.Type{DType: to, Shape: x.Shape()}, n)
		}
	}
	b, inputs := g.BodyGraph(body.Graph().Name(), in.names, in.types)
	at := places(results[:op.Carries], to)
	var own, floats []*graph.Node
	for k := range op.Carries {
		own = append(own, restored(inputs[at[k]:at[k+1]], results[k].DType()))
	}
	op.Outs = 0
	for k, n := range copyBody(b, body, append(own, inputs[at[op.Carries]:]...)) {
		list := stored(n, to)
		for i := 0; i < len(list) && len(list) > 1 && n.Name() != ""; i++ {
			list[i].As(digitName(n.Name(), i, len(list)))
		}
		if floats = append(floats, list...); k >= op.Carries {
			op.Outs += len(list)
		}
	}
	switch gate := op.Gate - 1; {
	case gate >= op.Carries:
		op.Gate += at[op.Carries] - op.Carries
	case gate >= 0:
		op.Gate = 1 + at[gate] // a float, which is one alone
	}
	op.Carries = at[op.Carries]
	var bad *graph.Node
	if op.Body, _, bad = g.Seal("Scan", b, inputs, floats); bad != nil {
		return bad
	}
	return g.Apply(op, in.nodes...)
}

// result returns rows of result k of a step, from the value of its loop, as [part] does. The results
// are those of the step, which have any types.
func result(y *graph.Node, results []*graph.Node, k, from, rows int, name string, row graph.Shape) *graph.Node {
	parts := y.Op().(trait.Looped).Loop().Parts(y.Body())
	at := places(results, y.DType())
	if !mixed(results) {
		return part(y, parts[k], from, rows, name, row)
	}
	var list []*graph.Node
	for _, p := range parts[at[k]:at[k+1]] {
		list = append(list, part(y, p, from, rows, name, row))
	}
	return restored(list, results[k].DType())
}

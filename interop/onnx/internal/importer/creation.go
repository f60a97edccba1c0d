package importer

import (
	"errors"
	"math"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// creations has the operators that make arrays of numbers that they are not given, and those that
// change the type of elements.
var creations = map[string]rule{
	"Cast":            cast,
	"CastLike":        func(c *call) []value { return c.cast(c.in[1].elem) },
	"ConstantOfShape": constantOfShape,
	"EyeLike":         eyeLike,
	"OneHot":          oneHot,
	"Range":           progression,
}

// typed returns the type of elements that an attribute says, or another.
func (c *call) typed(name string, otherwise format.DataType) (format.DataType, graph.DType) {
	elem := format.DataType(c.int(name, int(otherwise)))
	dt, ok := c.dtype(elem)
	if !ok {
		c.fail("elements of %v have no type here", elem)
	}
	return elem, dt
}

// cast has the type as a number, before version 6 as a name.
func cast(c *call) []value {
	a := c.attr("to")
	if a == nil {
		c.fail("the attribute to is missing")
	}
	elem := format.DataType(a.Int)
	if a.String != "" {
		for elem = 1; elem.IsValid() && elemNames[elem] != a.String; elem++ {
		}
	}
	return c.cast(elem)
}

var elemNames = map[format.DataType]string{
	format.Float: "FLOAT", format.Uint8: "UINT8", format.Int8: "INT8", format.Uint16: "UINT16", format.Int16: "INT16",
	format.Int32: "INT32", format.Int64: "INT64", format.String: "STRING", format.Bool: "BOOL", format.Float16: "FLOAT16",
	format.Double: "DOUBLE", format.Uint32: "UINT32", format.Uint64: "UINT64", format.BFloat16: "BFLOAT16",
}

// cast returns operand 0 with elements of another type. Texts that are known are read as numbers.
func (c *call) cast(elem format.DataType) []value {
	if elem == format.String {
		return []value{c.written()}
	}
	dt, ok := c.dtype(elem)
	if !ok {
		c.fail("elements of %v have no type here", elem)
	}
	if c.has(0) && c.in[0].kind == strs {
		return []value{as(elem, ops.Cast(c.parsed(), dt))}
	}
	x, from := c.x(0), c.in[0].elem
	if !narrow(elem) || from == elem || from == format.Bool {
		return []value{{node: ops.Cast(x, dt), elem: elem}}
	}
	return []value{as(elem, ops.Cast(x, dt))}
}

// parsed returns the numbers that texts of the file say.
func (c *call) parsed() *graph.Node {
	v := c.in[0]
	if v.tensor == nil || v.tensor.Len() != len(v.text) {
		c.fail("texts that are not in the file")
	}
	data, sizes := make([]float64, len(v.text)), make([]int, len(v.tensor.Dims))
	for i, s := range v.text {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			c.fail("element %d is no number", i)
		}
		data[i] = f
	}
	for i, n := range v.tensor.Dims {
		sizes[i] = int(n)
	}
	return c.array(graph.F64, data, sizes...)
}

// constantOfShape repeats the one element of the attribute value, 0 of float32 by default.
func constantOfShape(c *call) []value {
	elem, v := format.Float, 0.0
	if a := c.attr("value"); a != nil && a.Tensor != nil {
		data, err := a.Tensor.Floats()
		if err != nil {
			c.fail("%v", err)
		}
		if len(data) != 1 {
			c.fail("a value of %d elements: want one", len(data))
		}
		elem, v = a.Tensor.Type, data[0]
	}
	dt, ok := c.dtype(elem)
	if !ok {
		c.fail("elements of %v have no type here", elem)
	}
	return []value{{node: ops.Full(c.g, dt, v, c.shape(c.ints(0)...).Axes()...), elem: elem}}
}

func eyeLike(c *call) []value {
	x := c.x(0)
	if x.Rank() != 2 {
		c.fail("an operand with %d axes: want 2", x.Rank())
	}
	elem, dt := c.typed("dtype", c.in[0].elem)
	n, m, k := x.Dim(0), x.Dim(1), c.int("k", 0)
	k = min(max(k, -n), m)
	// Column j of the result is column j−k of a larger unit matrix.
	eye := ops.Eye(c.g, dt, graph.Ax("", n), graph.Ax("", m+max(0, -k)+max(0, k)))
	if k >= 0 {
		eye = ops.Pad(span(eye, 1, 0, m-k), 1, k, 0, 0)
	} else {
		eye = span(eye, 1, -k, -k+m)
		if n > 0 && m > 0 {
			eye = ops.Transpose(ops.Pad(ops.Eye(c.g, dt, graph.Ax("", m), graph.Ax("", n+k)), 1, -k, 0, 0))
		}
	}
	return []value{{node: eye, elem: elem}}
}

// progression gives the numbers from the first operand up to the second, by steps of the third.
func progression(c *call) []value {
	var v [3]float64
	for i := range v {
		x, ok := c.number(i)
		if !ok {
			c.fail("operand %d must be one number that is known when the graph is built: the size of the result depends on it", i)
		}
		v[i] = x
	}
	n := math.Ceil((v[1] - v[0]) / v[2])
	if v[2] == 0 || math.IsNaN(n) || n > 1<<24 {
		c.fail("numbers from %v to %v by steps of %v", v[0], v[1], v[2])
	}
	data := make([]float64, max(0, int(n)))
	for i := range data {
		data[i] = v[0] + float64(i)*v[2]
	}
	return []value{c.is(0, c.array(c.x(0).DType(), data, len(data)))}
}

// oneHot has an element of the third operand at each index: the second of its elements there, and the
// first elsewhere; the first alone where an index is outside.
func oneHot(c *call) []value {
	index, values := ops.Cast(c.x(0), graph.I64), c.x(2)
	n := c.whole(1)
	if values.Shape().Len() != 2 || n < 0 || n > 1<<30 {
		c.fail("%d values of depth %d: want two", values.Shape().Len(), n)
	}
	axis := c.axis(c.int("axis", -1), index.Rank()+1)
	index = ops.Expand(ops.Select(ops.Less(index, ops.Lit(index, 0)), ops.Shift(index, float64(n)), index), axis, "")
	place := c.reshape(ops.Arange(c.g, graph.I64, graph.Ax("", n)), append([]int{n}, ones(index.Rank()-1-axis)...)...)
	xs := c.broadcast(index, place)
	values = c.reshape(values, 2)
	return []value{c.is(2, ops.Select(ops.Equal(xs[0], xs[1]), ops.At(values, 0, 1), ops.At(values, 0, 0)))}
}

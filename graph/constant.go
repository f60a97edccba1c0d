package graph

import (
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/internal/memory"
)

// constant is the operation of a constant; ID is its place in the graph's
// list of values, where equal values stand once.
type constant struct{ ID int }

func (constant) Name() string { return "constant" }
func (constant) Infer([]*Node) (Type, error) {
	return Type{}, fmt.Errorf("constants are made by Graph.Constant")
}

// Constant adds an array that is part of the graph. Data is row-major, and copied; its length must
// be the product of the sizes of the axes. Floats are rounded to the element type. A number that
// the type does not hold ([DType.Check]), such as 0.5 or NaN as an integer or 1e39 as f32, is a
// mistake. Equal constants are one node.
func (g *Graph) Constant(dt DType, data []float64, axes ...Axis) *Node {
	s, err := NewShape(axes...)
	if err == nil && s.Len() != len(data) {
		err = fmt.Errorf("%d values for shape %v of %d elements", len(data), s, s.Len())
	}
	if err != nil {
		return g.Fail("constant", ofAxes(err))
	}
	return g.ConstantFunc(dt, func(v []float64) { copy(v, data) }, axes...)
}

// ConstantFunc adds a constant as [Graph.Constant] does, with the numbers that fill writes over
// zeros. It is for arrays of any size: if there is no memory for one it is a mistake, and fill is
// not called.
func (g *Graph) ConstantFunc(dt DType, fill func(data []float64), axes ...Axis) *Node {
	s, err := NewShape(axes...)
	if err == nil && !dt.IsValid() {
		err = fmt.Errorf("%v is not an element type", dt)
	}
	t := Type{dt, s}
	switch {
	case err != nil:
	case g == nil:
		err = errNoGraph
	case fill == nil:
		err = errors.New("no function fills it")
	default:
		err = t.roomForConstant()
	}
	if err != nil {
		return g.Fail("constant", ofAxes(err))
	}
	v := NewValue(t)
	fill(v.Data)
	if err := dt.Check(v.Data...); err != nil {
		return g.Fail("constant", err)
	}
	for i, x := range v.Data {
		v.Data[i] = dt.Round(x)
	}
	return g.ConstantValue(v)
}

// roomForConstant returns a mistake if there is less memory than a constant takes: in float64 in
// the graph, and in its element type in a program.
func (t Type) roomForConstant() error {
	need := int64(t.Shape.Len()) * int64(8+t.DType.Size())
	there, short := memory.Lacks(need)
	if !short {
		return nil
	}
	return &Mistake{fmt.Sprintf("%v takes %s, and there are %s", t, memory.Text(need), memory.Text(there)), "take smaller sizes"}
}

// ConstantValue adds a constant that is already a [Value], with numbers that are rounded to its
// element type. The graph keeps it without a copy: the caller must not change it afterwards.
func (g *Graph) ConstantValue(v Value) *Node {
	if g == nil {
		return g.Fail("constant", errNoGraph)
	}
	if !v.Type.DType.IsValid() || len(v.Data) != v.Type.Shape.Len() {
		return g.Fail("constant", fmt.Errorf("%d values for type %v", len(v.Data), v.Type))
	}
	if err := v.Type.DType.Check(v.Data...); err != nil {
		return g.Fail("constant", err)
	}
	h := hashValue(v)
	for _, id := range g.constIDs[h] {
		if g.constants[id].equal(v) {
			return g.constant(id)
		}
	}
	id := len(g.constants)
	g.constants = append(g.constants, v)
	g.constIDs[h] = append(g.constIDs[h], id)
	return g.constant(id)
}

// constant returns the node of a value in the list of constants.
func (g *Graph) constant(id int) *Node {
	op := constant{id}
	return g.intern(op, g.kindOf(op), nil, g.constants[id].Type)
}

func hashValue(v Value) uint64 {
	h := uint64(len(v.Data)) * 0x9E3779B97F4A7C15
	for _, x := range v.Data {
		h = (h ^ math.Float64bits(x)) * 0x100000001B3
	}
	return h
}

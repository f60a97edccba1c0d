package check

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/tape"
)

const guards = 8 // elements before and after every array

// runs calls the Run method of an operation on arrays between guards: it has to
// write every element of the result, the same ones each time, and nothing else.
func (t *trial) runs() error {
	r, ok := t.node.Op().(tape.CustomOp)
	if !ok {
		return nil
	}
	values, err := ref.Eval(trait.Env{}, t.values, append(t.node.Inputs(), t.node)...)
	if err != nil {
		return err
	}
	want := values[len(values)-1]
	var first graph.Value
	for k, filling := range []float64{1, 0} {
		var in []tape.Array
		var spaces []*space
		for i := range t.node.NumIn() {
			s := newSpace(values[i], filling)
			spaces, in = append(spaces, s), append(in, s.array())
		}
		out := newSpace(graph.NewValue(want.Type), filling)
		for i := range out.elements() {
			out.set(i, filling)
		}
		if err := ran(r, t.node, out.array(), in); err != nil {
			return err
		}
		for i, s := range spaces {
			if !slices.Equal(s.elements(), s.rounded) || !s.guarded(filling) {
				return fmt.Errorf("its Run writes to operand %d", i)
			}
		}
		if !out.guarded(filling) {
			return errors.New("its Run writes outside of its result")
		}
		got := graph.Value{Type: want.Type, Data: out.elements()}
		if k == 0 {
			first = got
		} else if err := identical([]*graph.Node{t.node}, []graph.Value{got}, []graph.Value{first}); err != nil {
			return fmt.Errorf("its Run leaves elements as they were, or is not the same twice: %w", err)
		}
		if v := compared("", []*graph.Node{t.node}, []graph.Value{got}, []graph.Value{want}, nearTape); v.Err != nil {
			return fmt.Errorf("its Run is not the definition: %w", v.Err)
		}
	}
	return nil
}

func ran(r tape.CustomOp, y *graph.Node, out tape.Array, in []tape.Array) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its Run panics: %v", p)
		}
	}()
	r.Run(y, out, in)
	return nil
}

// space is an array with guards on both sides.
type space struct {
	all     tape.Array // the guards among its elements
	n       int
	rounded []float64 // what it was filled with
}

func newSpace(v graph.Value, guard float64) *space {
	v.Type.DType = v.Type.DType.Wide() // as Run gets it
	s := &space{all: tape.Array{Type: v.Type}, n: len(v.Data)}
	n := s.n + 2*guards
	switch v.Type.DType {
	case graph.F32:
		s.all.F32 = make([]float32, n)
	case graph.F64:
		s.all.F64 = make([]float64, n)
	case graph.I32:
		s.all.I32 = make([]int32, n)
	case graph.I64:
		s.all.I64 = make([]int64, n)
	case graph.Bool:
		s.all.Bool = make([]bool, n)
	}
	for i := -guards; i < s.n+guards; i++ {
		s.set(i, guard)
	}
	for i, x := range v.Data {
		s.set(i, x)
	}
	s.rounded = s.elements()
	return s
}

func (s *space) set(i int, v float64) { s.all.Set(guards+i, v) }

func (s *space) at(i int) float64 { return s.all.At(guards + i) }

// elements returns a copy of the elements between the guards.
func (s *space) elements() []float64 {
	out := make([]float64, s.n)
	for i := range out {
		out[i] = s.at(i)
	}
	return out
}

// guarded reports whether all guards are as they were.
func (s *space) guarded(guard float64) bool {
	for i := range guards {
		if math.Float64bits(s.at(-1-i)) != math.Float64bits(guard) || math.Float64bits(s.at(s.n+i)) != math.Float64bits(guard) {
			return false
		}
	}
	return true
}

// array returns the argument of Run: the elements, with the guards behind them within the
// slice's capacity, as other arrays lie behind those of a tape.
func (s *space) array() tape.Array {
	a := tape.Array{Type: s.all.Type}
	lo, hi := guards, guards+s.n
	switch s.all.Type.DType {
	case graph.F32:
		a.F32 = s.all.F32[lo:hi]
	case graph.F64:
		a.F64 = s.all.F64[lo:hi]
	case graph.I32:
		a.I32 = s.all.I32[lo:hi]
	case graph.I64:
		a.I64 = s.all.I64[lo:hi]
	case graph.Bool:
		a.Bool = s.all.Bool[lo:hi]
	}
	return a
}

package graph

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Indexing is an operation that takes from, or adds to, places along an axis that one of its
// operands, of whole numbers, says. A run, and the float64 definition, refuse a number that is
// no place with an [IndexError]; where it is a constant, Compile does.
type Indexing interface {
	Op
	// Places gives the number of the operand that holds the indices of y, and how many places
	// there are: an index is from 0 to size − 1.
	Places(y *Node) (operand, size int)
}

// Keeping is an operation whose result has elements of an operand at their own places, such as a
// conversion, or a mask's choice between an array and a number.
type Keeping interface {
	Op
	// Keeps gives the number of the operand that an element of y with the value v is of, if that
	// is certain.
	Keeps(y *Node, v float64) (operand int, ok bool)
}

// IndexError says that an index is outside of its axis.
type IndexError struct {
	Node  *Node // the operation, of the graph that was run: see [Indexing]
	Index *Node // its operand that holds the index, or what that has it from at the same place: see [Keeping]
	At    []int // where the index stands there, along Index's axes
	Value int64
	Size  int   // of the axis: an index is from 0 to Size − 1
	Times []int // of the loops around the operation, the outermost first: the time, along the sequences, of the step
}

// Error gives one line, which names the function that the user called, or whose derivative it is:
//
//	words.go:12: SkipGram: o[i=2 k=0] is 9: want an index from 0 to 8, in bag
func (e *IndexError) Error() string {
	if e == nil || !e.Node.IsValid() {
		return "an index is out of range"
	}
	var b strings.Builder
	at := e.Node.First()
	if p := at.Pos.String(); p != "" {
		b.WriteString(p + ": ")
	}
	of, what := e.Node, ""
	if at.Origin.Kind == FromGrad && at.Origin.Of.IsValid() {
		of, what = at.Origin.Of, "the derivative of "
	}
	if at.Call != "" {
		what += at.Call
	} else {
		what += of.Op().Name()
	}
	fmt.Fprintf(&b, "%s: %v", what, e.Place())
	for _, t := range slices.Backward(e.Times) {
		fmt.Fprintf(&b, ", at time %d of a loop", t)
	}
	if at.Scope != "" {
		b.WriteString(", in " + at.Scope)
	}
	return b.String()
}

// Place says what is wrong without saying where: o[i=2 k=0] is 9: want an index from 0 to 8.
func (e *IndexError) Place() error {
	if e == nil || !e.Index.IsValid() {
		return errors.New("an index is out of range")
	}
	at := make([]string, len(e.At))
	for a, i := range e.At {
		at[a] = Axis{e.Index.Shape().Axis(a).Name, i}.String()
	}
	return fmt.Errorf("%s[%s] is %d: want an index from 0 to %d", e.Index.Label(), strings.Join(at, " "), e.Value, e.Size-1)
}

// CheckIndex gives an [IndexError] for the first of the given indices of y that is outside of
// its axis, nil if there is none or y takes no indices. Numbers that are NaN are passed over.
func CheckIndex(y *Node, in []Value) error {
	if !y.IsValid() {
		return nil
	}
	op, ok := y.op.(Indexing)
	if !ok {
		return nil
	}
	k, size := op.Places(y)
	if k >= len(in) {
		return nil
	}
	for p, v := range in[k].Data {
		if v < 0 || v >= float64(size) {
			return NewIndexError(y, p, int64(v))
		}
	}
	return nil
}

// NewIndexError is the error of index number p, in row-major order, of an [Indexing] y.
func NewIndexError(y *Node, p int, value int64) *IndexError {
	k, size := y.op.(Indexing).Places(y)
	e := &IndexError{Node: y, Index: y.in[k], Value: value, Size: size, At: make([]int, y.in[k].Rank())}
	for {
		op, ok := e.Index.op.(Keeping)
		if !ok {
			break
		}
		operand, ok := op.Keeps(e.Index, float64(value))
		if !ok || !e.Index.in[operand].Shape().SameSizes(e.Index.Shape()) {
			break
		}
		e.Index = e.Index.in[operand]
	}
	for a := len(e.At) - 1; a >= 0; a-- {
		d := e.Index.Dim(a)
		e.At[a], p = p%d, p/d
	}
	return e
}

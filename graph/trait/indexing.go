package trait

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// Indexing is an operation that reads or adds to places along an axis, at the indices in one of its
// operands, of an integer type. A run, and the float64 definition, refuse an index outside of the
// axis with an [IndexError]; if the indices are a constant, compiling does.
type Indexing interface {
	// Places returns the number of the operand that holds the indices of y, and the number of
	// places: an index is from 0 to size − 1.
	Places(y *graph.Node) (operand, size int)
}

// Keeping is an operation whose result has elements of an operand at their own places, such as
// a conversion, or a mask's choice between an array and a number.
type Keeping interface {
	// Keeps returns the number of the operand from which an element of y with the value v comes; ok
	// is false if that is not certain.
	Keeps(y *graph.Node, v float64) (operand int, ok bool)
}

// IndexError reports an index outside of its axis.
type IndexError struct {
	Node  *graph.Node // the [Indexing] operation, of the graph that was run
	Index *graph.Node // its operand with the index, or the node from which a [Keeping] one has it
	At    []int       // where the index stands in Index, along Index's axes
	Value int64
	Size  int   // of the axis: an index is from 0 to Size − 1
	Times []int // of the loops around the operation, outermost first: the time along the sequences
}

// Error returns one line, which names the function that the user called, or whose derivative it is:
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
	if at.Origin.Kind == graph.FromGrad && at.Origin.Of.IsValid() {
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

// Place returns the problem without the call that has it: o[i=2 k=0] is 9: want an index from 0 to
// 8.
func (e *IndexError) Place() error {
	if e == nil || !e.Index.IsValid() {
		return errors.New("an index is out of range")
	}
	at := make([]string, len(e.At))
	for a, i := range e.At {
		at[a] = graph.Axis{Name: e.Index.Shape().Axis(a).Name, Size: i}.String()
	}
	return fmt.Errorf("%s[%s] is %d: want an index from 0 to %d", e.Index.Label(), strings.Join(at, " "), e.Value, e.Size-1)
}

// CheckIndex returns an [IndexError] for the first index that is outside of its axis, given the
// values of y's operands; nil if there is none, or y is not [Indexing]. A NaN passes.
func CheckIndex(y *graph.Node, in []graph.Value) error {
	if !y.IsValid() {
		return nil
	}
	op, ok := y.Op().(Indexing)
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

// NewIndexError returns the error for index number p, in row-major order, of y, which must be
// [Indexing]. It follows [Keeping] operands to the node that the index comes from.
func NewIndexError(y *graph.Node, p int, value int64) *IndexError {
	k, size := y.Op().(Indexing).Places(y)
	e := &IndexError{Node: y, Index: y.In(k), Value: value, Size: size, At: make([]int, y.In(k).Rank())}
	for {
		op, ok := e.Index.Op().(Keeping)
		if !ok {
			break
		}
		operand, ok := op.Keeps(e.Index, float64(value))
		if !ok || !e.Index.In(operand).Shape().SameSizes(e.Index.Shape()) {
			break
		}
		e.Index = e.Index.In(operand)
	}
	for a := len(e.At) - 1; a >= 0; a-- {
		d := e.Index.Dim(a)
		e.At[a], p = p%d, p/d
	}
	return e
}

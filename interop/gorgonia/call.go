package gorgonia

import (
	"context"
	"fmt"
	"hash"
	"hash/fnv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// call is one of gorgonia's operations as it stands in a translated graph. It
// changes what gorgonia does around the operation, not the operation:
//
//   - It is one of a kind: gorgonia merges nodes of equal hash, and some of its
//     hashes leave attributes out. Equal nodes are merged in our graph already.
//   - Its result has memory of its own, because it offers neither UnsafeDo nor
//     UsePreallocDo: through them gorgonia writes over operands, also where a
//     reshape that is still read shares theirs.
//   - Its result has the shape that was inferred, also where gorgonia gives a
//     scalar for an array of one element.
//   - A panic is an error that names our node. It would end the process, because
//     the machine runs in a goroutine of its own.
type call struct {
	G.Op
	id    uint64
	at    *graph.Node
	shape tensor.Shape
	run   *run
}

// run holds the state that the calls of a machine share while it runs.
type run struct {
	ctx context.Context
	err error // the first failure
}

// OverwritesInput gives -1: no operand's register is used for the result.
func (*call) OverwritesInput() int { return -1 }

// CallsExtern gives false: no memory is prepared for the result.
func (*call) CallsExtern() bool { return false }

// InferShape gives the shape found when the operation was made.
func (c *call) InferShape(...G.DimSizer) (tensor.Shape, error) { return c.shape.Clone(), nil }

// WriteHash writes the number of the call, which no other has.
func (c *call) WriteHash(h hash.Hash) { fmt.Fprintf(h, "call %d", c.id) }

// Hashcode is the hash of the number.
func (c *call) Hashcode() uint32 {
	h := fnv.New32a()
	c.WriteHash(h)
	return h.Sum32()
}

// Do runs the operation.
func (c *call) Do(in ...G.Value) (v G.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if err != nil && c.run.err == nil {
			c.run.err = failure(c.at, err)
		}
	}()
	if err := c.run.ctx.Err(); err != nil {
		c.run.err = err // not a failure of the operation
		return nil, err
	}
	if v, err = c.Op.Do(in...); err != nil {
		return nil, err
	}
	return reshaped(v, c.shape)
}

// failure is an error of gorgonia's, on one line and located.
func failure(n *graph.Node, err error) error {
	at := ""
	if p := n.First().Pos.String(); p != "" {
		at = p + ": "
	}
	return fmt.Errorf("%s%s: gorgonia fails: %s: %v", at, n.Op().Name(), oneLine(err), n)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

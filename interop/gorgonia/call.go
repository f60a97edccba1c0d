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

// call is one of gorgonia's operations in a translated graph. It changes what gorgonia does around
// the operation, not the operation:
//
//   - It is unique: gorgonia merges nodes of equal hash, and some of its hashes leave attributes
//     out. Equal nodes have been merged in the source graph already.
//   - Its result has memory of its own, because it implements neither UnsafeDo nor UsePreallocDo:
//     through them gorgonia writes over operands, even if a reshape that is still to be read shares
//     their memory.
//   - Its result has the shape that was inferred, also if gorgonia returns a scalar for an array of
//     one element.
//   - A panic becomes an error that names the source node. It would otherwise end the process,
//     because the machine runs in a goroutine of its own.
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

// OverwritesInput returns -1: no operand's register is used for the result.
func (*call) OverwritesInput() int { return -1 }

// CallsExtern returns false: no memory is prepared for the result.
func (*call) CallsExtern() bool { return false }

// InferShape returns the shape found when the operation was made.
func (c *call) InferShape(...G.DimSizer) (tensor.Shape, error) { return c.shape.Clone(), nil }

// WriteHash writes the unique number of the call.
func (c *call) WriteHash(h hash.Hash) { fmt.Fprintf(h, "call %d", c.id) }

// Hashcode returns the hash of that number.
func (c *call) Hashcode() uint32 {
	h := fnv.New32a()
	c.WriteHash(h)
	return h.Sum32()
}

// Do runs the operation, unless the run's context is done.
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

// failure returns an error of gorgonia's on one line, with the user's line.
func failure(n *graph.Node, err error) error {
	at := ""
	if p := n.First().Pos.String(); p != "" {
		at = p + ": "
	}
	return fmt.Errorf("%s%s: gorgonia fails: %s: %v", at, n.Op().Name(), oneLine(err), n)
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

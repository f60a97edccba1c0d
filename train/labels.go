package train

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/fed"
	"github.com/tapestry-ml/tapestry/train/data"
)

// located returns the error of an index that a run refused, with its place in the data: as that of
// a label, where nothing but the loss depends on its column. It returns err itself where the index
// is not found in the data. The run read the rows of the batch from the first on.
func (p *program) located(outside *trait.IndexError, b data.Batch, first int, err error) error {
	in, at := fed.From(outside)
	if in == nil || b.Rows == 0 {
		return err
	}
	t := b.Values[in.Path()]
	if t == nil || t.Dims() == 0 || in.Rank() == 0 || t.Shape().TotalSize()%b.Rows != 0 {
		return err
	}
	each := t.Shape().TotalSize() / b.Rows // numbers of a row
	if at += first * each; at >= t.Shape().TotalSize() {
		return err
	}
	row := rowText(b, at/max(1, each))
	input := p.net.graph().Lookup(in.Path())
	if isLabel(outside) && (p.net.Output == nil || !slices.Contains(graph.Reachable(p.net.Output), input)) {
		return fmt.Errorf("label %v in column %q, %s: the model has %d classes", t.Get(at), in.Path(), row, outside.Size)
	}
	return fmt.Errorf("%v in column %q, %s: %w", t.Get(at), in.Path(), row, outside)
}

// isLabel reports whether an index is a class that an operation takes from its operand of labels.
func isLabel(outside *trait.IndexError) bool {
	op, ok := outside.Node.Op().(trait.Labelled)
	if !ok {
		return false
	}
	k, _ := outside.Node.Op().(trait.Indexing).Places(outside.Node)
	return k == op.Labels()
}

// rowText names a row of a batch, by its number in the data where that is known. Both are counted
// from 0.
func rowText(b data.Batch, i int) string {
	if row, ok := b.Row(i); ok {
		return fmt.Sprintf("row %d", row)
	}
	return fmt.Sprintf("row %d of the batch", b.From+i)
}

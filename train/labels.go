package train

import (
	"fmt"
	"path"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// labels is an input of whole numbers of which a cross-entropy takes each for a class.
type labels struct {
	input   *graph.Node
	classes int
	others  []float64 // that it is compared with: to be ignored
}

// labelsOf finds the labels that a loss is measured by. One that is no class would count
// as a row without a label, and pass unnoticed.
func labelsOf(loss *graph.Node) []labels {
	if loss == nil {
		return nil
	}
	var found []labels
	compared := map[*graph.Node][]float64{}
	for _, n := range graph.Reachable(loss) {
		switch {
		case ops.Is(n, "OneHot") && n.In(0).Role() == graph.RoleInput && path.Base(n.First().Scope) == "cross-entropy":
			found = append(found, labels{input: n.In(0), classes: n.Dim(n.Rank() - 1)})
		case ops.Is(n, "Equal"), ops.Is(n, "NotEqual"):
			for i := range 2 {
				if v, ok := ops.Literal(n.In(1 - i)); ok {
					compared[n.In(i)] = append(compared[n.In(i)], v)
				}
			}
		}
	}
	for i := range found {
		found[i].others = compared[found[i].input]
	}
	return found
}

// checkLabels says which label of a batch is no class.
func checkLabels(all []labels, b data.Batch) error {
	for i := range all {
		if err := all[i].check(b); err != nil {
			return err
		}
	}
	return nil
}

// check says which label of a batch is no class.
func (l *labels) check(b data.Batch) error {
	t := b.Values[l.input.Path()]
	if t == nil || b.Rows == 0 {
		return nil
	}
	i, y := -1, int64(0)
	switch t.Dtype() {
	case tensor.Int32:
		i, y = noClass(l, t.Int32s())
	case tensor.Int64:
		i, y = noClass(l, t.Int64s())
	}
	if i < 0 {
		return nil
	}
	row := i / max(1, t.Shape().TotalSize()/b.Rows)
	return fmt.Errorf("label %d in column %q, %s: the model has %d classes", y, l.input.Path(), rowText(b, row), l.classes)
}

// noClass finds the first label that is no class; −1 if there is none.
func noClass[T int32 | int64](l *labels, v []T) (int, int64) {
	for i, y := range v {
		if (y < 0 || int64(y) >= int64(l.classes)) && !slices.Contains(l.others, float64(y)) {
			return i, int64(y)
		}
	}
	return -1, 0
}

// rowText says which row of a batch, in the data where that is known.
func rowText(b data.Batch, i int) string {
	if row, ok := b.Row(i); ok {
		return fmt.Sprintf("row %d", row)
	}
	return fmt.Sprintf("row %d of the batch", i)
}

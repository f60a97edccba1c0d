package data

import (
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// Copy makes b a copy of another batch, in arrays of its own, which it keeps where they have the
// type and shape. What a source returned stays valid so when the source goes on.
func (b *Batch) Copy(from Batch) {
	if b == nil {
		return
	}
	values, rows := b.Values, b.rows
	*b = from
	if b.Values, b.rows = values, append(rows[:0], from.rows...); values == nil {
		b.Values = map[string]*tensor.Dense{}
	}
	for name, t := range from.Values {
		if t == nil {
			continue
		}
		to := b.Values[name]
		if tensors.CheckColumn(t) != "" || !tensors.Alike(to, t, t.Shape()[0]) {
			b.Values[name] = t.Clone().(*tensor.Dense)
			continue
		}
		copy(tensors.Bytes(to), tensors.Bytes(t))
	}
	for name := range b.Values {
		if from.Values[name] == nil {
			delete(b.Values, name)
		}
	}
}

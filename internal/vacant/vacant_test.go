package vacant_test

import (
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/internal/vacant"
	"gorgonia.org/tensor"
)

// TestDense: what gorgonia says of such a tensor is its shape, and no method panics.
func TestDense(t *testing.T) {
	for _, shape := range [][]int{{0}, {0, 3}, {2, 0, 3}} {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Bool, tensor.Uint16} {
			d := vacant.Dense(dt, shape)
			c := d.Clone().(*tensor.Dense)
			for _, d := range []*tensor.Dense{d, c} {
				if fmt.Sprint([]int(d.Shape())) != fmt.Sprint(shape) || d.Dtype() != dt || !vacant.Is(d) || d.IsMasked() || d.RequiresIterator() || d.Data() == nil {
					t.Errorf("%v of %v: %v, %v, masked %v", dt, shape, d.Shape(), d.Dtype(), d.IsMasked())
				}
			}
		}
	}
	if vacant.Is(tensor.New(tensor.Of(tensor.Float64))) {
		t.Error("a number is no element")
	}
}

package tape

import (
	"fmt"
	"math"
	"reflect"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"gorgonia.org/tensor"
)

// isWhole reports whether a tensor has integers of any of Go's types.
func isWhole(t *tensor.Dense) bool {
	k := t.Dtype().Kind()
	return k >= reflect.Int && k <= reflect.Uint64
}

// wholes returns the elements of a tensor of integers as those of another integer type, or an error
// for the first that it does not hold. The shapes are equal.
func wholes(want graph.Type, t *tensor.Dense) (kernel.Mem, error) {
	m := kernel.Alloc(want.Shape.Len() * want.DType.Size())
	to := arrayOf(want, m)
	data := reflect.ValueOf(t.Data())
	listed := data.Kind() == reflect.Slice && !t.RequiresIterator() && t.DataOrder().IsRowMajor()
	ix := make([]int, want.Shape.Rank())
	for p := range want.Shape.Len() {
		x := data
		if listed {
			x = data.Index(p)
		} else if len(ix) > 0 {
			v, err := t.At(position(ix, p, t.Shape())...)
			if err != nil {
				return kernel.Mem{}, fmt.Errorf("element %v cannot be read: %w", ix, err)
			}
			x = reflect.ValueOf(v)
		}
		whole, holds := int64(0), true
		if x.CanInt() {
			whole = x.Int()
		} else {
			whole, holds = int64(x.Uint()), x.Uint() <= math.MaxInt64
		}
		switch {
		case !holds || want.DType != graph.I64 && want.DType.Check(float64(whole)) != nil:
			return kernel.Mem{}, fmt.Errorf("element %d is %v, which is no value of type %v", p, x, want.DType)
		case want.DType == graph.I64:
			to.I64[p] = whole
		default:
			to.Set(p, float64(whole))
		}
	}
	return m, nil
}

// position sets ix to the place of element p of an array, row-major.
func position(ix []int, p int, sizes []int) []int {
	for k := len(sizes) - 1; k >= 0; k-- {
		ix[k], p = p%sizes[k], p/sizes[k]
	}
	return ix
}

package kernel

import "github.com/tapestry-ml/tapestry/internal/simd"

// Select takes, element by element, the second operand where the first, a mask of Bools, is true, else the third. All broadcast;
// the last two are of the result's dtype, any.
type Select struct{ elementwise }

// Bind takes mask, a and b.
func (Select) Bind(out Layout, in []Layout) Loop {
	return mixLoop(simd.ChooseOf(level, out.DType.Size()), out, in)
}

package kernel

// SumRanks is the sum of an operand over the lanes of a step. It lays the operand out in the result;
// what Ctx.Inner runs then adds the other lanes' operands to it. Without an Inner there is one lane,
// whose sum that is.
type SumRanks struct{}

// Flops is 0: the arithmetic is not the worker's.
func (SumRanks) Flops(Layout, []Layout) int64 { return 0 }

// InPlace reports true.
func (SumRanks) InPlace(int) bool { return true }

// Strided reports true.
func (SumRanks) Strided(int) bool { return true }

// Bind takes one operand of the result's dtype and shape. The sum is one unit: it is of the whole
// array.
func (SumRanks) Bind(out Layout, in []Layout) Bound {
	lay := Copy{}.Bind(out, in)
	return Bound{Units: 1, Run: func(c *Ctx, lo, hi int) {
		if lo >= hi {
			return
		}
		if c.Out.p != c.In[0].p || !in[0].IsDense() {
			lay.Run(c, 0, lay.Units)
		}
		if c.Inner != nil {
			c.Inner.Run(c)
		}
	}}
}

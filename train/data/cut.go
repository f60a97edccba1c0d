package data

// Cut determines which rows of a table each step of a training takes, in batches of one size. If
// one batch holds all rows, they come in their own order. Otherwise each epoch has an order that
// depends only on it and the seed, and the rows that do not fill a batch come first in the next
// epoch. [Shuffled] with [CarryOver] gives the same batches.
type Cut struct {
	Rows int // at least 1
	Size int // of a batch, from 1 to Rows
}

// Epoch returns the number of whole batches in an epoch.
func (c Cut) Epoch() int {
	if c.Size < 1 {
		return 0
	}
	return c.Rows / c.Size
}

// At returns the rows of step t, counted from 0, of a training with a seed. It draws the order of
// the epoch at each call; [Cut.Orders] does not.
func (c Cut) At(seed uint64, t int) []int { return c.Orders(seed)(t) }

// Orders returns [Cut.At] for one seed, as a function that keeps the order of the last epoch that
// it was asked for. The function is for one goroutine.
func (c Cut) Orders(seed uint64) func(t int) []int {
	epoch, order := -1, []int(nil)
	return func(t int) []int {
		switch {
		case c.Size < 1 || c.Size > c.Rows || t < 0:
			return nil
		case c.Size == c.Rows:
			return c.InOrder(0)
		}
		out := make([]int, c.Size)
		from := t * c.Size // among the rows of all epochs
		for k := 0; k < len(out); {
			if e := (from + k) / c.Rows; e != epoch {
				epoch, order = e, Order(seed, e, c.Rows)
			}
			k += copy(out[k:], order[(from+k)%c.Rows:])
		}
		return out
	}
}

// mostInOrder is the largest number of rows up to which [Cut.Whole] repeats rows at any rate.
const mostInOrder = 1 << 16

// Whole returns the number of batches that [Cut.InOrder] cuts all rows into: the fewest that hold
// each row the same number of times, or, if that takes too many rows, as many as the rows fill.
func (c Cut) Whole() int {
	if c.Size < 1 || c.Rows < 1 {
		return 0
	}
	a, b := c.Rows, c.Size
	for b > 0 {
		a, b = b, a%b
	}
	if c.Rows > c.Size && c.Rows/a*c.Size > max(mostInOrder, 4*c.Rows) {
		return c.Rows / c.Size
	}
	return c.Rows / a
}

// InOrder returns the rows of batch i of [Cut.Whole], in their own order; the first row follows the
// last.
func (c Cut) InOrder(i int) []int {
	if c.Size < 1 || c.Rows < 1 || i < 0 {
		return nil
	}
	out := make([]int, c.Size)
	for j := range out {
		out[j] = (i*c.Size + j) % c.Rows
	}
	return out
}

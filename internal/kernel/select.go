package kernel

import (
	"unsafe"

	"github.com/tapestry-ml/tapestry/internal/simd"
)

// Select takes, element by element, the second operand where the first, a mask of Bools, is true,
// else the third. All broadcast; the last two are of the result's dtype, any. Where the mask has
// one element for a row or for all, whole rows are copied, or left alone where the result shares
// their memory.
type Select struct{ elementwise }

func (Select) cheap() bool { return true }

// Bind takes mask, a and b.
func (Select) Bind(out Layout, in []Layout) Bound {
	if out.Len() == 0 {
		return idle
	}
	n := newNest(out, in[0], in[1], in[2])
	if _, cols := n.inner(); n.one(1) && cols >= leastRow {
		return n.loop(n.takeRows())
	}
	return mixLoop(simd.ChooseOf(level, out.DType.Size()), out, in)
}

// leastRow is the number of elements from which on copying a row is as fast as repeating its mask
// and choosing element by element.
const leastRow = 8

// takeRows divides the work and returns the loop that copies each row from one operand or the
// other; neighbouring rows from the same operand are one call.
func (n *nest) takeRows() rowCall {
	ones := []int{1}
	for _, hand := range []int{2, 3} {
		if n.one(hand) {
			ones = append(ones, hand)
		}
	}
	n.divide(ones...)
	n.lay, n.strewn = [maxHands]layRows{}, false // rows are laid out in the result at once
	var copies [maxHands]layRows
	var alike [maxHands]bool // rows lie as those of the result
	for _, hand := range []int{2, 3} {
		copies[hand] = copier(n, hand)
		alike[hand] = n.step(hand) == n.step(0) && n.strides[hand][n.rank-2] == n.strides[0][n.rank-2]
	}
	return func(a arrays, rows, cols int) {
		for r := 0; r < rows; {
			from, end := a.taken(r), rows
			if a.stride[1] != 0 {
				for end = r + 1; end < rows && a.taken(end) == from; {
					end++
				}
			}
			dst, src := move(a.at[0], r*a.stride[0]), move(a.at[from], r*a.stride[from])
			if dst != src || !alike[from] { // otherwise they are there
				copies[from](dst, src, end-r, cols, a.stride[0], a.stride[from], n.step(from))
			}
			r = end
		}
	}
}

// taken returns the number of the operand, 2 or 3, that the mask takes row r from.
func (a *arrays) taken(r int) int {
	if *(*bool)(unsafe.Pointer(move(a.at[1], r*a.stride[1]))) {
		return 2
	}
	return 3
}

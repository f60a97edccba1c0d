package pool

import "sync/atomic"

// maxGrains is how many grains a job may have.
const maxGrains = 1<<31 - 1

// claims is what is left to claim of a job: grains lo to hi-1. Both are in one word, so that a claim is one compare-and-swap.
// Who is late for a job and finds the next one open claims from that instead: the word is all that a claim depends on.
type claims struct {
	word atomic.Uint64 // lo : 32, hi : 32
}

func unpack(word uint64) (lo, hi uint64) { return word >> 32, word & (1<<32 - 1) }

// open makes a job of the given number of grains claimable. Nothing may be left of the one before.
func (c *claims) open(grains int) { c.word.Store(uint64(grains)) }

// left reports whether there is anything to claim.
func (c *claims) left() bool {
	lo, hi := unpack(c.word.Load())
	return lo != hi
}

// take claims one part in parts of what is left, but at least one grain, from the front or from the back: parts shrink
// towards the end of a job, so that its workers end together. When nothing is left, lo is hi.
func (c *claims) take(front bool, parts int) (lo, hi int) {
	for {
		word := c.word.Load()
		lo, hi := unpack(word)
		if lo == hi {
			return 0, 0
		}
		size := max((hi-lo)/uint64(parts), 1)
		if front {
			if c.word.CompareAndSwap(word, word+size<<32) {
				return int(lo), int(lo + size)
			}
		} else if c.word.CompareAndSwap(word, word-size) {
			return int(hi - size), int(hi)
		}
	}
}

// drop claims all that is left and returns how many grains that is.
func (c *claims) drop() int {
	lo, hi := unpack(c.word.Swap(0))
	return int(hi - lo)
}

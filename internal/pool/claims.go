package pool

import "sync/atomic"

// maxGrains is the largest number of grains of a job.
const maxGrains = 1<<31 - 1

// claims holds the grains of a job that are left to claim: lo to hi-1. Both are in one word, so
// that a claim is one compare-and-swap. A helper that is late for a job and finds the next one open
// claims from that one: a claim depends on the word alone.
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

// take claims 1/parts of the grains that are left, but at least one, from the front or from the
// back. The parts shrink towards the end of a job, so that its workers finish together. If nothing
// is left, lo equals hi.
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

// drop claims all grains that are left and returns their number.
func (c *claims) drop() int {
	lo, hi := unpack(c.word.Swap(0))
	return int(hi - lo)
}

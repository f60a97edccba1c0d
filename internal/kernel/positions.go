package kernel

// Positions are integers that are known before any run, each inside of the axis that it picks from.
type Positions struct{ at []int }

// PositionsOf reads the integers of a dense array.
func PositionsOf(l Layout, m Mem) *Positions {
	ints, p := indexOf(l), &Positions{make([]int, l.Len())}
	for i := range p.at {
		p.at[i] = int(ints.get(m, i))
	}
	return p
}

// A Placed is a kernel that takes integers, and is faster where they are known.
type Placed interface {
	Kernel
	// At returns the kernel for the given integers, all of those that the whole operand has. It
	// takes the operand none the less: a kernel bound to a block of it reads it.
	At(p *Positions) Kernel
}

// all returns the positions of a whole operand; ok is false where they are not known, or where l is
// the layout of a block of it.
func (p *Positions) all(l Layout) (at []int, ok bool) {
	if p == nil || l.Len() != len(p.at) {
		return nil, false
	}
	return p.at, true
}

// progression returns the distance of neighbours where that is the same throughout.
func progression(at []int) (step int, ok bool) {
	if len(at) < 2 {
		return 1, len(at) == 1
	}
	step = at[1] - at[0]
	for i := 2; i < len(at); i++ {
		if at[i]-at[i-1] != step {
			return 0, false
		}
	}
	return step, true
}

// A streak is positions that follow each other: n from number from on, the first of them at.
type streak struct{ from, n, at int }

// streaks divides positions into as few streaks as there can be.
func streaks(at []int) (all []streak) {
	for i, p := range at {
		if i == 0 || p != at[i-1]+1 {
			all = append(all, streak{i, 0, p})
		}
		all[len(all)-1].n++
	}
	return all
}

// longStreak is the number of bytes of a streak from which on copying it as one is faster than
// going position by position.
const longStreak = 64

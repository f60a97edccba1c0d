package tape

import "github.com/tapestry-ml/tapestry/internal/kernel"

// Seed returns the seed that [Seed] set, 0 without it.
func (s *Store) Seed() uint64 { return s.seed }

// Step returns the number of steps committed so far. Random draws depend on it.
func (s *Store) Step() uint64 { return s.step }

// Runs returns the number of runs since the last commit that drew random numbers and had nothing to
// update: samples, predictions with dropout, measurements with noise. The draws of the next such
// run depend on it; those of the next step do not: the first run without updates after a commit
// draws, where keys are equal, what the next step will draw. All VMs that share a store add to its
// counts, whatever their programs.
func (s *Store) Runs() uint64 { return s.runs }

// Resume sets seed, step and runs: with the values that a store had then, the next run is the one
// that followed there, bit for bit. It is also how draws are repeated on purpose: before each of
// several runs without updates,
//
//	store.Resume(store.Seed(), store.Step(), 0)
//
// makes all of them draw the numbers that the next step of training has.
func (s *Store) Resume(seed, step, runs uint64) { s.seed, s.step, s.runs = seed, step, runs }

// stream returns the seed of the next run's draws. For a run with updates it does not depend on the
// runs since the last one, so that measuring and sampling change no bit of a training.
func (s *Store) stream(updates bool) uint64 {
	if updates {
		return s.seed
	}
	return kernel.Stream(s.seed, s.runs)
}

// count counts a run that has ended well.
func (s *Store) count(updates, draws bool) {
	switch {
	case updates:
		s.step, s.runs = s.step+1, 0
	case draws:
		s.runs++
	}
}

// Draws reports whether a run draws random numbers, and so counts in [Store.Runs] if it updates
// nothing.
func (p *Program) Draws() bool { return p != nil && p.draws() }

// draws reports whether a run draws random numbers, in the bodies of loops too.
func (p *Program) draws() bool {
	for i := range p.instrs {
		switch k := p.instrs[i].kernel.(type) {
		case kernel.Random:
			return true
		case *loop:
			if k.body.draws() {
				return true
			}
		}
	}
	return false
}

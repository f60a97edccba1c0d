package inspect

import "github.com/tapestry-ml/tapestry/tape"

// Snapshots keeps earlier states of a training in bounded memory, so that any step can be
// returned to: copies of the store at the steps that are multiples of some number. When memory is
// full, every other copy but the first is dropped, and the number doubles. The zero value keeps
// nothing. Snapshots must not be used by several goroutines at once.
type Snapshots struct {
	every int
	most  int // copies; at least 2
	at    map[int]*tape.Store
}

// MostSnapshots is the default limit on the number of copies; with so many, one is never far.
const MostSnapshots = 1024

// NewSnapshots keeps copies of stores like first, the store of step 0, in the given number of
// bytes: at least two copies, and at most most, or MostSnapshots if most is 0.
func NewSnapshots(bytes, most int, first *tape.Store) *Snapshots {
	if first == nil {
		return &Snapshots{}
	}
	if most <= 0 {
		most = MostSnapshots
	}
	return &Snapshots{every: 1, most: min(max(2, bytes/max(1, storeBytes(first))), max(2, most)), at: map[int]*tape.Store{0: first.Clone()}}
}

// storeBytes returns the memory of the values of a store.
func storeBytes(s *tape.Store) (n int) {
	for _, path := range s.Paths() {
		if t, err := s.Get(path); err == nil {
			n += int(t.MemSize())
		}
	}
	return n
}

// Every returns the number of steps between two copies; 0 if nothing is kept.
func (k *Snapshots) Every() int {
	if k == nil {
		return 0
	}
	return k.every
}

// Len returns the number of copies.
func (k *Snapshots) Len() int {
	if k == nil {
		return 0
	}
	return len(k.at)
}

// Note copies the store of a step, if the step is one of those to keep.
func (k *Snapshots) Note(step int, store *tape.Store) {
	if k == nil || k.every == 0 || store == nil || step < 0 || step%k.every != 0 || k.at[step] != nil {
		return
	}
	for len(k.at) >= k.most {
		k.every *= 2
		for at := range k.at {
			if at%k.every != 0 {
				delete(k.at, at)
			}
		}
		if step%k.every != 0 {
			return
		}
	}
	k.at[step] = store.Clone()
}

// Before returns the latest step kept that is not after step, and a copy of its store, which the
// caller owns; the store is nil if nothing is kept.
func (k *Snapshots) Before(step int) (int, *tape.Store) {
	if k == nil || k.at[0] == nil {
		return 0, nil
	}
	best := 0
	for at := range k.at {
		if at <= step {
			best = max(best, at)
		}
	}
	return best, k.at[best].Clone()
}

package inspect

import "github.com/tapestry-ml/tapestry/tape"

// Snapshots keep what a training has come to, in bounded memory, so that any step can be gone back to:
// copies of the store at steps that are multiples of some number. Where there is no memory for one
// more, every other one is dropped, the first never, and the number doubles. The zero value keeps
// nothing. It is for one goroutine.
type Snapshots struct {
	every int
	most  int // of them; at least 2
	at    map[int]*tape.Store
}

// MostSnapshots is enough to be never far from one.
const MostSnapshots = 1024

// NewSnapshots keeps copies of stores like the first, which is that of step 0, in so many bytes, but
// at least two and at most as many as are given, or MostSnapshots for 0.
func NewSnapshots(bytes, most int, first *tape.Store) *Snapshots {
	if first == nil {
		return &Snapshots{}
	}
	if most <= 0 {
		most = MostSnapshots
	}
	return &Snapshots{every: 1, most: min(max(2, bytes/max(1, storeBytes(first))), max(2, most)), at: map[int]*tape.Store{0: first.Clone()}}
}

// storeBytes is the memory of the values of a store.
func storeBytes(s *tape.Store) (n int) {
	for _, path := range s.Paths() {
		if t, err := s.Get(path); err == nil {
			n += int(t.MemSize())
		}
	}
	return n
}

// Every is the number of steps between two that are kept; 0 where nothing is.
func (k *Snapshots) Every() int {
	if k == nil {
		return 0
	}
	return k.every
}

// Len is the number of those kept.
func (k *Snapshots) Len() int {
	if k == nil {
		return 0
	}
	return len(k.at)
}

// Note keeps a copy of the store of a step, if it is one of those to keep.
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

// Before gives the latest step kept that is not after the given one, with a copy of its store, which
// is the caller's own; nil where nothing is kept.
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

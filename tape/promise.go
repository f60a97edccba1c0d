package tape

import "sync"

// promised is how many bytes the VMs of this process have been granted and not touched yet. The system counts memory when it is
// touched: without this sum each of several VMs would be granted what is there for one. It is the process's, as its memory is.
var promised struct {
	sync.Mutex
	bytes int64
}

// A promise is the memory of one VM until its first run has touched it.
type promise struct{ bytes int64 }

// granted checks that a VM fits, and promises it its arrays.
func (p *Program) granted(o *vmOptions, s *Store) (*promise, error) {
	promised.Lock()
	defer promised.Unlock()
	if err := p.fits(o, s); err != nil || int64(p.arena) <= cheap {
		return nil, err
	}
	promised.bytes += int64(p.arena)
	return &promise{int64(p.arena)}, nil
}

// kept ends the promise: the memory has been taken, or never will be.
func (p *promise) kept() {
	if p != nil {
		promised.Lock()
		defer promised.Unlock()
		promised.bytes -= p.bytes
		p.bytes = 0
	}
}

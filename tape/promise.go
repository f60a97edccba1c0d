package tape

import (
	"sync"

	"github.com/tapestry-ml/tapestry/internal/memory"
)

// grants lets VMs be granted memory one after the other.
var grants sync.Mutex

// granted checks that a VM fits, and promises it its arrays, until its first run has touched them.
func (p *Program) granted(o *vmOptions, s *Store) (*memory.Promise, error) {
	grants.Lock()
	defer grants.Unlock()
	if err := p.fits(o, s); err != nil || p.arena < 1<<20 { // less is not worth the bookkeeping
		return nil, err
	}
	return memory.Promised(int64(p.arena)), nil
}

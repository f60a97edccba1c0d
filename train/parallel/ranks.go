package parallel

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DefaultLanes is the number of lanes where none is given, and MaxLanes the largest. DefaultTimeout
// is how long a rank waits for another.
const (
	DefaultLanes   = 8
	MaxLanes       = 1024
	DefaultTimeout = time.Minute
)

// ErrLost is wrapped by the errors of a job that lost a rank.
var ErrLost = errors.New("a rank is lost")

// Config says how the ranks of a job share the work.
type Config struct {
	Lanes   int           // a multiple of the number of ranks, at most MaxLanes; 0 for DefaultLanes
	Shard   bool          // each rank keeps the optimiser's states of a part of the parameters
	Timeout time.Duration // how long a rank waits for another; 0 for what the transport was told, or DefaultTimeout
}

// Ranks are the ranks of a job, seen from one of them, and the lanes that they share out. All ranks
// call the methods that take a context in the same order. It is for one goroutine, but for Abort.
type Ranks struct {
	transport Transport // nil for one rank
	config    Config
}

// Alone returns a job of one rank, which has all lanes.
func Alone(c Config) (*Ranks, error) { return Join(context.Background(), nil, c) }

// Join returns the job that a transport connects; a nil transport is one of a single rank. It is an
// error if the ranks do not divide the lanes, or if ranks were given different configurations: the
// error names what differs, and where. The transport then waits for as long as the configuration
// says, if it says so (see [Transport]). The cost is that of [Ranks.Agree].
func Join(ctx context.Context, t Transport, c Config) (*Ranks, error) {
	if c.Lanes == 0 {
		c.Lanes = DefaultLanes
	}
	r := &Ranks{transport: t, config: c}
	if t != nil && (t.Ranks() < 1 || t.Rank() < 0 || t.Rank() >= t.Ranks()) {
		return nil, fmt.Errorf("parallel: %v says that this is rank %d of %d", t, t.Rank(), t.Ranks())
	}
	if t, ok := t.(interface{ SetTimeout(time.Duration) }); ok && c.Timeout > 0 {
		t.SetTimeout(c.Timeout)
	}
	err := r.Agree(ctx, Fact{"lanes", fmt.Sprint(c.Lanes)}, Fact{"sharding", fmt.Sprint(c.Shard)}, Fact{"byte order", order})
	switch {
	case err != nil:
		return nil, err
	case c.Lanes < 1 || c.Lanes > MaxLanes:
		return nil, fmt.Errorf("parallel: %d lanes: want 1 to %d", c.Lanes, MaxLanes)
	case c.Lanes%r.Count() != 0:
		return nil, fmt.Errorf("parallel: %d ranks do not divide %d lanes", r.Count(), c.Lanes)
	}
	return r, nil
}

// Rank returns the number of this rank, counted from 0.
func (r *Ranks) Rank() int {
	if r == nil || r.transport == nil {
		return 0
	}
	return r.transport.Rank()
}

// Count returns the number of ranks.
func (r *Ranks) Count() int {
	if r == nil || r.transport == nil {
		return 1
	}
	return r.transport.Ranks()
}

// Lanes returns the number of lanes of the job.
func (r *Ranks) Lanes() int {
	if r == nil {
		return 1
	}
	return max(1, r.config.Lanes)
}

// Own returns the lanes [from,to) of this rank.
func (r *Ranks) Own() (from, to int) { return r.Of(r.Rank()) }

// Of returns the lanes [from,to) of a rank.
func (r *Ranks) Of(rank int) (from, to int) {
	n := r.Lanes() / r.Count()
	return rank * n, (rank + 1) * n
}

// Rows returns which rows [from,to) of a batch a lane has. Lanes have as many rows as each other or,
// where the lanes do not divide the rows, one more in the first lanes; a lane may have none.
func (r *Ranks) Rows(lane, batch int) (from, to int) {
	n, more := batch/r.Lanes(), batch%r.Lanes()
	from = lane*n + min(lane, more)
	if to = from + n; lane < more {
		to++
	}
	return from, to
}

// Sharded reports whether each rank keeps the optimiser's states of its own part alone.
func (r *Ranks) Sharded() bool { return r != nil && r.config.Shard }

// Abort ends the job: exchanges of all ranks fail with the cause, as far as they can be reached.
func (r *Ranks) Abort(cause error) {
	if r != nil && r.transport != nil {
		r.transport.Abort(cause)
	}
}

// Close closes the transport.
func (r *Ranks) Close() error {
	if r == nil || r.transport == nil {
		return nil
	}
	return r.transport.Close()
}

// subtrees returns the largest subtrees that the lanes of a rank consist of.
func (r *Ranks) subtrees(rank int) []span {
	from, to := r.Of(rank)
	return subtrees(nil, span{0, r.Lanes()}, span{from, to})
}

func (r *Ranks) exchange(ctx context.Context, peer int, send, recv []byte) error {
	return r.transport.Exchange(ctx, peer, send, recv)
}

package parallel

import (
	"errors"
	"time"
)

// errNotYet says that a socket has nothing to read, or takes no more, for now.
var errNotYet = errors.New("not yet")

// patience is how many times a rank that stays awake asks its sockets in vain, which takes some tens of
// microseconds. To wait longer is to be put to sleep by the operating system; to be woken up takes
// longer than many an exchange. It does not yield to the runtime in between, which would wake a thread
// to take over, on a core that another rank may need.
const patience = 200

// swap sends and receives in turns, by one goroutine. It reports whether it is done: it is not where
// nothing moves and both directions have bytes left, for which one goroutine cannot wait.
//
// To wait for what comes alone would not do, though each rank sends all that its socket takes before it
// waits: in the last of their turns both may find their sockets full, and then read all that is in
// them. Nothing would be on its way.
func (c *conn) swap() (done bool, err error) {
	for {
		if done, err := c.swapAwake(); done || err != nil {
			return done, err
		}
		switch {
		case c.in.left() == 0:
			return true, c.out.advance()
		case c.out.left() > 0:
			return false, nil
		}
		if c.timeout > 0 {
			c.raw.SetReadDeadline(time.Now().Add(c.timeout))
		}
		if err := c.awake.wait(); err != nil {
			return false, err
		}
	}
}

// swapAwake goes on until both are done, which it reports, or nothing has moved for long.
func (c *conn) swapAwake() (done bool, err error) {
	c.asking = true
	defer func() { c.asking = false }()
	left := -1
	for idle := 0; idle < patience; idle++ {
		if now := c.out.left() + c.in.left(); now == left {
			yield()
		} else {
			left, idle = now, 0
			if c.timeout > 0 {
				c.raw.SetDeadline(time.Now().Add(c.timeout))
			}
		}
		sent, received := c.out.advance(), c.in.advance()
		switch {
		case sent != nil && sent != errNotYet:
			return false, sent
		case received != nil && received != errNotYet:
			return false, received
		case sent == nil && received == nil:
			return true, nil
		}
	}
	return false, nil
}

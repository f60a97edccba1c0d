package parallel

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// link is what connects this rank to another.
type link struct {
	rank    int
	control *conn
	data    *conn
	mu      sync.Mutex    // of writes to control
	left    chan struct{} // closed when the peer has said that it ends
	answers chan message
}

// tell sends a message, if it can be sent at once.
func (l *link) tell(m message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.control.raw.SetWriteDeadline(time.Now().Add(time.Second))
	return l.control.sendMessage(m)
}

// connect makes a link of a connection, and begins to listen to its messages.
func (s *sockets) connect(rank int, control *conn) *link {
	l := &link{rank: rank, control: control, left: make(chan struct{}), answers: make(chan message, 1)}
	control.patient(0)
	s.mu.Lock()
	s.links[rank] = l
	s.mu.Unlock()
	s.readers.Go(func() { s.hear(l) })
	return l
}

// hear does what the messages of a peer say, until the connection ends.
func (s *sockets) hear(l *link) {
	left := false
	for {
		m, err := l.control.receiveMessage(messageBytes)
		garbled := frameError("")
		switch {
		case err != nil && left:
			return
		case errors.As(err, &garbled):
			s.fail(&rankError{rank: s.rank, cause: fmt.Errorf("from rank %d: %w", l.rank, err)})
			return
		case err != nil:
			s.fail(&rankError{rank: l.rank, lost: true, cause: fmt.Errorf("its connection to rank %d ended: %w", s.rank, err)})
			return
		}
		switch m.Kind {
		case kindAbort:
			s.fail(&rankError{rank: m.Rank, lost: m.Lost, cause: errors.New(m.Text)})
			left = true
		case kindBye:
			if !left {
				close(l.left)
			}
			left = true
		case kindAsk:
			s.mu.Lock()
			waits := s.waits
			s.mu.Unlock()
			l.tell(message{Kind: kindAnswer, Rank: s.rank, Waits: waits})
		case kindAnswer:
			select {
			case l.answers <- m:
			default:
			}
		}
	}
}

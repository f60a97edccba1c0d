package parallel

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// rankError is why a job ended: what rank it came from, or which one is lost. All ranks that the
// cause has reached say the same.
type rankError struct {
	rank  int
	lost  bool
	cause error // of this rank, or a text that came from another
}

func (e *rankError) Error() string {
	if e.lost {
		return fmt.Sprintf("parallel: rank %d is lost: %v", e.rank, e.cause)
	}
	return fmt.Sprintf("parallel: rank %d: %v", e.rank, e.cause)
}

func (e *rankError) Unwrap() []error {
	if e.lost {
		return []error{ErrLost, e.cause}
	}
	return []error{e.cause}
}

// abortion is the message that tells others of the cause.
func (s *sockets) abortion(cause error) message {
	m := message{Kind: kindAbort, Rank: s.rank, Text: strings.TrimPrefix(cause.Error(), "parallel: ")}
	if e := (*rankError)(nil); errors.As(cause, &e) {
		m.Rank, m.Lost, m.Text = e.rank, e.lost, e.cause.Error()
	}
	if len(m.Text) > textBytes {
		m.Text = m.Text[:textBytes] + " …"
	}
	return m
}

// grace is how long a rank waits for a message that says more of what has happened.
const grace = time.Second

// broken ends the job for an error of an exchange with a peer, and returns the cause that the job
// ended with, which another may have given before.
func (s *sockets) broken(l *link, err error) error {
	s.asking.Lock()
	defer s.asking.Unlock()
	garbled := frameError("")
	switch {
	case s.err() != nil:
	case errors.As(err, &garbled):
		s.fail(&rankError{rank: s.rank, cause: fmt.Errorf("from rank %d: %w", l.rank, err)})
	case errors.Is(err, os.ErrDeadlineExceeded):
		if err := s.blame(l.rank); err != nil {
			s.fail(err)
		}
	default:
		select {
		case <-s.failed:
		case <-l.left:
			s.fail(&rankError{rank: l.rank, lost: true, cause: fmt.Errorf("it has closed its transport, and rank %d waits for it", s.rank)})
		case <-time.After(grace):
			s.fail(&rankError{rank: l.rank, lost: true, cause: fmt.Errorf("its connection to rank %d ended: %w", s.rank, err)})
		}
	}
	return s.err()
}

// blame finds out which rank it is that keeps others waiting, from a peer that has been silent for
// the timeout: whether it answers at all, and whom it waits for itself. It returns nil if the job
// ends meanwhile.
func (s *sockets) blame(peer int) error {
	asked := make([]bool, len(s.links))
	asked[s.rank] = true
	by := s.rank
	for rank := peer; ; {
		asked[rank] = true
		waits, ok := s.ask(rank)
		lost := &rankError{rank: rank, lost: true}
		switch {
		case s.err() != nil:
			return nil
		case !ok:
			lost.cause = fmt.Errorf("rank %d has heard nothing from it for %v, and it does not answer", by, s.timeout)
			return lost
		case waits < 0 || waits >= len(s.links):
			lost.cause = fmt.Errorf("rank %d has waited for it for %v, and it is at work still", by, s.timeout)
			return lost
		case asked[waits]:
			lost.cause = fmt.Errorf("rank %d has waited for it for %v, and it waits for rank %d: nothing comes through between them", by, s.timeout, waits)
			return lost
		}
		by, rank = rank, waits
	}
}

// ask returns which rank another waits for, −1 if for none, if it says so.
func (s *sockets) ask(rank int) (waits int, ok bool) {
	l := s.links[rank]
	select {
	case <-l.answers: // to a question asked before
	default:
	}
	if l.tell(message{Kind: kindAsk, Rank: s.rank}) != nil {
		return 0, false
	}
	select {
	case m := <-l.answers:
		return m.Waits, true
	case <-s.failed:
	case <-time.After(grace):
	}
	return 0, false
}

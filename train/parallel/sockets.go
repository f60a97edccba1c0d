package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// DialOption is an option of [Dial]: [Key], [Timeout].
type DialOption func(*dialing)

// Key gives a secret that all ranks of the job share. With it the ranks speak TLS 1.3 and each
// proves to the other that it has the key; without it ranks are reached over the loopback and Unix
// sockets alone. It has 32 bytes or more, which nobody can guess: openssl rand -hex 32 writes some.
func Key(key []byte) DialOption { return func(d *dialing) { d.key, d.keyed = key, true } }

// Timeout is how long a rank waits for the others, [DefaultTimeout] unless told otherwise: for all of
// them to come at the start, and then, where [Config] says nothing else, for each byte of an exchange.
func Timeout(t time.Duration) DialOption { return func(d *dialing) { d.timeout = t } }

// dialing is what Dial was asked for.
type dialing struct {
	rank, ranks int
	key         []byte
	keyed       bool
	timeout     time.Duration

	// route gives the address to dial for that of a rank; a test puts a proxy between.
	route func(rank int, address string) string
}

// Dial connects this process, a rank of so many, to the others of its job. The address is that of
// rank 0, where the ranks meet; all give the same:
//
//	tcp://HOST:PORT    the ranks are on any machines; beyond the loopback they need a Key
//	unix:///PATH       the ranks are on one machine, of one user
//
// Without a key, any user of the machine can reach a port of the loopback, and spoil the job.
//
// The ranks may start in any order. Rank 0 listens at the address; each other rank goes there, tells
// where it can be reached itself, at a port of its own on the same interface or at PATH.RANK, and
// is told where the others are. Then each two ranks are connected, and nobody listens any more.
//
// Dial returns once this rank is connected to all others, or fails after three timeouts and some
// seconds at the most. It fails on this rank and on those that have come if two processes claim one
// rank number, if ranks count the ranks differently, or speak different versions of the protocol: the
// error says which. A rank whose key differs is told so, and so is rank 0 if nobody comes in its
// place. What a stranger sends is passed over.
//
// An exchange takes as long as it must, if only bytes flow: it fails when for the length of the
// timeout no byte comes that is due, or the peer takes none of what is sent, counted in pieces of
// 256 KiB. What is sent has checksums and numbers: bytes that are garbled, missing, repeated or out
// of order are an error. The end of a process is seen at once by all others, whomever they wait for,
// and so is Abort, whose cause is in their errors. The end of the context of an exchange ends the
// job as Abort does.
func Dial(ctx context.Context, address string, rank, ranks int, options ...DialOption) (Transport, error) {
	d := dialing{rank: rank, ranks: ranks, timeout: DefaultTimeout}
	for _, o := range options {
		if o != nil {
			o(&d)
		}
	}
	at, err := parseAddress(address)
	switch {
	case ctx == nil:
		return nil, errors.New("parallel: Dial: no context")
	case err != nil:
		return nil, err
	case ranks < 1 || ranks > MaxLanes:
		return nil, fmt.Errorf("parallel: %d ranks: want 1 to %d", ranks, MaxLanes)
	case rank < 0 || rank >= ranks:
		return nil, fmt.Errorf("parallel: rank %d of %d: ranks are counted from 0 to %d", rank, ranks, ranks-1)
	case d.timeout <= 0:
		return nil, fmt.Errorf("parallel: timeout %v: want a positive one", d.timeout)
	}
	s := &sockets{network: at.network, rank: rank, timeout: d.timeout, links: make([]*link, ranks),
		outgoing: make(chan *link), sent: make(chan error, 1), failed: make(chan struct{}), waits: -1}
	if d.keyed {
		if s.identity, err = identify(d.key); err != nil {
			return nil, err
		}
	}
	go s.send()
	if s.connectAll(ctx, at, d.route) != nil {
		s.Close()
		return nil, s.err()
	}
	return s, nil
}

// sockets is a transport over connections of package net, two for each two ranks: one for
// exchanges, which goroutines of Exchange alone read and write, and one for messages, on which a
// goroutine of its own waits, so that the end of a peer is seen whatever this rank does.
type sockets struct {
	network  string
	rank     int
	timeout  time.Duration
	identity *identity // nil without a key
	links    []*link   // by rank; nil for this one, and for those that have not come

	outgoing chan *link // to the goroutine that sends what is long
	sent     chan error
	readers  sync.WaitGroup

	end    sync.Once
	cause  error         // valid once failed is closed
	failed chan struct{} // closed when the job has ended on this rank, well or badly

	mu      sync.Mutex
	closed  bool
	within  <-chan struct{} // of the context of the exchange under way
	watched <-chan struct{} // of the context that release belongs to
	release func() bool
	waits   int // the rank that the exchange under way waits for, or −1

	asking sync.Mutex // of broken
}

func (s *sockets) Rank() int {
	if s == nil {
		return 0
	}
	return s.rank
}

func (s *sockets) Ranks() int {
	if s == nil {
		return 1
	}
	return len(s.links)
}

// SetTimeout sets how long a peer may be silent. [Join] calls it.
func (s *sockets) SetTimeout(wait time.Duration) {
	if s == nil || wait <= 0 {
		return
	}
	s.timeout = wait
	for _, l := range s.links {
		if l != nil {
			l.data.patient(wait)
		}
	}
}

func (s *sockets) String() string {
	if s == nil {
		return "no sockets"
	}
	name := s.network
	if s.identity != nil {
		name += " with TLS"
	}
	return fmt.Sprintf("%s, %d ranks", name, len(s.links))
}

// inline is the length up to which bytes are sent over TLS by the goroutine that then receives. Two
// ranks that do so at once do not wait for each other: the buffers of any socket hold as much, and a
// rank that is at this exchange has received all of the one before.
const inline = 4 << 10

func (s *sockets) Exchange(ctx context.Context, peer int, send, recv []byte) error {
	switch {
	case s == nil:
		return errors.New("parallel: exchange on no transport")
	case ctx == nil:
		return errors.New("parallel: exchange without a context")
	case peer < 0 || peer >= len(s.links) || peer == s.rank:
		return fmt.Errorf("parallel: rank %d of %d: no exchange with rank %d", s.rank, len(s.links), peer)
	}
	if err := s.begin(ctx, peer); err != nil {
		return err
	}
	defer s.finish()
	l := s.links[peer]
	l.data.out.slice, l.data.in.slice = send, recv
	aside := len(send) > inline
	if l.data.awake != nil {
		done, err := l.data.swap()
		switch {
		case err != nil:
			return s.broken(l, err)
		case done:
			return nil
		}
		aside = true
	}
	if aside {
		select {
		case s.outgoing <- l:
		case <-s.failed:
			return s.cause
		}
	} else if err := l.data.out.advance(); err != nil {
		return s.broken(l, err)
	}
	err := l.data.in.advance()
	if err != nil {
		err = s.broken(l, err)
	}
	if aside {
		if e := <-s.sent; err == nil {
			err = e
		}
	}
	return err
}

// send writes what Exchange cannot write while it reads.
func (s *sockets) send() {
	for {
		select {
		case l := <-s.outgoing:
			err := l.data.out.advance()
			if err != nil {
				err = s.broken(l, err)
			}
			s.sent <- err
		case <-s.failed:
			return
		}
	}
}

// begin watches the context of an exchange.
func (s *sockets) begin(ctx context.Context, peer int) error {
	if err := s.err(); err != nil {
		return err
	}
	done := ctx.Done()
	s.mu.Lock()
	if done != s.watched {
		if s.release != nil {
			s.release()
		}
		s.watched, s.release = done, nil
		if done != nil {
			s.release = context.AfterFunc(ctx, func() {
				s.mu.Lock()
				ours := s.within == done
				s.mu.Unlock()
				if ours {
					s.fail(s.ended(ctx))
				}
			})
		}
	}
	s.within, s.waits = done, peer
	s.mu.Unlock()
	if ctx.Err() != nil {
		s.finish()
		s.fail(s.ended(ctx))
		return s.err()
	}
	return nil
}

func (s *sockets) ended(ctx context.Context) error {
	return &rankError{rank: s.rank, cause: context.Cause(ctx)}
}

func (s *sockets) finish() {
	s.mu.Lock()
	s.within, s.waits = nil, -1
	s.mu.Unlock()
}

// err returns why the job has ended on this rank, nil while it goes on.
func (s *sockets) err() error {
	select {
	case <-s.failed:
		return s.cause
	default:
		return nil
	}
}

// fail ends the job on this rank with the first cause that it is given, and tells the other ranks.
// When it returns they have been told.
func (s *sockets) fail(cause error) {
	s.over(cause, func() message { return s.abortion(cause) })
}

func (s *sockets) over(cause error, last func() message) {
	s.end.Do(func() {
		s.cause = cause
		close(s.failed)
		m := last()
		s.mu.Lock()
		links := append([]*link(nil), s.links...)
		s.mu.Unlock()
		for _, l := range links {
			if l != nil {
				l.tell(m) // who cannot be told sees this process end
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, l := range s.links {
			if l != nil && l.data != nil {
				l.data.raw.Close() // which ends the exchange under way
			}
		}
	})
}

func (s *sockets) Abort(cause error) {
	if s == nil {
		return
	}
	if cause == nil {
		cause = errors.New("aborted")
	}
	s.fail(&rankError{rank: s.rank, cause: cause})
}

func (s *sockets) Close() error {
	if s == nil {
		return nil
	}
	s.over(errClosed, func() message { return message{Kind: kindBye, Rank: s.rank} })
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	if s.release != nil {
		s.release()
	}
	s.mu.Unlock()
	for _, l := range s.links {
		if l != nil {
			l.control.raw.Close()
			if l.data != nil {
				l.data.raw.Close()
			}
		}
	}
	s.readers.Wait()
	return nil
}

var _ Transport = (*sockets)(nil)

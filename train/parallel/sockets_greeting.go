package parallel

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// protocol is the version of what ranks say to each other.
const protocol = 1

// Limits of what others may send.
const (
	textBytes    = 2000     // of the cause of an abort
	messageBytes = 16 << 10 // of a message
	tableBytes   = 1 << 20  // of the message that has the addresses of all ranks
	addressBytes = 128      // of one of them
	strangers    = 128      // connections that are being greeted at once
)

// greetingTime is how long a greeting may take.
const greetingTime = 10 * time.Second

// preambleBytes is the length of the first thing that both sides of a connection send, before they
// know anything of each other: "TAPESTRY", the version of the protocol in two bytes, a byte that is
// 1 if the sender has a key, and a zero.
const preambleBytes = 12

const preambleMagic = "TAPESTRY"

// message is what is sent in one frame where it is not an exchange, as JSON.
type message struct {
	Kind  string   // see below
	Rank  int      // the sender; of an abort, where its cause comes from or who is lost
	Ranks int      `json:",omitempty"` // how many the sender counts
	To    int      `json:",omitempty"` // whom it wants
	Job   string   `json:",omitempty"` // a number that rank 0 has drawn
	At    string   `json:",omitempty"` // where the sender listens
	Table []string `json:",omitempty"` // where all ranks listen
	Text  string   `json:",omitempty"`
	Lost  bool     `json:",omitempty"`
	Waits int      `json:",omitempty"` // the rank that the sender waits for, or −1
}

// The kinds of messages, and who sends them when.
const (
	kindJoin    = "join"    // to rank 0, first: Rank, Ranks, At; becomes the connection for messages
	kindTable   = "table"   // from rank 0, when all have joined: Job, Table
	kindControl = "control" // to a lower rank, first: Rank, To, Job; is to be the connection for messages
	kindData    = "data"    // the same for exchanges
	kindWelcome = "welcome" // the answer to control and data
	kindRefusal = "refusal" // the answer to join, control and data: Text
	kindAbort   = "abort"   // the job has ended: Rank, Text, Lost
	kindBye     = "bye"     // the sender has ended well
	kindAsk     = "ask"     // what do you do?
	kindAnswer  = "answer"  // Waits
)

// parseMessage reads a message, and checks what can be without knowing the job.
func parseMessage(b []byte) (message, error) {
	var m message
	if err := json.Unmarshal(b, &m); err != nil {
		return message{}, frameError(fmt.Sprintf("a message cannot be read: %v", err))
	}
	bad := m.Rank < 0 || m.Rank >= MaxLanes || m.Ranks < 0 || m.Ranks > MaxLanes || m.To < 0 || m.To >= MaxLanes ||
		m.Waits < -1 || m.Waits >= MaxLanes || len(m.Table) > MaxLanes || len(m.At) > addressBytes
	for _, at := range m.Table {
		bad = bad || len(at) > addressBytes
	}
	if bad {
		return message{}, frameError("a message has numbers beyond their limits")
	}
	return m, nil
}

func (c *conn) sendMessage(m message) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return c.out.write(b)
}

func (c *conn) receiveMessage(limit int) (message, error) {
	b, err := c.in.message(limit)
	if err != nil {
		return message{}, err
	}
	return parseMessage(b)
}

// refused says why two processes do not go together. It is no use to try again.
type refused string

func (r refused) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refused(fmt.Sprintf(format, args...)) }

func preamble(version uint16, keyed bool) [preambleBytes]byte {
	var b [preambleBytes]byte
	copy(b[:], preambleMagic)
	binary.LittleEndian.PutUint16(b[8:], version)
	if keyed {
		b[10] = 1
	}
	return b
}

// checkPreamble compares a preamble with one's own. A stranger's is an error that is not refused.
func checkPreamble(theirs, ours [preambleBytes]byte) error {
	if string(theirs[:8]) != preambleMagic {
		return fmt.Errorf("what is there is no rank of a job: it begins with %q", theirs[:8])
	}
	if v, w := binary.LittleEndian.Uint16(theirs[8:]), binary.LittleEndian.Uint16(ours[8:]); v != w {
		return refuse("it speaks version %d of the protocol, and this rank version %d: run one version of the program on all ranks", v, w)
	}
	switch {
	case theirs[10] == ours[10]:
		return nil
	case ours[10] == 1:
		return refuse("it was given no key, and this rank was: give all ranks the same, or none")
	}
	return refuse("it was given a key, and this rank was not: give all ranks the same, or none")
}

// greet makes sure that the other side of a connection is a rank, of this version and with the key.
func (s *sockets) greet(ctx context.Context, c *conn, server bool) error {
	if s.identity == nil && !onLoopback(c.raw) {
		return beyond(c.raw.RemoteAddr().String())
	}
	ours := preamble(protocol, s.identity != nil)
	var theirs [preambleBytes]byte
	if _, err := c.raw.Write(ours[:]); err != nil {
		return err
	}
	if _, err := io.ReadFull(c.raw, theirs[:]); err != nil {
		return err
	}
	if err := checkPreamble(theirs, ours); err != nil || s.identity == nil {
		return err
	}
	return s.identity.secure(ctx, c, server)
}

// arrival is a connection that has been greeted, and its first message; or what was wrong with it.
type arrival struct {
	conn    *conn
	message message
	err     error
	from    string
}

// accept greets who comes, each in a goroutine of its own, until the context ends.
func (s *sockets) accept(ctx context.Context, l net.Listener, arrivals chan<- arrival, done *sync.WaitGroup) {
	room := make(chan struct{}, strangers)
	context.AfterFunc(ctx, func() { l.Close() })
	done.Go(func() {
		for {
			raw, err := l.Accept()
			switch {
			case ctx.Err() != nil:
				if err == nil {
					raw.Close()
				}
				return
			case err != nil: // such as too many open files: others may go
				time.Sleep(10 * time.Millisecond)
				continue
			}
			room <- struct{}{}
			done.Go(func() {
				defer func() { <-room }()
				a := s.receive(ctx, raw)
				select {
				case arrivals <- a: // who takes it closes it
				case <-ctx.Done():
					if a.err == nil {
						s.dismiss(a.conn)
					}
				}
			})
		}
	})
}

// receive greets one of them. The connection is closed if there is an error; where the job ends
// meanwhile, the other side, which may have been greeted in full, is told why.
func (s *sockets) receive(ctx context.Context, raw net.Conn) arrival {
	ctx, cancel := context.WithTimeout(ctx, min(greetingTime, s.timeout))
	defer cancel()
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		raw.SetDeadline(time.Unix(1, 0))
		close(over)
	})
	a := arrival{conn: newConn(raw, 0), from: raw.RemoteAddr().String()}
	a.err = s.greet(ctx, a.conn, true)
	if !stop() {
		<-over
		if s.identity == nil && (a.err == nil || errors.Is(a.err, os.ErrDeadlineExceeded)) {
			s.dismiss(a.conn)
		}
		raw.Close()
		a.err = context.Cause(ctx)
		return a
	}
	if a.err == nil {
		stop = context.AfterFunc(ctx, func() { s.dismiss(a.conn) })
		if a.message, a.err = a.conn.receiveMessage(messageBytes); !stop() {
			a.err = context.Cause(ctx)
			return a
		}
	}
	if a.err != nil {
		raw.Close()
	}
	return a
}

// dismiss closes the connection to one who has come in vain, and says why if the job has ended.
func (s *sockets) dismiss(c *conn) {
	if err := s.err(); err != nil {
		c.raw.SetWriteDeadline(time.Now().Add(grace))
		c.sendMessage(s.abortion(err))
	}
	c.raw.Close()
}

// call reaches a rank at one of its addresses, and goes on trying: it may not be there yet.
func (s *sockets) call(ctx context.Context, rank int, where func(context.Context) ([]string, error)) (*conn, error) {
	const longest = 500 * time.Millisecond
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, longest) {
		var c *conn
		all, err := where(ctx)
		for _, at := range all {
			if c, err = s.try(ctx, at); err == nil {
				return c, nil
			}
			if final := refused(""); errors.As(err, &final) {
				break
			}
		}
		if final := refused(""); errors.As(err, &final) {
			return nil, fmt.Errorf("parallel: rank %d at %s: %w", rank, all, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("parallel: rank %d was not reached within %v: %w", rank, s.timeout, err)
		case <-time.After(pause):
		}
	}
}

func (s *sockets) try(ctx context.Context, at string) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, min(greetingTime, s.timeout))
	defer cancel()
	var d net.Dialer
	raw, err := d.DialContext(ctx, s.network, at)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	c := newConn(raw, 0)
	if err = s.greet(ctx, c, false); !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		raw.Close()
		return nil, err
	}
	return c, nil
}

// Package linkfault is a link between two processes that does what links do: it is cut, it delays,
// garbles, omits and repeats bytes, or is silent. A test puts a [Proxy] on the loopback in between:
//
//	p, err := linkfault.New("127.0.0.1:7000", linkfault.Fault{Kind: linkfault.Garble, After: 1000})
//	defer p.Close()
//	c, err := net.Dial("tcp", p.Address()) // one bit of what c sends is another at 127.0.0.1:7000
package linkfault

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Kind is what happens to a link.
type Kind string

// The kinds of faults.
const (
	Cut     Kind = "cut"     // both sides see the end of the connection
	Reset   Kind = "reset"   // both sides see that it is reset
	Garble  Kind = "garble"  // one bit is another
	Silence Kind = "silence" // nothing comes any more
	Omit    Kind = "omit"    // up to 100 bytes are missing
	Repeat  Kind = "repeat"  // bytes come twice
	Delay   Kind = "delay"   // nothing comes for the time of Fault.Wait
	Slow    Kind = "slow"    // ten bytes come one by one, with a tenth of Fault.Wait between them
)

// Kinds returns all kinds of faults.
func Kinds() []Kind { return []Kind{Cut, Reset, Garble, Silence, Omit, Repeat, Delay, Slow} }

// Fault is what happens once to one direction of one connection, after so many of its bytes.
type Fault struct {
	Kind       Kind
	Connection int  // the first that is made is 0
	Back       bool // to what comes back to the side that has dialled, not to what it sends
	After      int
	Wait       time.Duration
}

// String returns "cut of connection 1 after 400 bytes back".
func (f Fault) String() string {
	direction := "forward"
	if f.Back {
		direction = "back"
	}
	return fmt.Sprintf("%s of connection %d after %d bytes %s", f.Kind, f.Connection, f.After, direction)
}

// Proxy passes all connections on to one address.
type Proxy struct {
	listener net.Listener
	target   string
	fault    Fault
	hit      atomic.Bool
	done     chan struct{}
	running  sync.WaitGroup

	mu     sync.Mutex
	open   []net.Conn
	closed bool
}

// New starts a proxy for a TCP address, which has one fault. A connection that the address does not
// take is closed and not counted.
func New(target string, f Fault) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, fault: f, done: make(chan struct{})}
	p.running.Go(p.accept)
	return p, nil
}

// Address returns the address to dial instead: 127.0.0.1:PORT.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Hit reports whether the fault has happened.
func (p *Proxy) Hit() bool { return p.hit.Load() }

// Close closes all connections.
func (p *Proxy) Close() {
	p.listener.Close()
	p.mu.Lock()
	if !p.closed {
		close(p.done)
	}
	p.closed = true
	for _, c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

// keep has a connection closed with the proxy.
func (p *Proxy) keep(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, c)
	if p.closed {
		c.Close()
	}
}

func (p *Proxy) accept() {
	for count := 0; ; {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", p.target)
		if err != nil { // nobody is there yet
			from.Close()
			continue
		}
		p.keep(from)
		p.keep(to)
		faulty := count == p.fault.Connection
		count++
		p.running.Go(func() { p.copy(to, from, faulty && !p.fault.Back) })
		p.running.Go(func() { p.copy(from, to, faulty && p.fault.Back) })
	}
}

// copy passes bytes on until one side ends.
func (p *Proxy) copy(to, from net.Conn, faulty bool) {
	defer to.(*net.TCPConn).CloseWrite()
	buffer := make([]byte, 32<<10)
	seen := 0
	for {
		n, end := from.Read(buffer)
		b := buffer[:n]
		if at := p.fault.After - seen; faulty && at < n {
			faulty = false
			p.hit.Store(true)
			if b = p.spoil(to, from, b, at); b == nil {
				return
			}
		}
		seen += n
		if _, err := to.Write(b); err != nil || end != nil {
			return
		}
	}
}

// spoil does what the fault is to bytes from one of them on, and returns those that are still to be
// sent; nil ends the connection.
func (p *Proxy) spoil(to, from net.Conn, b []byte, at int) []byte {
	if p.fault.Kind != Garble {
		to.Write(b[:at])
	}
	switch rest := b[at:]; p.fault.Kind {
	case Reset, Cut:
		if p.fault.Kind == Reset {
			to.(*net.TCPConn).SetLinger(0)
			from.(*net.TCPConn).SetLinger(0)
		}
		to.Close()
		from.Close()
		return nil
	case Silence:
		io.Copy(io.Discard, from)
		<-p.done
		return nil
	case Garble:
		b[at] ^= 1 << (p.fault.After % 8)
		return b
	case Omit:
		return rest[min(len(rest), 100):]
	case Repeat:
		to.Write(rest)
		return rest
	case Delay:
		p.pause(p.fault.Wait)
		return rest
	case Slow:
		for i := 0; i < 10 && len(rest) > 0; i++ {
			to.Write(rest[:1])
			rest = rest[1:]
			p.pause(p.fault.Wait / 10)
		}
		return rest
	}
	return b
}

// pause waits, unless the proxy is closed meanwhile.
func (p *Proxy) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.done:
	}
}

package parallel

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// mesh is what connects a rank to all others, while Dial runs.
type mesh struct {
	*sockets
	at    address
	route func(rank int, address string) string

	ctx      context.Context // ends with Dial, and when the job does
	arrivals chan arrival
	running  sync.WaitGroup
	wrong    error // with one who came and was not taken
}

// connectAll connects this rank to all others, or ends the job for the error that it returns.
func (s *sockets) connectAll(ctx context.Context, at address, route func(int, string) string) (err error) {
	if len(s.links) == 1 {
		return nil
	}
	m := &mesh{sockets: s, at: at, route: route, arrivals: make(chan arrival)}
	ctx, cancel := context.WithCancel(ctx)
	m.ctx = ctx
	defer m.running.Wait()
	defer cancel()
	defer func() {
		if err != nil {
			s.fail(err)
		}
	}()
	m.running.Go(func() { // who ends the job ends its start
		select {
		case <-s.failed:
			cancel()
		case <-ctx.Done():
		}
	})
	if s.rank == 0 {
		return m.meet()
	}
	return m.join()
}

// ended is why the context has.
func (m *mesh) ended() error {
	if err := m.err(); err != nil {
		return err
	}
	return m.sockets.ended(m.ctx)
}

// listen lets others come at the first of some addresses where that is possible, and returns it.
func (m *mesh) listen(all []string) (string, error) {
	var err error
	for _, at := range all {
		var l net.Listener
		if l, err = listen(m.ctx, m.network, at); err == nil {
			m.accept(m.ctx, l, m.arrivals, &m.running)
			return l.Addr().String(), nil
		}
	}
	return "", err
}

// meet is the part of rank 0: it waits for the others, tells each where all are, and waits for the
// second connection of each.
func (m *mesh) meet() error {
	all, err := m.at.resolve(m.ctx, m.identity != nil)
	if err != nil {
		return err
	}
	table := make([]string, len(m.links)) // without rank 0, which the others have reached
	if _, err = m.listen(all); err != nil {
		return err
	}
	others := len(m.links) - 1
	err = m.gather(others, func(a arrival) (bool, error) { return m.admitRank(a, table) }, func(missing string) error {
		return fmt.Errorf("parallel: %s of %d did not come to %v within %v", missing, len(m.links), m.at, m.timeout)
	})
	if err != nil {
		return err
	}
	job := rand.Text()
	for _, l := range m.links[1:] {
		if err := l.tell(message{Kind: kindTable, Job: job, Table: table}); err != nil {
			return &rankError{rank: l.rank, lost: true, cause: fmt.Errorf("its connection to rank 0 ended: %w", err)}
		}
	}
	return m.gatherLinks(others, job)
}

// join is the part of the other ranks: they go to rank 0, are told where all are, and connect to
// those of lower numbers, while those of higher numbers connect to them.
func (m *mesh) join() error {
	waiting, cancel := context.WithTimeout(m.ctx, m.timeout)
	defer cancel()
	control, err := m.call(waiting, 0, func(ctx context.Context) ([]string, error) {
		return m.at.resolve(ctx, m.identity != nil)
	})
	if err != nil {
		if m.ctx.Err() != nil {
			return m.ended()
		}
		return err
	}
	job, table, err := m.enrol(control)
	if err != nil {
		control.raw.Close()
		return err
	}
	m.connect(0, control)
	reached := make(chan struct{})
	m.running.Go(func() {
		for rank := range m.rank {
			if err := m.reach(rank, job, table[rank]); err != nil {
				m.fail(err) // which ends the gathering below
				return
			}
		}
		close(reached)
	})
	if err := m.gatherLinks(2*(len(m.links)-1-m.rank), job); err != nil {
		return err
	}
	select {
	case <-reached:
		return nil
	case <-m.ctx.Done():
		return m.ended()
	}
}

// enrol tells rank 0 where this rank can be reached, and waits to be told of the others.
func (m *mesh) enrol(control *conn) (job string, table []string, err error) {
	own := fmt.Sprintf("%s.%d", m.at.path, m.rank)
	if a, ok := control.raw.LocalAddr().(*net.TCPAddr); ok {
		own = (&net.TCPAddr{IP: a.IP, Zone: a.Zone}).String() // any port
	}
	if own, err = m.listen([]string{own}); err != nil {
		return "", nil, err
	}
	stop := context.AfterFunc(m.ctx, func() { control.raw.Close() })
	defer stop()
	lost := func(err error) error {
		if m.ctx.Err() != nil {
			return m.ended()
		}
		return &rankError{rank: 0, lost: true, cause: fmt.Errorf("its connection to rank %d ended before the job began: %w", m.rank, err)}
	}
	// Rank 0 may have ended the job already. It says why before it closes the connection: what it says
	// can be read though nothing can be sent any more.
	unsent := control.sendMessage(message{Kind: kindJoin, Rank: m.rank, Ranks: len(m.links), At: own})
	// Rank 0 waits for the timeout, and then says who is missing: it comes first.
	control.raw.SetReadDeadline(time.Now().Add(m.timeout + greetingTime))
	answer, err := control.receiveMessage(tableBytes)
	if err != nil {
		return "", nil, lost(cmp.Or(unsent, err))
	}
	switch answer.Kind {
	case kindTable:
	case kindAbort:
		return "", nil, &rankError{rank: answer.Rank, lost: answer.Lost, cause: errors.New(answer.Text)}
	case kindRefusal:
		return "", nil, fmt.Errorf("parallel: rank 0 at %v refused this rank: %s", m.at, answer.Text)
	default:
		return "", nil, fmt.Errorf("parallel: rank 0 at %v answered with %q", m.at, answer.Kind)
	}
	if len(answer.Table) != len(m.links) {
		return "", nil, fmt.Errorf("parallel: rank 0 at %v knows %d ranks, and rank %d counts %d", m.at, len(answer.Table), m.rank, len(m.links))
	}
	answer.Table[0] = control.raw.RemoteAddr().String()
	for rank, at := range answer.Table {
		if m.identity == nil && !localText(m.network, at) {
			return "", nil, fmt.Errorf("parallel: %w", beyond(fmt.Sprintf("rank %d at %s", rank, at)))
		}
	}
	return answer.Job, answer.Table, nil
}

// reach makes the connections to a rank of a lower number that are not there yet.
func (m *mesh) reach(rank int, job, at string) error {
	ctx, cancel := context.WithTimeout(m.ctx, m.timeout)
	defer cancel()
	if m.route != nil {
		at = m.route(rank, at)
	}
	connect := func(kind string) (*conn, error) {
		c, err := m.call(ctx, rank, func(context.Context) ([]string, error) { return []string{at}, nil })
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(ctx, func() { c.raw.Close() })
		err = c.sendMessage(message{Kind: kind, Rank: m.rank, Ranks: len(m.links), To: rank, Job: job})
		var answer message
		if err == nil {
			answer, err = c.receiveMessage(messageBytes)
		}
		switch {
		case !stop() && err == nil:
			err = context.Cause(ctx)
		case err == nil && answer.Kind == kindWelcome:
			return c, nil
		case err == nil:
			err = fmt.Errorf("it refused this rank: %s", answer.Text)
		}
		c.raw.Close()
		return nil, fmt.Errorf("parallel: rank %d at %s: %w", rank, at, err)
	}
	l := m.links[rank]
	if l == nil { // to rank 0 it is there
		control, err := connect(kindControl)
		if err != nil {
			return err
		}
		l = m.connect(rank, control)
	}
	data, err := connect(kindData)
	if err != nil {
		return err
	}
	m.exchangeBy(l, data)
	return nil
}

// gather admits so many of those who arrive, or returns what missing says of those who are not
// there when the timeout is over.
func (m *mesh) gather(count int, admit func(arrival) (bool, error), missing func(ranks string) error) error {
	over := time.NewTimer(m.timeout)
	defer over.Stop()
	for count > 0 {
		select {
		case a := <-m.arrivals:
			ok, err := false, a.err
			if err == nil {
				ok, err = admit(a)
			}
			if ok {
				count--
				continue
			}
			if a.err == nil {
				a.conn.sendMessage(message{Kind: kindRefusal, Rank: m.rank, Text: err.Error()})
				a.conn.raw.Close()
			}
			// A rank of this user that does not fit is a mistake to correct, and ends the start. Where
			// there is a key, who has not shown that he has it may be anyone.
			final := refused("")
			if errors.As(err, &final) && m.rank == 0 && (a.err == nil || m.identity == nil) {
				return &rankError{rank: 0, cause: fmt.Errorf("of the rank that came from %s: %w", a.from, err)}
			}
			if m.wrong == nil || final != "" {
				m.wrong = fmt.Errorf("who came from %s was not taken: %w", a.from, err)
			}
		case <-over.C:
			err := missing(m.unconnected())
			if m.wrong != nil {
				err = fmt.Errorf("%w; %w", err, m.wrong)
			}
			return err
		case <-m.ctx.Done():
			return m.ended()
		}
	}
	return nil
}

// unconnected names the ranks that have not come, or without their second connection.
func (m *mesh) unconnected() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var absent, half []string
	for rank, l := range m.links {
		switch {
		case rank == m.rank:
		case l == nil:
			absent = append(absent, strconv.Itoa(rank))
		case l.data == nil:
			half = append(half, strconv.Itoa(rank))
		}
	}
	if absent == nil {
		absent = half
	}
	if len(absent) == 1 {
		return "rank " + absent[0]
	}
	return "ranks " + strings.Join(absent, ", ")
}

// gatherLinks waits for so many connections from ranks of higher numbers.
func (m *mesh) gatherLinks(count int, job string) error {
	return m.gather(count, func(a arrival) (bool, error) { return m.admitLink(a, job) }, func(missing string) error {
		return fmt.Errorf("parallel: %s did not connect to rank %d within %v", missing, m.rank, m.timeout)
	})
}

// admitRank takes one that joins rank 0.
func (m *mesh) admitRank(a arrival, table []string) (bool, error) {
	who := a.message
	switch {
	case who.Kind != kindJoin:
		return false, fmt.Errorf("it belongs to another job")
	case who.Ranks != len(m.links):
		return false, refuse("rank %d counts %d ranks, and rank 0 counts %d", who.Rank, who.Ranks, len(m.links))
	case who.Rank == 0 || who.Rank >= len(m.links):
		return false, refuse("it claims to be rank %d, and those to come are 1 to %d", who.Rank, len(m.links)-1)
	case m.links[who.Rank] != nil:
		return false, refuse("two processes claim to be rank %d", who.Rank)
	case m.identity == nil && !localText(m.network, who.At):
		return false, beyond(fmt.Sprintf("rank %d at %s", who.Rank, who.At))
	}
	table[who.Rank] = who.At
	m.connect(who.Rank, a.conn)
	return true, nil
}

// admitLink takes a connection from a rank of a higher number.
func (m *mesh) admitLink(a arrival, job string) (bool, error) {
	who := a.message
	if who.Job != job || who.To != m.rank || who.Rank <= m.rank || who.Rank >= len(m.links) {
		return false, errors.New("it belongs to another job")
	}
	l := m.links[who.Rank]
	welcome := message{Kind: kindWelcome, Rank: m.rank}
	switch {
	case who.Kind == kindControl && l == nil:
		if err := a.conn.sendMessage(welcome); err != nil {
			return false, err
		}
		m.connect(who.Rank, a.conn)
	case who.Kind == kindData && l != nil && l.data == nil:
		if err := a.conn.sendMessage(welcome); err != nil {
			return false, err
		}
		m.exchangeBy(l, a.conn)
	default:
		return false, fmt.Errorf("its connection for %s is not due", who.Kind)
	}
	return true, nil
}

// exchangeBy gives a link its connection for exchanges.
func (m *mesh) exchangeBy(l *link, data *conn) {
	data.patient(m.timeout)
	m.mu.Lock()
	l.data = data
	m.mu.Unlock()
}

package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// Subject is the model that a session looks into. It may be trained or only run.
type Subject struct {
	Graph  *graph.Graph
	Wanted []*graph.Node // the loss first, or the output of a model without one
	Step   graph.Step    // the updates of a training step; none for a model that is only run
	// Feed returns the inputs of training step 0, 1, …. It must return the same ones whenever it is
	// asked for the same step, because going back in time runs steps again.
	Feed  func(step int) (tape.Feed, error)
	Store *tape.Store // at the beginning of training; it is copied
	// Compile has further options of the program, such as tape.Budget.
	Compile []tape.Option
	// Snapshots keeps earlier steps, and can be shared with others who train the same model; if it
	// is nil the session makes its own.
	Snapshots *Snapshots
}

// Option is a setting of a session; see [Limit].
type Option func(*Session)

// DefaultLimit is the memory in bytes that a session uses for values, and again for the earlier
// parameters and states with which it goes back in time: 256 MiB each.
const DefaultLimit = 256 << 20

// Limit sets how many bytes of values a session keeps at a time, and how many bytes of earlier
// parameters and states; the default is [DefaultLimit]. If a training step needs more, values are
// computed again when they are asked for, which is slower. A single value is kept whatever its
// size.
func Limit(bytes int) Option { return func(s *Session) { s.limit = bytes } }

// Session steps through a training program instruction by instruction, forwards and backwards in
// time, within a training step and from step to step. It stands before one instruction of one
// training step, at first the first instruction of step 0.
//
// The instructions are those that run; the values are those of a [Record] of the program's graph
// with the feed and the store of the present training step. A session must not be used by several
// goroutines at once.
type Session struct {
	subject Subject
	limit   int
	prog    *tape.Program
	rows    []tape.Row
	owners  []owner
	updates map[*graph.Node]*graph.Node // the user's parameter or state, by the node of the program's graph that updates it
	twins   map[*graph.Node]*graph.Node // the user's nodes of the same value, by node of the program's graph
	byName  map[string][]int            // instructions by the names asked for so far
	asRun   *shelf                      // values of the program's graph
	written *shelf                      // values of the user's graph
	at      int

	store     *tape.Store // at the beginning of the present training step
	vm        *tape.VM    // on store
	step      int
	feed      tape.Feed // of the present training step; nil until asked for
	snapshots *Snapshots
}

// Open compiles the program and stands before its first instruction, at training step 0. It stops
// compiling when ctx is done.
func Open(ctx context.Context, subject Subject, options ...Option) (*Session, error) {
	switch {
	case subject.Graph == nil || subject.Store == nil || subject.Feed == nil:
		return nil, errors.New("inspect: a session needs a graph, a store and a feed")
	case len(subject.Wanted) == 0:
		return nil, errors.New("inspect: a session needs a node to compute, the loss first")
	}
	s := &Session{subject: subject, limit: DefaultLimit, updates: map[*graph.Node]*graph.Node{}, byName: map[string][]int{}, twins: map[*graph.Node]*graph.Node{}}
	for _, o := range options {
		if o != nil {
			o(s)
		}
	}
	var err error
	compile := append([]tape.Option{tape.Fetch(subject.Wanted...), tape.Do(subject.Step)}, subject.Compile...)
	if s.prog, err = tape.CompileContext(ctx, subject.Graph, compile...); err != nil {
		return nil, err
	}
	s.rows = s.prog.Rows()
	asRun, written := s.roots()
	s.asRun, s.written = newShelf(s.limit/2, asRun), newShelf(s.limit/2, written)
	from := newOrigins(s.written.nodes)
	for _, r := range s.rows {
		s.owners = append(s.owners, from.owner(r.Node))
	}
	for _, n := range s.asRun.nodes {
		if u := from.twin(n); u != nil {
			s.twins[n] = u
		}
	}
	for _, u := range subject.Step {
		s.updates[s.prog.Node(u.Value)] = u.Target
	}
	store := subject.Store.Clone()
	if len(subject.Step) > 0 { // runs before training, without updates, are not part of it
		store.Resume(store.Seed(), store.Step(), 0)
	}
	if err := s.stand(store, 0); err != nil {
		return nil, err
	}
	if s.snapshots = subject.Snapshots; s.snapshots == nil {
		s.snapshots = NewSnapshots(s.limit, 0, s.store)
	}
	return s, nil
}

// roots returns the nodes to compute, of the program's graph and of the user's. Every instruction
// is among them, so that layouts and packed operands are too.
func (s *Session) roots() (asRun, written []*graph.Node) {
	for _, r := range s.rows {
		asRun = append(asRun, r.Node)
	}
	written = append(written, s.subject.Wanted...)
	for _, u := range s.subject.Step {
		written = append(written, u.Target, u.Value)
	}
	for _, n := range written {
		asRun = append(asRun, s.prog.Node(n))
	}
	return asRun, written
}

// stand makes store the one of the present training step. On an error the session stays where it
// was.
func (s *Session) stand(store *tape.Store, step int) error {
	vm, err := s.prog.NewVM(store)
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	if s.vm != nil {
		s.vm.Close()
	}
	s.store, s.step, s.vm = store, step, vm
	s.moved()
	return nil
}

// moved forgets values of another training step.
func (s *Session) moved() {
	s.feed = nil
	s.asRun.clear()
	s.written.clear()
}

// Close ends the session; its values stay valid.
func (s *Session) Close() { s.vm.Close() }

// Program returns the compiled program. Its Rows are the instructions.
func (s *Session) Program() *tape.Program { return s.prog }

// Wanted returns the nodes of the user's graph that are computed, the loss first.
func (s *Session) Wanted() []*graph.Node { return s.subject.Wanted }

// Rows returns the instructions of a training step in the order in which they run.
func (s *Session) Rows() []tape.Row { return s.rows }

// Len returns the number of instructions of a training step.
func (s *Session) Len() int { return len(s.rows) }

// At returns the number of the instruction that the session stands before.
func (s *Session) At() int { return s.at }

// Step returns the number of training steps done so far.
func (s *Session) Step() int { return s.step }

// Store returns a copy of the parameters and states at the beginning of the present training step.
func (s *Session) Store() *tape.Store { return s.store.Clone() }

// Seek moves to instruction i of the present training step. It is an error if there is none.
func (s *Session) Seek(i int) error {
	if err := s.exists(i); err != nil {
		return err
	}
	s.at = i
	return nil
}

// whole returns an error if the session was not made by Open.
func (s *Session) whole() error {
	if s == nil || s.prog == nil {
		return errors.New("inspect: the session was not made by Open")
	}
	return nil
}

func (s *Session) exists(i int) error {
	if err := s.whole(); err != nil {
		return err
	}
	if i < 0 || i >= len(s.rows) {
		return fmt.Errorf("inspect: there is no instruction %d: the program has 0 to %d", i, len(s.rows)-1)
	}
	return nil
}

// Next moves to the next instruction. It returns false at the last one of the training step.
func (s *Session) Next() bool { return s.Seek(s.at+1) == nil }

// Back moves to the previous instruction. It returns false at the first one of the training step.
func (s *Session) Back() bool { return s.Seek(s.at-1) == nil }

// NextNode moves to the next instruction that belongs to another of the user's nodes, or to the
// derivative of another; see [Session.Owner]. It returns false if there is none.
func (s *Session) NextNode() bool {
	for i := s.at + 1; i < len(s.rows); i++ {
		if s.owners[i] != s.owners[s.at] {
			return s.Seek(i) == nil
		}
	}
	return false
}

// BackNode moves back to the first instruction of the previous node of the user's, where NextNode
// came from. It returns false if there is none.
func (s *Session) BackNode() bool {
	i := s.at
	for i > 0 && s.owners[i] == s.owners[s.at] {
		i--
	}
	if s.owners[i] == s.owners[s.at] {
		return false
	}
	for i > 0 && s.owners[i-1] == s.owners[i] {
		i--
	}
	return s.Seek(i) == nil
}

// now returns the feed of the present training step.
func (s *Session) now() (tape.Feed, error) {
	if s.feed == nil {
		feed, err := s.subject.Feed(s.step)
		if err != nil {
			return nil, fmt.Errorf("training step %d: %w", s.step, err)
		}
		s.feed = feed
	}
	return s.feed, nil
}

// array returns the value of a node of the program's graph or of the user's.
func (s *Session) array(ctx context.Context, n *graph.Node) (tape.Array, error) {
	feed, err := s.now()
	if err != nil {
		return tape.Array{}, err
	}
	on := s.written
	if n.Graph() == s.prog.Graph() && n.Graph() != s.subject.Graph {
		on, feed = s.asRun, Feed(feed, n.Graph())
	} else if _, ok := on.part[n]; !ok {
		on = s.asRun
	}
	a, ok, err := on.value(ctx, n, feed, s.store)
	if err == nil && !ok {
		err = fmt.Errorf("inspect: %v is not computed in a training step", n)
	}
	return a, err
}

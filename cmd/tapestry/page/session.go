package page

import (
	"context"
	"errors"
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// Limits of a training session.
const (
	maxSteps     = 100_000
	maxSnapshots = 512
	snapshotRoom = 64 << 20 // bytes
	pathRoom     = 1 << 20  // places of centres
)

// session is a model in training. Steps are numbered from 0; state K is what step K
// starts from, so a session of K steps has the states 0 to K.
type session struct {
	prog   *tape.Program
	vm     *tape.VM
	run    *train.Run
	store  *tape.Store
	feeder *feeder
	loss   *graph.Node
	step   graph.Step
	roots  []*graph.Node // the result, and what a step updates to
	trains bool
	closed bool

	losses  []float64       // of every step, before its update
	centres [][][2]float64  // of every state, in the plane; nil if there is no plane
	inertia map[int]float64 // of states, computed when asked for
	assign  *lab.Assigner   // computes it; nil until needed

	snapshots *inspect.Snapshots

	walk *inspect.Session // through the instructions of the steps that were done
}

// newSession compiles the step of training and starts at state 0.
func newSession(ctx context.Context, m *builders.Model, step graph.Step, f *feeder) (*session, error) {
	s := &session{feeder: f, loss: m.Loss, step: step, roots: []*graph.Node{m.Result()}, trains: m.Loss != nil && len(step) > 0}
	if !s.trains {
		s.step = nil
	}
	for _, u := range s.step {
		s.roots = append(s.roots, u.Value)
	}
	var err error
	if s.store, err = f.start(); err != nil {
		return nil, err
	}
	var checks []tape.Option
	if s.trains {
		checks = append(checks, tape.CheckFinite(m.Loss))
	}
	s.snapshots = inspect.NewSnapshots(snapshotRoom, maxSnapshots, s.store)
	s.walk, err = inspect.Open(ctx, inspect.Subject{Graph: m.Graph, Wanted: s.roots[:1], Step: s.step, Feed: f.at, Store: s.store, Compile: checks, Snapshots: s.snapshots}, inspect.Limit(snapshotRoom))
	if err != nil {
		return nil, err
	}
	s.prog = s.walk.Program()
	if s.vm, err = s.prog.NewVM(s.store); err != nil {
		return nil, err
	}
	s.run = s.newRun(m)
	return s, s.mark()
}

// newRun trains on the program that the session walks through.
func (s *session) newRun(m *builders.Model) *train.Run {
	net := &train.Net{Loss: m.Loss, Step: s.step, Params: []*graph.Node{}}
	t := &train.Trainer{
		Build: func(int, train.Mode) *train.Net { return net },
		Engine: func(context.Context, *graph.Graph, *graph.Node, graph.Step, *tape.Store) (train.Engine, error) {
			return s.vm, nil
		},
	}
	return &train.Run{Trainer: t.With(s.store), Data: s.feeder.source(), Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
		s.losses = append(s.losses, e.Loss)
		s.snapshots.Note(s.steps(), s.store)
		return s.mark()
	})}}
}

func (s *session) close() {
	s.closed = true
	s.assign.Close()
	s.vm.Close()
	s.walk.Close()
}

// steps is the number of steps done: the number of the last state.
func (s *session) steps() int { return len(s.losses) }

// advance does one step. A step that fails, or whose loss is not finite, changes nothing.
func (s *session) advance(ctx context.Context) (float64, error) {
	switch t := s.steps(); {
	case !s.trains:
		return 0, failf(unprocessable, "the model has nothing to train")
	case t >= maxSteps:
		return 0, failf(unprocessable, "the session has %d steps, which is the most it can have: open the model again", t)
	}
	if err := s.run.Step(ctx); err != nil {
		var bad *tape.NotFinite
		if errors.As(err, &bad) {
			return 0, failf(unprocessable, "step %d is not done: %w", s.steps(), bad)
		}
		return 0, err
	}
	return s.losses[len(s.losses)-1], nil
}

// mark records the places of the centres.
func (s *session) mark() error {
	if s.feeder.plane == nil || (len(s.centres)+1)*s.feeder.model.Centres().Dim(0) > pathRoom {
		return nil
	}
	r := s.feeder.model.Centres()
	t, err := s.store.Get(r.Path())
	if err != nil {
		return err
	}
	a, err := tape.ArrayOf(r.Type(), t)
	if err != nil {
		return err
	}
	s.centres = append(s.centres, s.feeder.place(numbersOf(a)))
	return nil
}

func numbersOf(a tape.Array) []float64 {
	out := make([]float64, a.Type.Shape.Len())
	for i := range out {
		out[i] = a.At(i)
	}
	return out
}

// mostInertias is the largest number of points in a chart of the inertia.
const mostInertias = 64

// inertias returns the inertia of a clustering of a table at some of the states, among them the
// first, the last and the given one.
func (s *session) inertias(ctx context.Context, at int) (states, values []float64, err error) {
	if s.inertia == nil {
		s.inertia = map[int]float64{}
	}
	stride := s.snapshots.Every()
	for s.steps()/stride >= mostInertias {
		stride *= 2
	}
	wanted := []int{at, s.steps()}
	for k := 0; k <= s.steps(); k += stride {
		wanted = append(wanted, k)
	}
	slices.Sort(wanted)
	for _, k := range slices.Compact(wanted) {
		v, known := s.inertia[k]
		if !known {
			if v, err = s.inertiaAt(ctx, k); err != nil {
				return nil, nil, err
			}
			s.inertia[k] = v
		}
		states, values = append(states, float64(k)), append(values, v)
	}
	return states, values, nil
}

func (s *session) inertiaAt(ctx context.Context, k int) (float64, error) {
	store, err := s.state(ctx, k)
	if err != nil {
		return 0, err
	}
	r := s.feeder.model.Centres()
	t, err := store.Get(r.Path())
	if err != nil {
		return 0, err
	}
	a, err := tape.ArrayOf(r.Type(), t)
	if err != nil {
		return 0, err
	}
	if s.assign == nil {
		if s.assign, err = lab.NewAssigner(ctx, s.feeder.table.X, r.Dim(0), r.Dim(1)); err != nil {
			return 0, err
		}
	}
	_, v, err := s.assign.Assign(ctx, numbersOf(a))
	return v, err
}

// state returns the store at a state, recomputed from the snapshot before it. The caller owns the
// store.
func (s *session) state(ctx context.Context, k int) (*tape.Store, error) {
	if k < 0 || k > s.steps() {
		return nil, badf("step %d: there are the steps 0 to %d", k, s.steps())
	}
	if k == s.steps() {
		return s.store.Clone(), nil
	}
	return s.walk.StoreAt(ctx, k)
}

// at returns the feed and the store of the step from a state, for the model's graph or one made
// from it. The caller owns both.
func (s *session) at(ctx context.Context, k int, g *graph.Graph) (tape.Feed, *tape.Store, error) {
	store, err := s.state(ctx, k)
	if err != nil {
		return nil, nil, err
	}
	feed, err := s.feeder.at(k)
	if err != nil {
		return nil, nil, err
	}
	if g != s.feeder.model.Graph {
		feed = inspect.Feed(feed, g)
	}
	return feed, store, nil
}

// record computes every value that the roots of a variant depend on at a state.
func (s *session) record(ctx context.Context, k int, v *variant) (*inspect.Record, error) {
	feed, store, err := s.at(ctx, k, v.graph())
	if err != nil {
		return nil, err
	}
	if v.recorder == nil {
		if v.recorder, err = inspect.NewRecorder(ctx, v.all()...); err != nil {
			return nil, err
		}
	}
	return v.recorder.Take(ctx, feed, store)
}

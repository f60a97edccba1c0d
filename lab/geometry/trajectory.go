package geometry

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/cone"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// Trajectory is the path of the parameters in a training.
type Trajectory struct {
	Site Site        // at the end
	Path [][]float64 // [steps+1]: the parameter vector before each step, and at the end
	Loss []float64   // [steps]: the loss before each update
}

// Train trains from the site for so many steps, each on the site's feed, and records the path. A
// model that updates its parameters by itself, such as Lloyd's algorithm, does so. The zero
// Optimiser, a negative number of steps and a loss that is not finite are errors.
func (s Site) Train(ctx context.Context, o train.Optimiser, steps int) (*Trajectory, error) {
	params, err := s.parameters()
	if err != nil {
		return nil, err
	}
	if steps < 0 || o.IsZero() {
		return nil, fmt.Errorf("%s: training wants an optimiser, and no negative number of steps", s.name())
	}
	roots := []*graph.Node{s.Model.Loss}
	for _, u := range s.Model.Step {
		roots = append(roots, u.Target, u.Value)
	}
	g, copies := cone.Copy(s.Model.Graph.Name(), nil, roots...)
	net := &train.Net{Loss: copies[s.Model.Loss], Params: []*graph.Node{}}
	for _, u := range s.Model.Step {
		net.Step = append(net.Step, g.Assign(copies[u.Target], copies[u.Value]))
	}
	for _, p := range lab.Trained(s.Model) {
		net.Params = append(net.Params, copies[p])
	}
	t := &Trajectory{Site: s}
	t.Site.Store = s.Store.Clone()
	trainer := (&train.Trainer{Optimiser: o, Build: func(int, train.Mode) *train.Net { return net }}).With(t.Site.Store)
	defer trainer.Close()
	if _, err := trainer.Prepare(ctx, 1); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name(), err)
	}
	progress := s.progress(steps, s.name()+", training")
	record := func() error {
		at, err := stored(t.Site.Store, params)
		t.Path = append(t.Path, at)
		return err
	}
	if err := record(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name(), err)
	}
	if steps == 0 {
		return t, nil
	}
	fed := map[string]*tensor.Dense{}
	for n, v := range s.Feed {
		fed[n.Path()] = v
	}
	run := train.Run{
		Trainer: trainer, Steps: int(t.Site.Store.Step()) + steps,
		Data: data.Generated("the site", 1, func(int) (map[string]*tensor.Dense, error) { return fed, nil }),
		Observers: []train.Observer{train.ObserverFunc(func(e train.Event) error {
			t.Loss = append(t.Loss, e.Loss)
			progress.step()
			return record()
		})},
	}
	if err := run.Do(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name(), err)
	}
	return t, nil
}

// Start returns the site where the training began. A path that does not fit the parameters is an
// error.
func (t *Trajectory) Start() (Site, error) {
	if t == nil {
		return Site{}, errors.New("there is no trajectory to start")
	}
	s := t.Site
	if _, err := s.parameters(); err != nil || len(t.Path) == 0 {
		return s, err
	}
	s.Store = s.Store.Clone()
	return s, s.place(t.Path[0])
}

// place writes a parameter vector into the store.
func (s Site) place(at []float64) error {
	params, err := s.parameters()
	if err != nil {
		return err
	}
	want := 0
	for _, p := range params {
		want += p.Shape().Len()
	}
	if len(at) != want {
		return fmt.Errorf("%s: the path begins with %d values, and the parameters have %d", s.name(), len(at), want)
	}
	for _, p := range params {
		size := p.Shape().Len()
		if err := s.Store.Set(p.Path(), tape.Tensor(graph.Value{Type: p.Type(), Data: at[:size]})); err != nil {
			return err
		}
		at = at[size:]
	}
	return nil
}
